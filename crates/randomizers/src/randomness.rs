//! Where coins come from: one generator for what is released, one for simulations, and no third.

use crate::error::{RandomizerError, Result};
use rand::rngs::{ChaCha8Rng, ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng, TryRng};

/// A source of coins that a randomizer accepts. Sealed: only [`ReleaseRng`] and [`SimulationRng`]
/// are, so a weak generator cannot be passed by mistake.
pub trait Randomness: sealed::Sealed {
    /// 64 uniform bits.
    fn bits(&mut self) -> u64;

    /// 32 uniform bits.
    fn half_bits(&mut self) -> u32;

    /// Fills `bytes` with uniform bytes.
    fn fill(&mut self, bytes: &mut [u8]);

    /// Whether reports leave a client, so that somebody could measure how long they took. A
    /// mechanism whose work depends on its coins then does all of it; a simulation saves what it
    /// can.
    fn is_for_release(&self) -> bool;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ReleaseRng {}
    impl Sealed for super::SimulationRng {}
}

/// For everything that leaves a client: ChaCha20, keyed with 256 bits of the operating system's
/// generator. It cannot be seeded, cloned, printed or saved.
pub struct ReleaseRng(ChaCha20Rng);

impl ReleaseRng {
    /// Keyed by the operating system.
    pub fn from_operating_system() -> Result<Self> {
        let mut key = [0_u8; 32];
        SysRng.try_fill_bytes(&mut key).map_err(|error| RandomizerError::Entropy { reason: error.to_string() })?;
        Ok(Self(ChaCha20Rng::from_seed(key)))
    }
}

impl std::fmt::Debug for ReleaseRng {
    // Who reads its state can undo every report.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReleaseRng(…)")
    }
}

/// For simulations and tests only: ChaCha8 with a seed that anyone can repeat. A report made with
/// it protects nobody.
#[derive(Debug)]
pub struct SimulationRng(ChaCha8Rng);

impl SimulationRng {
    /// The generator of this seed.
    pub fn from_seed(seed: u64) -> Self {
        Self::stream(seed, 0)
    }

    /// One of 2^64 independent generators of this seed: one per client, so that the result does not
    /// depend on who comes first or on which thread.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self(rng)
    }

    /// The generator that four numbers name, such as a seed, what it is for, a round and a client:
    /// together they are its key, so different names have different, for every practical purpose
    /// independent generators, and nothing depends on who draws first.
    pub fn named(name: [u64; 4]) -> Self {
        let mut key = [0_u8; 32];
        for (bytes, number) in key.chunks_exact_mut(8).zip(name) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }
}

macro_rules! randomness_of_inner {
    ($name:ty, $is_for_release:literal) => {
        impl Randomness for $name {
            #[inline]
            fn bits(&mut self) -> u64 {
                self.0.next_u64()
            }

            #[inline]
            fn half_bits(&mut self) -> u32 {
                self.0.next_u32()
            }

            #[inline]
            fn fill(&mut self, bytes: &mut [u8]) {
                self.0.fill_bytes(bytes);
            }

            #[inline]
            fn is_for_release(&self) -> bool {
                $is_for_release
            }
        }
    };
}

randomness_of_inner!(ReleaseRng, true);
randomness_of_inner!(SimulationRng, false);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_number_of_a_name_counts_and_a_name_is_repeatable() {
        let names = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1 << 63]];
        let first = |name| SimulationRng::named(name).bits();
        assert_eq!(names.map(first).into_iter().collect::<BTreeSet<_>>().len(), names.len());
        assert_eq!(names.map(first), names.map(first));
    }
}
