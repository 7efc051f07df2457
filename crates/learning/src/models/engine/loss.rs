//! Cross-entropy of the scores' softmax, for one example among the lanes.

/// The loss of an example's scores, given its label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// −log softmax(scores)\[label\].
    pub loss: f32,
    /// The class with the highest score; among equal scores the first counts.
    pub predicted: usize,
    /// Whether that is the label.
    pub correct: bool,
}

/// Judges the scores of `lane`; if asked, writes the loss's derivative,
/// softmax(scores) − \[label\], into the same lane of `deltas`.
pub(crate) fn judge(scores: &[f32], lanes: usize, lane: usize, label: usize, deltas: Option<&mut [f32]>) -> Judgement {
    let of_lane = || scores.iter().skip(lane).step_by(lanes).copied();
    let mut best = 0;
    let mut highest = f32::NEG_INFINITY;
    for (class, score) in of_lane().enumerate() {
        if score > highest {
            (best, highest) = (class, score);
        }
    }
    // Without the highest score the exponentials could overflow.
    let sum: f32 = of_lane().map(|score| libm::expf(score - highest)).sum();
    let log_sum = libm::logf(sum) + highest;
    if let Some(deltas) = deltas {
        for (class, (delta, score)) in deltas.iter_mut().skip(lane).step_by(lanes).zip(of_lane()).enumerate() {
            *delta = libm::expf(score - log_sum) - if class == label { 1.0 } else { 0.0 };
        }
    }
    let score = scores.get(label * lanes + lane).copied().unwrap_or(f32::NAN);
    Judgement { loss: log_sum - score, predicted: best, correct: best == label }
}
