//! Rényi curves: composed by addition, turned into (ε, δ) at the best order.

mod conversion;
mod order_search;

pub use conversion::{epsilon_from_renyi, ln_delta_from_renyi};
pub use order_search::{Orders, minimise_over_orders};

use crate::bound::Answer;
use crate::catalogue::Analysis;
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::exp_up;

/// Upper bounds on the Rényi divergence of one round, order by order.
pub trait RenyiCurve {
    /// The orders at which the curve is defined.
    fn orders(&self) -> Orders;

    /// At least the Rényi divergence of one round at `order`, in either direction; `+∞` where
    /// nothing is known.
    fn epsilon(&self, order: f64) -> Result<f64>;
}

/// `rounds` repetitions of a round with a known [`RenyiCurve`].
///
/// Adaptive composition adds Rényi divergences (Mironov 2017, Proposition 1).
pub struct RenyiAnalysis<C> {
    curve: C,
    rounds: f64,
    max_order: f64,
}

impl<C: RenyiCurve> RenyiAnalysis<C> {
    /// Composes `curve` with itself `rounds` times; orders above `max_order` are not tried.
    pub fn new(curve: C, rounds: u64, max_order: f64) -> Self {
        Self { curve, rounds: rounds as f64, max_order }
    }

    /// At least T·ε(λ). `0·∞` cannot occur: there is at least one round.
    fn composed(&self, order: f64) -> Result<f64> {
        let single = self.curve.epsilon(order)?;
        // NaN must not win a minimisation; it fails this comparison and becomes the vacuous bound.
        if single >= 0.0 { Ok((self.rounds * single).next_up()) } else { Ok(f64::INFINITY) }
    }
}

impl<C: RenyiCurve> Analysis for RenyiAnalysis<C> {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        let (order, value) = minimise_over_orders(self.curve.orders(), self.max_order, |order| {
            Ok(epsilon_from_renyi(self.composed(order)?, order, delta))
        })?;
        Ok(Answer { value: value.max(0.0), order: Some(order), remark: None })
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        let (order, ln_delta) = minimise_over_orders(self.curve.orders(), self.max_order, |order| {
            Ok(ln_delta_from_renyi(self.composed(order)?, order, epsilon))
        })?;
        let value = exp_up(ln_delta).min(1.0);
        Ok(Answer { value, order: Some(order), remark: None })
    }

    fn renyi(&self, order: f64) -> Option<Result<f64>> {
        if self.curve.orders().contains(order) {
            Some(self.curve.epsilon(order))
        } else {
            Some(Err(AccountingError::not_applicable(format!("the bound is not defined at order {order}"))))
        }
    }
}
