//! The loss of a Gaussian output of a Poisson sample, from its hockey-stick curve.
//!
//! Every record is in the sample with probability q, on its own, and moves the output by at most μ
//! standard deviations. Then P = (1−q)N(0, 1) + qN(μ, 1) against Q = (1−q)N(0, 1) + qN(−μ, 1)
//! dominates, in any dimension (`docs/theory/releases.md`). The loss increases with x: where it is ε at
//! x, `D_{e^ε} = P(X > x) − e^ε·Q(X > x)`. **Direction: up**: x is bracketed, P is taken at the lower
//! end and Q at the upper one.

use super::compose::power_of_two;
use super::{HalfCurve, LossLattice};
use crate::numerics::elementary::{exp, exp_m1, ln_1p};
use crate::numerics::normal;

/// Values below it are charged as infinite losses.
const FLOOR: f64 = 1e-100;

/// So many dots at every lattice point; from there on they are as far apart as this is of their
/// distance from 0.
const DENSE: i64 = 1 << 15;

/// A cell is at most so wide.
const WIDEST_CELL: f64 = 0.5;

/// More dots than any loss below 700 needs.
const MOST_DOTS: usize = 1 << 20;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// Beyond it lies less than [`FLOOR`] of both laws, whatever μ is: x is counted from μ.
const REACH: f64 = 40.0;

/// P and Q.
#[derive(Clone, Copy)]
struct Pair {
    rate: f64,
    mu: f64,
}

impl Pair {
    /// The loss at x ≥ 0, and at least its error.
    ///
    /// An exponent y is off by 2U of its terms, which `ln(1 − q + q·e^y)` takes over times
    /// `q·e^y/(1 − q + q·e^y)`: at most 1, and q or q and what the logarithm is above 0. Where y is
    /// negative `q·(e^y − 1)` is off by U of it, which counts e^−ln.
    fn loss(self, x: f64) -> (f64, f64) {
        let Self { rate, mu } = self;
        let ln = |sign: f64| ln_1p(rate * exp_m1(mu * (sign * x - 0.5 * mu)));
        let (high, low) = (ln(1.0), ln(-1.0));
        let exponents = mu * (x + mu) * (exp_m1(high) + rate).min(1.0);
        (high - low, 16.0 * U * (high.abs() + low.abs() + exponents + rate * exp(-low)))
    }

    /// P(X > x), or with `sign` −1 Q(X > x), to a few units of roundoff.
    fn above(self, x: f64, sign: f64) -> f64 {
        (1.0 - self.rate) * normal::upper_tail(x) + self.rate * normal::upper_tail(x - sign * self.mu)
    }

    /// Two numbers between which the loss is `epsilon` ≥ 0.
    fn bracket(self, epsilon: f64) -> (f64, f64) {
        let (mut low, mut high) = (0.0, self.mu + REACH);
        for _ in 0..70 {
            let middle = 0.5 * (low + high);
            let (loss, error) = self.loss(middle);
            if loss == f64::INFINITY {
                // Above 680 in truth, and no ε that is asked for is.
                high = middle;
            } else if loss + error <= epsilon {
                low = middle;
            } else if loss - error >= epsilon {
                high = middle;
            } else {
                // Too near to tell: both ends move towards it from where they can be told.
                return (self.near(low, middle, epsilon, 1.0), self.near(high, middle, epsilon, -1.0));
            }
        }
        (low, high)
    }

    /// The nearest number to `middle` on the side of `end` whose loss is certainly on that side of
    /// `epsilon`, about.
    fn near(self, end: f64, middle: f64, epsilon: f64, sign: f64) -> f64 {
        let (mut sure, mut unsure) = (end, middle);
        for _ in 0..40 {
            let between = 0.5 * (sure + unsure);
            let (loss, error) = self.loss(between);
            if sign * (epsilon - loss) >= error { sure = between } else { unsure = between }
        }
        sure
    }

    /// At least the divergence at e^`epsilon`.
    fn delta_upper(self, epsilon: f64) -> f64 {
        let (low, high) = self.bracket(epsilon);
        let (of_p, of_q) = (self.above(low, 1.0), self.above(high, -1.0));
        (of_p - exp(epsilon) * of_q * (1.0 - 64.0 * U) + 64.0 * U * of_p).clamp(0.0, 1.0)
    }
}

/// The loss of one such output, with `per_deviation` lattice points to about a standard deviation.
pub(super) fn lattice(rate: f64, mu: f64, per_deviation: f64) -> LossLattice {
    let pair = Pair { rate, mu };
    // Of a Gaussian loss of deviation d the total variation is 0.4·d.
    let deviation = 2.5 * pair.delta_upper(0.0);
    let spacing = power_of_two((deviation / per_deviation).min(WIDEST_CELL));
    let mut curve = HalfCurve::new(spacing);
    let mut index = 0;
    while curve.len() < MOST_DOTS {
        let delta = pair.delta_upper(index as f64 * spacing);
        curve.push(index, delta);
        if delta <= FLOOR {
            break;
        }
        index += (index / DENSE).max(1);
    }
    curve.into_symmetric_lattice()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The divergence by quadrature.
    fn attained(rate: f64, mu: f64, t: f64) -> f64 {
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let mixture = |x: f64, mean: f64| (1.0 - rate) * density(x) + rate * density(x - mean);
        let step = 1e-3;
        (-20_000..20_000)
            .map(|i| (f64::from(i) + 0.5) * step)
            .map(|x| (mixture(x, mu) - t * mixture(x, -mu)).max(0.0) * step)
            .sum()
    }

    #[test]
    fn the_curve_is_the_pairs() {
        for (rate, mu) in [(0.01, 1.0), (0.1, 0.5), (0.5, 2.0), (0.9, 0.1), (0.02, 0.2), (1e-6, 1.0)] {
            for epsilon in [0.0, 0.001, 0.01, 0.1, 0.5, 1.0_f64] {
                let (bound, attained) = (Pair { rate, mu }.delta_upper(epsilon), attained(rate, mu, epsilon.exp()));
                // The quadrature is good to the square of its step, where the integrand has a kink.
                assert!(bound >= attained * (1.0 - 1e-4), "{rate}, {mu}, {epsilon}: {bound} below {attained}");
                assert!(bound <= attained * (1.0 + 1e-4) + 1e-13, "{rate}, {mu}, {epsilon}: {bound} above {attained}");
            }
        }
    }

    #[test]
    fn the_bracket_holds_the_loss() {
        for (rate, mu) in [(0.01, 1.0), (0.5, 20.0), (1e-9, 1e-3), (1.0 - 1e-9, 0.3)] {
            let pair = Pair { rate, mu };
            for epsilon in [1e-9, 1e-3, 0.1, 2.0] {
                let (low, high) = pair.bracket(epsilon);
                assert!(low <= high && pair.loss(low).0 <= epsilon, "{rate}, {mu}, {epsilon}");
                assert!(high >= mu + REACH || pair.loss(high).0 >= epsilon, "{rate}, {mu}, {epsilon}");
            }
        }
    }
}
