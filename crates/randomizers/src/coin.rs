//! Coins whose probabilities are known to the last bit.
//!
//! A coin is a 64-bit threshold: heads if 64 uniform bits lie below it, so its probability is
//! exactly `threshold/2^64`. Thresholds of a [`PrivateCoin`] stay in a band whose ends have a ratio
//! of at most `e^ε0` *as integers*, and the estimator divides by the band's actual width: rounding
//! costs neither privacy nor bias.

use crate::error::{Result, require};
use crate::randomness::Randomness;

/// 2^63: heads with probability ½.
const HALF: u64 = 1 << 63;
const TWO_TO_64: f64 = 2.0 * HALF as f64;

/// Heads with a probability of exactly `threshold/2^64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coin {
    threshold: u64,
}

impl Coin {
    /// Heads with the largest multiple of 2^−64 that is at most `probability` and below 1; NaN
    /// counts as 0.
    pub fn at_most(probability: f64) -> Self {
        // The product is exact, `as` truncates, saturates and takes NaN to 0.
        Self { threshold: (probability * TWO_TO_64) as u64 }
    }

    /// Heads with probability `threshold/2^64`. Who chooses it owes the proof that it is private
    /// enough.
    pub(crate) fn with_threshold(threshold: u64) -> Self {
        Self { threshold }
    }

    /// The probability of heads, times 2^64.
    pub fn threshold(self) -> u64 {
        self.threshold
    }

    /// The probability of heads, to f64's nearest.
    pub fn probability(self) -> f64 {
        self.probability_of(true)
    }

    /// The probability that it shows `heads`, to f64's nearest: tails from the whole number, not
    /// from 1 − p, for it may be as small as 2^−53.
    pub fn probability_of(self, heads: bool) -> f64 {
        match (heads, self.threshold) {
            (true, threshold) => threshold as f64 / TWO_TO_64,
            (false, 0) => 1.0,
            (false, threshold) => threshold.wrapping_neg() as f64 / TWO_TO_64,
        }
    }

    /// Flips it.
    #[inline]
    pub fn flip<R: Randomness + ?Sized>(self, rng: &mut R) -> bool {
        rng.bits() < self.threshold
    }
}

/// The coins of an ε0-LDP sign: heads with probability ½ + h·x/2 for `x` in [−1, 1],
/// `h = tanh(ε0/2)` = 1/c rounded down.
///
/// For any two inputs, `P(heads)` and `P(tails)` have ratios of at most `(1+h)/(1−h) ≤ e^ε0`, as
/// integers over 2^64. From ε0 ≈ 37 on, `1−h` cannot become smaller than 2^−53: more privacy than
/// asked, and the estimator knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivateCoin {
    /// h·2^63, a whole number that f64 holds exactly.
    half_width: f64,
}

impl PrivateCoin {
    /// The coins of `local_epsilon`.
    pub fn new(local_epsilon: f64) -> Result<Self> {
        require(
            local_epsilon > 0.0 && local_epsilon.is_finite(),
            "local-epsilon",
            "a finite number above 0 (at 0 a report says nothing)",
            local_epsilon,
        )?;
        // Rounded down: libm's tanh errs by up to 2.1 units in the last place, at least four are
        // taken off.
        let lean = (libm::tanh(local_epsilon / 2.0) * (1.0 - 4.0 * f64::EPSILON)).min(1.0 - f64::EPSILON / 2.0);
        let half_width = (lean * HALF as f64).floor();
        require(half_width >= 1.0, "local-epsilon", "above 1e-18 (below that no coin leans at all)", local_epsilon)?;
        Ok(Self { half_width })
    }

    /// The coin of `x`, which is clamped to [−1, 1]; NaN counts as 0.
    #[inline]
    pub fn leaning(self, x: f64) -> Coin {
        // |x| ≤ 1, so the product is at most the half-width, exactly; `as` truncates towards 0 and takes NaN to 0.
        let offset = (x.clamp(-1.0, 1.0) * self.half_width) as i64;
        Coin { threshold: HALF.wrapping_add_signed(offset) }
    }

    /// c = (e^ε0+1)/(e^ε0−1) of the coins as they are: E[±c] = x, up to the truncation to 2^−63 of
    /// [`leaning`](Self::leaning).
    pub fn debias(self) -> f64 {
        HALF as f64 / self.half_width
    }
}
