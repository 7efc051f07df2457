//! Random choices, drawn from a seed.

use shuffledp_randomizers::{Randomness, SimulationRng};
use std::time::Duration;

/// The purpose of a random stream. Each purpose has its own stream, so that one more draw for one
/// purpose does not change the others.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    World = 1,
    Round = 2,
    ToShuffler = 3,
    ToServer = 4,
    Client = 5,
}

/// A stream of throws.
pub(crate) struct Dice(SimulationRng);

impl Dice {
    pub(crate) fn named(seed: u64, purpose: Purpose, round: u64, who: u64) -> Self {
        Self(SimulationRng::named([seed, purpose as u64, round, who]))
    }

    /// Uniform in `from..to`, as nearly as chaos needs it.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.0.bits() % (to - from)
    }

    pub(crate) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_micros(self.between(1000 * from, 1000 * to))
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.between(0, 100) < percent
    }

    /// One of these, each as likely as its weight says.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let mut left = self.between(0, choices.iter().map(|(weight, _)| weight).sum());
        for (weight, choice) in choices {
            if left < *weight {
                return *choice;
            }
            left -= weight;
        }
        choices[0].1
    }

    pub(crate) fn seed(&mut self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.0.fill(&mut seed);
        seed
    }
}
