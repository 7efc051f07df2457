//! Mechanisms of known type behind objects of unknown: whole blocks of rows go through one virtual
//! call, so that what is inside is compiled for its mechanism and generator.

use super::arrays::{Categories, Vectors};
use super::coins::{Coins, Released, Simulated, Source};
use super::native::Native;
use super::running::{Aggregate, Running};
use super::steps::{Refusal, Rows};
use rayon::prelude::*;
use shuffledp_accounting::scheme::RandomizerSpec;
use shuffledp_randomizers::{Krr, Randomizer, Result};
use std::ops::Range;

/// A mechanism over vectors.
pub(super) trait VectorMechanism: Send + Sync {
    /// Returns the mechanism's description for accounting.
    fn spec(&self) -> RandomizerSpec;
    fn frame_len(&self) -> usize;
    /// Randomizes some of the rows; `frames` are theirs.
    fn randomize(
        &self,
        vectors: &Vectors<'_>,
        rows: Range<usize>,
        block: usize,
        coins: Coins,
        frames: &mut [u8],
    ) -> Rows<()>;
    fn aggregate(&self) -> Box<dyn Aggregate>;
}

/// A mechanism over categories.
pub(super) trait CategoryMechanism: Send + Sync {
    /// Returns the mechanism's description for accounting.
    fn spec(&self) -> RandomizerSpec;
    fn frame_len(&self) -> usize;
    /// Randomizes some of the values; `reports` are theirs.
    fn randomize(
        &self,
        values: &Categories<'_>,
        rows: Range<usize>,
        block: usize,
        coins: Coins,
        reports: &mut [i64],
    ) -> Rows<()>;
    /// Writes a category that was reported as a client sends it.
    fn encode(&self, category: u64, frame: &mut [u8]) -> Result<()>;
    /// Reads it again.
    fn decode(&self, frame: &[u8]) -> Result<u64>;
    fn aggregate(&self) -> Box<dyn Aggregate>;
}

/// Blocks of rows, in parallel. Of several refusals the first row's is returned, whichever thread
/// was faster.
fn in_blocks<T: Send>(
    rows: Range<usize>,
    block: usize,
    width: usize,
    out: &mut [T],
    coins: Coins,
    released: impl Fn(usize, &mut [T], &mut Released) -> Rows<()> + Sync,
    simulated: impl Fn(usize, &mut [T], &mut Simulated) -> Rows<()> + Sync,
) -> Rows<()> {
    let one = |(index, out): (usize, &mut [T])| {
        let first = rows.start + index * block;
        match coins {
            Coins::Released => {
                let mut source = Released::new().map_err(|error| Refusal { row: first, error })?;
                released(first, out, &mut source)
            }
            Coins::Simulated { seed, first: stream } => simulated(first, out, &mut Simulated::new(seed, stream)),
        }
    };
    if rows.len() <= block {
        return one((0, out));
    }
    let refusal = out.par_chunks_mut(block * width).enumerate().find_map_first(|block| one(block).err());
    refusal.map_or(Ok(()), Err)
}

impl<M: Native<Input = [f32]>> VectorMechanism for M {
    fn spec(&self) -> RandomizerSpec {
        Randomizer::spec(self)
    }

    fn frame_len(&self) -> usize {
        Randomizer::frame_len(self)
    }

    fn randomize(
        &self,
        vectors: &Vectors<'_>,
        rows: Range<usize>,
        block: usize,
        coins: Coins,
        frames: &mut [u8],
    ) -> Rows<()> {
        let width = Randomizer::frame_len(self);
        in_blocks(
            rows,
            block,
            width,
            frames,
            coins,
            |first, frames, source| vectors_of_block(self, vectors, first, frames, source),
            |first, frames, source| vectors_of_block(self, vectors, first, frames, source),
        )
    }

    fn aggregate(&self) -> Box<dyn Aggregate> {
        Box::new(Running::new(self.clone()))
    }
}

fn vectors_of_block<M: Native<Input = [f32]>>(
    mechanism: &M,
    vectors: &Vectors<'_>,
    first: usize,
    frames: &mut [u8],
    source: &mut impl Source,
) -> Rows<()> {
    let mut buffer = Vec::new();
    for (row, frame) in (first..).zip(frames.chunks_exact_mut(mechanism.frame_len())) {
        let rng = source.of_row(row);
        let report = vectors.with_row(row, &mut buffer, |vector| mechanism.randomize(vector, rng));
        mechanism.encode(&report.map_err(|error| Refusal { row, error })?, frame);
    }
    Ok(())
}

impl CategoryMechanism for Krr {
    fn spec(&self) -> RandomizerSpec {
        Randomizer::spec(self)
    }

    fn frame_len(&self) -> usize {
        Randomizer::frame_len(self)
    }

    fn randomize(
        &self,
        values: &Categories<'_>,
        rows: Range<usize>,
        block: usize,
        coins: Coins,
        reports: &mut [i64],
    ) -> Rows<()> {
        in_blocks(
            rows,
            block,
            1,
            reports,
            coins,
            |first, reports, source| categories_of_block(self, values, first, reports, source),
            |first, reports, source| categories_of_block(self, values, first, reports, source),
        )
    }

    fn encode(&self, category: u64, frame: &mut [u8]) -> Result<()> {
        Randomizer::encode(self, &self.report_of(category)?, frame);
        Ok(())
    }

    fn decode(&self, frame: &[u8]) -> Result<u64> {
        Randomizer::decode(self, frame)
    }

    fn aggregate(&self) -> Box<dyn Aggregate> {
        Box::new(Running::new(*self))
    }
}

fn categories_of_block(
    mechanism: &Krr,
    values: &Categories<'_>,
    first: usize,
    reports: &mut [i64],
    source: &mut impl Source,
) -> Rows<()> {
    for (row, report) in (first..).zip(reports) {
        let category = Randomizer::randomize(mechanism, &values.at(row), source.of_row(row));
        // There are at most 2^28 of them.
        *report = category.map_err(|error| Refusal { row, error })? as i64;
    }
    Ok(())
}
