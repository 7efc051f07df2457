//! The two matrix products of a linear model, for a block of examples and few classes.
//!
//! Written out: general libraries copy both factors into panels first, which pays where a number is
//! used hundreds of times, and here it is used ten times. Sums of 2 × 5 stay in sixteen registers,
//! and the examples are read where they lie.

use super::super::engine::Stride;
use pulp::{Simd, WithSimd};

/// Rows, or vectors of inputs, of a tile of sums.
const LONG: usize = 2;
/// Classes of a tile.
const CLASSES: usize = 5;

/// scores\[b\]\[c\] = Σ_i weights\[c\]\[i\] · rows\[b\]\[i\].
pub(super) struct Scores<'a> {
    pub(super) weights: &'a [f32],
    pub(super) rows: &'a [&'a [f32]],
    pub(super) scores: &'a mut [f32],
}

impl WithSimd for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { weights, rows, scores } = self;
        let Some(inputs) = rows.first().map(|row| row.len()) else { return };
        let classes = weights.len() / inputs;
        let mut at = Stride::new(rows.len());
        while let Some(b) = at.next(LONG) {
            scores_of::<S, LONG>(simd, weights, &rows[b..], &mut scores[b * classes..], classes);
        }
        while let Some(b) = at.next(1) {
            scores_of::<S, 1>(simd, weights, &rows[b..], &mut scores[b * classes..], classes);
        }
    }
}

/// Of the first R rows.
#[inline(always)]
fn scores_of<S: Simd, const R: usize>(simd: S, weights: &[f32], rows: &[&[f32]], scores: &mut [f32], classes: usize) {
    let inputs = rows[0].len();
    let mut at = Stride::new(classes);
    while let Some(c) = at.next(CLASSES) {
        let tile = products::<S, R, CLASSES>(simd, &weights[c * inputs..], rows);
        for (b, sums) in tile.iter().enumerate() {
            scores[b * classes + c..][..CLASSES].copy_from_slice(sums);
        }
    }
    while let Some(c) = at.next(1) {
        let tile = products::<S, R, 1>(simd, &weights[c * inputs..], rows);
        for (b, sums) in tile.iter().enumerate() {
            scores[b * classes + c] = sums[0];
        }
    }
}

/// R rows times C classes.
#[inline(always)]
fn products<S: Simd, const R: usize, const C: usize>(simd: S, weights: &[f32], rows: &[&[f32]]) -> [[f32; C]; R] {
    let inputs = rows[0].len();
    let vectors = inputs / S::F32_LANES;
    let x: [&[S::f32s]; R] = std::array::from_fn(|r| &S::as_simd_f32s(&rows[r][..inputs]).0[..vectors]);
    let w: [&[S::f32s]; C] = std::array::from_fn(|c| &S::as_simd_f32s(&weights[c * inputs..][..inputs]).0[..vectors]);
    let mut sums = [[simd.splat_f32s(0.0); C]; R];
    for i in 0..vectors {
        for r in 0..R {
            for c in 0..C {
                sums[r][c] = simd.mul_add_e_f32s(x[r][i], w[c][i], sums[r][c]);
            }
        }
    }
    let mut total = [[0.0; C]; R];
    for r in 0..R {
        for c in 0..C {
            let rest = vectors * S::F32_LANES..inputs;
            let left = rows[r][rest.clone()].iter().zip(&weights[c * inputs..][rest]);
            total[r][c] = simd.reduce_sum_f32s(sums[r][c]) + left.map(|(x, w)| x * w).sum::<f32>();
        }
    }
    total
}

/// sum\[c\]\[i\] = Σ_b factors\[b\]\[c\] · rows\[b\]\[i\].
pub(super) struct WeightedSum<'a> {
    pub(super) factors: &'a [f32],
    pub(super) classes: usize,
    pub(super) rows: &'a [&'a [f32]],
    pub(super) sum: &'a mut [f32],
}

impl WithSimd for WeightedSum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factors, classes, rows, sum } = self;
        let Some(inputs) = rows.first().map(|row| row.len()) else { return };
        let vectors: Vec<&[S::f32s]> = rows.iter().map(|row| S::as_simd_f32s(row).0).collect();
        let mut at = Stride::new(inputs / S::F32_LANES);
        while let Some(i) = at.next(LONG) {
            sums_of::<S, LONG>(simd, factors, classes, &vectors, i, sum, inputs);
        }
        while let Some(i) = at.next(1) {
            sums_of::<S, 1>(simd, factors, classes, &vectors, i, sum, inputs);
        }
        for i in inputs / S::F32_LANES * S::F32_LANES..inputs {
            for c in 0..classes {
                let terms = rows.iter().enumerate().map(|(b, row)| factors[b * classes + c] * row[i]);
                sum[c * inputs + i] = terms.sum();
            }
        }
    }
}

/// Of V vectors of inputs, from the vector `first` on.
#[inline(always)]
fn sums_of<S: Simd, const V: usize>(
    simd: S,
    factors: &[f32],
    classes: usize,
    rows: &[&[S::f32s]],
    first: usize,
    sum: &mut [f32],
    inputs: usize,
) {
    let mut write = |c: usize, tile: &[S::f32s; V]| {
        let (places, _) = S::as_mut_simd_f32s(&mut sum[c * inputs..][..inputs]);
        places[first..first + V].copy_from_slice(tile);
    };
    let mut at = Stride::new(classes);
    while let Some(c) = at.next(CLASSES) {
        let tile = weighted::<S, V, CLASSES>(simd, &factors[c..], classes, rows, first);
        tile.iter().enumerate().for_each(|(offset, sums)| write(c + offset, sums));
    }
    while let Some(c) = at.next(1) {
        write(c, &weighted::<S, V, 1>(simd, &factors[c..], classes, rows, first)[0]);
    }
}

/// C classes times V vectors of inputs.
#[inline(always)]
fn weighted<S: Simd, const V: usize, const C: usize>(
    simd: S,
    factors: &[f32],
    classes: usize,
    rows: &[&[S::f32s]],
    first: usize,
) -> [[S::f32s; V]; C] {
    let mut sums = [[simd.splat_f32s(0.0); V]; C];
    for (row, factors) in rows.iter().zip(factors.chunks(classes)) {
        let (x, factors) = (&row[first..first + V], &factors[..C]);
        for c in 0..C {
            let factor = simd.splat_f32s(factors[c]);
            for v in 0..V {
                sums[c][v] = simd.mul_add_e_f32s(factor, x[v], sums[c][v]);
            }
        }
    }
    sums
}
