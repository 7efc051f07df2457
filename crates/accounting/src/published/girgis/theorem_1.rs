//! Theorem 1: the upper bound for any ε0-LDP randomizer.

use super::super::asked;
use super::super::series::{
    chernoff_exponent_upper, half_clones_lower, ln_1p_exp, ln_ratio, ln_sum_log_concave_upper, ln_two_sinh, ln_up,
    power_excess,
};
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::numerics::elementary::{exp, ln};
use crate::numerics::gamma::{ln_binomial, ln_gamma};
use crate::numerics::log_sum::{ln_expm1, log_sum_exp};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::Question;
use std::f64::consts::LN_2;

/// `girgis-theorem-1`: the Rényi bound that gives the blue curves of the paper.
pub struct Theorem1;

impl Method for Theorem1 {
    fn about(&self) -> About {
        About {
            id: "girgis-theorem-1",
            name: "Girgis et al. 2021, Theorem 1",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Girgis, Data, Diggavi 2021 (arXiv 2107.08763), Theorem 1",
            note: "",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let (sampled, clients) = asked::fixed_size(question)?;
        let curve = Curve { local_epsilon, sampled, clients };
        Ok(Box::new(RenyiAnalysis::new(curve, question.rounds(), options.max_order)))
    }
}

struct Curve {
    local_epsilon: f64,
    sampled: u64,
    clients: u64,
}

impl RenyiCurve for Curve {
    fn orders(&self) -> Orders {
        Orders::Integers
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(renyi_upper(self.local_epsilon, self.sampled, self.clients, order))
    }
}

/// Upper-bounds the Rényi divergence of one round in which `sampled` of `clients` participate, at
/// an integer `order` of at least 2.
///
/// With `E = e^ε0`, `γ = k/n`, `k̄ = ⌊(k−1)/(2E)⌋ + 1`:
/// ```text
/// e^((λ−1)ε(λ)) ≤ 1 + 4·C(λ,2)·γ²(E−1)²/(k̄E) + Σ_{j=3}^λ C(λ,j)·γ^j·j·Γ(j/2)·(2(E²−1)²/(k̄E²))^{j/2} + Υ,
/// Υ = ((1 + γ(E²−1)/E)^λ − 1 − λγ(E²−1)/E)·e^{−(k−1)/(8E)}.
/// ```
/// Girgis, Data, Diggavi 2021, Theorem 1, stated for a discrete range; Rényi divergence is the
/// supremum over finite partitions of the range, so it holds for any. **Direction: up.** Each
/// summand is evaluated as a logarithm rounded up (so that large orders and ε0 overflow to no
/// number), all summands are positive, and `k̄` is rounded down. The value exceeds the formula by
/// less than 1e-12 of itself at moderate orders. `+∞` where it exceeds the floats.
pub fn renyi_upper(local_epsilon: f64, sampled: u64, clients: u64, order: f64) -> f64 {
    let others = sampled as f64 - 1.0;
    let ln_rate = ln_ratio(sampled, clients);
    let ln_clones = ln(half_clones_lower(others, local_epsilon));
    let ln_sinh = ln_two_sinh(local_epsilon);

    let second = ln_up(
        &[
            2.0 * LN_2,
            ln_binomial(order, 2.0),
            2.0 * ln_rate,
            2.0 * ln_expm1(local_epsilon),
            -local_epsilon,
            -ln_clones,
        ],
        2.0,
    );
    let higher = ln_sum_log_concave_upper(3, order as u64, |j| {
        let j = j as f64;
        ln_up(&[ln_series_term_upper(order, j, ln_rate, ln_sinh), -0.5 * j * ln_clones], 0.0)
    });
    let tail = ln_up(
        &[ln_power_excess_upper(ln_rate + ln_sinh, order), chernoff_exponent_upper(others, local_epsilon)],
        order,
    );
    let ln_excess = ln_up(&[log_sum_exp([second, higher, tail])], 1.0);
    ln_up(&[ln_1p_exp(ln_excess)], 0.0) / (order - 1.0) * (1.0 + 4.0 * f64::EPSILON)
}

/// At least `ln[C(λ,j)·γ^j·j·Γ(j/2)·(2(E²−1)²/E²)^{j/2}]`: the summand without its `k̄^{−j/2}`.
/// Log-concave in j.
///
/// Log-concave because the ratio of neighbours, `(λ−j)·Γ((j+1)/2)/(2Γ(j/2+1))` times a constant,
/// falls with j.
pub(crate) fn ln_series_term_upper(order: f64, j: f64, ln_rate: f64, ln_sinh: f64) -> f64 {
    ln_up(
        &[ln_binomial(order, j), j * ln_rate, ln(j), ln_gamma(0.5 * j), 0.5 * j * LN_2, j * ln_sinh],
        // ln_sinh is a difference near its zero and j counts how often its ulp enters.
        4.0 * j,
    )
}

/// At least `ln[(1+x)^λ − 1 − λx]`, given `ln x`.
pub(crate) fn ln_power_excess_upper(ln_x: f64, order: f64) -> f64 {
    let ln_1p_x = ln_1p_exp(ln_x);
    let exponent = order * ln_1p_x;
    if exponent < 600.0 {
        // power_excess is good to 1e-14 of itself, and moves by order·ulps with x.
        ln_up(&[ln(power_excess(exp(ln_x), ln_1p_x, order))], 64.0 + 4.0 * order + 4.0 * exponent)
    } else {
        // What is dropped is negative.
        ln_up(&[exponent], order)
    }
}
