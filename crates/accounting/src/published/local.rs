//! The guarantee without a shuffler: the local guarantee, composed.

use super::dp_analysis::DpAnalysis;
use super::gdp::{self, GdpAnalysis};
use super::kov15;
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::{LocalGuarantee, Question};

/// `local-composition`: every scheme post-processes the reports, so their composed local guarantee
/// always holds.
pub struct LocalComposition;

impl Method for LocalComposition {
    fn about(&self) -> About {
        About {
            id: "local-composition",
            name: "Local guarantee, strongly composed, no shuffling",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Kairouz, Oh, Viswanath 2015, Theorem 3.4; for Gaussian noise Dong, Roth, Su 2022, Corollary 2",
            note: "needs no trust in the shuffler: it holds even if every report carries its sender's name",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let rounds = question.rounds();
        Ok(match question.randomizer().local_guarantee() {
            LocalGuarantee::Pure { epsilon } => composed(epsilon, 0.0, rounds),
            LocalGuarantee::Approximate { epsilon, delta } => composed(epsilon, delta, rounds),
            LocalGuarantee::Gaussian { mu } => Box::new(GdpAnalysis::new(gdp::compose(mu, rounds))),
            LocalGuarantee::Concentrated { mu } => {
                Box::new(RenyiAnalysis::new(Concentrated { mu }, rounds, options.max_order))
            }
        })
    }
}

/// (ε0, δ0) in each of `rounds`; `+∞` where the δ0 alone exceed δ.
fn composed(local_epsilon: f64, local_delta: f64, rounds: u64) -> Box<dyn Analysis> {
    Box::new(DpAnalysis::new(move |delta| {
        Ok(match kov15::slack_lower(delta, local_delta, rounds) {
            Some(slack) => Answer::plain(kov15::epsilon_upper(local_epsilon, rounds, slack)),
            None => Answer {
                value: f64::INFINITY,
                order: None,
                remark: Some("the δ0 of all rounds together exceed δ".to_owned()),
            },
        })
    }))
}

/// Rényi divergence `μ²λ/2`.
struct Concentrated {
    mu: f64,
}

impl RenyiCurve for Concentrated {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(0.5 * self.mu * self.mu * order * (1.0 + 4.0 * f64::EPSILON))
    }
}
