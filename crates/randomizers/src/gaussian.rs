//! Gaussian noise in floating point, **for simulations**: low-order bits of such noise can give the
//! input away (Mironov 2012, "On significance of the least significant bits"). Deploy
//! [`RoundedGaussian`](crate::RoundedGaussian), whose report is this one rounded, with exact noise:
//! the same bounds hold.
//!
//! N(0, σ²C²) on each coordinate of a vector clipped to length C: unbiased, with variance σ²C² per
//! coordinate. Two clipped vectors are at most 2C apart.

use crate::clip;
use crate::deviates;
use crate::error::{RandomizerError, Result, require};
use crate::likelihood::Likelihood;
use crate::randomizer::Randomizer;
use crate::randomness::Randomness;
use crate::real_frame::RealCode;
use crate::sums::CoordinateSums;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// Gaussian noise on vectors of one dimension and length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    /// σC.
    deviation: f64,
    code: RealCode,
}

impl Gaussian {
    /// For vectors of `dimension` coordinates, clipped to length `bound`.
    pub fn new(sigma: f64, dimension: u32, bound: f32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::Gaussian { sigma })?;
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        let deviation = sigma * f64::from(bound);
        let Some(code) = RealCode::new(f64::from(bound) + deviates::LARGEST * deviation) else {
            return Err(RandomizerError::OutOfRange {
                parameter: "clip",
                requirement: "such that its noise, sigma times it, fits f32",
                value: bound.to_string(),
            });
        };
        Ok(Self { spec, dimension, bound, deviation, code })
    }

    /// The variance of each coordinate: σ²C².
    pub fn variance(&self) -> f64 {
        self.deviation.powi(2)
    }
}

impl Randomizer for Gaussian {
    type Input = [f32];
    type Report = Box<[f32]>;
    type Aggregator = CoordinateSums<f32>;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<Box<[f32]>> {
        clip::require_vector(input, self.dimension as usize)?;
        let factor = clip::l2_factor(input, self.bound);
        let coordinate = |&x: &f32| (f64::from(x) * factor + self.deviation * deviates::normal(rng)) as f32;
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

impl Likelihood for Gaussian {
    /// (⟨y, x⟩ − ‖x‖²/2)/(σC)²: what is left of −‖y − x‖²/(2(σC)²) without the term that all inputs
    /// share.
    fn ln_likelihood(&self, report: &Box<[f32]>, input: &[f32]) -> f64 {
        let factor = clip::l2_factor(input, self.bound);
        let coordinate = |(&y, &x): (&f32, &f32)| {
            let x = f64::from(x) * factor;
            (f64::from(y) - x / 2.0) * x
        };
        report.iter().zip(input).map(coordinate).sum::<f64>() / self.deviation.powi(2)
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        clip::opposite_poles(self.bound, self.dimension)
    }
}
