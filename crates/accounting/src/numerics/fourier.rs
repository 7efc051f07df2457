//! The discrete Fourier transform of a real sequence, the same on every platform, with a bound on
//! its error.
//!
//! Written here, so that the bound is proven for the operations that are done. Fast libraries
//! choose other operations on other processors: their answers differ in the last digits, and no one
//! bound is about all of them.
//!
//! Method: Stockham's self-sorting form. A complex transform of half the length, by stages of radix
//! 4, one of radix 2 where needed, and one of radix 3 for lengths 3·2^a; then one more layer that
//! takes the real sequence apart. Every twiddle factor comes from a table, none from another one.
//!
//! # The error
//!
//! With `u = 2^−53`, to first order, each layer is a multiple of a unitary map, and its computation
//! errs in the 2-norm by this much relative to its output:
//!
//! - A layer of complex additions: u, for each component is rounded once.
//! - A layer of products with twiddle factors: at most `2√2·u` for the product (Higham 2002, Lemma
//!   3.5), and the error of the factor. The angle has three roundings and is at most π/4, since
//!   tables are folded to that octant: `3·(π/4)·u`; sine and cosine are off by less than an ulp of
//!   a number below 1, so by u each: `√2·u`. Together below `6.6·u`.
//! - Radix 4: two layers of additions and one of products for two factors of two: `4.3·u` each.
//!   Radix 2: one and one, `7.6·u`. Radix 3: three layers of additions, two products with constants
//!   (half an ulp each, of size at most 1) and one of twiddle factors, below `12.6·u` for
//!   `log₂3 = 1.58` factors of two: `8·u` each.
//! - The last (backward: the first) layer: two of additions, one of products, `8.6·u`, for one
//!   factor of two.
//!
//! Higham's Theorem 24.2 adds them up: the error is at most [`ERROR_PER_FACTOR`]`·u·log₂N·‖y‖₂`,
//! which leaves two fifths for what first order leaves out and for the scaling of the layers.

use super::elementary::sin_cos;
use num_complex::Complex64;
use std::collections::HashMap;
use std::f64::consts::TAU;
use std::rc::Rc;

/// The transform errs by at most this many unit roundoffs, relative in the 2-norm, per factor of
/// two in its length.
pub(crate) const ERROR_PER_FACTOR: f64 = 14.0;

/// The transforms of sequences of one length: 1, or 2^a, or 3·2^a.
pub(crate) struct Fourier {
    length: usize,
    /// `e^{−2πik/N}` for k below N.
    twiddles: Vec<Complex64>,
}

/// Transforms by their length: their tables are dear.
#[derive(Default)]
pub(crate) struct Transforms(HashMap<usize, Rc<Fourier>>);

impl Transforms {
    /// The transform of this length.
    pub(crate) fn of(&mut self, length: usize) -> Rc<Fourier> {
        Rc::clone(self.0.entry(length).or_insert_with(|| Rc::new(Fourier::new(length))))
    }
}

impl Fourier {
    fn new(length: usize) -> Self {
        // Stages of other radices do not exist: the transform would be wrong in silence.
        assert!(matches!(length >> length.trailing_zeros(), 1 | 3), "no transform of length {length}");
        Self { length, twiddles: (0..length).map(|k| twiddle(k, length)).collect() }
    }

    /// `Σ x_j·e^{−2πijk/N}` for k = 0, …, N/2.
    pub(crate) fn forward(&self, sequence: &[f64]) -> Vec<Complex64> {
        if !self.length.is_multiple_of(2) {
            let values = sequence.iter().map(|x| Complex64::new(*x, 0.0)).collect();
            let mut all = self.complex(values, self.length);
            all.truncate(self.length / 2 + 1);
            return all;
        }
        let half = self.length / 2;
        let pairs = sequence.chunks_exact(2).map(|pair| Complex64::new(pair[0], pair[1])).collect();
        let packed = self.complex(pairs, half);
        let of = |k: usize| packed[k % half];
        (0..=half)
            .map(|k| {
                let (one, other) = (of(k), of(half - k).conj());
                let (even, odd) = (0.5 * (one + other), 0.5 * (one - other));
                // −i·w^k·odd
                let turned = self.twiddles[k] * odd;
                Complex64::new(even.re + turned.im, even.im - turned.re)
            })
            .collect()
    }

