//! The profile of Gaussian noise.

use crate::numerics::elementary::ln_1p;
use crate::numerics::normal;
use crate::published::gdp;

/// Relative error of the two normal tails, well above what `docs/numerics.md` measures.
const TAIL_ERROR: f64 = 1e-14;

/// Where the difference of the two tails has lost more than this, another formula is used.
const LOST: f64 = 1e-10;

/// At least `Φ(−a) − s·Φ(−a − μ)`, `a = ln(s)/μ − μ/2`. **Direction: up.**
///
/// The difference of two tails, each to full relative accuracy, loses about `(a + μ)/μ` of it: that
/// is added. Where it is too much, as for tiny μ, [`gdp::delta_upper`] integrates instead, which
/// loses nothing and takes longer.
pub(super) fn delta_upper(mu: f64, excess: f64) -> f64 {
    let epsilon = ln_1p(excess);
    let (near, half) = (epsilon / mu, 0.5 * mu);
    let (a, b) = (near - half, near + half);
    let (first, second) = (normal::cdf(-a), (1.0 + excess) * normal::cdf(-b));
    // An error of a few units in a or b moves the exponent of its tail by |a| or b times that.
    let exponent = 4.0 * f64::EPSILON * (near + half) * a.abs().max(b);
    let error = (TAIL_ERROR + exponent + 4.0 * f64::EPSILON * epsilon) * (first + second);
    let delta = first - second;
    if delta.is_normal() && error <= LOST * delta { delta + error } else { gdp::delta_upper(mu, epsilon) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_integral(mu in 1e-4_f64..8.0, z in 0.0_f64..30.0) {
            let epsilon = mu * z;
            let (fast, exact) = (delta_upper(mu, epsilon.exp_m1()), gdp::delta_upper(mu, epsilon));
            // Both round up: the integral by 2e-14 and its exponent's error, this one by LOST at
            // the most.
            prop_assert!(fast >= exact * (1.0 - 1e-10) && fast <= exact * (1.0 + 3e-10), "{fast:e} {exact:e}");
        }
    }
}
