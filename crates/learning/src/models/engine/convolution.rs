//! Convolution over a group of examples, one per SIMD lane.
//!
//! There is no im2col matrix: output p sees the padded input at `bases[p] + offsets[tap]`, so two
//! short tables stand for it. Every kernel keeps a block of eight sums in registers: as many as
//! hide the latency of multiply-and-add, and few enough not to spill.

use super::Stride;
use super::window::Geometry;
use pulp::{Simd, WithSimd};

/// output\[f\]\[p\] = bias\[f\] + Σ_tap weights\[f\]\[tap\] · input\[bases\[p\] + offsets\[tap\]\].
pub(crate) struct Forward<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) weights: &'a [f32],
    pub(crate) biases: &'a [f32],
    pub(crate) input: &'a [f32],
    pub(crate) output: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { geometry, weights, biases, input, output } = self;
        let (input, output) = (S::as_simd_f32s(input).0, S::as_mut_simd_f32s(output).0);
        let mut at = Stride::new(geometry.bases.len());
        while let Some(p) = at.next(2) {
            forward_filters::<S, 2>(simd, geometry, weights, biases, input, output, p);
        }
        while let Some(p) = at.next(1) {
            forward_filters::<S, 1>(simd, geometry, weights, biases, input, output, p);
        }
    }
}

#[inline(always)]
fn forward_filters<S: Simd, const P: usize>(
    simd: S,
    geometry: &Geometry,
    weights: &[f32],
    biases: &[f32],
    input: &[S::f32s],
    output: &mut [S::f32s],
    first: usize,
) {
    let (positions, taps) = (geometry.bases.len(), geometry.offsets.len());
    let mut bases = [0; P];
    bases.copy_from_slice(&geometry.bases[first..first + P]);
    let mut at = Stride::new(geometry.filters);
    while let Some(f) = at.next(4) {
        let sums = products::<S, 4, P>(simd, &weights[f * taps..], &biases[f..], input, bases, &geometry.offsets);
        for i in 0..4 {
            output[(f + i) * positions + first..][..P].copy_from_slice(&sums[i]);
        }
    }
    while let Some(f) = at.next(1) {
        let sums = products::<S, 1, P>(simd, &weights[f * taps..], &biases[f..], input, bases, &geometry.offsets);
        output[f * positions + first..][..P].copy_from_slice(&sums[0]);
    }
}

/// F filters at P places.
#[inline(always)]
pub(super) fn products<S: Simd, const F: usize, const P: usize>(
    simd: S,
    weights: &[f32],
    biases: &[f32],
    input: &[S::f32s],
    bases: [usize; P],
    offsets: &[usize],
) -> [[S::f32s; P]; F] {
    let taps = offsets.len();
    let mut rows = [weights; F];
    let mut sums = [[simd.splat_f32s(0.0); P]; F];
    for f in 0..F {
        rows[f] = &weights[f * taps..][..taps];
        sums[f] = [simd.splat_f32s(biases[f]); P];
    }
    for tap in 0..taps {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = input[bases[p] + offsets[tap]];
        }
        for f in 0..F {
            let weight = simd.splat_f32s(rows[f][tap]);
            for p in 0..P {
                sums[f][p] = simd.mul_add_e_f32s(weight, values[p], sums[f][p]);
            }
        }
    }
    sums
}

/// gradient\[f\]\[tap\] = Σ_p deltas\[f\]\[p\] · input\[bases\[p\] + offsets\[tap\]\], then the
/// biases': Σ_p deltas\[f\]\[p\].
pub(crate) struct WeightGradient<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) input: &'a [f32],
    pub(crate) deltas: &'a [f32],
    pub(crate) gradient: &'a mut [f32],
}

impl WithSimd for WeightGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { geometry, input, deltas, gradient } = self;
        let (input, deltas) = (S::as_simd_f32s(input).0, S::as_simd_f32s(deltas).0);
        let (weights, biases) = S::as_mut_simd_f32s(gradient).0.split_at_mut(geometry.weights());
        let positions = geometry.bases.len();
        // Filters outside: their deltas stay in the nearest cache while all taps pass by.
        let mut at = Stride::new(geometry.filters);
        while let Some(f) = at.next(4) {
            gradient_taps::<S, 4>(simd, geometry, input, &deltas[f * positions..], weights, f);
        }
        while let Some(f) = at.next(1) {
            gradient_taps::<S, 1>(simd, geometry, input, &deltas[f * positions..], weights, f);
        }
        for (bias, deltas) in biases.iter_mut().zip(deltas.chunks_exact(positions)) {
            let mut sum = simd.splat_f32s(0.0);
            for &delta in deltas {
                sum = simd.add_f32s(sum, delta);
            }
            *bias = sum;
        }
    }
}

