//! From scores to a bound: a threshold is chosen on some rounds and measured on others.
//!
//! For an (ε, δ)-DP view and any event, `P(event) ≤ e^ε·Q(event) + δ` for both orders of the two
//! datasets. So with p a lower limit of the one probability and q an upper limit of the other, each
//! missed with half of `miss`, `ε ≥ ln((p − δ)/q)` except with probability `miss`. The event is
//! "the score is on this side of that threshold": side, threshold and look are fixed before the
//! measured rounds are run, so one bound is measured, and nothing is paid for having had the
//! choice.

use super::round::{LOOKS, Truth};
use crate::clopper_pearson;
use crate::error::Result;

/// Scores of rounds on the first and on the second dataset, by look.
pub(super) struct Scores {
    looks: [[Vec<f32>; 2]; LOOKS],
}

impl Scores {
    /// Those of `half` rounds on each dataset.
    pub(super) fn gather(half: u64, mut rounds: impl FnMut(Truth) -> Result<Vec<[f32; LOOKS]>>) -> Result<Self> {
        let mut looks: [[Vec<f32>; 2]; LOOKS] = Default::default();
        for (dataset, truth) in [Truth::First, Truth::Second].into_iter().enumerate() {
            for look in &mut looks {
                look[dataset].reserve(half as usize);
            }
            for scores in rounds(truth)? {
                for (look, score) in looks.iter_mut().zip(scores) {
                    // A score that is no number is no evidence.
                    look[dataset].push(if score.is_nan() { 0.0 } else { score });
                }
            }
        }
        Ok(Self { looks })
    }

    /// Scores of rounds in which the event that is looked for occurs with score 1, and else 0.
    pub(super) fn of_events(first: &[bool], second: &[bool]) -> Self {
        let scores = |events: &[bool]| events.iter().map(|&event| f32::from(u8::from(event))).collect::<Vec<_>>();
        Self { looks: [[scores(first), scores(second)], [vec![0.0; first.len()], vec![0.0; second.len()]]] }
    }
}

/// The dataset that the event indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// A score of at least the threshold: the first.
    First,
    /// A score of at most the threshold: the second.
    Second,
}

/// A test: look, side and threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Test {
    look: usize,
    side: Side,
    threshold: f32,
    /// Its value on the rounds that it was chosen on. Biased upward, because it was chosen for this
    /// value.
    pub(super) promise: f64,
}

/// A measured lower bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// ε is at least this.
    pub epsilon_lower: f64,
    /// Rounds on each dataset.
    pub rounds: u64,
    /// How often the test was right about the dataset that it indicates.
    pub true_positives: u64,
    /// How often it indicated it although the other was real.
    pub false_positives: u64,
    /// Was it the order of the batch that gave most away? After a uniform shuffle it gives nothing
    /// away.
    pub by_order: bool,
}

/// Neighbouring candidates for a threshold have ranks of this ratio.
const SPACING: f64 = 1.05;

impl Test {
    /// The test with the largest bound on these scores.
    pub(super) fn choose(scores: &Scores, delta: f64, miss: f64) -> Self {
        let mut best = Self { look: 0, side: Side::First, threshold: f32::INFINITY, promise: 0.0 };
        for (look, [first, second]) in scores.looks.iter().enumerate() {
            for side in [Side::First, Side::Second] {
                let (hits, misses) = oriented(side, first, second);
                for threshold in candidates(&hits, &misses) {
                    let count = |sorted: &[f32]| sorted.partition_point(|&score| score >= threshold) as u64;
                    let (true_positives, false_positives) = (count(&hits), count(&misses));
                    let promise = foretaste(true_positives, false_positives, hits.len() as u64, delta, miss);
                    if promise > best.promise {
                        best = Self { look, side, threshold, promise };
                    }
                }
            }
        }
        best
    }

    /// Its bound on other scores.
    pub(super) fn measure(&self, scores: &Scores, delta: f64, miss: f64) -> Measured {
        let [first, second] = &scores.looks[self.look];
        let (hits, misses) = oriented(self.side, first, second);
        let count = |sorted: &[f32]| sorted.iter().filter(|&&score| score >= self.threshold).count() as u64;
        let (true_positives, false_positives, rounds) = (count(&hits), count(&misses), hits.len() as u64);
        Measured {
            epsilon_lower: bound(true_positives, false_positives, rounds, delta, miss),
            rounds,
            true_positives,
            false_positives,
            by_order: self.look == 1,
        }
    }
}

