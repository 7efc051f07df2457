//! Gaussian noise for deployment: the report is the Gaussian mechanism's, rounded to a grid, and
//! its law is exact.
//!
//! **The mechanism.** A vector is clipped to length C. Each coordinate sends
//! `y = round((x + σC·N)/step)`, N standard normal, step = σC/2. Accounting therefore has the
//! Gaussian mechanism of the same σ: rounding is post-processing. This needs no word about floating
//! point, because none of it counts:
//!
//! - *The vector.* Clipped coordinates become whole numbers m of 2^−55 steps. Whatever rounding did
//!   before, the vector that is used has Σm² ≤ R², checked in whole numbers, and R·2^−55 ≤ 2/σ: it
//!   is no longer than C, for σ = 2 steps of noise. Its values are those of the client's vector up
//!   to 2^−55 steps and a relative error of (d/16 + 20)·2^−53.
//! - *The noise.* 2N steps are 2^56·N units of 2^−55 steps. [`ExactNormal`] draws ⌊2^56·N⌋ exactly,
//!   and ⌊(m + ½ step + 2^56·N)/step⌋ is the same with that floor inside, because m and half a step
//!   are whole numbers of units. So y has exactly the law that it would have with real numbers.
//!
//! **What rounding costs.** The variance of a coordinate is σ²C² + step²/12 = σ²C²(1 + 1/48). The
//! bias is below 1e-34 steps (Poisson summation: Σ_k (−1)^k e^(−8π²k²) sin(2πku)/(πk) for a
//! coordinate of u steps, with e^(−8π²) = 5e-35).
//!
//! **Reports** take 5 bits a coordinate for σ ≥ 4/3, else 6 or 7. What lies beyond their range
//! becomes the end of it: post-processing. The range holds the largest coordinate and 6.5 standard
//! deviations of noise, so the bias is below 1e-11·σC a coordinate, and an odd function of x: 0
//! at x = 0.

use crate::clip;
use crate::error::{RandomizerError, Result, require};
use crate::exact::ExactNormal;
use crate::likelihood::Likelihood;
use crate::packed_code::PackedCode;
use crate::randomizer::Randomizer;
use crate::randomness::Randomness;
use crate::sums::CoordinateSums;
use shuffledp_accounting::numerics::log_sum::ln_1m_exp;
use shuffledp_accounting::numerics::normal;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// Steps of the grid in a standard deviation of the noise. One unit is 2^−55 steps because there
/// are two.
pub const STEPS_PER_DEVIATION: u32 = 2;

/// Bits of a unit below a step.
const UNIT_BITS: u32 = ExactNormal::FRACTION_BITS - 1;

/// Half a step, in units.
const HALF_STEP: i64 = 1 << (UNIT_BITS - 1);

/// Standard deviations of noise that reports hold beside the largest coordinate.
const DEVIATIONS: f64 = 6.5;

/// Below it the largest coordinate and 64 deviations of noise would not fit their words. A report
/// with so little noise hides nothing.
const LEAST_SIGMA: f64 = 1.0 / 16.0;

/// Above it a vector would have fewer than 2^36 units.
const LARGEST_SIGMA: f64 = 1048576.0;

/// Exactly rounded Gaussian noise on vectors of one dimension and length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundedGaussian {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    /// σC/2.
    step: f64,
    /// R: no vector is longer, in units.
    radius: u64,
    code: PackedCode,
}