#[inline(always)]
fn gradient_taps<S: Simd, const F: usize>(
    simd: S,
    geometry: &Geometry,
    input: &[S::f32s],
    deltas: &[S::f32s],
    weights: &mut [S::f32s],
    first: usize,
) {
    let taps = geometry.offsets.len();
    let mut at = Stride::new(taps);
    while let Some(tap) = at.next(2) {
        let sums = correlations::<S, F, 2>(simd, geometry, input, deltas, tap);
        for f in 0..F {
            weights[(first + f) * taps + tap..][..2].copy_from_slice(&sums[f]);
        }
    }
    while let Some(tap) = at.next(1) {
        let sums = correlations::<S, F, 1>(simd, geometry, input, deltas, tap);
        for f in 0..F {
            weights[(first + f) * taps + tap] = sums[f][0];
        }
    }
}

/// F filters' deltas against T taps.
#[inline(always)]
fn correlations<S: Simd, const F: usize, const T: usize>(
    simd: S,
    geometry: &Geometry,
    input: &[S::f32s],
    deltas: &[S::f32s],
    tap: usize,
) -> [[S::f32s; T]; F] {
    let positions = geometry.bases.len();
    let mut offsets = [0; T];
    offsets.copy_from_slice(&geometry.offsets[tap..tap + T]);
    let mut rows = [deltas; F];
    for f in 0..F {
        rows[f] = &deltas[f * positions..][..positions];
    }
    let mut sums = [[simd.splat_f32s(0.0); T]; F];
    for (p, &base) in geometry.bases.iter().enumerate() {
        let mut values = [simd.splat_f32s(0.0); T];
        for t in 0..T {
            values[t] = input[base + offsets[t]];
        }
        for f in 0..F {
            let delta = rows[f][p];
            for t in 0..T {
                sums[f][t] = simd.mul_add_e_f32s(delta, values[t], sums[f][t]);
            }
        }
    }
    sums
}

/// input_deltas\[bases\[p\] + offsets\[tap\]\] += Σ_f weights\[f\]\[tap\] · deltas\[f\]\[p\]. The
/// caller clears the input's deltas.
pub(crate) struct InputGradient<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) weights: &'a [f32],
    pub(crate) deltas: &'a [f32],
    pub(crate) input_deltas: &'a mut [f32],
}

impl WithSimd for InputGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { geometry, weights, deltas, input_deltas } = self;
        let (deltas, input_deltas) = (S::as_simd_f32s(deltas).0, S::as_mut_simd_f32s(input_deltas).0);
        let mut at = Stride::new(geometry.bases.len());
        while let Some(p) = at.next(2) {
            scatter_taps::<S, 2>(simd, geometry, weights, deltas, input_deltas, p);
        }
        while let Some(p) = at.next(1) {
            scatter_taps::<S, 1>(simd, geometry, weights, deltas, input_deltas, p);
        }
    }
}

#[inline(always)]
fn scatter_taps<S: Simd, const P: usize>(
    simd: S,
    geometry: &Geometry,
    weights: &[f32],
    deltas: &[S::f32s],
    input_deltas: &mut [S::f32s],
    first: usize,
) {
    let mut at = Stride::new(geometry.offsets.len());
    while let Some(tap) = at.next(4) {
        scatter::<S, P, 4>(simd, geometry, weights, deltas, input_deltas, first, tap);
    }
    while let Some(tap) = at.next(1) {
        scatter::<S, P, 1>(simd, geometry, weights, deltas, input_deltas, first, tap);
    }
}

/// P places and T taps.
#[inline(always)]
fn scatter<S: Simd, const P: usize, const T: usize>(
    simd: S,
    geometry: &Geometry,
    weights: &[f32],
    deltas: &[S::f32s],
    input_deltas: &mut [S::f32s],
    first: usize,
    tap: usize,
) {
    let (positions, taps) = (geometry.bases.len(), geometry.offsets.len());
    let mut sums = [[simd.splat_f32s(0.0); P]; T];
    for f in 0..geometry.filters {
        let deltas = &deltas[f * positions + first..][..P];
        let weights = &weights[f * taps + tap..][..T];
        for t in 0..T {
            let weight = simd.splat_f32s(weights[t]);
            for p in 0..P {
                sums[t][p] = simd.mul_add_e_f32s(weight, deltas[p], sums[t][p]);
            }
        }
    }
    for t in 0..T {
        for p in 0..P {
            let place = &mut input_deltas[geometry.bases[first + p] + geometry.offsets[tap + t]];
            *place = simd.add_f32s(*place, sums[t][p]);
        }
    }
}
