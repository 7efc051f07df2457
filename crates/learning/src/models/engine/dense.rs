//! A layer in which every output sees every input, over a group of examples, one per SIMD lane.

use super::Stride;
use pulp::{Simd, WithSimd};

/// output\[o\] = bias\[o\] + Σ_i weights\[o\]\[i\] · input\[i\]; no biases are biases of 0.
pub(crate) struct Forward<'a> {
    pub(crate) weights: &'a [f32],
    pub(crate) biases: &'a [f32],
    pub(crate) input: &'a [f32],
    pub(crate) output: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { weights, biases, input, output } = self;
        let (input, output) = (S::as_simd_f32s(input).0, S::as_mut_simd_f32s(output).0);
        let mut at = Stride::new(output.len());
        while let Some(o) = at.next(8) {
            let sums = products::<S, 8>(simd, &weights[o * input.len()..], biases.get(o..).unwrap_or(&[]), input);
            output[o..o + 8].copy_from_slice(&sums);
        }
        while let Some(o) = at.next(1) {
            let sums = products::<S, 1>(simd, &weights[o * input.len()..], biases.get(o..).unwrap_or(&[]), input);
            output[o] = sums[0];
        }
    }
}

/// O outputs.
#[inline(always)]
fn products<S: Simd, const O: usize>(simd: S, weights: &[f32], biases: &[f32], input: &[S::f32s]) -> [S::f32s; O] {
    let mut rows = [weights; O];
    let mut sums = [simd.splat_f32s(0.0); O];
    for o in 0..O {
        rows[o] = &weights[o * input.len()..][..input.len()];
        sums[o] = simd.splat_f32s(biases.get(o).copied().unwrap_or(0.0));
    }
    for i in 0..input.len() {
        for o in 0..O {
            sums[o] = simd.mul_add_e_f32s(simd.splat_f32s(rows[o][i]), input[i], sums[o]);
        }
    }
    sums
}

/// input_deltas\[i\] = Σ_o weights\[o\]\[i\] · deltas\[o\].
pub(crate) struct InputGradient<'a> {
    pub(crate) weights: &'a [f32],
    pub(crate) deltas: &'a [f32],
    pub(crate) input_deltas: &'a mut [f32],
}

impl WithSimd for InputGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { weights, deltas, input_deltas } = self;
        let (deltas, input_deltas) = (S::as_simd_f32s(deltas).0, S::as_mut_simd_f32s(input_deltas).0);
        let inputs = input_deltas.len();
        let mut at = Stride::new(inputs);
        while let Some(i) = at.next(8) {
            input_deltas[i..i + 8].copy_from_slice(&columns::<S, 8>(simd, weights, deltas, inputs, i));
        }
        while let Some(i) = at.next(1) {
            input_deltas[i..i + 1].copy_from_slice(&columns::<S, 1>(simd, weights, deltas, inputs, i));
        }
    }
}

/// I inputs.
#[inline(always)]
fn columns<S: Simd, const I: usize>(
    simd: S,
    weights: &[f32],
    deltas: &[S::f32s],
    inputs: usize,
    first: usize,
) -> [S::f32s; I] {
    let mut sums = [simd.splat_f32s(0.0); I];
    for (o, &delta) in deltas.iter().enumerate() {
        let weights = &weights[o * inputs + first..][..I];
        for i in 0..I {
            sums[i] = simd.mul_add_e_f32s(simd.splat_f32s(weights[i]), delta, sums[i]);
        }
    }
    sums
}

/// One example's gradient\[o\]\[i\] = deltas\[o\] · input\[i\]. Here the SIMD lanes run along i:
/// the gradient is contiguous already.
pub(crate) struct OuterProduct<'a> {
    pub(crate) deltas: &'a [f32],
    pub(crate) input: &'a [f32],
    pub(crate) gradient: &'a mut [f32],
}

impl WithSimd for OuterProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { deltas, input, gradient } = self;
        let (inputs, inputs_left) = S::as_simd_f32s(input);
        for (&delta, row) in deltas.iter().zip(gradient.chunks_exact_mut(input.len())) {
            let (row, row_left) = S::as_mut_simd_f32s(row);
            let wide = simd.splat_f32s(delta);
            for (place, &value) in row.iter_mut().zip(inputs) {
                *place = simd.mul_f32s(wide, value);
            }
            for (place, &value) in row_left.iter_mut().zip(inputs_left) {
                *place = delta * value;
            }
        }
    }
}
