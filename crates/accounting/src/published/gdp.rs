//! Gaussian differential privacy: Dong, Roth, Su (JRSS B 2022); Balle, Wang 2018 for the formula.

use crate::bound::Answer;
use crate::catalogue::Analysis;
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, exp_m1, exp_up, ln};
use crate::numerics::led_bisection::smallest_safe_led;
use crate::numerics::normal;
use std::sync::LazyLock;

/// `½ ln(2π)`.
const LN_SQRT_2_PI: f64 = 0.918_938_533_204_672_7;

/// Relative error that covers the quadrature and the special functions; the exponent's is added
/// apart.
const SLACK: f64 = 2e-14;

/// Upper-bounds `δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2)` of a μ-GDP mechanism.
///
/// Dong, Roth, Su 2022, Corollary 1; Balle, Wang 2018, Theorem 8. **Direction: up.** See
/// [`ln_delta_upper`].
pub fn delta_upper(mu: f64, epsilon: f64) -> f64 {
    let ln_delta = ln_delta_upper(mu, epsilon);
    exp_up(ln_delta).min(1.0)
}

/// At least ln δ(ε), also where δ underflows.
///
/// With `a = ε/μ − μ/2`, `b = a + μ` and φ the normal density, `e^ε·φ(b) = φ(a)`, so
/// `δ = φ(a)·∫_0^∞ e^(−at − t²/2)·(1 − e^(−μt)) dt`: no difference of nearly equal numbers,
/// whatever μ. For `a < −1` the plain difference `Φ(−a) − φ(a)·∫ e^(−bt − t²/2) dt` loses nothing.
/// **Direction: up**: the exponent `a²/2` carries an error of some ulps of `(ε/μ + μ/2)·|a|`, which
/// is added. Edge cases: `−∞` at μ = 0; 0 at μ = ∞.
pub fn ln_delta_upper(mu: f64, epsilon: f64) -> f64 {
    if mu == 0.0 {
        return f64::NEG_INFINITY;
    }
    let (near, half) = (epsilon / mu, 0.5 * mu);
    let a = near - half;
    if half.is_infinite() && near.is_finite() {
        return 0.0;
    }
    let ln_density = -0.5 * a * a - LN_SQRT_2_PI;
    let exponent_error = 4.0 * f64::EPSILON * (near + half) * a.abs();
    if a < -1.0 {
        let second = exp(ln_density) * decaying_integral(near + half, |_| 1.0);
        let rounding = SLACK + exponent_error.min(1.0) * second;
        return ln((normal::cdf(-a) - second + rounding).min(1.0));
    }
    let integral = decaying_integral(a, |t| -exp_m1(-mu * t));
    (ln_density + ln(integral) + exponent_error + SLACK + 4.0 * f64::EPSILON * ln_density.abs()).min(0.0)
}

/// `∫_0^∞ e^(−at − t²/2)·f(t) dt` for `a ≥ −1` and `f` between a constant and a multiple of t: the
/// trapezoidal rule in ln t.
///
/// The integrand is analytic in the strip `|Im ln t| < π/4` and falls at least like `t` on the left
/// and doubly exponentially on the right, so the step 1/8 leaves `e^(−2π·(π/4)·8) < 1e-17`, and so
/// do the ends.
fn decaying_integral(a: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 0.125;
    static NODES: LazyLock<Vec<f64>> = LazyLock::new(|| (-320..=40).map(|i| exp(STEP * f64::from(i))).collect());
    let scale = 1.0 / a.max(1.0);
    let mut sum = 0.0;
    for node in NODES.iter().rev() {
        let t = scale * node;
        let term = exp(-a * t - 0.5 * t * t) * f(t) * t;
        sum += term;
        // To the left of 1 terms fall at least by e^(−STEP) each: all that are left have less than
        // nine times the last.
        if *node < 1.0 && term < 1e-19 * sum {
            break;
        }
    }
    sum * STEP
}

/// At most what is asked: the smallest ε, to 1e-12 of itself, at which δ(ε) was checked to be at
/// most `delta`.
pub fn epsilon_upper(mu: f64, delta: f64) -> Result<f64> {
    // δ(ε) ≤ Φ(−ε/μ + μ/2) ≤ e^(−(ε/μ − μ/2)²/2).
    let enough = (0.5 * mu * mu + mu * (-2.0 * ln(delta)).sqrt()) * (1.0 + 1e-9);
    if !enough.is_finite() {
        return Ok(f64::INFINITY);
    }
    let target = ln(delta) - 4.0 * f64::EPSILON * ln(delta).abs();
    let found = smallest_safe_led(0.0, enough, 1e-12, |e| Ok::<_, AccountingError>(ln_delta_upper(mu, e) - target))?;
    Ok(found.unwrap_or(f64::INFINITY))
}

/// The μ of `rounds` rounds of μ-GDP: at least `√T·μ` (Dong, Roth, Su 2022, Corollary 2).
pub fn compose(mu: f64, rounds: u64) -> f64 {
    mu * (rounds as f64).sqrt() * (1.0 + 2.0 * f64::EPSILON)
}

/// μ-GDP, asked for ε or δ.
pub(super) struct GdpAnalysis {
    mu: f64,
}

impl GdpAnalysis {
    pub(super) fn new(mu: f64) -> Self {
        Self { mu }
    }
}

impl Analysis for GdpAnalysis {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        Ok(Answer::plain(epsilon_upper(self.mu, delta)?))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        Ok(Answer::plain(delta_upper(self.mu, epsilon)))
    }
}
