//! A cheap model of the composed pair, to choose the total variation v by. Nothing rests on it: any v gives a valid bound.
//!
//! The ideal protocol is taken for a Gaussian mechanism whose loss has about the same standard deviation m(v), times a correction that is learnt from
//! the pair itself. At fixed ε, `δ_pair + (1+e^ε)·v` is smallest where its derivative by ln v vanishes: where the second term is
//! `a = −d ln δ_pair / d ln v` times the first.

use super::ideal::Idealised;
use crate::error::Result;
use crate::published::gdp;

/// Iterations of the fixed points below, which contract fast.
const ITERATIONS: usize = 12;

/// The share of δ that goes to the total variation at first.
const FIRST_SHARE: f64 = 0.3;

/// Step of the difference quotients, in a logarithm.
const STEP: f64 = 0.25;

pub(super) struct Model<'a> {
    ideal: &'a Idealised,
    /// The pair's ε over the model's, where they were compared last.
    correction: f64,
    /// The variation that was chosen last.
    last: Option<f64>,
}

impl<'a> Model<'a> {
    pub(super) fn new(ideal: &'a Idealised) -> Self {
        Self { ideal, correction: 1.0, last: None }
    }

    fn mu(&self, variation: f64) -> Result<f64> {
        Ok((self.correction * self.ideal.deviation(variation)?).max(1e-150))
    }

    /// The pair was found to be (ε, δ)-DP at this variation.
    pub(super) fn correct(&mut self, variation: f64, epsilon: f64, delta: f64) -> Result<()> {
        if !(epsilon > 0.0 && epsilon.is_finite() && delta > 0.0 && delta < 1.0) {
            return Ok(());
        }
        // ε is about proportional to μ; two steps make it exact enough.
        for _ in 0..2 {
            let modelled = gdp::epsilon_upper(self.mu(variation)?, delta)?;
            if modelled > 0.0 && modelled.is_finite() {
                self.correction = (self.correction * epsilon / modelled).clamp(1e-3, 1e3);
            }
        }
        Ok(())
    }

    /// `a = −d ln δ_pair/d ln v` at ε: how many times `δ_pair` the charge is, at the optimum.
    fn balance(&self, variation: f64, epsilon: f64, most: f64) -> Result<f64> {
        let (low, high) = (variation * (-STEP).exp(), (variation * STEP.exp()).min(most));
        let ln_delta =
            |variation: f64| Ok::<_, crate::AccountingError>(gdp::ln_delta_upper(self.mu(variation)?, epsilon));
        let slope = (ln_delta(high)? - ln_delta(low)?) / (high / low).ln();
        Ok(if slope < 0.0 { -slope } else { 1e-3 })
    }

    /// A good total variation for the question "ε at δ".
    pub(super) fn variation_at_delta(&mut self, delta: f64, (least, most): (f64, f64)) -> Result<f64> {
        let mut share = FIRST_SHARE;
        let mut variation = self.last.unwrap_or(0.5 * FIRST_SHARE * delta).clamp(least, most);
        for _ in 0..ITERATIONS {
            let epsilon = gdp::epsilon_upper(self.mu(variation)?, (1.0 - share) * delta)?;
            let balance = self.balance(variation, epsilon, most)?;
            share = (balance / (1.0 + balance)).clamp(1e-6, 0.95);
            let next = (share * delta / (1.0 + epsilon.exp())).clamp(least, most);
            let settled = (next / variation).ln().abs() < 1e-2;
            variation = next;
            if settled {
                break;
            }
        }
        self.last = Some(variation);
        Ok(variation)
    }

    /// A good total variation for the question "δ at ε".
    pub(super) fn variation_at_epsilon(&mut self, epsilon: f64, (least, most): (f64, f64)) -> Result<f64> {
        let ln_weight = crate::numerics::log_sum::log_add(0.0, epsilon);
        let mut variation = self.last.unwrap_or((1e-10_f64.ln() - ln_weight).exp()).clamp(least, most);
        for _ in 0..ITERATIONS {
            let balance = self.balance(variation, epsilon, most)?;
            let ln_delta = gdp::ln_delta_upper(self.mu(variation)?, epsilon);
            // The right-hand side falls by `balance` as ln v grows by 1: Newton, or a large balance would make it oscillate.
            let step = (balance.ln() + ln_delta - ln_weight - variation.ln()) / (1.0 + balance);
            let next = (variation.ln() + step).exp().clamp(least, most);
            let settled = (next / variation).ln().abs() < 1e-2;
            variation = next;
            if settled {
                break;
            }
        }
        self.last = Some(variation);
        Ok(variation)
    }
}
