//! The two-dimensional discrete Fourier transform, planned once for a size.

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};
use std::sync::Arc;

/// Transforms grids of one size. Signals are `[rows][columns]`; spectra are transposed,
/// `[columns][rows]`, so that each transform needs one transposition only.
pub(super) struct Fourier<T: FftNum> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Along a row and along a column.
    forward: [Arc<dyn Fft<T>>; 2],
    inverse: [Arc<dyn Fft<T>>; 2],
}

impl<T: FftNum> Fourier<T> {
    pub(super) fn new(planner: &mut FftPlanner<T>, rows: usize, columns: usize) -> Self {
        let forward = [planner.plan_fft_forward(columns), planner.plan_fft_forward(rows)];
        let inverse = [planner.plan_fft_inverse(columns), planner.plan_fft_inverse(rows)];
        Self { rows, columns, forward, inverse }
    }

    /// Returns how many numbers a signal or a spectrum has.
    pub(super) fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns how many numbers of scratch both directions need at most.
    pub(super) fn scratch_len(&self) -> usize {
        let plans = self.forward.iter().chain(&self.inverse);
        plans.map(|plan| plan.get_inplace_scratch_len()).max().unwrap_or(0)
    }

    /// Writes the spectrum of `signal`, which is overwritten.
    pub(super) fn forward(&self, signal: &mut [Complex<T>], spectrum: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.forward[0].process_with_scratch(signal, scratch);
        transpose(signal, spectrum, self.columns);
        self.forward[1].process_with_scratch(spectrum, scratch);
    }

    /// Writes the signal of `spectrum` times its length; `spectrum` is overwritten.
    pub(super) fn inverse(&self, spectrum: &mut [Complex<T>], signal: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.inverse[1].process_with_scratch(spectrum, scratch);
        transpose(spectrum, signal, self.rows);
        self.inverse[0].process_with_scratch(signal, scratch);
    }
}

/// Writes the transpose of `from`, whose rows have `columns` numbers.
fn transpose<T: Copy>(from: &[T], to: &mut [T], columns: usize) {
    let rows = from.len() / columns;
    for (column, line) in to.chunks_exact_mut(rows).enumerate() {
        for (target, source) in line.iter_mut().zip(from[column..].iter().step_by(columns)) {
            *target = *source;
        }
    }
}

/// Writes the product of two spectra of `fourier`, folded by `step` in both directions: the
/// *sum* of the aliases. Its inverse transform is every `step`-th sample of the convolution, times
/// the number of samples before.
pub(super) fn multiply_and_fold(
    fourier: &Fourier<f32>,
    spectrum: &[Complex<f32>],
    filter: &[Complex<f32>],
    step: usize,
    folded: &mut [Complex<f32>],
) {
    let (lines, line) = (fourier.columns / step, fourier.rows);
    let short = line / step;
    folded.fill(Complex::new(0.0, 0.0));
    let sources = spectrum.chunks_exact(line).zip(filter.chunks_exact(line));
    for (index, (spectrum, filter)) in sources.enumerate() {
        let target = &mut folded[(index % lines) * short..][..short];
        for (spectrum, filter) in spectrum.chunks_exact(short).zip(filter.chunks_exact(short)) {
            for ((sum, a), b) in target.iter_mut().zip(spectrum).zip(filter) {
                sum.re += a.re * b.re - a.im * b.im;
                sum.im += a.re * b.im + a.im * b.re;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(length: usize) -> Vec<Complex<f32>> {
        (0..length).map(|index| Complex::new((index * index % 7) as f32, (index % 3) as f32)).collect()
    }

    #[test]
    fn the_inverse_undoes_the_transform() {
        let fourier = Fourier::<f32>::new(&mut FftPlanner::new(), 4, 8);
        let (mut there, mut back) = (signal(32), vec![Complex::default(); 32]);
        let mut scratch = vec![Complex::default(); fourier.scratch_len()];
        fourier.forward(&mut there, &mut back, &mut scratch);
        fourier.inverse(&mut back, &mut there, &mut scratch);
        for (found, expected) in there.iter().zip(signal(32)) {
            // Sums of 32 numbers below 10, in single precision.
            assert!((found / 32.0 - expected).norm() < 1e-5);
        }
    }

    /// The definition: a circular convolution in space, of which every second sample is taken.
    #[test]
    fn a_folded_product_is_a_subsampled_convolution() {
        let (rows, columns, step) = (4, 8, 2);
        let mut planner = FftPlanner::new();
        let fourier = Fourier::<f32>::new(&mut planner, rows, columns);
        let small = Fourier::<f32>::new(&mut planner, rows / step, columns / step);
        let mut scratch = vec![Complex::default(); fourier.scratch_len().max(small.scratch_len())];
        let kernel: Vec<_> = signal(32).into_iter().rev().collect();
        let spectrum_of = |mut signal: Vec<Complex<f32>>, scratch: &mut [Complex<f32>]| {
            let mut spectrum = vec![Complex::default(); 32];
            fourier.forward(&mut signal, &mut spectrum, scratch);
            spectrum
        };
        let (a, b) = (spectrum_of(signal(32), &mut scratch), spectrum_of(kernel.clone(), &mut scratch));
        let (mut folded, mut found) = (vec![Complex::default(); 8], vec![Complex::default(); 8]);
        multiply_and_fold(&fourier, &a, &b, step, &mut folded);
        small.inverse(&mut folded, &mut found, &mut scratch);
        for (index, found) in found.iter().enumerate() {
            let (row, column) = (step * (index / 4), step * (index % 4));
            let mut expected = Complex::new(0.0, 0.0);
            for (place, value) in signal(32).iter().enumerate() {
                let (i, j) = (place / columns, place % columns);
                expected += value * kernel[(row + rows - i) % rows * columns + (column + columns - j) % columns];
            }
            assert!((found / 32.0 - expected).norm() < 1e-5 * expected.norm(), "{found} {expected}");
        }
    }
}
