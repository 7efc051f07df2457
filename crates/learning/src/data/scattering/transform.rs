//! The scattering transform of pictures of one shape, planned once.

use super::filters;
use super::fourier::{Fourier, multiply_and_fold};
use super::normalise::normalise;
use super::{Scattering, Sizes};
use crate::Result;
use crate::models::TensorShape;
use rayon::prelude::*;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

/// Computes the features of pictures of one shape. Threads share it; each has a [`Workspace`].
pub struct ScatteringTransform {
    settings: Scattering,
    shape: TensorShape,
    sizes: Sizes,
    /// By resolution: level r has every 2^r-th sample of the padded picture.
    levels: Vec<Level>,
}

/// Everything that is done at one resolution.
struct Level {
    fourier: Fourier<f32>,
    /// Spectra by scale and angle, over the number of samples; empty where no path needs the scale.
    wavelets: Vec<Vec<Vec<Complex<f32>>>>,
    /// From rows and columns to positions.
    low_pass: [LowPass; 2],
}

/// The low-pass along one side with its subsampling: a matrix `[positions][samples]`.
struct LowPass {
    samples: usize,
    weights: Vec<f32>,
}

/// The buffers that one thread needs for the transform.
pub struct Workspace {
    levels: Vec<Buffers>,
    /// Spectra that paths start from: the picture's, and its first modulus'.
    start: [Vec<Complex<f32>>; 2],
    scratch: Vec<Complex<f32>>,
    halfway: Vec<f32>,
}

struct Buffers {
    signal: Vec<Complex<f32>>,
    spectrum: Vec<Complex<f32>>,
    modulus: Vec<f32>,
}

impl ScatteringTransform {
    /// Plans the transform of pictures of this shape, or says why there is none.
    pub fn new(settings: Scattering, shape: TensorShape) -> Result<Self> {
        let sizes = settings.sizes(shape)?;
        let mut planner = FftPlanner::new();
        let grids: Vec<Vec<Complex<f64>>> = (0..settings.scales * settings.angles)
            .into_par_iter()
            .map(|index| {
                let (scale, angle) = (index / settings.angles, index % settings.angles);
                filters::morlet(sizes.rows, sizes.columns, scale, angle, settings.angles)
            })
            .collect();
        let levels = (0..settings.scales).map(|level| {
            let step = 1 << level;
            let (rows, columns) = (sizes.rows / step, sizes.columns / step);
            let is_needed = |scale: usize| level == 0 || settings.order == 2 && scale > level;
            let spectra = |scale: usize| match is_needed(scale) {
                true => grids[scale * settings.angles..][..settings.angles]
                    .iter()
                    .map(|grid| spectrum(filters::at_resolution(grid, sizes.columns, step), rows, columns))
                    .collect(),
                false => Vec::new(),
            };
            Level {
                fourier: Fourier::new(&mut planner, rows, columns),
                wavelets: (0..settings.scales).map(spectra).collect(),
                low_pass: [sizes.rows, sizes.columns].map(|side| LowPass::new(side, level, settings.scales)),
            }
        });
        let levels = levels.collect();
        Ok(Self { settings, shape, sizes, levels })
    }

    /// Returns how many features a picture has.
    pub fn features(&self) -> usize {
        self.sizes.features()
    }

    /// Returns what a thread needs to compute features.
    pub fn workspace(&self) -> Workspace {
        let zeros = |length: usize| vec![Complex::new(0.0, 0.0); length];
        let buffers = |level: &Level| Buffers {
            signal: zeros(level.fourier.len()),
            spectrum: zeros(level.fourier.len()),
            modulus: vec![0.0; level.fourier.len()],
        };
        let scratch = self.levels.iter().map(|level| level.fourier.scratch_len()).max().unwrap_or(0);
        Workspace {
            levels: self.levels.iter().map(buffers).collect(),
            start: [zeros(self.sizes.rows * self.sizes.columns), zeros(self.sizes.rows * self.sizes.columns)],
            scratch: zeros(scratch),
            halfway: vec![0.0; self.sizes.columns],
        }
    }

    /// Writes the features of a picture, `[channel][row][column]`: normalised coefficients, by
    /// channel, row and column of their position.
    ///
    /// # Panics
    ///
    /// If `picture` does not have the shape's length or `features` not that of
    /// [`features`](Self::features).
    pub fn apply(&self, workspace: &mut Workspace, picture: &[f32], features: &mut [f32]) {
        assert_eq!((picture.len(), features.len()), (self.shape.len(), self.features()), "planned for another shape");
        let each = self.shape.height * self.shape.width;
        let per_channel = features.len() / self.shape.channels;
        for (channel, coefficients) in picture.chunks_exact(each).zip(features.chunks_exact_mut(per_channel)) {
            self.coefficients(workspace, channel, coefficients);
        }
        normalise(features, self.sizes.groups);
    }