impl RoundedGaussian {
    /// Noise of standard deviation σ·`bound` on vectors clipped to length `bound`.
    pub fn new(sigma: f64, dimension: u32, bound: f32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::RoundedGaussian { sigma })?;
        if !(LEAST_SIGMA..=LARGEST_SIGMA).contains(&sigma) {
            return Err(out_of_range(sigma));
        }
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        let steps = f64::from(STEPS_PER_DEVIATION);
        // R ≤ 2^55·2/σ: the quotient is rounded to the nearest, and the float below it is no more.
        let radius = (2.0_f64.powi(UNIT_BITS as i32) * steps / sigma).next_down() as u64;
        let reach = steps / sigma + DEVIATIONS * steps + 0.5;
        // From σ = 1/16 on the reach is at most 45.5 steps, which 7 bits hold.
        let code = PackedCode::holding(reach).ok_or_else(|| out_of_range(sigma))?;
        Ok(Self { spec, dimension, bound, step: sigma * f64::from(bound) / steps, radius, code })
    }

    /// The decoded size of one step: σC/2.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The largest number of steps that a report holds: what lies beyond ± this is sent as this.
    pub fn largest(&self) -> i8 {
        self.code.limit()
    }

    /// The variance of a decoded coordinate: σ²C² of noise and step²/12 of rounding.
    pub fn variance(&self) -> f64 {
        (f64::from(STEPS_PER_DEVIATION).powi(2) + 1.0 / 12.0) * self.step.powi(2)
    }

    /// The vector that is used in place of `input`, in units: clipped, and no longer than R.
    fn in_units(&self, input: &[f32]) -> Vec<i64> {
        // Rounded down for the three roundings of the scale; each product is in the clipping
        // factor.
        let scale = self.radius as f64 / f64::from(self.bound) * (1.0 - 4.0 * f64::EPSILON);
        let scale = scale * clip::l2_factor(input, self.bound);
        // `as` truncates towards 0.
        let mut units: Vec<i64> = input.iter().map(|&x| (f64::from(x) * scale) as i64).collect();
        self.enforce_radius(&mut units);
        units
    }

    /// Shortens a vector that is too long. Clipping is such that this never happens; sensitivity
    /// rests on this check, in whole numbers, and not on that.
    fn enforce_radius(&self, units: &mut [i64]) {
        let radius_squared = u128::from(self.radius).pow(2);
        let squared = |units: &[i64]| {
            let squares = units.iter().map(|&x| u128::from(x.unsigned_abs()).pow(2));
            squares.fold(0, u128::saturating_add)
        };
        while squared(units) > radius_squared {
            units.iter_mut().for_each(|x| *x /= 2);
        }
    }
}

fn out_of_range(sigma: f64) -> RandomizerError {
    RandomizerError::OutOfRange { parameter: "sigma", requirement: "between 1/16 and 2^20", value: sigma.to_string() }
}

impl Randomizer for RoundedGaussian {
    type Input = [f32];
    type Report = Box<[i8]>;
    type Aggregator = CoordinateSums<i8>;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<Box<[i8]>> {
        clip::require_vector(input, self.dimension as usize)?;
        let noise = ExactNormal::new();
        // A coordinate is at most 2^60 units and noise 2^62: nothing overflows. Noise that was cut
        // at 64 deviations is beyond the range either way, for every coordinate: nothing depends on
        // the cut.
        let coordinate = |x: i64| self.code.clamp((x + HALF_STEP + noise.draw(rng)) >> UNIT_BITS);
        Ok(self.in_units(input).into_iter().map(coordinate).collect())
    }

    fn frame_len(&self) -> usize {
        self.code.frame_len(self.dimension as usize)
    }

