//! Theorem 2: the Rényi divergence of binary randomized response when all others hold the same bit.

use super::super::asked;
use super::super::series::power_excess;
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::binomial;
use crate::numerics::elementary::{exp, ln, ln_1p, sinh};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::{Class, LocalStructure, Question, RandomizerSpec};

/// `girgis-theorem-2`: the red curves of the paper.
pub struct Theorem2;

impl Method for Theorem2 {
    fn about(&self) -> About {
        About {
            id: "girgis-theorem-2",
            name: "Girgis et al. 2021, Theorem 2 (lower)",
            kind: Kind::Lower,
            standing: Standing::Flawed,
            citation: "Girgis, Data, Diggavi 2021 (arXiv 2107.08763), Theorem 2, the larger of both directions",
            note: "exact as a Rényi divergence (binary randomized response, the others at one bit), but as ε or δ it is not \
                   a lower bound: a Rényi lower bound pushed through an upper conversion may lie above what the mechanism \
                   really loses; kept because it is the red curve of the paper's figures",
        }
    }

    fn about_renyi(&self) -> About {
        About {
            standing: Standing::Rigorous,
            note: "exact for binary randomized response, the others at one bit, so nothing that covers it can be below",
            ..self.about()
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let (sampled, clients) = asked::fixed_size(question)?;
        if !realises_two_rr(question.randomizer()) {
            return Err(AccountingError::not_applicable(
                "the formula is that of binary randomized response, which this randomizer does not contain",
            ));
        }
        let curve = TwoRrMoments::new(local_epsilon, sampled, clients)?;
        Ok(Box::new(RenyiAnalysis::new(curve, question.rounds(), options.max_order)))
    }
}

/// Does the randomizer answer some pair of inputs exactly as 2-RR does? Then the formula is exact
/// for it.
fn realises_two_rr(randomizer: &RandomizerSpec) -> bool {
    let is_one_bit = matches!(randomizer.local_structure(), LocalStructure::TwoLevel { high_mass: 0.5, .. });
    is_one_bit || randomizer.local().class == Some(Class::Pure)
}

/// Standard deviations on each side of the mean that are summed.
///
/// A moment of order λ looks `λγ(E−1)/√(kE)` deviations out, and the order that suits δ makes that
/// about `√(2 ln(1/δ)/T)`: below 38 for every δ that is a float.
const DEVIATIONS: f64 = 40.0;

/// Outcomes that are held at most: with the order search this keeps a question at a tenth of a
/// second.
const MAX_OUTCOMES: f64 = 50_000.0;

/// Beyond it e^ε0 overflows.
const MAX_LOCAL_EPSILON: f64 = 700.0;

/// Summands smaller than the largest by this factor (as a logarithm) are neglected, downward.
const NEGLIGIBLE: f64 = 60.0;

/// 1 − the share of the sum that floats may have added: the moments are rounded *down* by it.
const DEFLATE: f64 = 1.0 - 2e-13;

/// One possible count of ones.
struct Outcome {
    /// `P/Q − 1`.
    excess: f64,
    /// `ln(P/Q)`.
    loss: f64,
    mass: f64,
    ln_mass: f64,
}

/// The law of the number of ones among `sampled` reports of 2-RR, and the ratio P/Q at each.
///
/// Under Q all clients hold 0, under P one of them holds 1 and participates with probability
/// `γ = k/n`; with `E = e^ε0`, `p = 1/(E+1)`, `m ~ Bin(k, p)` under Q, and
/// `P/Q = 1 + γ·((E²−1)/(kE))·(m − kp)`.
pub struct TwoRrMoments {
    outcomes: Vec<Outcome>,
}

impl TwoRrMoments {
    /// Tabulates the outcomes within 40 standard deviations of the mean; refuses when they are too
    /// many.
    pub fn new(local_epsilon: f64, sampled: u64, clients: u64) -> Result<Self> {
        if local_epsilon > MAX_LOCAL_EPSILON {
            return Err(AccountingError::not_applicable(format!(
                "ε0 is above {MAX_LOCAL_EPSILON}, where e^ε0 leaves the floats"
            )));
        }
        let k = sampled as f64;
        let rate = k / clients as f64;
        // p for e^(−ε0)/(1 + e^(−ε0)): no overflow, and 0 once the bit is sent as it is.
        let inverse = exp(-local_epsilon);
        let p = inverse / (1.0 + inverse);
        let mean = k * p;
        let reach = DEVIATIONS * (mean * (1.0 - p)).sqrt() + DEVIATIONS;
        if reach > 0.5 * MAX_OUTCOMES && k > MAX_OUTCOMES {
            return Err(AccountingError::not_applicable(format!(
                "the sum has about {:.0} outcomes that matter, more than the {MAX_OUTCOMES:.0} that are tabulated",
                2.0 * reach
            )));
        }
        let first = (mean - reach).max(0.0).floor() as u64;
        let last = (mean + reach).min(k).ceil() as u64;
        let slope = rate * 2.0 * sinh(local_epsilon) / k;
        let outcomes = (first..=last)
            .map(|ones| {
                let m = ones as f64;
                let excess = slope * (m - mean);
                // Far from 0 the ratio is the sum of its three positive parts: 1 + excess would
                // cancel at m = 0.
                let loss = if excess.abs() < 0.5 {
                    ln_1p(excess)
                } else {
                    ln((1.0 - rate) + rate * (m / k * exp(local_epsilon) + (k - m) / k * inverse))
                };
                let ln_mass = binomial::ln_pmf(ones, sampled, p);
                Outcome { excess, loss, mass: binomial::pmf(ones, sampled, p), ln_mass }
            })
            .collect();
        Ok(Self { outcomes })
    }

