//! Max-pooling over a group of examples, one per SIMD lane; no branch depends on a value.

use super::super::TensorShape;
use pulp::{Simd, WithSimd};

/// Where a pooling layer reads.
#[derive(Debug, Clone)]
pub(crate) struct Geometry {
    /// First number in the window, per output.
    bases: Vec<usize>,
    /// Distance from there, row by row; never empty.
    offsets: Vec<usize>,
}

impl Geometry {
    pub(crate) fn new(input: TensorShape, output: TensorShape, window: usize, stride: usize) -> Self {
        let at = |channel: usize, y: usize, x: usize| (channel * input.height + y) * input.width + x;
        let bases = (0..output.channels)
            .flat_map(|c| {
                (0..output.height).flat_map(move |y| (0..output.width).map(move |x| at(c, y * stride, x * stride)))
            })
            .collect();
        let offsets = (0..window).flat_map(|y| (0..window).map(move |x| at(0, y, x))).collect();
        Self { bases, offsets }
    }
}

/// output\[p\] = max_k input\[bases\[p\] + offsets\[k\]\].
pub(crate) struct Forward<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) input: &'a [f32],
    pub(crate) output: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (input, output) = (S::as_simd_f32s(self.input).0, S::as_mut_simd_f32s(self.output).0);
        match *self.geometry.offsets.as_slice() {
            [a, b, c, d] => forward(simd, &self.geometry.bases, &[a, b, c, d], input, output),
            ref offsets => forward(simd, &self.geometry.bases, offsets, input, output),
        }
    }
}

#[inline(always)]
fn forward<S: Simd>(simd: S, bases: &[usize], offsets: &[usize], input: &[S::f32s], output: &mut [S::f32s]) {
    for (place, &base) in output.iter_mut().zip(bases) {
        *place = largest(simd, base, offsets, input);
    }
}

#[inline(always)]
fn largest<S: Simd>(simd: S, base: usize, offsets: &[usize], input: &[S::f32s]) -> S::f32s {
    let mut largest = simd.splat_f32s(f32::NEG_INFINITY);
    for &offset in offsets {
        largest = simd.max_f32s(largest, input[base + offset]);
    }
    largest
}

/// Adds each output's delta to the first of its window's inputs that equals the largest, as PyTorch
/// does. The caller clears the input's deltas.
pub(crate) struct Backward<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) input: &'a [f32],
    pub(crate) deltas: &'a [f32],
    pub(crate) input_deltas: &'a mut [f32],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (input, deltas) = (S::as_simd_f32s(self.input).0, S::as_simd_f32s(self.deltas).0);
        let input_deltas = S::as_mut_simd_f32s(self.input_deltas).0;
        match *self.geometry.offsets.as_slice() {
            [a, b, c, d] => backward(simd, &self.geometry.bases, &[a, b, c, d], input, deltas, input_deltas),
            ref offsets => backward(simd, &self.geometry.bases, offsets, input, deltas, input_deltas),
        }
    }
}

#[inline(always)]
fn backward<S: Simd>(
    simd: S,
    bases: &[usize],
    offsets: &[usize],
    input: &[S::f32s],
    deltas: &[S::f32s],
    input_deltas: &mut [S::f32s],
) {
    let zero = simd.splat_f32s(0.0);
    for (&base, &delta) in bases.iter().zip(deltas) {
        let largest = largest(simd, base, offsets, input);
        // What is left to give: everything, until somebody took it.
        let mut left = delta;
        for &offset in offsets {
            let takes = simd.equal_f32s(input[base + offset], largest);
            let place = &mut input_deltas[base + offset];
            *place = simd.add_f32s(*place, simd.select_f32s(takes, left, zero));
            left = simd.select_f32s(takes, zero, left);
        }
    }
}
