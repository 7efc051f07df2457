//! A round drawn from its Gaussian limit, to tune schedules with. **Not a simulation of the
//! reports.**
//!
//! The mean of k independent reports of clipped gradients x_i has the mean x̄ and, by the central
//! limit theorem, for large k nearly the law N(x̄, Σ/k). Here Σ = v·I with v the mechanism's
//! [`report_variance`](shuffledp_randomizers::noise::VectorNoise::report_variance): exact for
//! Gaussian noise; for `r-inf`, `r-1`, `r-2` and `ldp-sgd` without x_i² taken off, a part of about
//! 1/d; for `priv-unit` the mean over all directions of a variance that differs along x_i. A round
//! costs one sum of clipped gradients and one vector of noise, whatever the mechanism.

use super::{Clipping, Summing, VectorSum};
use crate::Result;
use shuffledp_accounting::scheme::RandomizerSpec;
use shuffledp_randomizers::clip::Norm;
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::vector_randomizer;
use shuffledp_randomizers::{Gaussian, Randomizer, Randomness};

/// Clients clip as the mechanism does; the noise of the batch is Gaussian with the batch's
/// variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sketch {
    norm: Norm,
    shape: VectorShape,
    /// Of each coordinate of one report.
    variance: f64,
}

impl Sketch {
    /// Of the mechanism that `randomizer` names.
    pub fn new(randomizer: RandomizerSpec, shape: VectorShape) -> Result<Self> {
        let mechanism = vector_randomizer(randomizer, shape)?;
        Ok(Self { norm: mechanism.norm(), shape, variance: mechanism.report_variance() })
    }
}

impl Summing for Sketch {
    fn clipping(&self) -> Clipping {
        Clipping::To { norm: self.norm, bound: self.shape.clip }
    }

    fn mean_of(&self, sum: VectorSum, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        let deviation = (self.variance / sum.count() as f64).sqrt();
        let Some(mut mean) = sum.mean() else { return Ok(None) };
        let dimension = self.shape.dimension;
        let normals = Gaussian::new(1.0, dimension, 1.0)?.randomize(&vec![0.0; dimension as usize], rng)?;
        mean.iter_mut().zip(normals).for_each(|(mean, normal)| *mean += deviation * f64::from(normal));
        Ok(Some(mean))
    }
}
