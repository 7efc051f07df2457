//! Cyclic convolution powers by FFT, with a bound on their error.

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;
use std::cell::RefCell;

thread_local! {
    /// Plans are dear and depend on the length only.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// The FFT's relative error in the 2-norm is at most this many unit roundoffs per factor of two in length. Higham (2002), Theorem 24.2 gives
/// `(1 + 4√2)` for radix 2 with twiddles correct to a unit roundoff; larger radices do fewer steps. Doubled, for real-to-complex packing.
const FFT_CONSTANT: f64 = 14.0;

/// Relative errors below this are treated to first order.
const SMALL: f64 = 0.1;

/// The smallest length of the form 2^a or 3·2^a that is at least `length`.
pub fn fast_length(length: usize) -> usize {
    let two = length.next_power_of_two();
    let three = two / 4 * 3;
    if three >= length { three } else { two }
}

/// A sequence on a cycle, given by (index, value), and how often it is to be convolved with itself.
pub struct Factor<'a> {
    /// Where the first value stands; taken modulo the length of the cycle.
    pub first: i64,
    /// Distance between consecutive values.
    pub stride: i64,
    /// The values, non-negative.
    pub values: &'a [f64],
    /// The power.
    pub power: u64,
}

/// The cyclic convolution of all `factors`, each to its power, on a cycle of `length` points, with a bound on the absolute error of each point.
///
/// Each spectrum is within `e = c·u·log₂N·√N·‖x‖₂` of the truth at every frequency, and
/// `|Π a_j^{T_j} − Π b_j^{T_j}| ≤ Π(|a_j|+e_j)^{T_j} − Π|a_j|^{T_j}`; the mean of that over the frequencies, and the error of the transform
/// back, bound each point.
pub fn product_of_powers(factors: &[Factor<'_>], length: usize) -> (Vec<f64>, f64) {
    let (forward, inverse) = PLANNER.with_borrow_mut(|p| (p.plan_fft_forward(length), p.plan_fft_inverse(length)));
    let steps = (length as f64).log2().max(1.0);
    let mut product = vec![Complex64::new(1.0, 0.0); length / 2 + 1];
    // Σ T_j·e_j/|a_j|, frequency by frequency: the relative error of the product while it is small.
    let mut relative = vec![0.0_f64; length / 2 + 1];
    // Σ T_j·ln(|a_j| + e_j) where it is not: the product is then at most this.
    let mut ln_largest = vec![0.0_f64; length / 2 + 1];
    for factor in factors {
        let mut cycle = vec![0.0; length];
        let mut index = factor.first.rem_euclid(length as i64);
        for value in factor.values {
            cycle[index as usize] += value;
            index = (index + factor.stride) % length as i64;
        }
        let norm = cycle.iter().map(|x| x * x).sum::<f64>().sqrt();
        let error = FFT_CONSTANT * U * steps * (length as f64).sqrt() * norm;
        let mut spectrum = forward.make_output_vec();
        if forward.process(&mut cycle, &mut spectrum).is_err() {
            return (vec![f64::NAN; length], f64::NAN);
        }
        let exponent = factor.power as f64;
        for (f, value) in spectrum.iter().enumerate() {
            let magnitude = value.norm_sqr().sqrt();
            let share = exponent * (error / magnitude + 8.0 * U);
            product[f] *= power(*value, factor.power);
            relative[f] += share;
            // ln(|a|+e) ≤ |a| − 1 + e/|a|: the logarithm proper is needed only where the error is not small.
            ln_largest[f] += if share < SMALL {
                exponent * (magnitude - 1.0) + share
            } else {
                exponent * (magnitude * (1.0 + 8.0 * U) + error).ln()
            };
        }
    }
    let error_at = |f: usize| {
        if relative[f] < SMALL {
            product[f].norm_sqr().sqrt() * relative[f].exp_m1()
        } else {
            2.0 * ln_largest[f].exp()
        }
    };
    // All frequencies but the first and the last stand for two.
    let mean_error = 2.0 * (0..product.len()).map(error_at).sum::<f64>() / length as f64;

    // The transform wants exactly real ends.
    product[0].im = 0.0;
    if length.is_multiple_of(2) {
        product[length / 2].im = 0.0;
    }
    let mut output = inverse.make_output_vec();
    if inverse.process(&mut product, &mut output).is_err() {
        return (vec![f64::NAN; length], f64::NAN);
    }
    let scale = 1.0 / length as f64;
    output.iter_mut().for_each(|x| *x *= scale);
    let norm = output.iter().map(|x| x * x).sum::<f64>().sqrt();
    (output, mean_error + FFT_CONSTANT * U * steps * norm)
}

/// `z^n` by repeated squaring: relative error at most about `4n` unit roundoffs.
fn power(mut base: Complex64, mut exponent: u64) -> Complex64 {
    let mut result = Complex64::new(1.0, 0.0);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