    /// `Σ X_k·e^{+2πijk/N}` over all k, where `X_{N−k}` is the conjugate of `X_k`: N times the
    /// sequence that [`forward`](Self::forward) takes to these frequencies.
    pub(crate) fn backward(&self, frequencies: &[Complex64], output: &mut [f64]) {
        if !self.length.is_multiple_of(2) {
            // The conjugate of the forward transform of the conjugates.
            let mirrored = |k: usize| frequencies[self.length - k].conj();
            let all = (0..self.length).map(|k| if k < frequencies.len() { frequencies[k] } else { mirrored(k) });
            let values = self.complex(all.map(|value| value.conj()).collect(), self.length);
            output.iter_mut().zip(values).for_each(|(x, value)| *x = value.re);
            return;
        }
        let half = self.length / 2;
        let packed = (0..half).map(|k| {
            let (one, other) = (frequencies[k], frequencies[half - k].conj());
            let turned = self.twiddles[k].conj() * (one - other);
            // one + other + i·turned, conjugated
            let sum = one + other;
            Complex64::new(sum.re - turned.im, -(sum.im + turned.re))
        });
        let pairs = self.complex(packed.collect(), half);
        for (pair, value) in output.chunks_exact_mut(2).zip(pairs) {
            (pair[0], pair[1]) = (value.re, -value.im);
        }
    }

    /// `Σ x_j·e^{−2πijk/n}` for all k, n the length of this transform or half of it.
    fn complex(&self, mut from: Vec<Complex64>, n: usize) -> Vec<Complex64> {
        let mut to = vec![Complex64::new(0.0, 0.0); n];
        let (mut left, mut stride) = (n, 1);
        while left > 1 {
            let radix = if left.is_multiple_of(3) {
                3
            } else if left.is_multiple_of(4) {
                4
            } else {
                2
            };
            let stage = Stage { twiddles: &self.twiddles, per_step: self.length / left, stride, groups: left / radix };
            match radix {
                3 => stage.by_three(&from, &mut to),
                4 => stage.by_four(&from, &mut to),
                _ => stage.by_two(&from, &mut to),
            }
            std::mem::swap(&mut from, &mut to);
            left /= radix;
            stride *= radix;
        }
        from
    }
}

/// One layer of butterflies: `groups·radix·stride` numbers, of which `stride` transforms are
/// interleaved.
struct Stage<'a> {
    twiddles: &'a [Complex64],
    /// Steps of the table to one step of this stage's root of unity.
    per_step: usize,
    stride: usize,
    groups: usize,
}

impl Stage<'_> {
    fn root(&self, k: usize) -> Complex64 {
        self.twiddles[k * self.per_step]
    }

    fn by_two(&self, from: &[Complex64], to: &mut [Complex64]) {
        let (a, b) = from.split_at(self.groups * self.stride);
        let inputs = a.chunks_exact(self.stride).zip(b.chunks_exact(self.stride));
        for (p, (output, (a, b))) in to.chunks_exact_mut(2 * self.stride).zip(inputs).enumerate() {
            let w = self.root(p);
            let (sums, differences) = output.split_at_mut(self.stride);
            for q in 0..self.stride {
                sums[q] = a[q] + b[q];
                differences[q] = w * (a[q] - b[q]);
            }
        }
    }

    fn by_three(&self, from: &[Complex64], to: &mut [Complex64]) {
        const HALF_SQRT_3: f64 = 0.866_025_403_784_438_6;
        let part = self.groups * self.stride;
        for (p, output) in to.chunks_exact_mut(3 * self.stride).enumerate() {
            let (w_1, w_2) = (self.root(p), self.root(2 * p));
            let at = p * self.stride;
            let (a, b, c) = (&from[at..], &from[at + part..], &from[at + 2 * part..]);
            let (first, rest) = output.split_at_mut(self.stride);
            let (second, third) = rest.split_at_mut(self.stride);
            for q in 0..self.stride {
                let sum = b[q] + c[q];
                let difference = HALF_SQRT_3 * (b[q] - c[q]);
                let middle = a[q] - 0.5 * sum;
                // −i·difference
                let turned = Complex64::new(difference.im, -difference.re);
                first[q] = a[q] + sum;
                second[q] = w_1 * (middle + turned);
                third[q] = w_2 * (middle - turned);
            }
        }
    }

    fn by_four(&self, from: &[Complex64], to: &mut [Complex64]) {
        let part = self.groups * self.stride;
        for (p, output) in to.chunks_exact_mut(4 * self.stride).enumerate() {
            let (w_1, w_2, w_3) = (self.root(p), self.root(2 * p), self.root(3 * p));
            let input = |i: usize| &from[p * self.stride + i * part..][..self.stride];
            let (a, b, c, d) = (input(0), input(1), input(2), input(3));
            let (low, high) = output.split_at_mut(2 * self.stride);
            let ((first, second), (third, fourth)) = (low.split_at_mut(self.stride), high.split_at_mut(self.stride));
            for q in 0..self.stride {
                let (sum_ac, difference_ac) = (a[q] + c[q], a[q] - c[q]);
                let (sum_bd, difference_bd) = (b[q] + d[q], b[q] - d[q]);
                // −i·difference
                let turned = Complex64::new(difference_bd.im, -difference_bd.re);
                first[q] = sum_ac + sum_bd;
                second[q] = w_1 * (difference_ac + turned);
                third[q] = w_2 * (sum_ac - sum_bd);
                fourth[q] = w_3 * (difference_ac - turned);
            }
        }
    }
}

