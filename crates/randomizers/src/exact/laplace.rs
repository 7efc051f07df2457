//! The discrete Laplace law.

use super::bernoulli_exp::{bernoulli_exp, bernoulli_inverse_e};
use crate::randomness::Randomness;
use crate::uniform;

/// Draws of which the whole part would reach this many scales are drawn anew: they have probability
/// e^−1024, and without them nothing can overflow.
const MAX_SCALES: u64 = 1024;

/// The law of probability proportional to `e^(−|x|·denominator/numerator)` over the whole numbers:
/// scale `numerator/denominator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactLaplace {
    numerator: u64,
    denominator: u64,
}

impl ExactLaplace {
    /// The largest numerator of a scale.
    pub const MAX_NUMERATOR: u64 = 1 << 52;

    /// Scale `numerator/denominator`: both at least 1, the numerator at most 2^52. `None`
    /// otherwise.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        let is_valid = (1..=Self::MAX_NUMERATOR).contains(&numerator) && denominator >= 1;
        is_valid.then_some(Self { numerator, denominator })
    }

    /// The scale as numerator and denominator.
    pub fn scale(self) -> (u64, u64) {
        (self.numerator, self.denominator)
    }

    /// 1/scale, to f64's nearest: ln of the ratio of neighbouring probabilities.
    pub fn rate(self) -> f64 {
        self.denominator as f64 / self.numerator as f64
    }

    /// 2p/(1−p)² = 1/(2·sinh²(rate/2)), p = e^−rate.
    pub fn variance(self) -> f64 {
        0.5 / libm::sinh(self.rate() / 2.0).powi(2)
    }

    /// A draw, of absolute value below 2^62.
    ///
    /// Follows Algorithm 2 of Canonne, Kamath, Steinke 2020: `u + t·v` with u below t accepted with
    /// probability e^(−u/t) and v geometric has a law proportional to e^(−x/t); dividing by s makes
    /// it e^(−x·s/t), and a sign is drawn such that 0 does not come twice.
    pub fn draw<R: Randomness + ?Sized>(self, rng: &mut R) -> i64 {
        loop {
            let fraction = uniform::below(self.numerator, rng);
            if !bernoulli_exp(u128::from(fraction), u128::from(self.numerator), rng) {
                continue;
            }
            let mut scales = 0;
            while scales < MAX_SCALES && bernoulli_inverse_e(rng) {
                scales += 1;
            }
            if scales == MAX_SCALES {
                continue;
            }
            // Below 2^52·1024.
            let size = ((fraction + self.numerator * scales) / self.denominator) as i64;
            let is_negative = rng.half_bits() & 1 == 1;
            if is_negative && size == 0 {
                continue;
            }
            return if is_negative { -size } else { size };
        }
    }
}