    fn encode(&self, report: &Box<[i8]>, frame: &mut [u8]) {
        self.code.encode(report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<Box<[i8]>> {
        self.code.decode(frame, self.dimension as usize)
    }

    fn aggregator(&self) -> CoordinateSums<i8> {
        CoordinateSums::new(self.dimension, self.step)
    }
}

impl Likelihood for RoundedGaussian {
    /// Coordinates are independent, each with the probability of its cell: Φ(b) − Φ(a) with a and b
    /// half a step on either side of y − x, in deviations. The ends of the range have all beyond
    /// them.
    fn ln_likelihood(&self, report: &Box<[i8]>, input: &[f32]) -> f64 {
        let (unit, limit) = (2.0_f64.powi(-(UNIT_BITS as i32)), self.code.limit());
        let coordinate = |(&y, x): (&i8, i64)| {
            let distance = f64::from(y) - x as f64 * unit;
            let deviations = |edge: f64| (distance + edge) / f64::from(STEPS_PER_DEVIATION);
            let from = if y == -limit { f64::NEG_INFINITY } else { deviations(-0.5) };
            let to = if y == limit { f64::INFINITY } else { deviations(0.5) };
            ln_probability(from, to)
        };
        report.iter().zip(self.in_units(input)).map(coordinate).sum()
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        clip::opposite_poles(self.bound, self.dimension)
    }
}

/// ln(Φ(to) − Φ(from)), from the tail in which the interval lies: nothing cancels.
fn ln_probability(from: f64, to: f64) -> f64 {
    let (from, to) = if from + to > 0.0 { (-to, -from) } else { (from, to) };
    let whole = normal::ln_cdf(to);
    whole + ln_1m_exp(normal::ln_cdf(from) - whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn squared_length(units: &[i64]) -> u128 {
        units.iter().map(|&x| u128::from(x.unsigned_abs()).pow(2)).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(6), ..ProptestConfig::default() })]

        #[test]
        fn vectors_stay_in_the_ball_and_are_not_moved(
            input in prop::collection::vec(-1e3_f32..1e3, 1..40),
            bound in 1e-3_f32..1e4,
            sigma in 0.0625_f64..1e6,
        ) {
            let mechanism = RoundedGaussian::new(sigma, input.len() as u32, bound).unwrap();
            let units = mechanism.in_units(&input);
            prop_assert!(squared_length(&units) <= u128::from(mechanism.radius).pow(2));
            // Had it been shortened, it would be half of what it should be.
            let factor = clip::l2_factor(&input, bound);
            for (&m, &x) in units.iter().zip(&input) {
                let exact = f64::from(x) * factor / mechanism.step() * 2.0_f64.powi(55);
                prop_assert!((m as f64 - exact).abs() <= 2.0 + 1e-13 * exact.abs(), "{} {}", m, exact);
            }
        }
    }

    /// R·σ ≤ 2^56 as rationals: σ is a whole number of 2^−shift.
    #[test]
    fn the_radius_is_no_more_than_sigma_allows() {
        for sigma in [0.0625, 0.1, 1.0 / 3.0, 1.0, 1.0_f64.next_up(), 2.0_f64.next_down(), 5.0, 9.48, 7e5, 1048576.0] {
            let radius = RoundedGaussian::new(sigma, 1, 1.0).unwrap().radius;
            let bits = sigma.to_bits();
            let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
            let shift = 1075 - (bits >> 52) as i32;
            let product = u128::from(radius) * mantissa;
            assert!(product <= 1 << (56 + shift), "{sigma}");
            // And hardly less: two floats down, or one unit.
            let least = 2.0_f64.powi(56) / sigma;
            assert!(radius as f64 >= least * (1.0 - 1e-15) - 1.0, "{sigma}");
        }
    }

    #[test]
    fn what_is_too_long_is_shortened() {
        let mechanism = RoundedGaussian::new(2.0, 3, 1.0).unwrap();
        let radius = mechanism.radius as i64;
        for long in [vec![radius, 1, 0], vec![radius, -radius, radius], vec![i64::MIN, i64::MAX, i64::MAX]] {
            let mut pulled = long.clone();
            mechanism.enforce_radius(&mut pulled);
            assert!(squared_length(&pulled) <= u128::from(mechanism.radius).pow(2), "{long:?}");
            assert!(pulled.iter().any(|&x| x != 0));
        }
        let mut fits = vec![radius, 0, 0];
        mechanism.enforce_radius(&mut fits);
        assert_eq!(fits, [radius, 0, 0]);
    }

    /// The documented saturation: 64 deviations less the largest coordinate are beyond every range.
    #[test]
    fn cut_noise_is_beyond_the_range() {
        for sigma in [LEAST_SIGMA, 0.2, 1.0, 1.4, 100.0] {
            let mechanism = RoundedGaussian::new(sigma, 1, 1.0).unwrap();
            let lowest = -(mechanism.radius as i64) + HALF_STEP + ExactNormal::LARGEST;
            assert!(lowest >> UNIT_BITS > i64::from(mechanism.code.limit()), "{sigma}");
            let highest = mechanism.radius as i64 + HALF_STEP + !ExactNormal::LARGEST;
            assert!(highest >> UNIT_BITS < -i64::from(mechanism.code.limit()), "{sigma}");
        }
    }
}
