//! Many independent rounds, on all cores, in an order that does not depend on them.

use super::generators::Generators;
use crate::error::Result;
use crate::randomness::Randomness;
use rayon::prelude::*;

/// Hands every round its own generator, and remembers how each of them began.
pub(super) struct Trials<'a, G> {
    generators: &'a G,
    progress: &'a (dyn Fn() + Sync),
    /// Rounds so far: the number of the next generator.
    next: u64,
    fingerprints: Vec<u128>,
}

impl<'a, G: Generators> Trials<'a, G> {
    pub(super) fn new(generators: &'a G, progress: &'a (dyn Fn() + Sync)) -> Self {
        Self { generators, progress, next: 0, fingerprints: Vec::new() }
    }

    /// Runs `round` `count` times and returns the results.
    pub(super) fn run<T: Send>(
        &mut self,
        count: u64,
        round: impl Fn(&mut dyn Randomness) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let first = self.next;
        self.next += count;
        let outcomes: Vec<(u128, T)> = (first..self.next)
            .into_par_iter()
            .map(|stream| {
                let (fingerprint, mut rng) = self.generator(stream)?;
                let outcome = round(&mut *rng)?;
                (self.progress)();
                Ok((fingerprint, outcome))
            })
            .collect::<Result<_>>()?;
        self.fingerprints.extend(outcomes.iter().map(|(fingerprint, _)| fingerprint));
        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    /// The same, each round with two generators: those of two rounds of one client.
    pub(super) fn run_twice<T: Send>(
        &mut self,
        count: u64,
        rounds: impl Fn([&mut dyn Randomness; 2]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let first = self.next;
        self.next += 2 * count;
        let outcomes: Vec<([u128; 2], T)> = (0..count)
            .into_par_iter()
            .map(|pair| {
                let (earlier, mut one) = self.generator(first + 2 * pair)?;
                let (later, mut two) = self.generator(first + 2 * pair + 1)?;
                let outcome = rounds([&mut *one, &mut *two])?;
                (self.progress)();
                Ok(([earlier, later], outcome))
            })
            .collect::<Result<_>>()?;
        self.fingerprints.extend(outcomes.iter().flat_map(|(fingerprints, _)| fingerprints));
        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    /// Runs the rounds before the audit proper; they do not count as progress.
    pub(super) fn watch<T: Send>(
        &mut self,
        count: u64,
        look: impl Fn(&mut dyn Randomness) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let progress = std::mem::replace(&mut self.progress, &|| ());
        let outcomes = self.run(count, look);
        self.progress = progress;
        outcomes
    }

    /// A generator, and the first 128 bits that it gave.
    fn generator(&self, stream: u64) -> Result<(u128, Box<dyn Randomness>)> {
        let mut rng = self.generators.generator(stream)?;
        let fingerprint = u128::from(rng.bits()) << 64 | u128::from(rng.bits());
        Ok((fingerprint, rng))
    }

    /// How every generator so far began.
    pub(super) fn fingerprints(self) -> Vec<u128> {
        self.fingerprints
    }
}
