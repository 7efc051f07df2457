//! Girgis, Data, Diggavi, Suresh, Kairouz: On the Rényi differential privacy of the shuffle model
//! (CCS 2021, arXiv 2105.05180).

use super::asked;
use super::series::{chernoff_exponent_upper, half_clones_lower, ln_1p_exp, ln_two_sinh};
use super::wbk19;
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::numerics::elementary::{exp_m1, ln};
use crate::numerics::gamma::ln_binomial;
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::Question;

/// Upper-bounds the Rényi divergence of the shuffle of `clients` reports at an integer `order` of
/// at least 2:
/// ```text
/// ε(λ) ≤ ln(e^(λ²(E−1)²/n̄) + e^(ε0λ − (n−1)/(8E)))/(λ−1),   n̄ = ⌊(n−1)/(2E)⌋ + 1,  E = e^ε0.
/// ```
/// Quoted as equation (8) in "Rényi DP in the shuffle model: enhanced amplification bounds".
/// **Direction: up**: both exponents are rounded up and `n̄` down. `+∞` where it exceeds the
/// floats.
pub fn renyi_upper(local_epsilon: f64, clients: u64, order: f64) -> f64 {
    let others = clients as f64 - 1.0;
    let growth = order * exp_m1(local_epsilon);
    let first = growth * growth / half_clones_lower(others, local_epsilon) * (1.0 + 16.0 * f64::EPSILON);
    if first.is_infinite() {
        return f64::INFINITY;
    }
    let (rise, fall) = (order * local_epsilon, chernoff_exponent_upper(others, local_epsilon));
    // rise + fall may cancel: its error is that of the larger.
    let second = rise + fall + 4.0 * f64::EPSILON * (rise - fall);
    // Taken apart so that a small first exponent keeps its digits.
    let gap = second - first + 4.0 * f64::EPSILON * (second.abs() + first);
    (first + ln_1p_exp(gap)) / (order - 1.0) * (1.0 + 16.0 * f64::EPSILON)
}

/// `ccs21-upper`: the shuffle of all clients.
pub struct Upper;

impl Method for Upper {
    fn about(&self) -> About {
        About {
            id: "ccs21-upper",
            name: "Girgis et al. 2021 (CCS), upper",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Girgis, Data, Diggavi, Suresh, Kairouz 2021 (arXiv 2105.05180), as quoted in Enhanced amplification bounds, \
                       equation (8)",
            note: "",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let clients = asked::everyone(question)?;
        Ok(Box::new(RenyiAnalysis::new(Curve { local_epsilon, clients }, question.rounds(), options.max_order)))
    }
}

struct Curve {
    local_epsilon: f64,
    clients: u64,
}

impl RenyiCurve for Curve {
    fn orders(&self) -> Orders {
        Orders::Integers
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(renyi_upper(self.local_epsilon, self.clients, order))
    }
}

/// The lower bound on the Rényi divergence of the shuffle of binary randomized response at an
/// integer `order` of at least 2: `ε(λ) ≥ ln(1 + C(λ,2)·(E−1)²/(nE))/(λ−1)`, `E = e^ε0`.
///
/// Quoted as equation (9) in "Rényi DP in the shuffle model: enhanced amplification bounds".
/// **Direction: down** by 1e-14.
pub fn renyi_lower(local_epsilon: f64, clients: u64, order: f64) -> f64 {
    // (E − 1)²/E = (2 sinh(ε0/2))².
    let ln_excess = ln_binomial(order, 2.0) + 2.0 * ln_two_sinh(0.5 * local_epsilon) - ln(clients as f64);
    ln_1p_exp(ln_excess - 1e-14 * (1.0 + ln_excess.abs())) / (order - 1.0) * (1.0 - 4.0 * f64::EPSILON)
}

/// `ccs21-lower`: what "enhanced amplification bounds" compares itself with.
pub struct Lower;

impl Method for Lower {
    fn about(&self) -> About {
        About {
            id: "ccs21-lower",
            name: "Girgis et al. 2021 (CCS), lower",
            kind: Kind::Lower,
            standing: Standing::Flawed,
            citation: "Girgis, Data, Diggavi, Suresh, Kairouz 2021 (arXiv 2105.05180), as quoted in Enhanced amplification bounds, \
                       equation (9)",
            note: "a lower bound on the Rényi divergence of binary randomized response, but as ε or δ it is not a lower bound: a \
                   Rényi lower bound pushed through an upper conversion may lie above what the mechanism really loses, or, since \
                   this one falls with the order, far below",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let clients = asked::everyone(question)?;
        Ok(Box::new(RenyiAnalysis::new(LowerCurve { local_epsilon, clients }, question.rounds(), options.max_order)))
    }
}

struct LowerCurve {
    local_epsilon: f64,
    clients: u64,
}

impl RenyiCurve for LowerCurve {
    fn orders(&self) -> Orders {
        Orders::Integers
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(renyi_lower(self.local_epsilon, self.clients, order))
    }
}

/// `ccs21-upper+subsampling`: the shuffle of the k sampled clients, then subsampled Rényi DP.
pub struct UpperSubsampled;

impl Method for UpperSubsampled {
    fn about(&self) -> About {
        About {
            id: "ccs21-upper+subsampling",
            name: "Girgis et al. 2021 (CCS), upper, subsampled",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Girgis, Data, Diggavi, Suresh, Kairouz 2021 (arXiv 2105.05180), then Wang, Balle, Kasiviswanathan 2019, Theorem 9",
            note: "",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let (sampled, clients) = asked::proper_subset(question)?;
        let max_order = options.max_order.min(wbk19::MAX_ORDER);
        let curve = wbk19::Subsampled::new(sampled as f64 / clients as f64, local_epsilon, max_order, |order| {
            renyi_upper(local_epsilon, sampled, order)
        });
        Ok(Box::new(RenyiAnalysis::new(curve, question.rounds(), max_order)))
    }
}
