//! Theorem 3: the lower bound, as printed.

use super::super::asked;
use super::super::series::ln_1p_exp;
use super::CHERNOFF_DELTA;
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::numerics::elementary::ln;
use crate::numerics::gamma::ln_binomial;
use crate::numerics::log_sum::{ln_1m_exp, ln_expm1};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::Question;

/// `check-in-theorem-3`: the red curves of the paper.
pub struct Theorem3;

impl Method for Theorem3 {
    fn about(&self) -> About {
        About {
            id: "check-in-theorem-3",
            name: "Liew–Hasegawa–Takahashi 2022 check-in, Theorem 3 (lower)",
            kind: Kind::Lower,
            standing: Standing::Flawed,
            citation: "Liew, Hasegawa, Takahashi 2022 (arXiv 2206.03151), Theorem 3 with Δ = 1/2",
            note: "its proof takes the victim to be among the k who came with probability γ instead of k/n; and a Rényi \
                   lower bound pushed through an upper conversion is not a lower bound on ε",
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
        Ok(renyi_lower_as_printed(self.local_epsilon, self.clients, self.rate, order, CHERNOFF_DELTA))
    }
}

/// The lower bound on the Rényi divergence of one round at an integer `order` of at least 2, as
/// printed: `ε(λ) ≥ ln(1 + (1 − e^(−Δ²nγ/(2+Δ)))·C(λ,2)·γ²(E−1)²/((1+Δ)nγE))/(λ−1)`, `E = e^ε0`.
///
/// Liew, Hasegawa, Takahashi 2022, Theorem 3 (equation 8). **Direction: down** by 1e-13 as an
/// evaluation of the formula.
pub fn renyi_lower_as_printed(local_epsilon: f64, clients: u64, rate: f64, order: f64, chernoff_delta: f64) -> f64 {
    let expected = clients as f64 * rate;
    let ln_typical = ln_1m_exp(-chernoff_delta * chernoff_delta * expected / (2.0 + chernoff_delta));
    let ln_excess = ln_typical + ln_binomial(order, 2.0) + 2.0 * ln(rate) + 2.0 * ln_expm1(local_epsilon)
        - ln((1.0 + chernoff_delta) * expected)
        - local_epsilon;
    // ln_excess is a sum of half a dozen logarithms below 100 in size.
    ln_1p_exp(ln_excess) / (order - 1.0) * (1.0 - 1e-13)
}
