//! Walsh and Hadamard: the D×D matrix of signs H_ij = (−1)^(number of ones in i AND j), D a power
//! of 2. It is symmetric, and H·H = D·I.

use crate::norms::{LANES, fold};
use pulp::Arch;
use std::array;
use std::ops::{Add, Sub};

/// H_ij.
#[inline]
pub fn sign(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// One coordinate of H·x, y_j = Σ_i H_ij·x_i, in O(d): what a client needs. `x` counts as filled up
/// with zeros.
///
/// In f64 and a fixed order, so the same bits on every machine; error below
/// (d/16 + 5)·2^−53·Σ|x_i|.
pub fn coordinate(x: &[f32], j: usize) -> f64 {
    // H_ij of i = 16·block + lane is one sign of the block times one of the lane.
    let mut lanes = [0.0; LANES];
    for (block, x) in x.chunks(LANES).enumerate() {
        let sign = sign(block, j / LANES);
        for (lane, &x) in lanes.iter_mut().zip(x) {
            *lane += sign * f64::from(x);
        }
    }
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane *= sign(i, j % LANES);
    }
    fold(lanes)
}

/// H·x in place, in D·log2 D additions and subtractions. Whole numbers are exact: no entry of a sum
/// of n signed units exceeds n. Floats err by less than log2 D roundings, and −x gives −H·x bit for
/// bit.
///
/// Stages of H commute, so they are taken in the order that suits the memory: up to [`BLOCK`]
/// entries are finished while they are in the first-level cache, and every later pass over all
/// entries makes three stages at once.
///
/// # Panics
///
/// If the length is not a power of 2.
pub fn transform<T: Number>(x: &mut [T]) {
    assert!(x.len().is_power_of_two(), "the transform takes a power of 2, not {} numbers", x.len());
    Arch::new().dispatch(
        #[inline(always)]
        || {
            if x.len() < TILE * TILE {
                stages(x, 1);
            } else {
                for block in x.chunks_mut(BLOCK) {
                    let (squares, _) = block.as_chunks_mut::<{ TILE * TILE }>();
                    squares.iter_mut().for_each(square);
                    wide_stages(block, TILE * TILE);
                }
                wide_stages(x, BLOCK);
            }
        },
    );
}

/// A number type that can be transformed.
pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> {}

impl Number for i64 {}
impl Number for f32 {}

/// Entries that are worked on side by side: a register or two of floats.
const TILE: usize = 8;
/// Entries that stay in the first-level cache.
const BLOCK: usize = 4096;

/// The stages from `half` on, one after the other: for a few entries.
#[inline(always)]
fn stages<T: Number>(x: &mut [T], mut half: usize) {
    while half < x.len() {
        for pair in x.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
        half *= 2;
    }
}

/// The first six stages of 64 entries: three within each row of 8, three across the rows.
#[inline(always)]
fn square<T: Number>(x: &mut [T; TILE * TILE]) {
    let (rows, _) = x.as_chunks_mut::<TILE>();
    let mut tile: [[T; TILE]; TILE] = array::from_fn(|row| within::<T, 4>(within::<T, 2>(within::<T, 1>(rows[row]))));
    across(&mut tile);
    rows.copy_from_slice(&tile);
}

/// The stage of distance `HALF` within a row.
#[inline(always)]
fn within<T: Number, const HALF: usize>(row: [T; TILE]) -> [T; TILE] {
    array::from_fn(|i| if i & HALF == 0 { row[i] + row[i ^ HALF] } else { row[i ^ HALF] - row[i] })
}

/// All stages across `ROWS` rows.
#[inline(always)]
fn across<T: Number, const ROWS: usize>(rows: &mut [[T; TILE]; ROWS]) {
    let mut half = 1;
    while half < ROWS {
        for row in (0..ROWS).filter(|row| row & half == 0) {
            let (left, right) = (rows[row], rows[row + half]);
            rows[row] = array::from_fn(|i| left[i] + right[i]);
            rows[row + half] = array::from_fn(|i| left[i] - right[i]);
        }
        half *= 2;
    }
}

/// The stages from `half` ≥ 8 on, three to a pass over all entries, and what is left over.
#[inline(always)]
fn wide_stages<T: Number>(x: &mut [T], mut half: usize) {
    while half < x.len() {
        let rows = (x.len() / half).min(8);
        for group in x.chunks_exact_mut(rows * half) {
            match rows {
                8 => pass::<T, 8>(group),
                4 => pass::<T, 4>(group),
                _ => pass::<T, 2>(group),
            }
        }
        half *= rows;
    }
}

/// All stages across `ROWS` equal parts of `x`, a tile of each at a time.
#[inline(always)]
fn pass<T: Number, const ROWS: usize>(x: &mut [T]) {
    let (tiles, _) = x.as_chunks_mut::<TILE>();
    let part = tiles.len() / ROWS;
    for first in 0..part {
        let mut rows: [[T; TILE]; ROWS] = array::from_fn(|row| tiles[first + row * part]);
        across(&mut rows);
        for (row, done) in rows.into_iter().enumerate() {
            tiles[first + row * part] = done;
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_the_matrix_and_so_is_one_coordinate() {
        for log in 0..8 {
            let size = 1_usize << log;
            // Also a vector shorter than D.
            let x: Vec<f32> = (0..size - size / 3).map(|i| ((i * i * 7 + 3) % 23) as f32 - 11.0).collect();
            let mut whole: Vec<i64> = x.iter().map(|&x| x as i64).collect();
            whole.resize(size, 0);
            transform(&mut whole);
            for (j, &transformed) in whole.iter().enumerate() {
                let by_definition: f64 = x.iter().enumerate().map(|(i, &x)| sign(i, j) * f64::from(x)).sum();
                assert_eq!(transformed as f64, by_definition, "D = {size}, j = {j}");
                assert_eq!(coordinate(&x, j), by_definition, "D = {size}, j = {j}");
            }
        }
    }

    #[test]
    fn every_size_has_the_stages_one_after_the_other() {
        for log in 0..18 {
            let x: Vec<i64> = (0..1_i64 << log).map(|i| (i * i * 31 + 7) % 41 - 20).collect();
            let (mut fast, mut slow) = (x.clone(), x.clone());
            let mut floats: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            transform(&mut fast);
            stages(&mut slow, 1);
            assert_eq!(fast, slow, "D = 2^{log}");
            // Below 2^24 floats are exact.
            transform(&mut floats);
            assert!(floats.iter().zip(&slow).all(|(&float, &whole)| float == whole as f32), "D = 2^{log}");
            transform(&mut fast);
            assert!(fast.iter().zip(&x).all(|(twice, x)| *twice == x << log), "D = 2^{log}");
        }
    }
}
