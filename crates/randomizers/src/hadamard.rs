//! Walsh and Hadamard: the D×D matrix of signs H_ij = (−1)^(number of ones in i AND j), D a power of 2. It is symmetric, and H·H = D·I.

use crate::norms::{LANES, fold};

/// H_ij.
#[inline]
pub fn sign(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// One coordinate of H·x, y_j = Σ_i H_ij·x_i, in O(d): what a client needs. `x` counts as filled up with zeros.
///
/// In f64 and a fixed order, so the same bits on every machine; error below (d/16 + 5)·2^−53·Σ|x_i|.
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

/// H·x in place, in D·log2 D additions. Whole numbers, so exact: no entry of a sum of n signed units exceeds n.
///
/// # Panics
///
/// If the length is not a power of 2.
pub fn transform(x: &mut [i64]) {
    assert!(x.len().is_power_of_two(), "the transform takes a power of 2, not {} numbers", x.len());
    let mut half = 1;
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
    fn twice_is_d_times() {
        let x: Vec<i64> = (0..64).map(|i| i * i - 1000).collect();
        let mut twice = x.clone();
        transform(&mut twice);
        transform(&mut twice);
        assert!(twice.iter().zip(&x).all(|(twice, x)| *twice == 64 * x));
    }
}
