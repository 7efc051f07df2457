//! Discrete Laplace noise on a fixed grid, for deployment: every step after clipping is in whole
//! numbers, and the law of the noise is exact (Ghosh, Roughgarden, Sundararajan 2009, sampled as by
//! Canonne, Kamath, Steinke 2020).
//!
//! **Rounding.** A vector clipped to ℓ1 norm a has at most s steps of a/s. Its coordinates are
//! rounded *together*, with one uniform number U: the sum of the first j sizes is rounded to
//! ⌊c_j + U⌋, and coordinate j gets the difference. Each coordinate then is one of its two
//! neighbours with the right mean, and all of them together take ⌊c_d + U⌋ ≤ s steps (systematic
//! sampling, Madow 1949). So rounding costs neither bias (beyond 2^−33 of a step per coordinate)
//! nor sensitivity: two rounded vectors are at most 2s apart, exactly, and noise of scale at least
//! 2s/ε0 is ε0-LDP.
//!
//! **Reports** are sent in as few bytes as hold s + 32 scales either way; what is beyond, of
//! probability below 2e-14, becomes the end.

use crate::clip;
use crate::error::{RandomizerError, Result, require};
use crate::exact::ExactLaplace;
use crate::grid::{self, FRACTION_BITS, MAX_STEPS, ONE, OffsetCode};
use crate::likelihood::Likelihood;
use crate::randomizer::Randomizer;
use crate::randomness::Randomness;
use crate::sums::CoordinateSums;
use shuffledp_accounting::numerics::log_sum::log_sum_exp;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// Default steps to the bound. Rounding adds at most ε0²/(32s²) of the noise's variance.
const STEPS: u32 = 1024;

/// Scales of noise that an encoding holds.
const SCALES: f64 = 32.0;

/// Discrete Laplace noise on vectors of one dimension and ℓ1 norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscreteLaplace {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    /// s: steps from 0 to the bound.
    steps: u32,
    noise: ExactLaplace,
    code: OffsetCode,
}

impl DiscreteLaplace {
    /// Noise of scale 2·`bound`/ε0 on vectors clipped to ℓ1 norm `bound`, on the default grid.
    pub fn new(local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        Self::with_steps(local_epsilon, dimension, bound, STEPS)
    }

    /// The same with `steps` of the grid between 0 and the bound.
    pub fn with_steps(local_epsilon: f64, dimension: u32, bound: f32, steps: u32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::DiscreteLaplace { local_epsilon })?;
        require(local_epsilon > 0.0, "local-epsilon", "above 0 (at 0 a report says nothing)", local_epsilon)?;
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        require((1..=MAX_STEPS).contains(&steps), "steps", "between 1 and 2^28", steps)?;
        let noise = noise_of(local_epsilon, steps);
        let code = noise.and_then(|noise| {
            let limit = f64::from(steps) + (SCALES / noise.rate()).ceil();
            if limit <= f64::from(i32::MAX) { OffsetCode::new(limit as u32) } else { None }
        });
        match (noise, code) {
            (Some(noise), Some(code)) => Ok(Self { spec, dimension, bound, steps, noise, code }),
            _ => Err(RandomizerError::OutOfRange {
                parameter: "local-epsilon",
                requirement: "above steps/2^25 (take fewer steps)",
                value: local_epsilon.to_string(),
            }),
        }
    }

    /// The decoded size of one step: a/s.
    pub fn step(&self) -> f64 {
        f64::from(self.bound) / f64::from(self.steps)
    }

    /// The law of the noise, in steps.
    pub fn noise(&self) -> ExactLaplace {
        self.noise
    }

    /// The largest variance of a decoded coordinate: that of the noise, and at most a quarter of a
    /// squared step from rounding.
    pub fn variance_upper(&self) -> f64 {
        (self.noise.variance() + 0.25) * self.step().powi(2)
    }

    /// Running sums c_j of the sizes, in 2^−32 of a step, never above s: what floating point might
    /// add beyond is cut here.
    fn running_sums(&self, input: &[f32]) -> Vec<(u64, bool)> {
        let scale = clip::l1_factor(input, self.bound) / self.step();
        let mut sum = 0_u64;
        input
            .iter()
            .map(|&x| {
                let (size, is_negative) = grid::fixed_point(x, scale);
                sum = sum.saturating_add(size).min(u64::from(self.steps) * ONE);
                (sum, is_negative)
            })
            .collect()
    }

    /// The input in whole steps, with ℓ1 norm at most s. U, in 2^−32 of a step, decides which way
    /// coordinates are rounded.
    fn round(&self, input: &[f32], dither: u64) -> Vec<i32> {
        let mut before = 0;
        let step = |(sum, is_negative): (u64, bool)| {
            let taken = (sum + dither) >> FRACTION_BITS;
            let size = taken - before;
            before = taken;
            grid::signed(size, is_negative)
        };
        self.running_sums(input).into_iter().map(step).collect()
    }

    /// ln of the probability that `y` is sent for `x` steps; at the ends that of the whole tail.
    fn ln_mass(&self, y: i32, x: i32) -> f64 {
        let rate = self.noise.rate();
        let distance = (f64::from(y) - f64::from(x)).abs();
        let normaliser = if y.unsigned_abs() == self.code.limit() { 0.0 } else { (-(-rate).exp_m1()).ln() };
        -rate * distance + normaliser - (-rate).exp().ln_1p()
    }
}

