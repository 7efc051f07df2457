//! Discrete Gaussian noise on a fixed grid, for deployment: every step after clipping is in whole
//! numbers, and the law of the noise is exact (Canonne, Kamath, Steinke 2020; Kairouz, Liu, Steinke
//! 2021, "The distributed discrete Gaussian mechanism").
//!
//! **Rounding.** A vector clipped to the bound C has length at most s in steps of C/s. Each
//! coordinate is rounded at random to one of its two neighbours, so the mean stays, and the length
//! grows by less than √d: with G = s + ⌈√d⌉ + 1, *whatever the coins*, the rounded vector has
//! length at most G, which is checked in whole numbers. Two of them are at most 2G apart and the
//! noise has parameter σ_steps² ≥ σ²G²: Rényi divergence at most λ(2G)²/(2σ²G²) = λ(2/σ)²/2
//! (Canonne et al., Proposition 5, added up over independent coordinates; mixing over the coins of
//! rounding makes it no larger), which is what accounting assumes. The price of being both unbiased
//! and bounded is the factor G/s in the noise: with the default of s = 256·⌈√d⌉ it is at most
//! 1.008, and 1.004 in many dimensions. Rounding again until the vector is short enough (Kairouz et
//! al.) would save it and be biased.
//!
//! **Reports** are sent in ⌈log256⌉ of their range, G + 10σ_steps either way; what is beyond, of
//! probability below 2e-23, becomes the end.

use crate::clip;
use crate::error::{RandomizerError, Result, require};
use crate::exact::ExactGaussian;
use crate::grid::{self, FRACTION_BITS, MAX_STEPS, ONE, OffsetCode};
use crate::likelihood::Likelihood;
use crate::randomizer::Randomizer;
use crate::randomness::Randomness;
use crate::sums::CoordinateSums;
use shuffledp_accounting::numerics::directed::mul_up;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// Default steps to the bound, for every unit of √d.
const STEPS_PER_ROOT: u32 = 256;

/// Standard deviations of noise that an encoding holds.
const DEVIATIONS: u64 = 10;

/// Discrete Gaussian noise on vectors of one dimension and length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscreteGaussian {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    /// s: steps from 0 to the bound.
    steps: u32,
    /// G: no rounded vector is longer, in steps.
    radius: u64,
    noise: ExactGaussian,
    code: OffsetCode,
}

impl DiscreteGaussian {
    /// Noise of standard deviation σ·`bound` (and a little more, see above) on vectors clipped to
    /// length `bound`, on the default grid.
    pub fn new(sigma: f64, dimension: u32, bound: f32) -> Result<Self> {
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        Self::with_steps(sigma, dimension, bound, (STEPS_PER_ROOT * ceil_sqrt(dimension)).min(MAX_STEPS))
    }

    /// The same with `steps` of the grid between 0 and the bound: more of them cost bytes, fewer
    /// cost noise.
    pub fn with_steps(sigma: f64, dimension: u32, bound: f32, steps: u32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::DiscreteGaussian { sigma })?;
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        require((1..=MAX_STEPS).contains(&steps), "steps", "between 1 and 2^28", steps)?;
        let radius = u64::from(steps) + u64::from(ceil_sqrt(dimension)) + 1;
        let noise = noise_of(sigma, radius);
        let code = noise.and_then(|noise| {
            let limit = radius + DEVIATIONS * (noise.variance().isqrt() + 1);
            OffsetCode::new(u32::try_from(limit).ok()?)
        });
        match (noise, code) {
            (Some(noise), Some(code)) => Ok(Self { spec, dimension, bound, steps, radius, noise, code }),
            _ => Err(RandomizerError::OutOfRange {
                parameter: "sigma",
                requirement: "at most 2^26 in steps of the grid (take a smaller sigma or fewer steps)",
                value: (sigma * radius as f64).to_string(),
            }),
        }
    }

    /// The decoded size of one step: C/s.
    pub fn step(&self) -> f64 {
        f64::from(self.bound) / f64::from(self.steps)
    }

    /// σ² of the noise, in squared steps.
    pub fn noise_variance_in_steps(&self) -> u64 {
        self.noise.variance()
    }

    /// The largest variance of a decoded coordinate: that of the noise, and at most a quarter of a
    /// squared step from rounding.
    pub fn variance_upper(&self) -> f64 {
        (self.noise.variance() as f64 + 0.25) * self.step().powi(2)
    }

    /// Steps in fixed point for a unit of the input, clipped.
    fn scale(&self, input: &[f32]) -> f64 {
        clip::l2_factor(input, self.bound) / self.step()
    }

    /// The input in whole steps, each coordinate rounded at random by itself.
    fn round<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Vec<i32> {
        let scale = self.scale(input);
        let mut rounded: Vec<i32> = input
            .iter()
            .map(|&x| {
                let (size, is_negative) = grid::fixed_point(x, scale);
                grid::signed((size + grid::dither(rng)) >> FRACTION_BITS, is_negative)
            })
            .collect();
        self.enforce_radius(&mut rounded);
        rounded
    }

    /// Pulls a vector that is too long towards 0. Clipping and G are such that this never happens;
    /// sensitivity rests on this check, in whole numbers, and not on that.
    fn enforce_radius(&self, rounded: &mut [i32]) {
        let is_too_long = |x: &[i32]| {
            let squared: u128 = x.iter().map(|&x| u128::from(x.unsigned_abs()).pow(2)).sum();
            squared > u128::from(self.radius).pow(2)
        };
        while is_too_long(rounded) {
            rounded.iter_mut().for_each(|x| *x -= x.signum());
        }
    }
}

