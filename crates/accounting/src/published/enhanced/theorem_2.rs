//! Theorem 2 and Corollary 2: the limit of many clients, used at a finite number of them.

use super::super::asked;
use super::super::gdp::{self, GdpAnalysis};
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::numerics::elementary::exp;
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::Question;

/// Why neither is a bound.
const NOTE: &str = "a limit used at finite n: it can lie below the divergence of binary randomized response (ε0 = 4, n = 1000, \
                    order 16: 1.75 against 2.79) and does not vanish as ε0 → 0; the limit with the missing factor is \
                    2e^ε0·tanh²(ε0/2)·λ/(n−1)";

/// `enhanced-theorem-2`: approximately `2e^(ε0/2)/√(n−1)`-GDP.
pub struct Theorem2;

/// `enhanced-corollary-2`: approximately `(λ, 2e^ε0·λ/(n−1))`-RDP.
pub struct Corollary2;

/// The μ of Theorem 2, `2e^(ε0/2)/√(n−1)`; `+∞` for a single client.
pub fn gaussian_mu(local_epsilon: f64, clients: u64) -> f64 {
    2.0 * exp(0.5 * local_epsilon) / (clients as f64 - 1.0).sqrt()
}

/// The Rényi divergence of Corollary 2, `2e^ε0·λ/(n−1)`; `+∞` for a single client.
pub fn renyi_asymptotic(local_epsilon: f64, clients: u64, order: f64) -> f64 {
    2.0 * exp(local_epsilon) * order / (clients as f64 - 1.0)
}

impl Method for Theorem2 {
    fn about(&self) -> About {
        About {
            id: "enhanced-theorem-2",
            name: "Enhanced amplification bounds, Theorem 2",
            kind: Kind::Upper,
            standing: Standing::Asymptotic,
            citation: "Enhanced amplification bounds (arXiv 2401.04306), Theorem 2",
            note: NOTE,
        }
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let clients = asked::everyone(question)?;
        let mu = gdp::compose(gaussian_mu(local_epsilon, clients), question.rounds());
        Ok(Box::new(GdpAnalysis::new(mu)))
    }
}

impl Method for Corollary2 {
    fn about(&self) -> About {
        About {
            id: "enhanced-corollary-2",
            name: "Enhanced amplification bounds, Corollary 2",
            kind: Kind::Upper,
            standing: Standing::Asymptotic,
            citation: "Enhanced amplification bounds (arXiv 2401.04306), Corollary 2",
            note: NOTE,
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let clients = asked::everyone(question)?;
        Ok(Box::new(RenyiAnalysis::new(Limit { local_epsilon, clients }, question.rounds(), options.max_order)))
    }
}

/// Corollary 2 as a curve.
pub(super) struct Limit {
    pub(super) local_epsilon: f64,
    pub(super) clients: u64,
}

impl RenyiCurve for Limit {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(renyi_asymptotic(self.local_epsilon, self.clients, order))
    }
}
