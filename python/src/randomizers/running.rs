//! Running estimates of known mechanisms behind objects of unknown.

use super::arrays::{Categories, Frames};
use super::native::Native;
use super::steps::{Refusal, Rows};
use shuffledp_randomizers::estimate::{Confidence, Interval};
use shuffledp_randomizers::{Aggregator, Randomizer, RandomizerError, Result};
use std::any::Any;
use std::ops::Range;

/// The handling of reports that no client could have sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejected {
    /// The whole batch is refused.
    Refuse,
    /// They are left out, and counted.
    Skip,
}

/// Reports, as frames or as categories.
pub(super) enum Reports<'a> {
    Frames(Frames<'a>),
    Categories(Categories<'a>),
}

impl Reports<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Frames(frames) => frames.len(),
            Self::Categories(values) => values.len(),
        }
    }
}

/// A running estimate.
pub(super) trait Aggregate: Send {
    fn add_frame(&mut self, frame: &[u8]) -> Result<()>;
    fn add_category(&mut self, category: u64) -> Result<()>;
    /// Adds some of the reports, and returns how many were skipped.
    fn add_rows(&mut self, reports: &Reports<'_>, rows: Range<usize>, rejected: Rejected) -> Rows<u64>;
    /// How many empty aggregates a batch is shared among.
    fn parts(&self, threads: usize) -> usize;
    /// Reports that are worth threads.
    fn block(&self) -> usize;
    fn empty(&self) -> Box<dyn Aggregate>;
    fn copy(&self) -> Box<dyn Aggregate>;
    fn merge(&mut self, other: Box<dyn Aggregate>) -> Result<()>;
    /// The sums as bytes; see [`Aggregator::save`].
    fn save(&self) -> Vec<u8>;
    /// Takes over what [`save`](Self::save) wrote.
    fn load(&mut self, saved: &[u8]) -> Result<()>;
    fn count(&self) -> u64;
    fn mean(&self) -> Result<Vec<f64>>;
    fn intervals(&self, confidence: Confidence) -> Result<Vec<Interval>>;
    /// For [`merge`](Self::merge).
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The estimate of one mechanism.
pub(super) struct Running<M: Native> {
    mechanism: M,
    aggregate: M::Aggregator,
}

impl<M: Native> Running<M> {
    pub(super) fn new(mechanism: M) -> Self {
        let aggregate = mechanism.aggregator();
        Self { mechanism, aggregate }
    }
}

impl<M: Native> Aggregate for Running<M> {
    fn add_frame(&mut self, frame: &[u8]) -> Result<()> {
        self.aggregate.add(&self.mechanism.decode(frame)?);
        Ok(())
    }

    fn add_category(&mut self, category: u64) -> Result<()> {
        self.aggregate.add(&self.mechanism.report_of(category)?);
        Ok(())
    }

    fn add_rows(&mut self, reports: &Reports<'_>, rows: Range<usize>, rejected: Rejected) -> Rows<u64> {
        let mut buffer = Vec::new();
        let mut skipped = 0;
        for row in rows {
            let added = match reports {
                Reports::Frames(frames) => frames.with_row(row, &mut buffer, |frame| self.add_frame(frame)),
                Reports::Categories(values) => self.add_category(values.at(row)),
            };
            match added {
                Ok(()) => {}
                Err(_) if rejected == Rejected::Skip => skipped += 1,
                Err(error) => return Err(Refusal { row, error }),
            }
        }
        Ok(skipped)
    }

    fn parts(&self, threads: usize) -> usize {
        if M::ADDS_IN_PARALLEL { threads } else { 1 }
    }

    fn block(&self) -> usize {
        if M::ADDS_IN_PARALLEL { 16 } else { 1 << 14 }
    }

    fn empty(&self) -> Box<dyn Aggregate> {
        Box::new(Self::new(self.mechanism.clone()))
    }

    fn copy(&self) -> Box<dyn Aggregate> {
        Box::new(Self { mechanism: self.mechanism.clone(), aggregate: self.aggregate.clone() })
    }

    fn merge(&mut self, other: Box<dyn Aggregate>) -> Result<()> {
        match other.into_any().downcast::<Self>() {
            // Two mechanisms of one type may still differ in ε0: their specs tell, and the
            // aggregates themselves look at the rest.
            Ok(other) if Randomizer::spec(&other.mechanism) == Randomizer::spec(&self.mechanism) => {
                self.aggregate.merge(other.aggregate)
            }
            _ => {
                Err(RandomizerError::Aggregate { reason: "the two aggregates are of different mechanisms".to_owned() })
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        self.aggregate.save()
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        self.aggregate.load(saved)
    }

    fn count(&self) -> u64 {
        self.aggregate.count()
    }

    fn mean(&self) -> Result<Vec<f64>> {
        self.aggregate.mean()
    }

    fn intervals(&self, confidence: Confidence) -> Result<Vec<Interval>> {
        self.mechanism.intervals(&self.aggregate, confidence)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
