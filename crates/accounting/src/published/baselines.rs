//! Amplification by shuffling, then by subsampling, then strong composition: what the papers
//! compare themselves with.

use super::asked;
use super::dp_analysis::DpAnalysis;
use super::{fmt21, kov15, subsampling};
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::scheme::Question;

/// Upper-bounds the ε of one shuffle from (ε0, number of reports, δ). At δ = 0 it must answer ε0.
pub type Amplification = fn(f64, u64, f64) -> Result<f64>;

/// k of n clients are amplified by shuffling at some δ, by sampling with γ = k/n, and composed T
/// times by Kairouz, Oh, Viswanath 2015.
///
/// δ is split between the rounds and the composition: a round spends `share·δ/T`, what is left
/// becomes δ̃. Every split is valid; the best of [`shares`](Self::shares) is taken. Share 0 means
/// that no δ is spent on amplification, hence ε = ε0 per round: where the closed form's condition
/// fails this is the best one, and it is what Girgis et al. plot (14.3 where their own bound is
/// 1.04).
pub struct ShuffleSampleCompose {
    /// The description of the method.
    pub about: About,
    /// Amplification by shuffling.
    pub amplify: Amplification,
    /// Splits that are tried.
    pub shares: &'static [f64],
}

/// From 2^−20 to 1 − 2^−20 in factors of two of the odds, both ends, and all of it for the rounds.
pub const FINE_SHARES: [f64; 43] = {
    let mut shares = [0.0; 43];
    let mut i = 0;
    while i < 41 {
        let exponent = i as i32 - 20;
        let mut odds = 1.0;
        let mut step = 0;
        while step < exponent.abs() {
            odds *= if exponent > 0 { 2.0 } else { 0.5 };
            step += 1;
        }
        shares[i + 1] = odds / (1.0 + odds);
        i += 1;
    }
    shares[42] = 1.0;
    shares
};

/// `clones-closed-form+subsampling+kov`: the magenta curves of Girgis et al.
pub const CLONES_CLOSED_FORM: ShuffleSampleCompose = ShuffleSampleCompose {
    about: About {
        id: "clones-closed-form+subsampling+kov",
        name: "Clones in closed form, subsampled, strongly composed",
        kind: Kind::Upper,
        standing: Standing::Rigorous,
        citation: "Feldman, McMillan, Talwar 2021, Theorem 3.1; Ullman 2017; Kairouz, Oh, Viswanath 2015, Theorem 3.4",
        note: "",
    },
    amplify: |local_epsilon, clients, delta| Ok(fmt21::epsilon_upper(local_epsilon, clients, delta).min(local_epsilon)),
    shares: &FINE_SHARES,
};

/// Splits for amplifications that are computed numerically, and so cost more each.
const COARSE_SHARES: [f64; 13] =
    [0.0, 1.0 / 256.0, 1.0 / 64.0, 1.0 / 32.0, 0.0625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0];

/// `clones-numerical+subsampling+kov`: the same with the numerical form of Feldman, McMillan,
/// Talwar 2021.
pub const CLONES_NUMERICAL: ShuffleSampleCompose = ShuffleSampleCompose {
    about: About {
        id: "clones-numerical+subsampling+kov",
        name: "Clones evaluated numerically, subsampled, strongly composed",
        citation: "Feldman, McMillan, Talwar 2021, Theorem 3.2 evaluated numerically; Ullman 2017; Kairouz, Oh, Viswanath 2015, \
                   Theorem 3.4",
        ..CLONES_CLOSED_FORM.about
    },
    amplify: crate::dominating::clones_numerical,
    shares: &COARSE_SHARES,
};

impl Method for ShuffleSampleCompose {
    fn about(&self) -> About {
        self.about
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = asked::pure_epsilon(question)?;
        let (sampled, clients) = asked::fixed_size(question)?;
        let (rounds, amplify, shares) = (question.rounds(), self.amplify, self.shares);
        let rate = sampled as f64 / clients as f64;
        Ok(Box::new(DpAnalysis::new(move |delta| {
            let mut best = Answer::plain(f64::INFINITY);
            for &share in shares {
                let Some((epsilon, amplified)) = at_share(local_epsilon, sampled, rate, rounds, delta, share, amplify)?
                else {
                    continue;
                };
                if epsilon < best.value {
                    let remark = (!amplified).then(|| "no δ is spent on shuffling: ε = ε0 per report".to_owned());
                    best = Answer { value: epsilon, order: None, remark };
                }
            }
            if best.value.is_nan() { Err(AccountingError::numerical("every split of δ failed")) } else { Ok(best) }
        })))
    }

    /// With the closed form: numerically, every sketch would cost a lattice.
    fn sketch(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let closed = Self { amplify: CLONES_CLOSED_FORM.amplify, shares: self.shares, about: self.about };
        closed.analyse(question, options)
    }
}

/// ε at one split, and whether shuffling amplified; `None` where the split leaves less than
/// nothing.
fn at_share(
    local_epsilon: f64,
    sampled: u64,
    rate: f64,
    rounds: u64,
    delta: f64,
    share: f64,
    amplify: Amplification,
) -> Result<Option<(f64, bool)>> {
    // Rounded down: (1 − δ/T)^T ≥ 1 − δ, so at share 1 nothing is left for δ̃ but nothing is
    // missing either.
    let per_round = share * delta / rounds as f64 * (1.0 - 4.0 * f64::EPSILON);
    let inner = (per_round / rate * (1.0 - 4.0 * f64::EPSILON)).clamp(0.0, 1.0 - f64::EPSILON);
    let slack = if share < 1.0 { kov15::slack_lower(delta, per_round, rounds) } else { Some(0.0) };
    let Some(slack) = slack else {
        return Ok(None);
    };
    let shuffled = amplify(local_epsilon, sampled, inner)?;
    let sampled_epsilon = subsampling::epsilon_upper(rate, shuffled);
    Ok(Some((kov15::epsilon_upper(sampled_epsilon, rounds, slack), shuffled < local_epsilon)))
}