/// `e^{−2πik/N}`, from an angle of at most π/4.
fn twiddle(k: usize, length: usize) -> Complex64 {
    // The eighth of the circle, and how far into it: exact.
    let eighth = 8 * k / length;
    let into = |from: usize| TAU * ((8 * k).abs_diff(from * length) as f64 / (8.0 * length as f64));
    let (sine, cosine) = match eighth {
        0 => sin_cos(into(0)),
        1 => swapped(sin_cos(into(2))),
        2 => with_signs(swapped(sin_cos(into(2))), 1.0, -1.0),
        3 => with_signs(sin_cos(into(4)), 1.0, -1.0),
        4 => with_signs(sin_cos(into(4)), -1.0, -1.0),
        5 => with_signs(swapped(sin_cos(into(6))), -1.0, -1.0),
        6 => with_signs(swapped(sin_cos(into(6))), -1.0, 1.0),
        _ => with_signs(sin_cos(into(8)), -1.0, 1.0),
    };
    Complex64::new(cosine, -sine)
}

fn swapped((a, b): (f64, f64)) -> (f64, f64) {
    (b, a)
}

fn with_signs((a, b): (f64, f64), of_a: f64, of_b: f64) -> (f64, f64) {
    (of_a * a, of_b * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::compensated::Accumulator;

    const U: f64 = f64::EPSILON / 2.0;

    /// Some numbers of either sign without a pattern, of sizes from 1e-10 to 1.
    fn sequence(length: usize) -> Vec<f64> {
        let part = |i: usize, by: f64| ((i + 1) as f64 * by).fract();
        (0..length).map(|i| (part(i, 0.618_034) - 0.5) * 10.0_f64.powf(-10.0 * part(i, 0.414_214))).collect()
    }

    /// By the definition, with sums that lose nothing to speak of.
    fn by_definition(values: &[f64], k: usize) -> Complex64 {
        let n = values.len();
        let part = |of: fn(Complex64) -> f64| -> f64 {
            values.iter().enumerate().map(|(j, x)| x * of(twiddle(j * k % n, n))).collect::<Accumulator>().total()
        };
        Complex64::new(part(|z| z.re), part(|z| z.im))
    }

    fn norm(values: impl Iterator<Item = f64>) -> f64 {
        values.map(|x| x * x).sum::<f64>().sqrt()
    }

    const LENGTHS: [usize; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 64, 96, 384, 512];

    /// A length without stages of its own must not give a wrong answer in silence.
    #[test]
    #[should_panic(expected = "no transform of length 10")]
    fn other_lengths_are_refused() {
        Fourier::new(10);
    }

    #[test]
    fn transforms_are_what_the_definition_says() {
        for length in LENGTHS {
            let values = sequence(length);
            let found = Fourier::new(length).forward(&values);
            assert_eq!(found.len(), length / 2 + 1);
            let size = norm(values.iter().copied()) * (length as f64).sqrt();
            for (k, value) in found.iter().enumerate() {
                let off = (value - by_definition(&values, k)).norm();
                let charged = ERROR_PER_FACTOR * U * (length as f64).log2().max(1.0) * size;
                assert!(off <= charged, "{k} of {length}: {off:e} {charged:e}");
            }
        }
    }

    #[test]
    fn there_and_back() {
        for length in LENGTHS.into_iter().chain([3 << 12, 1 << 15]) {
            let values = sequence(length);
            let fourier = Fourier::new(length);
            let mut back = vec![0.0; length];
            fourier.backward(&fourier.forward(&values), &mut back);
            let off = norm(back.iter().zip(&values).map(|(x, y)| x / length as f64 - y));
            let charged = 2.0 * ERROR_PER_FACTOR * U * (length as f64).log2().max(1.0) * norm(values.iter().copied());
            // A third of the charge is all that is ever seen.
            assert!(off <= charged / 3.0, "{length}: {off:e} {charged:e}");
        }
    }

    /// The seven other eighths of the circle repeat the first, exactly.
    #[test]
    #[allow(clippy::float_cmp, reason = "mirror images are exact")]
    fn twiddle_factors_are_symmetric() {
        for length in [8, 24, 96, 1024] {
            // On the diagonals sine and cosine are two roundings of one number.
            for k in (0..length).filter(|k| 8 * k % length != 0) {
                let (w, mirrored) = (twiddle(k, length), twiddle((length - k) % length, length));
                assert_eq!((w.re, w.im.abs()), (mirrored.re, mirrored.im.abs()), "{k} of {length}");
                assert!((w - Complex64::from_polar(1.0, -TAU * k as f64 / length as f64)).norm() < 24.0 * U);
                let quarter = twiddle((k + length / 4) % length, length);
                assert_eq!((w.im, -w.re), (quarter.re, quarter.im), "{k} of {length}");
            }
        }
    }
}