/// The noise of parameter at least (σG)², rounded up to a whole number.
fn noise_of(sigma: f64, radius: u64) -> Option<ExactGaussian> {
    let deviation = mul_up(sigma, radius as f64);
    let variance = mul_up(deviation, deviation).ceil().max(1.0);
    if variance <= ExactGaussian::MAX_VARIANCE as f64 { ExactGaussian::new(variance as u64) } else { None }
}

fn ceil_sqrt(x: u32) -> u32 {
    let root = x.isqrt();
    // √x < 2^16: nothing overflows.
    if root * root == x { root } else { root + 1 }
}

impl Randomizer for DiscreteGaussian {
    type Input = [f32];
    type Report = Box<[i32]>;
    type Aggregator = CoordinateSums<i32>;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<Box<[i32]>> {
        clip::require_vector(input, self.dimension as usize)?;
        let rounded = self.round(input, rng);
        Ok(rounded.iter().map(|&x| self.code.clamp(i64::from(x) + self.noise.draw(rng))).collect())
    }

    fn frame_len(&self) -> usize {
        self.code.width() * self.dimension as usize
    }

    fn encode(&self, report: &Box<[i32]>, frame: &mut [u8]) {
        self.code.encode(report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<Box<[i32]>> {
        self.code.decode(frame, self.dimension)
    }

    fn aggregator(&self) -> CoordinateSums<i32> {
        CoordinateSums::new(self.dimension, self.step())
    }
}

impl Likelihood for DiscreteGaussian {
    /// Coordinates are independent, each a mixture of its two neighbours on the grid. The ends of
    /// the range count as points: nobody meets them.
    fn ln_likelihood(&self, report: &Box<[i32]>, input: &[f32]) -> f64 {
        let scale = self.scale(input);
        let half_precision = 0.5 / self.noise.variance() as f64;
        let coordinate = |(&y, &x): (&i32, &f32)| {
            let (size, is_negative) = grid::fixed_point(x, scale);
            let (low, share_above) = (size >> FRACTION_BITS, (size % ONE) as f64 / ONE as f64);
            let y = f64::from(if is_negative { -y } else { y });
            let low = low as f64;
            // e^(−(y−low)²/2σ²) and, relative to it, e^((2(y−low)−1)/2σ²) for the neighbour above.
            let gain = (2.0 * (y - low) - 1.0) * half_precision;
            -(y - low).powi(2) * half_precision + (share_above * gain.exp_m1()).ln_1p()
        };
        report.iter().zip(input).map(coordinate).sum()
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        clip::opposite_poles(self.bound, self.dimension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulationRng;
    use proptest::prelude::*;

    fn length_squared(rounded: &[i32]) -> u128 {
        rounded.iter().map(|&x| u128::from(x.unsigned_abs()).pow(2)).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(6), ..ProptestConfig::default() })]

        #[test]
        fn rounded_vectors_stay_in_the_ball_without_being_pulled(
            input in prop::collection::vec(-1e3_f32..1e3, 1..40),
            bound in 1e-3_f32..1e4,
            steps in 1_u32..100_000,
            seed in 0_u64..1000,
        ) {
            let mechanism = DiscreteGaussian::with_steps(1.0, input.len() as u32, bound, steps).unwrap();
            let rounded = mechanism.round(&input, &mut SimulationRng::from_seed(seed));
            prop_assert!(length_squared(&rounded) <= u128::from(mechanism.radius).pow(2));
            // Had it been pulled, some coordinate would be none of its neighbours; clipping may
            // shrink by 1e-14.
            let scale = mechanism.scale(&input);
            for (&k, &x) in rounded.iter().zip(&input) {
                prop_assert!((f64::from(k) - f64::from(x) * scale).abs() < 1.0 + 1e-6);
            }
        }
    }

    #[test]
    fn all_coordinates_rounded_away_from_zero_still_fit() {
        // The worst case of rounding: every coordinate a little above a whole step, every coin up.
        for dimension in [1_u32, 2, 3, 100, 4096, 10_000] {
            let mechanism = DiscreteGaussian::with_steps(1.0, dimension, 1.0, 1000).unwrap();
            let size = 1000.0 / f64::from(dimension).sqrt();
            let up = vec![size.ceil() as i32; dimension as usize];
            let mut pulled = up.clone();
            mechanism.enforce_radius(&mut pulled);
            assert_eq!(up, pulled, "{dimension}");
        }
    }

    #[test]
    fn what_is_too_long_is_pulled_in() {
        let mechanism = DiscreteGaussian::with_steps(1.0, 3, 1.0, 10).unwrap();
        let mut long = vec![100, -100, 0];
        mechanism.enforce_radius(&mut long);
        assert!(length_squared(&long) <= u128::from(mechanism.radius).pow(2));
        assert_eq!(long, [9, -9, 0]);
    }
}
