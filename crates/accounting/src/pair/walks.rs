//! The walks of a row: D, the difference of two signal counts with a given sum.

use super::rows::Rows;
use super::window::{ANCHOR_EVERY, Binomial};
use std::ops::Range;

impl Rows {
    /// The least and the greatest number of up steps, out of `signals`, that is kept.
    pub(crate) fn kept_steps(&self, signals: u64) -> (u64, u64) {
        let steps = signals as f64;
        let reach = (self.deviations * steps.sqrt()).min(steps);
        let least = ((steps - reach) / 2.0).floor() as u64;
        (least, signals - least)
    }

    /// (h, how many numbers of up steps from h on are kept), h the least number out of `signals`
    /// that is not a minority. The lower half is the mirror image of this one.
    pub(crate) fn upper_half(&self, signals: u64) -> (u64, usize) {
        let half = signals.div_ceil(2);
        (half, (self.kept_steps(signals).1 - half + 1) as usize)
    }
}

/// The masses of the walks of the last M asked for: rows come grouped by M.
pub(crate) struct Walks<'a> {
    rows: &'a Rows,
    signals: Option<u64>,
    /// Of these numbers of up steps beyond h, the masses are known.
    known: Range<usize>,
    masses: Vec<f64>,
}

impl<'a> Walks<'a> {
    pub(crate) fn new(rows: &'a Rows) -> Self {
        Self { rows, signals: None, known: 0..0, masses: Vec::new() }
    }

    /// The probabilities of h + k up steps out of `signals`, for the k of this range: part of the
    /// [upper half](Rows::upper_half).
    pub(crate) fn masses(&mut self, signals: u64, range: Range<usize>) -> &[f64] {
        if range.is_empty() {
            return &[];
        }
        let is_same = self.signals == Some(signals);
        if !is_same || range.start < self.known.start || range.end > self.known.end {
            let (half, count) = self.rows.upper_half(signals);
            let wanted =
                if is_same { self.known.start.min(range.start)..self.known.end.max(range.end) } else { range.clone() };
            // Blocks begin where they would if all were computed: the masses are the same then.
            let from = wanted.start / ANCHOR_EVERY * ANCHOR_EVERY;
            let to = wanted.end.next_multiple_of(ANCHOR_EVERY).min(count).max(from + 1);
            let law = Binomial { trials: signals, p: 0.5, q: 0.5 };
            self.masses = law.masses(half + from as u64, half + to as u64 - 1);
            (self.signals, self.known) = (Some(signals), from..to);
        }
        &self.masses[range.start - self.known.start..range.end - self.known.start]
    }
}
