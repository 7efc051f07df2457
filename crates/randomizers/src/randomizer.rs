//! The traits of mechanisms and of aggregators.

use crate::error::Result;
use crate::randomness::Randomness;
use shuffledp_accounting::scheme::RandomizerSpec;

/// Public randomness of a round: the same for all of its clients and the server, and fresh in every
/// round. Nothing private rests on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PublicSeed(pub [u8; 32]);

/// A local randomizer: what a client sends in place of its input.
pub trait Randomizer {
    /// A client's input: `[f32]` for vectors, `u64` for a category.
    type Input: ?Sized;
    /// A client's report.
    type Report: Clone + PartialEq + std::fmt::Debug;
    /// The server's aggregator of reports.
    type Aggregator: Aggregator<Report = Self::Report>;

    /// The specification: exactly what accounting needs to know.
    fn spec(&self) -> RandomizerSpec;

    /// The same mechanism in the round of this seed. All but top-set need no public randomness, and
    /// stay as they are.
    fn in_round(&self, _seed: PublicSeed) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }

    /// Clips `input` to what the mechanism accepts and randomizes it. NaN, infinities and wrong
    /// dimensions are errors, and then no coin was released.
    fn randomize<R: Randomness + ?Sized>(&self, input: &Self::Input, rng: &mut R) -> Result<Self::Report>;

    /// Length of every encoded report, in bytes. It depends on the parameters alone.
    fn frame_len(&self) -> usize;

    /// Writes `report` into a frame of exactly [`frame_len`](Self::frame_len) bytes.
    ///
    /// # Panics
    ///
    /// If `frame` has another length.
    fn encode(&self, report: &Self::Report, frame: &mut [u8]);

    /// Reads a frame. What no input could have produced, or another length, is an error: one report
    /// has one encoding.
    fn decode(&self, frame: &[u8]) -> Result<Self::Report>;

    /// An empty aggregate.
    fn aggregator(&self) -> Self::Aggregator;
}

/// A running estimate from reports, unbiased where the mechanism does not say otherwise, in memory
/// that does not grow with their number.
pub trait Aggregator: Sized {
    /// The type of the reports.
    type Report;

    /// Adds one report. It must be of the same mechanism with the same parameters, as
    /// [`Randomizer::decode`] made it.
    fn add(&mut self, report: &Self::Report);

    /// Adds all that `other` holds. Both must be of one mechanism, else nothing is changed and the
    /// error says so.
    fn merge(&mut self, other: Self) -> Result<()>;

    /// The sums and the number of reports as bytes, for an empty aggregate of the same mechanism in
    /// another process. What the mechanism itself knows is not in them.
    fn save(&self) -> Vec<u8>;

    /// Takes over what [`save`](Self::save) wrote, in place of everything that was added. Bytes
    /// that no aggregate of such a mechanism writes are refused, and then nothing is changed.
    fn load(&mut self, saved: &[u8]) -> Result<()>;

    /// Number of reports.
    fn count(&self) -> u64;

    /// The estimate of the mean of the inputs (of the share of every category). No reports: no
    /// estimate.
    fn mean(&self) -> Result<Vec<f64>>;
}