/// Noise of scale at least 2s/ε0: numerator over a power of two, as fine as fits.
fn noise_of(local_epsilon: f64, steps: u32) -> Option<ExactLaplace> {
    let scale = 2.0 * f64::from(steps) / local_epsilon;
    // A denominator that brings the numerator to 2^40 or so; powers of two keep products exact.
    let denominator_bits = (40 - scale.log2().ceil() as i64).clamp(0, 52) as i32;
    let denominator = 2.0_f64.powi(denominator_bits);
    // Rounded up: the quotient errs by half an ulp.
    let numerator = (scale.next_up() * denominator).ceil();
    if numerator <= ExactLaplace::MAX_NUMERATOR as f64 {
        ExactLaplace::new(numerator as u64, denominator as u64)
    } else {
        None
    }
}

impl Randomizer for DiscreteLaplace {
    type Input = [f32];
    type Report = Box<[i32]>;
    type Aggregator = CoordinateSums<i32>;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<Box<[i32]>> {
        clip::require_vector(input, self.dimension as usize)?;
        let rounded = self.round(input, grid::dither(rng));
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

impl Likelihood for DiscreteLaplace {
    /// The mixture over U: as it grows, one step at a time moves from coordinate j + 1 to j, where
    /// c_j + U becomes whole. Sorted by U, each stretch is worth one change.
    fn ln_likelihood(&self, report: &Box<[i32]>, input: &[f32]) -> f64 {
        let sums = self.running_sums(input);
        let mut turns: Vec<(u64, usize)> =
            sums.iter().enumerate().map(|(j, (sum, _))| (ONE - sum % ONE, j)).filter(|&(turn, _)| turn < ONE).collect();
        turns.sort_unstable();
        let mut rounded = self.round(input, 0);
        let mut total: f64 = report.iter().zip(&rounded).map(|(&y, &x)| self.ln_mass(y, x)).sum();
        let mut since = 0;
        let mut stretches = Vec::with_capacity(turns.len() + 1);
        for (turn, j) in turns {
            stretches.push(((turn - since) as f64 / ONE as f64).ln() + total);
            since = turn;
            for (j, change) in [(j, 1), (j + 1, -1)] {
                let Some(&(_, is_negative)) = sums.get(j) else { continue };
                let moved = rounded[j] + if is_negative { -change } else { change };
                total += self.ln_mass(report[j], moved) - self.ln_mass(report[j], rounded[j]);
                rounded[j] = moved;
            }
        }
        stretches.push(((ONE - since) as f64 / ONE as f64).ln() + total);
        log_sum_exp(stretches)
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        clip::opposite_poles(self.bound, self.dimension)
    }

    fn third_input(&self) -> Option<Box<[f32]>> {
        clip::third_pole(self.bound, self.dimension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulationRng;
    use proptest::prelude::*;

    fn steps_taken(rounded: &[i32]) -> u64 {
        rounded.iter().map(|x| u64::from(x.unsigned_abs())).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(6), ..ProptestConfig::default() })]

        #[test]
        fn rounded_vectors_stay_in_the_ball(
            input in prop::collection::vec(-1e3_f32..1e3, 1..40),
            bound in 1e-3_f32..1e4,
            steps in 1_u32..100_000,
            dither in 0..ONE,
        ) {
            let mechanism = DiscreteLaplace::with_steps(1.0, input.len() as u32, bound, steps).unwrap();
            let rounded = mechanism.round(&input, dither);
            prop_assert!(steps_taken(&rounded) <= u64::from(steps));
            // One of the two neighbours, whatever the others are; clipping may shrink by 1e-14.
            let scale = clip::l1_factor(&input, bound) / mechanism.step();
            for (&k, &x) in rounded.iter().zip(&input) {
                prop_assert!((f64::from(k) - f64::from(x) * scale).abs() < 1.0 + 1e-6);
            }
        }
    }

    #[test]
    fn rounding_has_the_right_mean_over_a_grid_of_u() {
        // 0.7 steps four times and 0.2: the sums are 0.7, 1.4, 2.1, 2.8, 3.0. An even grid of U
        // gives the mean to within its own spacing.
        let mechanism = DiscreteLaplace::with_steps(1.0, 5, 3.0, 3).unwrap();
        let input = [0.7, -0.7, 0.7, 0.7, -0.2];
        let grid = 1000;
        let mut sums = [0.0; 5];
        for i in 0..grid {
            let rounded = mechanism.round(&input, i * ONE / grid);
            sums.iter_mut().zip(rounded).for_each(|(sum, x)| *sum += f64::from(x));
        }
        for (sum, x) in sums.iter().zip(input) {
            assert!((sum / grid as f64 - f64::from(x)).abs() <= 2.0 / grid as f64, "{sums:?}");
        }
    }

    #[test]
    fn likelihood_is_the_mixture_over_all_ways_of_rounding() {
        let mechanism = DiscreteLaplace::with_steps(2.0, 4, 1.0, 4).unwrap();
        let input = [0.13, -0.3, 0.0, 0.33];
        let mut rng = SimulationRng::from_seed(5);
        for _ in 0..100 {
            let report = mechanism.randomize(&input, &mut rng).unwrap();
            let grid = 20_000;
            let mixture = (0..grid).map(|i| {
                let rounded = mechanism.round(&input, (2 * i + 1) * ONE / (2 * grid));
                report.iter().zip(rounded).map(|(&y, x)| mechanism.ln_mass(y, x)).sum::<f64>()
            });
            let mixture = log_sum_exp(mixture) - (grid as f64).ln();
            // The grid of U errs by at most one cell at each of four turns, where the likelihood
            // changes by a factor below e^2.
            assert!((mechanism.ln_likelihood(&report, &input) - mixture).abs() < 1e-3);
        }
    }
}
