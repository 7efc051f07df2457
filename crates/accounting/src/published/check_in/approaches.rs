//! Section 4.2: "Approach 1" and "Approach 2" for (ε0, δ0)-LDP randomizers.

use super::super::series::ln_1p_exp;
use super::super::{asked, fmt21, subsampling, wbk19};
use super::{local_pair, small_delta, smallest_renyi};
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::numerics::binomial;
use crate::numerics::elementary::ln;
use crate::numerics::log_sum::{ln_expm1, log_sum_exp};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::Question;

/// Orders above it are not tried by Approach 1, which needs all orders below for every number of
/// participants.
const MAX_ORDER: f64 = 128.0;

/// The number of participants is grouped into about so many blocks.
const BLOCKS: u64 = 32;

/// `check-in-approach-1`: shuffle, convert, subsample as Rényi DP, mix over the number of
/// participants.
pub struct Approach1;

/// `check-in-approach-2`: shuffle, subsample, convert, mix.
pub struct Approach2;

const NOTE: &str = "converts (ε, δ)-DP into Rényi DP by a lemma that is true in the other direction (it yields the smallest \
                    divergence that (ε, δ) allows), and includes the victim with probability γ instead of k/n: not a bound, \
                    at small orders far below what binary randomized response loses, at large ones often above. The paper does not print its δ per shuffle: n^(−3/2), its δ0, is used";

impl Method for Approach1 {
    fn about(&self) -> About {
        About {
            id: "check-in-approach-1",
            name: "Liew–Hasegawa–Takahashi 2022 check-in, Approach 1",
            kind: Kind::Upper,
            standing: Standing::Flawed,
            citation: "Liew, Hasegawa, Takahashi 2022 (arXiv 2206.03151), section 4.2, Approach 1",
            note: NOTE,
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let blocks = shuffled_blocks(question)?;
        let (rate, _) = asked::check_in(question)?;
        let max_order = options.max_order.min(MAX_ORDER);
        let curves = blocks
            .into_iter()
            .map(|block| {
                // No ε(∞): an (ε, δ)-DP mechanism has none.
                let curve = wbk19::Subsampled::new(rate, f64::INFINITY, max_order, |order| {
                    smallest_renyi(block.epsilon, block.delta, order)
                });
                (block.probability, curve)
            })
            .collect();
        Ok(Box::new(RenyiAnalysis::new(MixedCurves { curves }, question.rounds(), max_order)))
    }
}

impl Method for Approach2 {
    fn about(&self) -> About {
        About {
            id: "check-in-approach-2",
            name: "Liew–Hasegawa–Takahashi 2022 check-in, Approach 2",
            kind: Kind::Upper,
            standing: Standing::Flawed,
            citation: "Liew, Hasegawa, Takahashi 2022 (arXiv 2206.03151), section 4.2, Approach 2",
            note: NOTE,
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let (rate, _) = asked::check_in(question)?;
        let mut blocks = shuffled_blocks(question)?;
        for block in &mut blocks {
            block.epsilon = subsampling::epsilon_upper(rate, block.epsilon);
            block.delta = subsampling::delta_upper(rate, block.delta);
        }
        Ok(Box::new(RenyiAnalysis::new(MixedPairs { blocks }, question.rounds(), options.max_order)))
    }
}

/// Some numbers of participants, how likely they are, and (ε, δ) of their shuffle.
struct Block {
    probability: f64,
    epsilon: f64,
    delta: f64,
}

/// The shuffles of k ~ Bin(n, γ) reports by Feldman, McMillan, Talwar 2021, Theorem 3.8 (ε0 where
/// its condition fails).
///
/// Within ten standard deviations of the mean, k is grouped into blocks that count as their
/// smallest k; what lies outside joins the outermost blocks.
fn shuffled_blocks(question: &Question) -> Result<Vec<Block>> {
    let (rate, clients) = asked::check_in(question)?;
    let (local_epsilon, local_delta) = local_pair(question)?;
    let shuffle_delta = small_delta(clients);
    let mean = clients as f64 * rate;
    let reach = 10.0 * (mean * (1.0 - rate)).sqrt() + 10.0;
    let first = (mean - reach).max(1.0) as u64;
    let last = ((mean + reach).ceil() as u64).clamp(first, clients);
    let width = (last - first) / BLOCKS + 1;
    let blocks = (first..=last)
        .step_by(usize::try_from(width).unwrap_or(usize::MAX))
        .map(|speakers| {
            let from = if speakers == first { 0 } else { speakers };
            let to = if last - speakers < width { clients + 1 } else { speakers + width };
            let probability = binomial::upper_tail(from, clients, rate) - binomial::upper_tail(to, clients, rate);
            let epsilon = fmt21::epsilon_upper(local_epsilon, speakers, shuffle_delta).min(local_epsilon);
            let added = fmt21::delta_addition_upper(epsilon, local_epsilon, local_delta, speakers);
            let delta = if local_delta > 0.0 { shuffle_delta + added } else { shuffle_delta };
            Block { probability: probability.max(0.0), epsilon, delta }
        })
        .collect();
    Ok(blocks)
}

/// `ln Σ P(k)·e^((λ−1)ε_k(λ)) / (λ−1)`, their equation (6), keeping small divergences small.
fn mixed(order: f64, parts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let ln_excess = log_sum_exp(parts.map(|(probability, renyi)| ln(probability) + ln_expm1((order - 1.0) * renyi)));
    ln_1p_exp(ln_excess) / (order - 1.0)
}

struct MixedPairs {
    blocks: Vec<Block>,
}

impl RenyiCurve for MixedPairs {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        let parts = self.blocks.iter().map(|b| (b.probability, smallest_renyi(b.epsilon, b.delta, order)));
        Ok(mixed(order, parts.filter(|part| part.0 > 0.0)))
    }
}

struct MixedCurves {
    curves: Vec<(f64, wbk19::Subsampled)>,
}

impl RenyiCurve for MixedCurves {
    fn orders(&self) -> Orders {
        Orders::Integers
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        let parts: Result<Vec<_>> = self.curves.iter().map(|(p, curve)| Ok((*p, curve.epsilon(order)?))).collect();
        Ok(mixed(order, parts?.into_iter().filter(|part| part.0 > 0.0)))
    }
}
