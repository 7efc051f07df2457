//! Which Rényi order to use. Every order gives a valid bound, so the search may stop anywhere: it
//! costs tightness only.

use crate::error::Result;
use crate::numerics::elementary::{exp, ln};

/// The orders at which a curve is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// Integers from 2 on: the published series.
    Integers,
    /// Every real above 1: exact pairs.
    Reals,
}

impl Orders {
    /// Is the curve defined at `order`?
    pub fn contains(self, order: f64) -> bool {
        match self {
            Self::Integers => order >= 2.0 && order.fract() == 0.0,
            Self::Reals => order > 1.0 && order.is_finite(),
        }
    }

    fn smallest(self) -> f64 {
        match self {
            Self::Integers => 2.0,
            // Below it the conversion term ln(1/δ)/(λ−1) is in the hundreds.
            Self::Reals => 1.0 + 1.0 / 64.0,
        }
    }

    /// The order whose distance from 1 is `exp(position)`, rounded to where the curve is defined.
    fn at(self, position: f64) -> f64 {
        match self {
            Self::Integers => (1.0 + exp(position)).round().max(2.0),
            Self::Reals => 1.0 + exp(position),
        }
    }
}

/// After this many steps without improvement, doubling stops.
const PATIENCE: usize = 6;

/// Golden-section steps inside the bracket: it shrinks by 0.618^24 < 1e-5, far below what the flat
/// minimum can show.
const REFINEMENTS: usize = 24;

/// Up to this distance from 1 all integer orders of the bracket are tried.
const SCANNED: f64 = 32.0;

/// Steps to neighbouring integer orders at the end of a search among larger ones.
const NEIGHBOURS: usize = 8;

/// Finds an order that makes `objective` small: doubles λ−1 until the objective has stopped
/// falling, then golden section in ln(λ−1) around the best. Returns (order, objective); the
/// objective was evaluated at exactly that order.
pub fn minimise_over_orders(
    orders: Orders,
    max_order: f64,
    mut objective: impl FnMut(f64) -> Result<f64>,
) -> Result<(f64, f64)> {
    let mut best = (orders.smallest(), f64::INFINITY);
    let mut seen: Vec<(f64, f64)> = Vec::new();
    let mut try_at = |position: f64, best: &mut (f64, f64)| -> Result<f64> {
        let order = orders.at(position).min(max_order.max(orders.smallest()));
        // Integer positions repeat; the curve may be costly.
        if let Some(&(_, value)) = seen.iter().find(|(o, _)| o.total_cmp(&order).is_eq()) {
            return Ok(value);
        }
        let value = objective(order)?;
        seen.push((order, value));
        if value < best.1 {
            *best = (order, value);
        }
        Ok(value)
    };

    let step = std::f64::consts::LN_2;
    let first = ln(orders.smallest() - 1.0);
    let last = ln(max_order - 1.0).max(first);
    let (mut position, mut best_position, mut since_best) = (first, first, 0);
    loop {
        let before = best.1;
        try_at(position, &mut best)?;
        if best.1 < before {
            (best_position, since_best) = (position, 0);
        } else if best.1.is_finite() {
            since_best += 1;
        }
        if position >= last || since_best >= PATIENCE {
            break;
        }
        position = (position + step).min(last);
    }

    let golden = 0.618_033_988_749_894_9;
    let (mut low, mut high) = ((best_position - step).max(first), (best_position + step).min(last));
    if orders == Orders::Integers && exp(high) <= SCANNED {
        // Few integers, and rounding makes plateaus in which golden section loses its way: try them
        // all.
        for distance in exp(low).floor() as u64..=exp(high).ceil() as u64 {
            try_at(ln(distance as f64), &mut best)?;
        }
        return Ok(best);
    }
    let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_left, mut at_right) = (try_at(left, &mut best)?, try_at(right, &mut best)?);
    for _ in 0..REFINEMENTS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = try_at(left, &mut best)?;
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = try_at(right, &mut best)?;
        }
    }
    if orders == Orders::Integers {
        // Rounded positions may have stopped a few integers short.
        for _ in 0..NEIGHBOURS {
            let (at, before) = best;
            try_at(ln((at - 2.0).max(1.0)), &mut best)?;
            try_at(ln(at), &mut best)?;
            if best.1 >= before {
                break;
            }
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_gaussian_curve() {
        // λ/2·T + ln(1/δ)/(λ−1) is smallest at λ = 1 + √(2 ln(1/δ)/T).
        for (rounds, ln_inverse_delta) in [(1.0_f64, 18.4), (1e-6, 18.4), (50.0, 11.5)] {
            let exact = 1.0 + (2.0 * ln_inverse_delta / rounds).sqrt();
            let (order, _) =
                minimise_over_orders(Orders::Reals, 1e6, |l| Ok(l / 2.0 * rounds + ln_inverse_delta / (l - 1.0)))
                    .unwrap();
            assert!((order / exact - 1.0).abs() < 1e-3, "{order} against {exact}");
        }
    }

    #[test]
    fn integer_search_returns_the_best_integer() {
        let f = |l: f64| (l - 1.0).ln().powi(2) - 2.0 * 3.3 * (l - 1.0).ln();
        let (order, value) = minimise_over_orders(Orders::Integers, 1e6, |l| Ok(f(l))).unwrap();
        let scan = (2..1000).map(|l| f(l as f64)).fold(f64::INFINITY, f64::min);
        assert!(order.fract() == 0.0 && value <= scan, "{order}: {value} against {scan}");
    }

    #[test]
    fn small_integer_orders_are_all_tried() {
        // The minimum at 4 lies between the doubled orders 3 and 5, whose values tie.
        let f = |l: f64| if (l - 4.0).abs() < 0.5 { 1.0 } else { 2.0 + (l - 4.0).abs() };
        let (order, _) = minimise_over_orders(Orders::Integers, 1e6, |l| Ok(f(l))).unwrap();
        assert!((order - 4.0).abs() < 0.5, "{order}");
    }

    #[test]
    fn respects_the_largest_order_and_infinite_objectives() {
        let (order, _) = minimise_over_orders(Orders::Integers, 30.0, |l| Ok(1.0 / l)).unwrap();
        assert!((order - 30.0).abs() < 0.5);
        let (_, value) = minimise_over_orders(Orders::Integers, 1e6, |_| Ok(f64::INFINITY)).unwrap();
        assert!(value.is_infinite());
    }
}
