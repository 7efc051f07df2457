//! Appendix B: a bound on the number of participants, subsampling, no gain from shuffling; composed
//! in two ways.

use super::super::dp_analysis::DpAnalysis;
use super::super::{asked, gdp, kov15, subsampling};
use super::{local_pair, small_delta, smallest_renyi};
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::binomial;
use crate::numerics::bisect::smallest_safe_u64;
use crate::numerics::elementary::ln;
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::{LocalGuarantee, Question};

/// The smallest l with `P(k > l) ≤ excess` for `k ~ Bin(n, γ)`, rounded up.
pub fn speakers_upper(clients: u64, rate: f64, excess: f64) -> u64 {
    // The tail is good to 1e-12 of itself; l then errs upward.
    let allowed = excess * (1.0 - 1e-9);
    // Bernstein: P(k ≥ nγ + x) ≤ e^(−x²/(2(nγ + x/3))), which is at most δ' at x = √(2nγL) + L,
    // L = ln(1/δ'). Only a place to start from: the search checks both ends.
    let (mean, ln) = (clients as f64 * rate, -ln(allowed));
    let enough = ((mean + (2.0 * mean * ln).sqrt() + ln).ceil() as u64).saturating_add(1).clamp(1, clients);
    let found = smallest_safe_u64((mean as u64).clamp(1, enough), enough, |l| {
        Ok::<_, AccountingError>(binomial::upper_tail(l.saturating_add(1), clients, rate) <= allowed)
    });
    found.ok().flatten().unwrap_or(clients)
}

/// (ε, δ) of one round: with probability 1 − δ' at most l clients came, and a sample of l out of n
/// amplifies (ε0, δ0): `ε = ln(1 + (l/n)(e^ε0 − 1))`, `δ = (l/n)δ0 + δ'`. Sound: given k, the
/// victim is among them with probability k/n ≤ l/n.
fn one_round(local: (f64, f64), clients: u64, rate: f64, excess: f64) -> (f64, f64) {
    let share = (speakers_upper(clients, rate, excess) as f64 / clients as f64).next_up().min(1.0);
    (subsampling::epsilon_upper(share, local.0), (subsampling::delta_upper(share, local.1) + excess).next_up())
}

/// `check-in-baseline`: composed as Rényi DP by way of the reversed Lemma 3, as the paper does.
pub struct Baseline;

impl Method for Baseline {
    fn about(&self) -> About {
        About {
            id: "check-in-baseline",
            name: "Liew–Hasegawa–Takahashi 2022 check-in, baseline",
            kind: Kind::Upper,
            standing: Standing::Flawed,
            citation: "Liew, Hasegawa, Takahashi 2022 (arXiv 2206.03151), Appendix B",
            note: "(ε, δ) of one round is sound, but it is converted into Rényi DP by a lemma that is true in the other \
                   direction: not a bound, at small orders and for many clients far below what binary randomized response loses. The paper does not print δ': n^(−3/2), its δ0, is used",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let (rate, clients) = asked::check_in(question)?;
        let (epsilon, delta) = one_round(local_pair(question)?, clients, rate, small_delta(clients));
        Ok(Box::new(RenyiAnalysis::new(Converted { epsilon, delta }, question.rounds(), options.max_order)))
    }
}

struct Converted {
    epsilon: f64,
    delta: f64,
}

impl RenyiCurve for Converted {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(smallest_renyi(self.epsilon, self.delta, order))
    }
}

/// `check-in-strong-composition`: the same round, composed by Kairouz, Oh, Viswanath 2015. Sound.
///
/// A round may exceed its l with probability δ' = share·δ/T, and the rest of δ is left for the
/// local δ0 and for δ̃. Every split is valid; the best of a few is taken.
pub struct StrongComposition;

const SHARES: [f64; 4] = [0.3, 1e-2, 1e-4, 1e-7];

impl Method for StrongComposition {
    fn about(&self) -> About {
        About {
            id: "check-in-strong-composition",
            name: "Check-in without shuffling, strongly composed",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Liew, Hasegawa, Takahashi 2022 (arXiv 2206.03151), Appendix B, composed by Kairouz, Oh, Viswanath 2015, \
                       Theorem 3.4",
            note: "counts no gain from shuffling",
        }
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let (rate, clients) = asked::check_in(question)?;
        let guarantee = question.randomizer().local_guarantee();
        // Refuses what has no (ε0, δ0).
        let stated = local_pair(question)?;
        let rounds = question.rounds();
        Ok(Box::new(DpAnalysis::new(move |delta| {
            let local = match guarantee {
                // A Gaussian has every δ0; a tenth of the budget is given to it.
                LocalGuarantee::Gaussian { mu } => {
                    let local_delta = 0.1 * delta / rounds as f64;
                    (gdp::epsilon_upper(mu, local_delta)?, local_delta)
                }
                _ => stated,
            };
            let mut best = f64::INFINITY;
            for share in SHARES {
                let (epsilon, per_round) = one_round(local, clients, rate, share * delta / rounds as f64);
                if let Some(slack) = kov15::slack_lower(delta, per_round, rounds) {
                    best = best.min(kov15::epsilon_upper(epsilon, rounds, slack));
                }
            }
            // Without any room for δ': everybody may come, which is the composed local guarantee.
            if let Some(slack) = kov15::slack_lower(delta, local.1, rounds) {
                best = best.min(kov15::epsilon_upper(local.0, rounds, slack));
            }
            Ok(Answer::plain(best))
        })))
    }
}
