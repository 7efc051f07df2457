//! Sums of the likelihood ratios of single reports: hockey-stick divergences of the shuffle
//! Gaussian pair.
//!
//! With `w = exp(N(−s/2, s))` the likelihood ratio of one report, S the sum of `w − 1` over those
//! that participate and n clients, the pair has `V = P/Q = 1 + S/n`, so
//!
//! - `H_t(P‖Q) = E(V − t)₊ = (1/n)·E(S − n(t−1))₊`;
//! - `H_t(Q‖P) = E(1 − tV)₊ = (t/n)·E(−S − n(1−1/t))₊`.
//!
//! The potential of `w − 1` is the profile δ of one report: its call at c is `E(w − (1+c))₊ = δ(1 +
//! c)`, and its put is `E((1−c) − w)₊ = (1−c)·δ(1/(1−c))`, because `δ(s) = 1 − s + s·δ(1/s)`.

use crate::displacement::{CUT_SHARE, Fineness, Group, SlotSum, Term, Terms, Way};
use crate::numerics::directed::{inflate, mul_up};
use crate::profile::LocalProfile;
use crate::sums::{Draws, Law, calls_upper};

/// The part that all sums over reports have in common.
pub(super) struct Reports {
    /// Of one report.
    pub(super) profile: LocalProfile,
    /// The clients that participate.
    pub(super) terms: Terms,
    pub(super) fineness: Fineness,
    /// A divergence that does not matter.
    pub(super) floor: f64,
}

/// `H_t(P‖Q)`: sums of `w − 1`, which have the log-normal's tail.
pub(super) struct Forward(pub(super) Reports);

/// `H_t(Q‖P)`: sums of `1 − w`, none of which is above 1.
pub(super) struct Reverse(pub(super) Reports);

/// At least the put of `w − 1` at c, which is the call of `1 − w`. **Direction: up.**
pub(super) fn shortfall(profile: &LocalProfile, c: f64) -> f64 {
    let left = 1.0 - c;
    if left <= 0.0 {
        return 0.0;
    }
    // Arguments of δ, which does not increase, are rounded down.
    let delta = profile.delta_upper((c / left * (1.0 - 4.0 * f64::EPSILON)).max(0.0));
    inflate(left * delta, 8.0 * f64::EPSILON)
}

impl Reports {
    fn sum<'a>(&'a self, term: &'a Term) -> SlotSum<'a> {
        SlotSum::new(&self.profile, term, self.fineness, self.floor)
    }

    fn call(&self, c: f64) -> f64 {
        self.profile.delta_upper(c)
    }

    fn put(&self, c: f64) -> f64 {
        shortfall(&self.profile, c)
    }
}

impl Way for Forward {
    fn terms(&self) -> &Terms {
        &self.0.terms
    }

    fn calls(&self, term: &Term, _group: &Group, points: &[f64]) -> Option<Vec<f64>> {
        self.0.sum(term).calls(1.0, (|c| self.0.call(c), |c| self.0.put(c)), points)
    }
}

/// Points of the lattice of `1 − w` up to its end, at the least.
const TO_THE_END: f64 = 16.0;

/// More than so many reports beyond twice their mean number are not expected.
const FEW: f64 = 64.0;

impl Way for Reverse {
    fn terms(&self) -> &Terms {
        &self.0.terms
    }

    /// In terms of `−S`: `E(t·(−S) − x)₊ = t·E(−S − x/t)₊` at `x = n(t−1)`.
    fn calls(&self, term: &Term, _group: &Group, points: &[f64]) -> Option<Vec<f64>> {
        let population = term.population as f64;
        let ratio = |x: f64| 1.0 + x / population;
        let reduced: Vec<f64> = points.iter().map(|x| x / ratio(*x) * (1.0 - 8.0 * f64::EPSILON)).collect();
        let calls = calls_upper(&[Draws::new(&self.law(term, *reduced.last()?), term.slots.number())], &reduced);
        // Points were rounded down, and t with them.
        let t = |x: f64| ratio(x) * (1.0 + 16.0 * f64::EPSILON);
        Some(points.iter().zip(calls).map(|(x, call)| mul_up(t(*x), call)).collect())
    }
}

impl Reverse {
    /// The law of `1 − w` on a lattice, good for calls up to `last`.
    fn law(&self, term: &Term, last: f64) -> Law {
        let sum = self.0.sum(term);
        // One w that is larger than the number of reports makes the sum negative, whatever the
        // others are: further down it does not matter how far down. Mass below the bottom is moved
        // up to it.
        let deepest = 2.0 * sum.present + FEW;
        let bottom = sum.top(sum.negligible.max(CUT_SHARE * sum.normal_call(last))).min(deepest);
        let spacing = sum.finest().min(1.0 / TO_THE_END).max(bottom / sum.most_points());
        // The call is below the put: where the put may be cut, so may the call.
        let ends = [bottom.min(1.0), bottom].map(|reach| (reach / spacing).ceil() as usize);
        Law::from_functions(spacing, ends, |c| self.0.put(c), |c| self.0.call(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::normal;

    #[test]
    fn a_shortfall_is_that_of_the_log_normal() {
        // E(b − w)₊ = b·Φ(z) − Φ(z − μ), z = ln(b)/μ + μ/2.
        for mu in [0.05, 0.4, 1.0, 2.5] {
            let profile = LocalProfile::Gaussian { mu };
            for c in [0.0, 0.01, 0.3, 0.9, 0.999] {
                let b: f64 = 1.0 - c;
                let z = b.ln() / mu + 0.5 * mu;
                let direct = b * normal::cdf(z) - normal::cdf(z - mu);
                let value = shortfall(&profile, c);
                // The difference has an error of some 1e-16; the profile may be up to 1e-10 of
                // itself above.
                assert!(
                    value >= direct - 1e-16 && value <= direct * (1.0 + 1e-9) + 1e-15,
                    "{mu} {c}: {value} {direct}"
                );
            }
            assert!(shortfall(&profile, 1.0) <= 0.0 && shortfall(&profile, 7.0) <= 0.0);
        }
    }
}
