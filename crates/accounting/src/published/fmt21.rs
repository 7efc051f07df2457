//! Feldman, McMillan, Talwar: Hiding among the clones (FOCS 2021, arXiv 2012.12803).

use super::asked;
use super::dp_analysis::DpAnalysis;
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::bisect::largest_safe;
use crate::numerics::directed::inflate;
use crate::numerics::elementary::{exp, ln, ln_1p, tanh};
use crate::scheme::{LocalGuarantee, Question};
use std::f64::consts::LN_2;

/// Covers the dozen roundings of [`epsilon_upper`].
const SLACK: f64 = 16.0 * f64::EPSILON;

/// Said where the theorem's condition fails.
pub(super) const NO_AMPLIFICATION: &str = "the theorem asks for ε0 ≤ ln(n/(16 ln(2/δ))), which fails here: ε = ε0";

/// Does the closed form apply, `ε0 ≤ ln(n/(16·ln(2/δ)))`? In doubt, no.
pub fn condition_holds(local_epsilon: f64, clients: u64, delta: f64) -> bool {
    let limit = ln(clients as f64 / (16.0 * (LN_2 - ln(delta))));
    local_epsilon <= limit - 8.0 * f64::EPSILON * (1.0 + limit.abs())
}

/// Upper-bounds the ε of one shuffle of `clients` reports of an ε0-LDP randomizer:
/// ```text
/// ε = ln(1 + ((E−1)/(E+1))·(8√(E·ln(4/δ))/√n + 8E/n)),  E = e^ε0,   if ε0 ≤ ln(n/(16·ln(2/δ))),  else ε0.
/// ```
/// Feldman, McMillan, Talwar 2021, Theorem 3.1. **Direction: up.** All parts are positive, so one
/// inflation pays for them.
pub fn epsilon_upper(local_epsilon: f64, clients: u64, delta: f64) -> f64 {
    if !condition_holds(local_epsilon, clients, delta) {
        return local_epsilon;
    }
    let n = clients as f64;
    let e = exp(local_epsilon);
    let spread = 8.0 * (e * (2.0 * LN_2 - ln(delta))).sqrt() / n.sqrt() + 8.0 * e / n;
    inflate(ln_1p(tanh(0.5 * local_epsilon) * spread), SLACK)
}

/// Upper-bounds the δ that an (ε0, δ0)-LDP randomizer adds: at least
/// `(e^ε + 1)(1 + e^(−ε0)/2)·n·δ0`.
///
/// Feldman, McMillan, Talwar 2021, Theorem 3.8.
pub fn delta_addition_upper(epsilon: f64, local_epsilon: f64, local_delta: f64, clients: u64) -> f64 {
    let weight = (exp(epsilon) + 1.0) * (1.0 + 0.5 * exp(-local_epsilon));
    inflate(weight * (clients as f64 * local_delta), SLACK)
}

/// `clones-closed-form`: one shuffle of all clients.
pub struct ClonesClosedForm;

impl Method for ClonesClosedForm {
    fn about(&self) -> About {
        About {
            id: "clones-closed-form",
            name: "Feldman–McMillan–Talwar 2021 clones, closed form",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Feldman, McMillan, Talwar 2021 (arXiv 2012.12803), Theorems 3.1 and 3.8",
            note: "",
        }
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let clients = asked::everyone(question)?;
        if question.rounds() != 1 {
            return Err(AccountingError::not_applicable("the bound is for a single round"));
        }
        match question.randomizer().local_guarantee() {
            LocalGuarantee::Pure { epsilon } => {
                Ok(Box::new(DpAnalysis::new(move |delta| Ok(shuffled(epsilon, clients, delta)))))
            }
            LocalGuarantee::Approximate { epsilon, delta: local_delta } => {
                Ok(Box::new(DpAnalysis::new(move |delta| shuffled_approximate(epsilon, local_delta, clients, delta))))
            }
            _ => Err(AccountingError::not_applicable("the bound is for (ε0, δ0)-LDP randomizers with a given ε0")),
        }
    }
}

/// The closed form, or ε0 where that is less: shuffling is post-processing, so the whole is ε0-DP
/// in any case.
fn shuffled(local_epsilon: f64, clients: u64, delta: f64) -> Answer {
    let value = epsilon_upper(local_epsilon, clients, delta).min(local_epsilon);
    let remark = (!condition_holds(local_epsilon, clients, delta)).then(|| NO_AMPLIFICATION.to_owned());
    Answer { value, order: None, remark }
}

/// The same at the largest δ' that leaves room for what δ0 adds; `+∞` where nothing is left.
fn shuffled_approximate(local_epsilon: f64, local_delta: f64, clients: u64, delta: f64) -> Result<Answer> {
    let total = |inner: f64| {
        let epsilon = shuffled(local_epsilon, clients, inner).value;
        inner + delta_addition_upper(epsilon, local_epsilon, local_delta, clients)
    };
    let found = largest_safe(0.0, delta, 1e-12, |inner| Ok::<_, AccountingError>(total(inner).next_up() <= delta))?;
    // At δ' = 0 nothing is amplified; in between the sum may still fit, for it need not be
    // monotone.
    let found = match found {
        None => {
            largest_safe(0.5 * delta, delta, 1e-12, |inner| Ok::<_, AccountingError>(total(inner).next_up() <= delta))?
        }
        found => found,
    };
    match found {
        Some(inner) => Ok(shuffled(local_epsilon, clients, inner)),
        None => Ok(Answer {
            value: f64::INFINITY,
            order: None,
            remark: Some("what δ0 adds over all clients already exceeds δ".to_owned()),
        }),
    }
}