    /// At most `D_λ(P‖Q)`: `e^((λ−1)ε(λ)) = E[(1 + γ·((E²−1)/(kE))·(m − kp))^λ]`, as published, at
    /// any real `order > 1`.
    ///
    /// Girgis, Data, Diggavi 2021, Theorem 2. **Direction: down**: outcomes outside the window are
    /// neglected, and every summand of the excess over 1 is non-negative.
    pub fn renyi_forward(&self, order: f64) -> f64 {
        self.ln_moment(order) / (order - 1.0)
    }

    /// At most `D_λ(Q‖P)`, the direction that the theorem leaves out: the same moment at the power
    /// `1 − λ`.
    ///
    /// It is the larger one where γ is near 1. **Direction: down**, as in
    /// [`renyi_forward`](Self::renyi_forward).
    pub fn renyi_reverse(&self, order: f64) -> f64 {
        self.ln_moment(1.0 - order) / (order - 1.0)
    }

    /// At most `ln E[(P/Q)^α]` under Q, for `α > 1` or `α < 0`.
    ///
    /// `E[P/Q − 1] = 0`, so `E[(P/Q)^α] − 1 = E[(1+u)^α − 1 − αu]`, a sum of non-negative terms
    /// that keeps its relative accuracy when the moment is 1 + 1e-9 and 1 cannot be subtracted.
    fn ln_moment(&self, alpha: f64) -> f64 {
        let largest = self.outcomes.iter().map(|o| o.ln_mass + alpha * o.loss).fold(f64::NEG_INFINITY, f64::max);
        // Below 600 neither the sum nor (1+u)^α at any outcome that is kept overflows: e^(600 + 60)
        // is a float.
        if largest < 600.0 {
            let size = |o: &Outcome| o.ln_mass + (alpha * o.loss).max(0.0);
            let threshold = self.outcomes.iter().map(size).fold(f64::NEG_INFINITY, f64::max) - NEGLIGIBLE;
            let kept = self.outcomes.iter().filter(|o| size(o) > threshold);
            let excess: f64 = kept.map(|o| summand(o, alpha)).sum();
            return ln_1p(excess * DEFLATE);
        }
        // (1+u)^α overflows somewhere: what is subtracted from it is then below the rounding.
        let scaled: f64 = self.outcomes.iter().map(|o| exp(o.ln_mass + alpha * o.loss - largest)).sum();
        let size = 1e-13 * (1.0 + largest.abs() + alpha.abs());
        (largest + ln(scaled) - size).max(0.0)
    }
}

/// `mass·((1+u)^α − 1 − αu)`, also where the power alone overflows.
fn summand(outcome: &Outcome, alpha: f64) -> f64 {
    let power = alpha * outcome.loss;
    if power < 600.0 {
        outcome.mass * power_excess(outcome.excess, outcome.loss, alpha)
    } else {
        // What is subtracted from the power is below its rounding; a subnormal mass has lost
        // digits, its logarithm not.
        exp(outcome.ln_mass + power - 1e-13 * (outcome.ln_mass.abs() + power))
    }
}

impl RenyiCurve for TwoRrMoments {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(self.renyi_forward(order).max(self.renyi_reverse(order)))
    }
}
