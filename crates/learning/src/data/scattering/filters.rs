//! Morlet wavelets and the Gaussian low-pass, on a periodic grid. Constants and conventions are
//! those of kymatio's two-dimensional scattering transform.

use libm::{cos, exp, floor, sin, sqrt};
use rustfft::num_complex::Complex;
use std::f64::consts::PI;

/// Periods on each side that are added up.
const PERIODS: i64 = 2;
/// e^−80 is below what any sum here can resolve, in double precision.
const NEGLIGIBLE: f64 = 80.0;

/// The width of a wavelet's envelope at scale j: 0.8·2^j pixels.
fn width(scale: usize) -> f64 {
    0.8 * (1u64 << scale) as f64
}

/// A Gabor function: a plane wave of frequency `xi` under a Gaussian envelope of width `sigma`,
/// turned by `theta` and stretched by 1/`slant` across the wave.
struct Gabor {
    sigma: f64,
    theta: f64,
    xi: f64,
    slant: f64,
}

impl Gabor {
    /// Returns its periodic sum on a grid, `[rows][columns]`:
    ///
    /// Σ exp(−(aX² + bXY + cY²) + iξ(X cos θ + Y sin θ)) / (2πσ²/slant), where X and Y run over the
    /// grid point and its copies in the neighbouring periods, and \[\[a, b/2\], \[b/2, c\]\] is
    /// R·diag(1, slant²)·Rᵀ/(2σ²) with the rotation R by θ.
    fn on_grid(&self, rows: usize, columns: usize) -> Vec<Complex<f64>> {
        let (cosine, sine) = (cos(self.theta), sin(self.theta));
        let (across, along) = (self.slant * self.slant, 1.0 / (2.0 * self.sigma * self.sigma));
        let a = (cosine * cosine + across * sine * sine) * along;
        let b = 2.0 * (cosine * sine - across * cosine * sine) * along;
        let c = (sine * sine + across * cosine * cosine) * along;
        let scale = self.slant / (2.0 * PI * self.sigma * self.sigma);
        let copies = |place: usize, period: usize| {
            (-PERIODS..=PERIODS).map(move |copy| (place as i64 + copy * period as i64) as f64)
        };
        let mut grid = Vec::with_capacity(rows * columns);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let mut sum = Complex::new(0.0, 0.0);
            for x in copies(row, rows) {
                for y in copies(column, columns) {
                    let form = a * x * x + b * x * y + c * y * y;
                    if form < NEGLIGIBLE {
                        let phase = self.xi * (x * cosine + y * sine);
                        sum += Complex::new(cos(phase), sin(phase)) * exp(-form);
                    }
                }
            }
            grid.push(sum * scale);
        }
        grid
    }
}

/// Returns the Morlet wavelet of scale j and angle l of `angles`, on a grid `[rows][columns]`: a
/// Gabor function less a multiple of its envelope, such that its sum is zero.
pub(super) fn morlet(rows: usize, columns: usize, scale: usize, angle: usize, angles: usize) -> Vec<Complex<f64>> {
    let count = angles as f64;
    let theta = (floor(count - count / 2.0 - 1.0) - angle as f64) * PI / count;
    let (sigma, slant) = (width(scale), 4.0 / count);
    let xi = 0.75 * PI / (1u64 << scale) as f64;
    let wave = Gabor { sigma, theta, xi, slant }.on_grid(rows, columns);
    let envelope = Gabor { sigma, theta, xi: 0.0, slant }.on_grid(rows, columns);
    let sum = |grid: &[Complex<f64>]| grid.iter().sum::<Complex<f64>>();
    let share = sum(&wave) / sum(&envelope);
    wave.iter().zip(envelope).map(|(wave, envelope)| wave - share * envelope).collect()
}

/// Returns the low-pass of `scales` scales along one side of the grid. The Gaussian of width
/// 0.8·2^(J−1) is a product of one for the rows and one for the columns.
pub(super) fn low_pass(side: usize, scales: usize) -> Vec<f64> {
    let sigma = width(scales - 1);
    let gaussian = |x: f64| exp(-x * x / (2.0 * sigma * sigma)) / (sqrt(2.0 * PI) * sigma);
    let copies = |place: usize| (-PERIODS..=PERIODS).map(move |copy| (place as i64 + copy * side as i64) as f64);
    (0..side).map(|place| copies(place).map(gaussian).sum()).collect()
}

/// Returns a grid's filter at a resolution lower by `step`: every `step`-th sample, times step².
pub(super) fn at_resolution(grid: &[Complex<f64>], columns: usize, step: usize) -> Vec<Complex<f64>> {
    let area = (step * step) as f64;
    let rows = grid.chunks_exact(columns).step_by(step);
    rows.flat_map(|row| row.iter().step_by(step).map(move |value| value * area)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavelets_have_no_mean_and_the_low_pass_sums_to_one() {
        for (scale, angle, angles) in [(0, 0, 1), (1, 3, 4), (2, 7, 8)] {
            let wavelet = morlet(16, 32, scale, angle, angles);
            let sum: Complex<f64> = wavelet.iter().sum();
            let size: f64 = wavelet.iter().map(|value| value.norm()).sum();
            // 512 terms, each rounded.
            assert!(size > 0.5 && sum.norm() < 512.0 * f64::EPSILON * size, "{sum} of {size}");
        }
        // Sampled Gaussians of width 0.8 and more sum to one but for aliases of 2e^(−2π²σ²).
        for (side, scales, tolerance) in [(32, 1, 7e-6), (32, 3, 1e-12)] {
            let sum: f64 = low_pass(side, scales).iter().sum();
            assert!((sum - 1.0).abs() < tolerance, "{sum}");
        }
    }

    #[test]
    fn a_wavelet_sees_its_own_wave_and_not_one_across() {
        let (side, scale) = (32, 1);
        // Angle 1 of 4 is θ = 0: it varies along the rows' index.
        let wavelet = morlet(side, side, scale, 1, 4);
        let response = |frequency: f64, down: bool| {
            let wave = |index: usize| {
                let place = if down { index / side } else { index % side };
                Complex::new(0.0, -2.0 * PI * frequency * place as f64 / side as f64).exp()
            };
            wavelet.iter().enumerate().map(|(index, value)| value * wave(index)).sum::<Complex<f64>>().norm()
        };
        // ξ = 3π/8 is 6 periods in 32 pixels.
        assert!(response(6.0, true) > 0.9);
        assert!(response(6.0, false) < 0.1 && response(-6.0, true) < 0.1 && response(0.0, true) < 1e-12);
    }
}
