//! Where the coins of an audit come from.

use crate::error::Result;
use crate::randomness::{Randomness, ReleaseRng, SimulationRng};

/// A source of generators, one for every round that is run. They must be independent of each other:
/// the audit looks.
pub trait Generators: Sync {
    /// The generator of round `stream`; no number is asked for twice.
    fn generator(&self, stream: u64) -> Result<Box<dyn Randomness>>;
}

/// The generator that clients use, keyed by the operating system: what is audited is what runs.
/// Another result each time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Released;

impl Generators for Released {
    fn generator(&self, _stream: u64) -> Result<Box<dyn Randomness>> {
        Ok(Box::new(ReleaseRng::from_operating_system()?))
    }
}

/// Seeded: the same audit again, whatever the number of threads.
#[derive(Debug, Clone, Copy)]
pub struct Simulated {
    /// Any number.
    pub seed: u64,
}

impl Generators for Simulated {
    fn generator(&self, stream: u64) -> Result<Box<dyn Randomness>> {
        Ok(Box::new(SimulationRng::stream(self.seed, stream)))
    }
}
