//! Laplace noise in floating point, **for simulations**: low-order bits of such noise can give the
//! input away (Mironov 2012, "On significance of the least significant bits"). Deploy
//! [`DiscreteLaplace`](crate::DiscreteLaplace), which is accounted for by the same ε0.
//!
//! Noise of density e^(−|x|/b)/(2b), b = 2a/ε0, on each coordinate of a vector clipped to ℓ1 norm
//! a: unbiased, with variance 2b² per coordinate. Two clipped vectors are at most 2a apart.

use crate::clip;
use crate::deviates;
use crate::error::{RandomizerError, Result, require};
use crate::likelihood::Likelihood;
use crate::randomizer::Randomizer;
use crate::randomness::Randomness;
use crate::real_frame::RealCode;
use crate::sums::CoordinateSums;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// Laplace noise on vectors of one dimension and ℓ1 norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplace {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    /// b = 2a/ε0.
    scale: f64,
    code: RealCode,
}

impl Laplace {
    /// For vectors of `dimension` coordinates, clipped to ℓ1 norm `bound`.
    pub fn new(local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::Laplace { local_epsilon })?;
        require(local_epsilon > 0.0, "local-epsilon", "above 0 (at 0 a report says nothing)", local_epsilon)?;
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        let scale = 2.0 * f64::from(bound) / local_epsilon;
        let Some(code) = RealCode::new(f64::from(bound) + deviates::LARGEST * scale) else {
            return Err(RandomizerError::OutOfRange {
                parameter: "clip",
                requirement: "such that its noise, of scale 2·clip/local-epsilon, fits f32",
                value: bound.to_string(),
            });
        };
        Ok(Self { spec, dimension, bound, scale, code })
    }

    /// The variance of each coordinate: 2b².
    pub fn variance(&self) -> f64 {
        2.0 * self.scale.powi(2)
    }
}

impl Randomizer for Laplace {
    type Input = [f32];
    type Report = Box<[f32]>;
    type Aggregator = CoordinateSums<f32>;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<Box<[f32]>> {
        clip::require_vector(input, self.dimension as usize)?;
        let factor = clip::l1_factor(input, self.bound);
        let coordinate = |&x: &f32| (f64::from(x) * factor + self.scale * deviates::laplace(rng)) as f32;
        Ok(input.iter().map(coordinate).collect())
    }

    fn frame_len(&self) -> usize {
        4 * self.dimension as usize
    }

    fn encode(&self, report: &Box<[f32]>, frame: &mut [u8]) {
        self.code.encode(report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<Box<[f32]>> {
        self.code.decode(frame, self.dimension)
    }

    fn aggregator(&self) -> CoordinateSums<f32> {
        CoordinateSums::new(self.dimension, 1.0)
    }
}

impl Likelihood for Laplace {
    /// −Σ(|y_j − x_j| − |y_j|)/b: without the term that all inputs share.
    fn ln_likelihood(&self, report: &Box<[f32]>, input: &[f32]) -> f64 {
        let factor = clip::l1_factor(input, self.bound);
        let coordinate = |(&y, &x): (&f32, &f32)| {
            let y = f64::from(y);
            y.abs() - (y - f64::from(x) * factor).abs()
        };
        report.iter().zip(input).map(coordinate).sum::<f64>() / self.scale
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        clip::opposite_poles(self.bound, self.dimension)
    }

    fn third_input(&self) -> Option<Box<[f32]>> {
        clip::third_pole(self.bound, self.dimension)
    }
}
