//! The walks of a row: D, the difference of two signal counts with a given sum.

use super::rows::Rows;
use super::window::Binomial;

impl Rows {
    /// The least and the greatest number of up steps, out of `signals`, that is kept.
    pub(crate) fn kept_steps(&self, signals: u64) -> (u64, u64) {
        let steps = signals as f64;
        let reach = (self.deviations * steps.sqrt()).min(steps);
        let least = ((steps - reach) / 2.0).floor() as u64;
        (least, signals - least)
    }
}

/// The masses of the walks of the last M asked for: rows come grouped by M.
pub(crate) struct Walks<'a> {
    rows: &'a Rows,
    signals: Option<u64>,
    /// Of the upper half: as many up steps as down steps, or more.
    masses: Vec<f64>,
}

impl<'a> Walks<'a> {
    pub(crate) fn new(rows: &'a Rows) -> Self {
        Self { rows, signals: None, masses: Vec::new() }
    }

    /// (h, the probabilities of h, h+1, … up steps out of `signals`), h the least number that is not a minority. The lower half is its mirror image.
    pub(crate) fn upper_half(&mut self, signals: u64) -> (u64, &[f64]) {
        let half = signals.div_ceil(2);
        if self.signals != Some(signals) {
            let (_, most) = self.rows.kept_steps(signals);
            self.masses = Binomial { trials: signals, p: 0.5, q: 0.5 }.masses(half, most);
            self.signals = Some(signals);
        }
        (half, &self.masses)
    }
}
