//! How high above the equator a report lies: inside the cap with the largest private probability,
//! else outside.

use crate::coin::Coin;
use crate::deviates;
use crate::error::{RandomizerError, Result, require};
use crate::randomness::Randomness;
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::numerics::beta::{inverse_regularised_beta, regularised_beta_of_complement};
use shuffledp_accounting::numerics::gamma::stirling_error;
use shuffledp_accounting::scheme::priv_unit::optimal_cap;

/// The law of the height `t = ⟨V, u⟩`.
///
/// The cap is what holds the upper `mass` of the uniform law on the sphere, and heights are drawn
/// by their tail: what accounting is told, the cap's mass, is what the client does, however narrow
/// the cap (in two dimensions at ε0 = 50 its *height* is within 1e-14 of 1 and could not say).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CapLaw {
    /// α = (d−1)/2.
    alpha: f64,
    /// q.
    mass: f64,
    /// p.
    coin: Coin,
    /// m, the mean of t.
    mean_height: f64,
}

/// A point's height above the equator, and its distance from the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Height {
    /// t.
    pub(super) above: f64,
    /// √(1−t²), to full relative accuracy.
    pub(super) aside: f64,
}

impl CapLaw {
    /// The cap that accounting assumes, with the largest p that is private:
    /// `p(1−q)/((1−p)q) ≤ e^ε0`.
    pub(super) fn new(local_epsilon: f64, dimension: u32) -> Result<Self> {
        let alpha = (f64::from(dimension) - 1.0) / 2.0;
        let mass = optimal_cap(local_epsilon, u64::from(dimension)).mass;
        if !(mass > 0.0 && mass <= 0.5) {
            return Err(numerical("the cap of this local ε and dimension has no mass that floating point can hold"));
        }
        let coin = private_coin(local_epsilon, mass);
        // (p/q − (1−p)/(1−q)): by how much the cap is denser than the rest. Of the coin as it is,
        // so that rounding costs no bias.
        let (heads, tails) = (coin.probability_of(true), coin.probability_of(false));
        let contrast = heads / mass - tails / (1.0 - mass);
        require(contrast > 1e-9, "local-epsilon", "at least 1e-8 (below that a report says nothing)", local_epsilon)?;
        let ln_mean =
            alpha * ln_aside_squared(alpha, mass) - (2.0 * alpha).ln() - ln_beta_with_half(alpha) + contrast.ln();
        let mean_height = ln_mean.exp();
        if mean_height > 0.0 && mean_height <= 1.0 + 1e-9 {
            Ok(Self { alpha, mass, coin, mean_height })
        } else {
            Err(numerical("the mean of this local ε and dimension is not one that floating point can hold"))
        }
    }

    /// m = E[⟨V, u⟩] = (1−g²)^α/(2α·B(½, α))·[p/q − (1−p)/(1−q)].
    pub(super) fn mean_height(&self) -> f64 {
        self.mean_height
    }

    /// q: the share of the sphere that the cap has.
    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    /// The coin of p: does a report lie in the cap?
    pub(super) fn coin(&self) -> Coin {
        self.coin
    }

    /// The density at height `t`, relative to the uniform law: p/q in the cap, (1−p)/(1−q) outside.
    pub(super) fn density(&self, above: f64) -> f64 {
        if above > 0.0 && upper_tail(self.alpha, above) <= self.mass {
            self.coin.probability() / self.mass
        } else {
            self.coin.probability_of(false) / (1.0 - self.mass)
        }
    }

    /// A height of this law: its tail is uniform below q in the cap, above q outside, and the
    /// inverse of the tail gives the height.
    pub(super) fn draw<R: Randomness + ?Sized>(&self, rng: &mut R) -> Result<Height> {
        let is_inside = self.coin.flip(rng);
        let share = deviates::unit(rng);
        if is_inside {
            return self.at_tail(self.mass * share);
        }
        let below = (1.0 - self.mass) * share;
        if below <= 0.5 {
            let mirrored = self.at_tail(below)?;
            return Ok(Height { above: -mirrored.above, ..mirrored });
        }
        // Never inside: 1 − below may round to less than q.
        self.at_tail((1.0 - below).max(self.mass))
    }

    /// The point of the northern hemisphere with `tail` ≤ ½ of the sphere above it:
    /// `½·I_{1−t²}(α, ½) = tail`.
    fn at_tail(&self, tail: f64) -> Result<Height> {
        let (aside_squared, above_squared) = inverse_regularised_beta(self.alpha, 0.5, (2.0 * tail).min(1.0));
        if aside_squared.is_nan() || above_squared.is_nan() {
            return Err(numerical("the height of a report could not be computed"));
        }
        Ok(Height { above: above_squared.sqrt(), aside: aside_squared.sqrt() })
    }
}

fn numerical(reason: &str) -> RandomizerError {
    AccountingError::numerical(reason).into()
}