    /// Writes the coefficients of one channel: order 0, then 1, then 2.
    fn coefficients(&self, workspace: &mut Workspace, picture: &[f32], coefficients: &mut [f32]) {
        let Workspace { levels: buffers, start: [spectrum, first_spectrum], scratch, halfway } = workspace;
        let Scattering { scales, angles, order, .. } = self.settings;
        let positions = self.sizes.positions();
        let (zeroth, rest) = coefficients.split_at_mut(positions);
        let (first, second) = rest.split_at_mut(scales * angles * positions);
        let (mut first, mut second) = (first.chunks_exact_mut(positions), second.chunks_exact_mut(positions));

        self.pad(picture, &mut buffers[0].modulus);
        self.levels[0].smooth(&buffers[0].modulus, halfway, zeroth);
        self.levels[0].transform(&mut buffers[0], spectrum, scratch);
        for (j1, l1) in pairs(0..scales, angles) {
            self.convolve(0, spectrum, (j1, l1), &mut buffers[j1], scratch);
            let level = &self.levels[j1];
            level.smooth(&buffers[j1].modulus, halfway, first.next().unwrap_or_default());
            if order == 1 || j1 + 1 == scales {
                continue;
            }
            let first_spectrum = &mut first_spectrum[..level.fourier.len()];
            level.transform(&mut buffers[j1], first_spectrum, scratch);
            for (j2, l2) in pairs(j1 + 1..scales, angles) {
                self.convolve(j1, first_spectrum, (j2, l2), &mut buffers[j2], scratch);
                self.levels[j2].smooth(&buffers[j2].modulus, halfway, second.next().unwrap_or_default());
            }
        }
    }

    /// Writes the picture into the middle of zeros.
    fn pad(&self, picture: &[f32], padded: &mut [f32]) {
        let (height, width) = (self.shape.height, self.shape.width);
        let (top, left) = ((self.sizes.rows - height) / 2, (self.sizes.columns - width) / 2);
        padded.fill(0.0);
        let rows = padded.chunks_exact_mut(self.sizes.columns).skip(top);
        for (row, line) in rows.zip(picture.chunks_exact(width)) {
            row[left..left + width].copy_from_slice(line);
        }
    }

    /// Writes |signal ⋆ ψ| at the wavelet's own resolution, from the spectrum at resolution `from`.
    fn convolve(
        &self,
        from: usize,
        spectrum: &[Complex<f32>],
        (scale, angle): (usize, usize),
        to: &mut Buffers,
        scratch: &mut [Complex<f32>],
    ) {
        let level = &self.levels[from];
        let filter = &level.wavelets[scale][angle];
        multiply_and_fold(&level.fourier, spectrum, filter, 1 << (scale - from), &mut to.spectrum);
        self.levels[scale].fourier.inverse(&mut to.spectrum, &mut to.signal, scratch);
        for (modulus, value) in to.modulus.iter_mut().zip(&to.signal) {
            *modulus = (value.re * value.re + value.im * value.im).sqrt();
        }
    }
}

/// All pairs of a scale and an angle, by scale.
fn pairs(scales: std::ops::Range<usize>, angles: usize) -> impl Iterator<Item = (usize, usize)> {
    scales.flat_map(move |scale| (0..angles).map(move |angle| (scale, angle)))
}

impl Level {
    /// Writes the spectrum of the modulus.
    fn transform(&self, buffers: &mut Buffers, spectrum: &mut [Complex<f32>], scratch: &mut [Complex<f32>]) {
        for (value, modulus) in buffers.signal.iter_mut().zip(&buffers.modulus) {
            *value = Complex::new(*modulus, 0.0);
        }
        self.fourier.forward(&mut buffers.signal, spectrum, scratch);
    }

    /// Writes the low-passed signal at its positions.
    fn smooth(&self, signal: &[f32], halfway: &mut [f32], coefficients: &mut [f32]) {
        let [down, across] = &self.low_pass;
        let (columns, positions) = (self.fourier.columns, across.weights.len() / across.samples);
        let halfway = &mut halfway[..columns];
        let lines = down.weights.chunks_exact(down.samples).zip(coefficients.chunks_exact_mut(positions));
        for (weights, coefficients) in lines {
            halfway.fill(0.0);
            for (row, weight) in signal.chunks_exact(columns).zip(weights) {
                halfway.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
            }
            for (coefficient, weights) in coefficients.iter_mut().zip(across.weights.chunks_exact(columns)) {
                *coefficient = halfway.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            }
        }
    }
}

impl LowPass {
    /// From the resolution of `level` to positions, along a side of the padded picture.
    fn new(side: usize, level: usize, scales: usize) -> Self {
        let step = 1 << level;
        let kernel: Vec<f64> =
            filters::low_pass(side, scales).iter().step_by(step).map(|value| value * step as f64).collect();
        let (samples, positions, stride) = (kernel.len(), side >> scales, 1 << (scales - level));
        let weight = |position: usize, sample: usize| kernel[(position * stride + samples - sample) % samples] as f32;
        let weights = (0..positions).flat_map(|position| (0..samples).map(move |sample| (position, sample)));
        Self { samples, weights: weights.map(|(position, sample)| weight(position, sample)).collect() }
    }
}

/// Returns a filter's spectrum over the number of samples, in single precision.
fn spectrum(mut grid: Vec<Complex<f64>>, rows: usize, columns: usize) -> Vec<Complex<f32>> {
    let fourier = Fourier::new(&mut FftPlanner::new(), rows, columns);
    let mut spectrum = vec![Complex::default(); grid.len()];
    fourier.forward(&mut grid, &mut spectrum, &mut vec![Complex::default(); fourier.scratch_len()]);
    let samples = fourier.len() as f64;
    spectrum.iter().map(|value| Complex::new((value.re / samples) as f32, (value.im / samples) as f32)).collect()
}
