//! Cyclic convolution powers by FFT, with a bound on their error.

use crate::numerics::elementary::{atan2, exp, exp_m1, from_polar, ln, ln_1p, log2, modulus, powi};
use crate::numerics::fourier::{ERROR_PER_FACTOR, Fourier, Transforms};
use num_complex::Complex64;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static TRANSFORMS: RefCell<Transforms> = RefCell::default();
}

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// Relative errors below this are treated to first order.
const SMALL: f64 = 0.1;

/// Frequencies of this size are left out of a product.
const NEGLIGIBLE: f64 = 1e-30;

/// Nothing smaller is multiplied up: its relative accuracy may be lost.
const UNDERFLOW: f64 = 1e-260;

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

/// The cyclic convolution of all `factors`, each to its power, on a cycle of `length` points, with
/// a bound on the absolute error of each point.
pub fn product_of_powers(factors: &[Factor<'_>], length: usize) -> (Vec<f64>, f64) {
    let mut product = Product::one(length);
    for factor in factors {
        product.multiply(&Spectrum::new(factor.first, factor.stride, factor.values, length).raised(factor.power));
    }
    product.transformed_back()
}

/// The spectrum of a sequence on a cycle.
pub(crate) struct Spectrum {
    length: usize,
    values: Vec<Complex64>,
    /// No frequency is off by more.
    error: f64,
}

impl Spectrum {
    /// Transforms the sequence that has these values at `first`, `first + stride`, …, taken modulo
    /// `length`.
    ///
    /// Each frequency is within `e = c·u·log₂N·√N·‖x‖₂` of the truth.
    pub(crate) fn new(first: i64, stride: i64, values: &[f64], length: usize) -> Self {
        let mut cycle = vec![0.0; length];
        let mut index = first.rem_euclid(length as i64);
        for value in values {
            cycle[index as usize] += value;
            index = (index + stride) % length as i64;
        }
        let norm = cycle.iter().map(|x| x * x).sum::<f64>().sqrt();
        let error = ERROR_PER_FACTOR * U * steps(length) * (length as f64).sqrt() * norm;
        Self { length, values: transform(length).forward(&cycle), error }
    }

    /// A frequency, and how far it may be off.
    pub(crate) fn frequency(&self, f: usize) -> (Complex64, f64) {
        (self.values[f], self.error)
    }

    /// The spectrum to a power. `|a^T − b^T| ≤ (|a|+e)^T − |a|^T` for |a − b| ≤ e.
    pub(crate) fn raised(&self, power: u64) -> Product {
        let mut product = Product::one(self.length);
        let exponent = power as f64;
        for (f, value) in self.values.iter().enumerate() {
            let frequency = Frequency { value: *value, size: value.norm_sqr().sqrt(), error: self.error };
            product.set(f, power_of(*value, power), frequency, exponent, 8.0 * U * exponent);
        }
        product
    }

    /// The spectrum of `power` draws, each of which is from the sequence with probability `rate`,
    /// and else 0.
    ///
    /// Its frequencies are `1 + ρ(a − 1)`, each off by ρ times the error of a. A power of 10⁹ of
    /// something next to 1 costs no digits, because it goes by the logarithm.
    pub(crate) fn thinned(&self, rate: f64, power: u64) -> Product {
        if rate >= 1.0 {
            return self.raised(power);
        }
        let mut product = Product::one(self.length);
        let exponent = power as f64;
        for (f, value) in self.values.iter().enumerate() {
            let difference = rate * (value - 1.0);
            let (raised, rounding) = power_of_one_plus(difference, exponent);
            let moved = 1.0 + difference;
            let error = rate * self.error + 4.0 * U * difference.norm_sqr().sqrt();
            let frequency = Frequency { value: moved, size: moved.norm_sqr().sqrt(), error };
            product.set(f, raised, frequency, exponent, rounding);
        }
        product
    }

    /// The spectrum of a random number of draws: `Σ w·a^T` over these (T, w), T increasing.
    pub(crate) fn mixed(&self, numbers: &[(u64, f64)]) -> Product {
        let most = numbers.last().map_or(0.0, |(number, _)| *number as f64);
        let terms = numbers.len() as f64;
        let mut product = Product::one(self.length);
        for (f, value) in self.values.iter().enumerate() {
            let size = value.norm_sqr().sqrt();
            // Horner's rule, from the largest number down, of the value, its size and its largest
            // possible size.
            let (mut sum, mut sum_of_sizes, mut sum_of_largest) = (Complex64::new(0.0, 0.0), 0.0, 0.0);
            let mut above = numbers.last().map_or(0, |(number, _)| *number);
            let mut down_to = |number: u64, weight: f64| {
                let step = above - number;
                let power = i32::try_from(step).unwrap_or(i32::MAX);
                sum = sum * power_of(*value, step) + weight;
                sum_of_sizes = sum_of_sizes * powi(size, power) + weight;
                sum_of_largest = sum_of_largest * powi(size + self.error, power) + weight;
                above = number;
            };
            numbers.iter().rev().for_each(|(number, weight)| down_to(*number, *weight));
            down_to(0, 0.0);
            product.values[f] = sum;
            product.sizes[f] = sum_of_sizes;
            product.relative[f] = most * (self.error / size + 8.0 * U) + 8.0 * U * terms;
            product.ln_largest[f] = ln(sum_of_largest) + 8.0 * U * (most + terms);
        }
        product
    }
}

/// One frequency of a spectrum.
struct Frequency {
    value: Complex64,
    size: f64,
    error: f64,
}

/// Frequencies of a product of powers, and how far they may be off.
#[derive(Clone)]
pub(crate) struct Product {
    length: usize,
    values: Vec<Complex64>,
    /// The scale of relative errors: at least the size of each value.
    sizes: Vec<f64>,
    /// The relative error: `Σ T_j·e_j/|a_j|` over the factors. Where it is not small, it is not
    /// used.
    relative: Vec<f64>,
    /// `Σ T_j·ln(|a_j| + e_j)`: the truth is at most the exponential of this.
    ln_largest: Vec<f64>,
}

impl Product {
    /// The sequence that is 1 at 0.
    pub(crate) fn one(length: usize) -> Self {
        let frequencies = length / 2 + 1;
        Self {
            length,
            values: vec![Complex64::new(1.0, 0.0); frequencies],
            sizes: vec![1.0; frequencies],
            relative: vec![0.0; frequencies],
            ln_largest: vec![0.0; frequencies],
        }
    }

    fn set(&mut self, f: usize, raised: Complex64, base: Frequency, exponent: f64, rounding: f64) {
        let share = exponent * base.error / base.size + rounding;
        self.values[f] = raised;
        self.sizes[f] = raised.norm_sqr().sqrt();
        self.relative[f] = share;
        // ln(|a|+e) ≤ |a| − 1 + e/|a|: the logarithm proper is needed only where the error is not
        // small.
        self.ln_largest[f] = if share < SMALL {
            exponent * (base.size - 1.0) + share
        } else {
            exponent * ln(base.size + base.error) + rounding
        };
        // A base that is no number must not pass for a small one.
        if base.value.is_nan() {
            (self.relative[f], self.ln_largest[f]) = (f64::NAN, f64::NAN);
        }
    }

    /// Multiplies by another product: `|Π a_j − Π b_j| ≤ Π(|a_j|+e_j) − Π|a_j| ≤ Π|a_j|·(exp(Σ
    /// e_j/|a_j|) − 1)` for |a_j − b_j| ≤ e_j.
    pub(crate) fn multiply(&mut self, other: &Self) {
        for (value, other) in self.values.iter_mut().zip(&other.values) {
            *value *= other;
        }
        for (size, other) in self.sizes.iter_mut().zip(&other.sizes) {
            *size *= other;
        }
        for (relative, other) in self.relative.iter_mut().zip(&other.relative) {
            *relative += other + 4.0 * U;
        }
        for (ln_largest, other) in self.ln_largest.iter_mut().zip(&other.ln_largest) {
            *ln_largest += other;
        }
    }

    /// At least how far any point of the sequence is off for the errors of the frequencies,
    /// whichever of these products it is of: the mean over the frequencies, each with the largest
    /// size and the largest error of all, and an error of `rounding` besides.
    fn largest_error(products: &[Self], rounding: f64) -> f64 {
        let worst = |f: usize| {
            let relative = products.iter().map(|product| product.relative[f] + rounding).fold(0.0, larger);
            let of = |value: fn(&Self, usize) -> f64| products.iter().map(|p| value(p, f)).fold(0.0, larger);
            if relative < SMALL {
                of(|product, f| product.sizes[f]) * exp_m1(relative)
            } else {
                2.0 * of(|product, f| exp(product.ln_largest[f]))
            }
        };
        let first = &products[0];
        // All frequencies but the first and the last stand for two.
        2.0 * (0..first.values.len()).map(worst).sum::<f64>() / first.length as f64
    }

    /// The sequence itself, and a bound on the absolute error of each of its points.
    pub(crate) fn transformed_back(mut self) -> (Vec<f64>, f64) {
        let error = Self::largest_error(std::slice::from_ref(&self), 0.0);
        let mut output = vec![0.0; self.length];
        let norm = transform_back(&mut self.values, &mut output);
        (output, error + norm)
    }
}

/// The products `a^(k·step)·b^((count − k)·step)·common` for k = 0, 1, …, `count`, a and b thinned
/// with these rates, each transformed back: `each` gets k, the sequence and a bound on the error of
/// its points.
///
/// From one k to the next a frequency is multiplied by (a/b)^step. Its size is log-linear in k and
/// so largest at an end, and likewise its error; frequencies that are negligible at both ends are
/// left out and charged.
pub(crate) fn each_product(
    (a, b): (&Spectrum, &Spectrum),
    (rate_a, rate_b): (f64, f64),
    common: &Product,
    step: u64,
    count: usize,
    mut each: impl FnMut(usize, &[f64], f64),
) {
    let ends = [(b, rate_b), (a, rate_a)].map(|(one, rate)| {
        let mut product = one.thinned(rate, step * count as u64);
        product.multiply(common);
        product
    });
    let (step_a, step_b) = (a.thinned(rate_a, step), b.thinned(rate_b, step));
    let mut left_out = 0.0;
    let mut kept: Vec<Walking> = Vec::new();
    for f in 0..common.values.len() {
        let largest = larger(ends[0].sizes[f], ends[1].sizes[f]);
        if largest < NEGLIGIBLE {
            left_out += largest;
        } else {
            kept.push(Walking::new(f, step_a.values[f], step_b.values[f], common.values[f], count));
            left_out += UNDERFLOW;
        }
    }
    let rounding = 16.0 * U * count as f64;
    let error = Product::largest_error(&ends, rounding) + 2.0 * left_out / common.length as f64;
    let mut product = vec![Complex64::new(0.0, 0.0); common.values.len()];
    let mut output = vec![0.0; common.length];
    for k in 0..=count {
        product.fill(Complex64::new(0.0, 0.0));
        for frequency in kept.iter_mut().filter(|frequency| frequency.from <= k) {
            product[frequency.index] = frequency.value;
            frequency.value *= frequency.factor;
        }
        let norm = transform_back(&mut product, &mut output);
        each(k, &output, error + norm);
    }
}

/// One frequency of the products `a^k·b^(count−k)·common`, from one k to the next.
struct Walking {
    index: usize,
    /// The first k at which it is not below [`UNDERFLOW`].
    from: usize,
    value: Complex64,
    /// a/b.
    factor: Complex64,
}

impl Walking {
    fn new(index: usize, a: Complex64, b: Complex64, common: Complex64, count: usize) -> Self {
        let (ln_a, ln_b) = (ln(modulus(a)), ln(modulus(b)));
        let ln_first = count as f64 * ln_b + ln(modulus(common));
        let missing = ln(UNDERFLOW) - ln_first;
        // Neither a nor b is larger than 1: if their product does not underflow, neither do their
        // powers.
        let from = if missing <= 0.0 { 0 } else { (missing / (ln_a - ln_b)).ceil().clamp(0.0, count as f64) as usize };
        let from = if ln_b.is_finite() { from } else { count };
        let value = power_of(a, from as u64) * power_of(b, (count - from) as u64) * common;
        Self { index, from, value, factor: a / b }
    }
}

/// Transforms back, and returns a bound on the error that this adds to each point.
pub(crate) fn transform_back(values: &mut [Complex64], output: &mut [f64]) -> f64 {
    let length = output.len();
    // These are real, but for rounding.
    values[0].im = 0.0;
    if length.is_multiple_of(2) {
        values[length / 2].im = 0.0;
    }
    transform(length).backward(values, output);
    let scale = 1.0 / length as f64;
    let mut squares = 0.0;
    for x in output {
        *x *= scale;
        squares += *x * *x;
    }
    ERROR_PER_FACTOR * U * steps(length) * squares.sqrt()
}

/// The transform of this length, with its table from an earlier call if there was one.
fn transform(length: usize) -> Rc<Fourier> {
    TRANSFORMS.with_borrow_mut(|transforms| transforms.of(length))
}

/// The larger of two, and NaN if either is.
fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

fn steps(length: usize) -> f64 {
    log2(length as f64).max(1.0)
}

/// Below this size, `1 + d` itself has more digits than `ln(1 + d)` by way of d.
const SMALL_BASE: f64 = 0.5;

/// `(1 + d)^k`, and the relative error that computing it adds, beside what `1 + d` is off by.
///
/// Next to 1 the logarithm of the size comes from d, so that a power of 10⁹ costs no digits; next
/// to 0 that difference would cancel, and it comes from `1 + d`.
pub(crate) fn power_of_one_plus(difference: Complex64, exponent: f64) -> (Complex64, f64) {
    let moved = 1.0 + difference;
    let size = moved.norm_sqr().sqrt();
    let ln_size = if size < SMALL_BASE { ln(size) } else { 0.5 * ln_1p(2.0 * difference.re + difference.norm_sqr()) };
    let angle = atan2(moved.im, moved.re);
    let power = from_polar(exp(exponent * ln_size), exponent * angle);
    (power, 16.0 * U * (1.0 + exponent * (ln_size.abs() + angle.abs())))
}

/// `z^n` by repeated squaring: relative error at most about `4n` unit roundoffs.
fn power_of(mut base: Complex64, mut exponent: u64) -> Complex64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// (1/4, 3/4) to the 16th: every mass is a float.
    fn binomial(power: u64) -> Vec<f64> {
        let mut masses = vec![1.0];
        for _ in 0..power {
            let mut next = vec![0.0; masses.len() + 1];
            for (i, mass) in masses.iter().enumerate() {
                next[i] += 0.25 * mass;
                next[i + 1] += 0.75 * mass;
            }
            masses = next;
        }
        masses
    }

    fn assert_within(cycle: &[f64], error: f64, exact: &[f64]) {
        let off = cycle.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off > 0.0 && off <= error && error < 1e-12, "off by {off:e}, charged {error:e}");
    }

    /// Next to 0 the power of 1 + d is as good as 1 + d.
    #[test]
    fn powers_of_what_is_next_to_nothing() {
        for (re, im) in [(2e-9, 0.0), (-3e-9, 1e-9), (1e-12, 5e-11), (0.3, 0.2)] {
            let difference = Complex64::new(re - 1.0, im);
            let exact = 1.0 + difference;
            for exponent in [1_u64, 3, 8] {
                let (power, rounding) = power_of_one_plus(difference, exponent as f64);
                let truth = power_of(exact, exponent);
                let off = (power - truth).norm_sqr().sqrt() / truth.norm_sqr().sqrt();
                assert!(off <= 2.0 * rounding, "{re}, {im}, {exponent}: {off:e} {rounding:e}");
            }
        }
    }

    #[test]
    fn the_error_that_is_charged_covers_the_one_that_is_made() {
        let factor = Factor { first: 0, stride: 1, values: &[0.25, 0.75], power: 16 };
        let (cycle, error) = product_of_powers(&[factor], 24);
        assert_within(&cycle, error, &binomial(16));
        // Two factors, and one draw of each of 16 that happens with probability 3/4: the same law.
        let two = || Factor { first: 0, stride: 1, values: &[0.25, 0.75], power: 8 };
        let (cycle, error) = product_of_powers(&[two(), two()], 24);
        assert_within(&cycle, error, &binomial(16));
        let (cycle, error) = Spectrum::new(1, 1, &[1.0], 24).thinned(0.75, 16).transformed_back();
        assert_within(&cycle, error, &binomial(16));
        // A random number of draws.
        let (cycle, error) = Spectrum::new(0, 1, &[0.25, 0.75], 24).mixed(&[(3, 0.5), (16, 0.5)]).transformed_back();
        let three = binomial(3);
        let mixed: Vec<f64> =
            binomial(16).iter().enumerate().map(|(i, m)| 0.5 * m + 0.5 * three.get(i).unwrap_or(&0.0)).collect();
        assert_within(&cycle, error, &mixed);
    }

    /// Every choice of two kinds against its own product.
    #[test]
    fn products_of_all_choices_are_what_they_are() {
        let (a, b) = (Spectrum::new(0, 1, &[0.25, 0.75], 24), Spectrum::new(1, 1, &[1.0], 24));
        let mut seen = 0;
        each_product((&a, &b), (1.0, 1.0), &Product::one(24), 2, 5, |k, cycle, error| {
            // b moves by one: 2·(5 − k) of them move the binomial of 2k.
            let mut exact = vec![0.0; 2 * (5 - k)];
            exact.extend(binomial(2 * k as u64));
            let off = cycle.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off <= error && error < 1e-12, "{k}: off by {off:e}, charged {error:e}");
            seen += 1;
        });
        assert_eq!(seen, 6);
    }

    /// A frequency that thinning brings next to 0: its logarithm has no digits left, and the charge
    /// must know.
    #[test]
    fn thinned_frequencies_next_to_nothing() {
        for length in [3_usize, 6, 12, 24, 48, 96] {
            for shift in 1..length as i64 {
                let (cycle, error) = Spectrum::new(shift, 1, &[1.0], length).thinned(0.5, 1).transformed_back();
                let mut exact = vec![0.0; length];
                exact[0] += 0.5;
                exact[shift as usize] += 0.5;
                let off = cycle.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off <= error, "{shift} of {length}: off by {off:e}, charged {error:e}");
            }
        }
    }
}
