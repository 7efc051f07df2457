//! tanh and ReLU, number by number, and their derivatives from their values.

use pulp::{Simd, WithSimd};

/// Which function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    Tanh,
    Relu,
}

/// values\[i\] = f(values\[i\]).
pub(crate) struct Apply<'a> {
    pub(crate) activation: Activation,
    pub(crate) values: &'a mut [f32],
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let values = S::as_mut_simd_f32s(self.values).0;
        match self.activation {
            Activation::Tanh => {
                for value in values {
                    *value = tanh(simd, *value);
                }
            }
            Activation::Relu => {
                let zero = simd.splat_f32s(0.0);
                for value in values {
                    // A comparison, not a maximum: a NaN has to stay one.
                    *value = simd.select_f32s(simd.less_than_f32s(*value, zero), zero, *value);
                }
            }
        }
    }
}

/// deltas\[i\] *= f′, from f's value: 1 − tanh², or 1 where ReLU is positive (0 at 0, as PyTorch).
pub(crate) struct Derive<'a> {
    pub(crate) activation: Activation,
    pub(crate) values: &'a [f32],
    pub(crate) deltas: &'a mut [f32],
}

impl WithSimd for Derive<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (values, deltas) = (S::as_simd_f32s(self.values).0, S::as_mut_simd_f32s(self.deltas).0);
        let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
        match self.activation {
            Activation::Tanh => {
                for (delta, &value) in deltas.iter_mut().zip(values) {
                    *delta = simd.mul_f32s(*delta, simd.sub_f32s(one, simd.mul_f32s(value, value)));
                }
            }
            Activation::Relu => {
                for (delta, &value) in deltas.iter_mut().zip(values) {
                    *delta = simd.select_f32s(simd.greater_than_f32s(value, zero), *delta, zero);
                }
            }
        }
    }
}

/// Numerator of tanh(x)/x in powers of x², lowest first; with [`DENOMINATOR`] the minimax
/// approximation of Eigen's `ptanh_float`.
const NUMERATOR: [f32; 7] =
    [4.893_524_6e-3, 6.372_619_3e-4, 1.485_722_4e-5, 5.122_297_1e-8, -8.604_672e-11, 2.000_188e-13, -2.760_768_5e-16];
const DENOMINATOR: [f32; 4] = [4.893_525e-3, 2.268_434_6e-3, 1.185_347_1e-4, 1.198_258_4e-6];
/// Beyond this the rational function would leave [−1, 1]; tanh differs from ±1 by less than f32 can
/// show.
const EDGE: f32 = 7.905_311;

/// tanh within a few units in the last place.
#[inline(always)]
fn tanh<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (above, below) = (simd.splat_f32s(EDGE), simd.splat_f32s(-EDGE));
    let x = simd.select_f32s(simd.greater_than_f32s(x, above), above, x);
    let x = simd.select_f32s(simd.less_than_f32s(x, below), below, x);
    let square = simd.mul_f32s(x, x);
    let numerator = simd.mul_f32s(x, polynomial(simd, square, &NUMERATOR));
    simd.div_f32s(numerator, polynomial(simd, square, &DENOMINATOR))
}

#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, x: S::f32s, coefficients: &[f32; N]) -> S::f32s {
    let mut sum = simd.splat_f32s(coefficients[N - 1]);
    for i in 2..=N {
        sum = simd.mul_add_e_f32s(sum, x, simd.splat_f32s(coefficients[N - i]));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_accurate_to_a_few_units_in_the_last_place() {
        let mut xs: Vec<f32> = (-40_000..=40_000).map(|i| i as f32 * 2.5e-4).collect();
        xs.extend((0..240).map(|i| 2f32.powi(-120 + i) * 1.37));
        xs.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY]);
        xs.resize(xs.len().next_multiple_of(16), 0.0);
        let mut values = xs.clone();
        pulp::Arch::new().dispatch(Apply { activation: Activation::Tanh, values: &mut values });
        for (x, value) in xs.iter().zip(values) {
            let truth = f64::from(*x).tanh();
            let unit = f64::from(f32::EPSILON) * truth.abs().max(f64::from(f32::MIN_POSITIVE));
            assert!((f64::from(value) - truth).abs() <= 4.0 * unit, "tanh({x}) = {value}, not {truth}");
            assert!(value.abs() <= 1.0, "tanh({x}) = {value}");
        }
    }

    #[test]
    fn nan_stays_nan() {
        for activation in [Activation::Tanh, Activation::Relu] {
            let mut values = vec![f32::NAN; 16];
            pulp::Arch::new().dispatch(Apply { activation, values: &mut values });
            assert!(values.iter().all(|value| value.is_nan()), "{activation:?}");
        }
    }
}