/// Scores of the dataset that the side indicates and of the other, with the sign that makes large
/// ones indicate it; falling.
fn oriented(side: Side, first: &[f32], second: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let falling = |scores: &[f32], sign: f32| {
        let mut scores: Vec<f32> = scores.iter().map(|score| sign * score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores
    };
    match side {
        Side::First => (falling(first, 1.0), falling(second, 1.0)),
        Side::Second => (falling(second, -1.0), falling(first, -1.0)),
    }
}

/// Thresholds worth trying: scores at ranks that grow geometrically, so that few decide about many;
/// and the last before the first mistake.
fn candidates(hits: &[f32], misses: &[f32]) -> Vec<f32> {
    let mut ranks = Vec::new();
    let mut rank = 1.0_f64;
    while rank <= hits.len() as f64 {
        ranks.push(rank as usize - 1);
        rank = (rank * SPACING).max(rank + 1.0).floor();
    }
    let mut values: Vec<f32> =
        ranks.iter().flat_map(|&rank| [hits.get(rank), misses.get(rank)]).flatten().copied().collect();
    let flawless = hits.partition_point(|hit| misses.first().is_none_or(|miss| hit > miss));
    values.extend(flawless.checked_sub(1).and_then(|last| hits.get(last)));
    values.sort_by(f32::total_cmp);
    values.dedup();
    values
}

/// About what [`bound`] will give, much faster: Wilson's limits (1927) in place of exact ones. Good
/// enough to choose by.
fn foretaste(true_positives: u64, false_positives: u64, rounds: u64, delta: f64, miss: f64) -> f64 {
    let n = rounds as f64;
    // A normal variable exceeds this with probability at most miss/2.
    let square = 2.0 * (2.0 / miss).ln();
    let limit = |count: u64, sign: f64| {
        let k = count as f64;
        let spread = (square * (k * (n - k) / n + square / 4.0)).sqrt();
        (k + square / 2.0 + sign * spread) / (n + square)
    };
    ((limit(true_positives, -1.0) - delta) / limit(false_positives, 1.0)).ln()
}

/// `ln((p − δ)/q)`, at least 0. **Direction: down.**
fn bound(true_positives: u64, false_positives: u64, rounds: u64, delta: f64, miss: f64) -> f64 {
    let p = clopper_pearson::lower(true_positives, rounds, miss / 2.0);
    let q = clopper_pearson::upper(false_positives, rounds, miss / 2.0);
    if p > delta { ((p - delta) / q).ln().next_down().max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(first: &[f32], second: &[f32]) -> Scores {
        Scores { looks: std::array::from_fn(|_| [first.to_vec(), second.to_vec()]) }
    }

    #[test]
    fn a_perfect_score_gives_what_the_counts_allow() {
        let perfect = scores(&[1.0; 1000], &[0.0; 1000]);
        let test = Test::choose(&perfect, 0.0, 0.05);
        let measured = test.measure(&perfect, 0.0, 0.05);
        assert_eq!((measured.true_positives, measured.false_positives), (1000, 0));
        // p = 0.025^(1/1000), q = 1 − 0.025^(1/1000).
        let p = 0.025_f64.powf(1e-3);
        assert!((measured.epsilon_lower - (p / (1.0 - p)).ln()).abs() < 1e-6, "{}", measured.epsilon_lower);
        let blind = Test::choose(&scores(&[0.0; 1000], &[0.0; 1000]), 0.0, 0.05);
        assert!(blind.measure(&perfect, 0.0, 0.05).epsilon_lower <= 0.0);
    }

    #[test]
    fn both_sides_are_tried() {
        // Rarely -1 on the second dataset, and never on the first: only the lower side can tell.
        let mut second = vec![0.0; 1000];
        second[..50].fill(-1.0);
        let lopsided = scores(&[0.0; 1000], &second);
        let test = Test::choose(&lopsided, 0.0, 0.05);
        assert_eq!(test.side, Side::Second);
        let measured = test.measure(&lopsided, 0.0, 0.05);
        assert_eq!((measured.true_positives, measured.false_positives), (50, 0));
        assert!(measured.epsilon_lower > 2.0);
        // What δ allows is no evidence.
        assert!(test.measure(&lopsided, 0.05, 0.05).epsilon_lower <= 0.0);
    }
}
