//! The discrete Gaussian law.

use super::bernoulli_exp::bernoulli_exp;
use super::laplace::ExactLaplace;
use crate::randomness::Randomness;

/// The law of probability proportional to `e^(−x²/(2·variance))` over the whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactGaussian {
    /// σ².
    variance: u64,
    /// t = ⌊σ⌋ + 1.
    proposal_scale: u64,
    proposal: ExactLaplace,
}

impl ExactGaussian {
    /// The largest σ².
    pub const MAX_VARIANCE: u64 = 1 << 52;

    /// The law with parameter σ² = `variance`, between 1 and 2^52. `None` otherwise.
    pub fn new(variance: u64) -> Option<Self> {
        if !(1..=Self::MAX_VARIANCE).contains(&variance) {
            return None;
        }
        let proposal_scale = variance.isqrt() + 1;
        Some(Self { variance, proposal_scale, proposal: ExactLaplace::new(proposal_scale, 1)? })
    }

    /// The parameter σ². The variance itself is no larger (Canonne, Kamath, Steinke 2020, section
    /// 3), and from σ = 2 on no smaller in any digit f64 has: the difference falls as e^(−2π²σ²).
    pub fn variance(self) -> u64 {
        self.variance
    }

    /// A draw, of absolute value below 2^37.
    ///
    /// Follows Algorithm 3 of Canonne, Kamath, Steinke 2020: a discrete Laplace Y of scale t is
    /// accepted with probability e^−γ, `γ = (|Y| − σ²/t)²/(2σ²) = (|Y|t − σ²)²/(2σ²t²)`.
    ///
    /// No overflow: t ≤ 2^26 + 1 and |Y| < 1024·t, so |Y|t < 2^63, its square < 2^126, and
    /// 2σ²t² < 2^106.
    pub fn draw<R: Randomness + ?Sized>(self, rng: &mut R) -> i64 {
        let t = u128::from(self.proposal_scale);
        let denominator = 2 * u128::from(self.variance) * t * t;
        loop {
            let proposed = self.proposal.draw(rng);
            let distance = (u128::from(proposed.unsigned_abs()) * t).abs_diff(u128::from(self.variance));
            if bernoulli_exp(distance * distance, denominator, rng) {
                return proposed;
            }
        }
    }
}