/// The coin of the largest p with odds at most `e^ε0·q/(1−q)`.
///
/// **Direction: down.** The logarithm of the odds errs by a few ulps of its terms; eight are taken
/// off. Whichever of p and 1−p is smaller is rounded with relative accuracy, p down and 1−p up. A
/// smaller p than the largest is a mixture with the uniform law, which only hides.
fn private_coin(local_epsilon: f64, mass: f64) -> Coin {
    let ln_odds = local_epsilon + mass.ln() - (-mass).ln_1p();
    let ln_odds = ln_odds - 8.0 * f64::EPSILON * (local_epsilon + mass.ln().abs() + 1.0);
    let whole = 2.0_f64.powi(64);
    let odds_against_the_likelier = (-ln_odds.abs()).exp();
    let smaller = odds_against_the_likelier / (1.0 + odds_against_the_likelier);
    if ln_odds <= 0.0 {
        return Coin::with_threshold((smaller * (1.0 - 8.0 * f64::EPSILON) * whole).floor() as u64);
    }
    let tails = (smaller * (1.0 + 8.0 * f64::EPSILON) * whole).ceil().max(1.0) as u64;
    Coin::with_threshold(tails.wrapping_neg())
}

/// ln(1−g²) of the cap of this mass.
fn ln_aside_squared(alpha: f64, mass: f64) -> f64 {
    let (aside_squared, above_squared) = inverse_regularised_beta(alpha, 0.5, (2.0 * mass).min(1.0));
    if above_squared < 0.5 { (-above_squared).ln_1p() } else { aside_squared.ln() }
}

/// The share of the sphere at least `above` ≥ 0 high.
fn upper_tail(alpha: f64, above: f64) -> f64 {
    regularised_beta_of_complement(alpha, 0.5, (above * above).min(1.0)).0 / 2.0
}

/// ln B(½, α) = ln √π − ln[Γ(α+½)/Γ(α)], for α ≥ ½.
///
/// The ratio by Stirling errors S, one step up so that all arguments are positive:
/// `Γ(α+3/2)/Γ(α+1)·α/(α+½)`. Differences of ln Γ would cost nine digits at d = 1e9.
fn ln_beta_with_half(alpha: f64) -> f64 {
    let ln_ratio_above =
        stirling_error(alpha + 0.5) - stirling_error(alpha) + (alpha + 1.0) * (0.5 / alpha).ln_1p() + 0.5 * alpha.ln()
            - 0.5;
    let ln_ratio = ln_ratio_above - (0.5 / alpha).ln_1p();
    0.5 * std::f64::consts::PI.ln() - ln_ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_is_as_private_as_claimed_and_hardly_more() {
        for dimension in [2, 3, 10, 1000, 1_000_000, 100_000_000] {
            for local_epsilon in [0.01, 0.1, 1.0, 4.0, 16.0, 37.0, 50.0] {
                let law = CapLaw::new(local_epsilon, dimension).unwrap();
                let (heads, tails) = (law.coin.threshold(), law.coin.threshold().wrapping_neg());
                // Both are exact in u64; the quotient's logarithm errs by a few ulps of its terms.
                let epsilon = (heads as f64).ln() - (tails as f64).ln() + (-law.mass).ln_1p() - law.mass.ln();
                assert!(epsilon <= local_epsilon + 1e-14 * 50.0, "{local_epsilon} {dimension}: {epsilon}");
                // One part in `tails` is what rounding can cost.
                let slack = 1e-12 + 2.0 / tails as f64;
                assert!(epsilon >= local_epsilon - slack, "{local_epsilon} {dimension}: {epsilon}");
            }
        }
    }

    #[test]
    fn heights_are_found_everywhere() {
        for dimension in [2, 3, 10, 1000, 1_000_000, 100_000_000] {
            for local_epsilon in [0.1, 1.0, 8.0, 50.0] {
                let law = CapLaw::new(local_epsilon, dimension).unwrap();
                let cap = law.at_tail(law.mass).unwrap();
                for share in [f64::EPSILON / 2.0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0] {
                    let height = law.at_tail(law.mass * share).unwrap();
                    assert!(height.above >= cap.above && height.above <= 1.0, "{dimension} {local_epsilon} {share}");
                    assert!((height.above.powi(2) + height.aside.powi(2) - 1.0).abs() < 4.0 * f64::EPSILON);
                }
            }
        }
    }

    #[test]
    fn beta_with_half_at_known_values() {
        // B(½, ½) = π, B(½, 1) = 2, B(½, 3/2) = π/2, B(½, 2) = 4/3.
        for (alpha, beta) in
            [(0.5, std::f64::consts::PI), (1.0, 2.0), (1.5, std::f64::consts::FRAC_PI_2), (2.0, 4.0 / 3.0)]
        {
            assert!((ln_beta_with_half(alpha) - f64::ln(beta)).abs() < 4.0 * f64::EPSILON, "{alpha}");
        }
    }
}
