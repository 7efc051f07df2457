//! Theorem 2: the upper bound for ε0-LDP randomizers, as printed.

use super::super::asked;
use super::super::girgis::{ln_power_excess_upper, ln_series_term_upper};
use super::super::series::{
    chernoff_exponent_upper, half_clones_lower, ln_1p_exp, ln_sum_log_concave_upper, ln_two_sinh, ln_up,
};
use super::CHERNOFF_DELTA;
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::numerics::elementary::ln;
use crate::numerics::gamma::ln_binomial;
use crate::numerics::log_sum::{ln_expm1, log_add, log_sum_exp};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::Question;
use std::f64::consts::LN_2;

/// `check-in-theorem-2`: the blue curves of the paper.
pub struct Theorem2;

impl Method for Theorem2 {
    fn about(&self) -> About {
        About {
            id: "check-in-theorem-2",
            name: "Liew–Hasegawa–Takahashi 2022 check-in, Theorem 2",
            kind: Kind::Upper,
            standing: Standing::Flawed,
            citation: "Liew, Hasegawa, Takahashi 2022 (arXiv 2206.03151), Theorem 2 with Δ = 1/2",
            note: "its proof takes the victim to be among the k who came with probability γ instead of k/n; with k/n the \
                   summands grow with k, so the Chernoff step fails and the value can lie below that of the repaired \
                   formula. (Printed with 2ε0 and 8ε0 where its own proof has 2e^ε0 and 8e^ε0; evaluated with the latter.)",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let (rate, clients) = asked::check_in(question)?;
        let curve = Curve { local_epsilon, rate, clients };
        Ok(Box::new(RenyiAnalysis::new(curve, question.rounds(), options.max_order)))
    }
}

struct Curve {
    local_epsilon: f64,
    rate: f64,
    clients: u64,
}

impl RenyiCurve for Curve {
    fn orders(&self) -> Orders {
        Orders::Integers
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(renyi_as_printed(self.local_epsilon, self.clients, self.rate, order, CHERNOFF_DELTA))
    }
}

/// The bound on the Rényi divergence of one round at an integer `order` of at least 2, as printed.
///
/// With `E = e^ε0`, `c = e^(−Δ²nγ/2)`, `l̃ = ⌊(1−Δ)nγ/(2E)⌋ + 1` and
/// `Υ_k = ((1+x)^λ − 1 − λx)·e^(−(k−1)/(8E))`, `x = γ(E²−1)/E`:
/// ```text
/// e^((λ−1)ε(λ)) ≤ 1 + 4·C(λ,2)·γ²(E−1)²·(c/E + 1/(E·l̃))
///                   + Σ_{j=3}^λ C(λ,j)·γ^j·j·Γ(j/2)·(2(E²−1)²/E²)^{j/2}·(c + l̃^{−j/2})
///                   + Υ_1·c + Υ_{(1−Δ)nγ+1}.
/// ```
/// Liew, Hasegawa, Takahashi 2022, Theorem 2 (equation 7). **Direction: up** as an evaluation of
/// the formula, which itself is flawed.
pub fn renyi_as_printed(local_epsilon: f64, clients: u64, rate: f64, order: f64, chernoff_delta: f64) -> f64 {
    let expected = clients as f64 * rate;
    let typical = (1.0 - chernoff_delta) * expected;
    let ln_rare = -0.5 * chernoff_delta * chernoff_delta * expected * (1.0 - 4.0 * f64::EPSILON);
    let ln_clones = ln(half_clones_lower(typical, local_epsilon));
    let (ln_rate, ln_sinh) = (ln(rate), ln_two_sinh(local_epsilon));

    let second = ln_up(
        &[
            2.0 * LN_2,
            ln_binomial(order, 2.0),
            2.0 * ln_rate,
            2.0 * ln_expm1(local_epsilon),
            -local_epsilon,
            log_add(ln_rare, -ln_clones),
        ],
        2.0,
    );
    let term = |j: u64| ln_series_term_upper(order, j as f64, ln_rate, ln_sinh);
    let rare = ln_up(&[ln_rare, ln_sum_log_concave_upper(3, order as u64, term)], 0.0);
    let common = ln_sum_log_concave_upper(3, order as u64, |j| ln_up(&[term(j), -0.5 * j as f64 * ln_clones], 0.0));
    let spread = ln_power_excess_upper(ln_rate + ln_sinh, order);
    let rare_tail = ln_up(&[spread, ln_rare], order);
    let common_tail = ln_up(&[spread, chernoff_exponent_upper(typical, local_epsilon)], order);

    let ln_excess = ln_up(&[log_sum_exp([second, rare, common, rare_tail, common_tail])], 1.0);
    ln_up(&[ln_1p_exp(ln_excess)], 0.0) / (order - 1.0) * (1.0 + 4.0 * f64::EPSILON)
}
