//! One round, as it happens: who participates, randomize, encode, shuffle, decode; and the
//! likelihood ratio of what the server saw.
//!
//! All others hold one input x0. Relative to a batch of k reports of x0, the batch `y` has density
//! `1 − k/n + (1/n)·Σ_i p(y_i|x)/p(y_i|x0)` if the victim holds `x`: it participates with
//! probability k/n, given that k did (whether they were drawn or checked in), and its report is
//! then at any of the k places. The quotient of the two densities is the likelihood ratio, and by
//! Neyman and Pearson no test is better than a threshold on it.

use super::shuffled::Shuffle;
use crate::error::Result;
use crate::likelihood::Likelihood;
use crate::randomness::Randomness;
use crate::sample;
use shuffledp_accounting::scheme::{Participation, Scheme};

/// Two neighbouring datasets.
pub(super) struct Datasets<I: ?Sized> {
    /// The victim's input in the first and in the second dataset.
    pub(super) victim: [Box<I>; 2],
    /// The input of all others; `None` if it is the victim's input in the first dataset.
    pub(super) others: Option<Box<I>>,
}

/// Which of the two datasets is real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    First,
    Second,
}

/// Ways of looking at a batch: as an unordered heap, and place by place.
pub(super) const LOOKS: usize = 2;

/// Everything a round needs but its coins.
pub(super) struct Room<'a, M: Likelihood, S> {
    pub(super) mechanism: &'a M,
    pub(super) shuffle: &'a S,
    pub(super) scheme: &'a Scheme,
    pub(super) datasets: &'a Datasets<M::Input>,
    /// How likely the victim's report is at each place, as learnt.
    pub(super) positions: &'a [f64],
}

impl<M: Likelihood, S: Shuffle> Room<'_, M, S> {
    /// Runs a round in which `truth` is real; returns ln of the likelihood ratio of first over
    /// second, for each look.
    pub(super) fn play(&self, truth: Truth, rng: &mut dyn Randomness) -> Result<[f32; LOOKS]> {
        let (victim_speaks, others) = speakers(self.scheme, rng);
        let length = self.mechanism.frame_len();
        let mut frames = vec![0; length * (others as usize + usize::from(victim_speaks))];
        let mut batch: Vec<&mut [u8]> = frames.chunks_exact_mut(length).collect();
        for (sender, frame) in batch.iter_mut().enumerate() {
            let input = if victim_speaks && sender == 0 { self.victim(truth) } else { self.others() };
            self.mechanism.encode(&self.mechanism.randomize(input, rng)?, frame);
        }
        self.shuffle.permute(&mut batch, rng);
        self.attack(&batch)
    }

    fn victim(&self, truth: Truth) -> &M::Input {
        match truth {
            Truth::First => &self.datasets.victim[0],
            Truth::Second => &self.datasets.victim[1],
        }
    }

    fn others(&self) -> &M::Input {
        self.datasets.others.as_ref().unwrap_or(&self.datasets.victim[0])
    }

    /// All that a server can do with a batch.
    fn attack(&self, batch: &[&mut [u8]]) -> Result<[f32; LOOKS]> {
        let speaking = batch.len() as f64 / self.scheme.clients() as f64;
        let known: f64 = self.positions.iter().take(batch.len()).sum();
        // (first, second) summed over the batch, all places alike and as learnt.
        let mut heap = [0.0; 2];
        let mut placed = [0.0; 2];
        for (place, frame) in batch.iter().enumerate() {
            let ratios = self.ratios(frame)?;
            let share = if known > 0.0 { self.positions.get(place).map_or(0.0, |share| share / known) } else { 0.0 };
            for ((heap, placed), ratio) in heap.iter_mut().zip(&mut placed).zip(ratios) {
                *heap += ratio / batch.len() as f64;
                *placed += ratio * share;
            }
        }
        let score = |sums: [f64; 2]| {
            let [first, second] = sums.map(|sum| 1.0 - speaking + speaking * sum);
            // Reports that neither dataset could have produced say nothing about which it is. f32:
            // batches that differ in their order alone are to have one score.
            if first > 0.0 || second > 0.0 { (first.ln() - second.ln()) as f32 } else { 0.0 }
        };
        Ok([score(heap), if known > 0.0 { score(placed) } else { 0.0 }])
    }

    /// `p(y|x)/p(y|x0)` for the victim's two inputs x.
    fn ratios(&self, frame: &[u8]) -> Result<[f64; 2]> {
        let report = self.mechanism.decode(frame)?;
        let ln_first = self.mechanism.ln_likelihood(&report, &self.datasets.victim[0]);
        let ln_second = self.mechanism.ln_likelihood(&report, &self.datasets.victim[1]);
        let ln_others = match &self.datasets.others {
            Some(others) => self.mechanism.ln_likelihood(&report, others),
            None => ln_first,
        };
        Ok([(ln_first - ln_others).exp(), (ln_second - ln_others).exp()])
    }
}

/// Does the victim participate, and how many others do? The victim is client 0.
fn speakers(scheme: &Scheme, rng: &mut dyn Randomness) -> (bool, u64) {
    match scheme.participation() {
        Participation::Everyone => (true, scheme.clients() - 1),
        Participation::FixedSize { sampled } => {
            let victim_speaks = sample::without_replacement(scheme.clients(), sampled, rng).contains(&0);
            (victim_speaks, sampled - u64::from(victim_speaks))
        }
        Participation::CheckIn { rate, drop_out } => {
            let mut is_heard = || happens(rate, rng) && !happens(drop_out, rng);
            let victim_speaks = is_heard();
            (victim_speaks, (1..scheme.clients()).filter(|_| is_heard()).count() as u64)
        }
    }
}

/// True with this probability, to 2^−53.
fn happens(probability: f64, rng: &mut dyn Randomness) -> bool {
    const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
    ((rng.bits() >> 11) as f64) * UNIT < probability
}
