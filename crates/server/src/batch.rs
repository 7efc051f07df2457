//! The reports of one batch: opened, checked, added up.

use crate::error::Result;
use crate::plan::Plan;
use rayon::prelude::*;
use shuffledp_learning::collect::segments::{SEGMENT, Segments};
use shuffledp_learning::collect::{Collector, Frames};
use shuffledp_randomizers::PublicSeed;
use shuffledp_randomizers::erased::FrameAggregator;
use shuffledp_wire::{ReportId, RoundContext, ServerSecretKeys, open_inner};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of records that are worked on at once, about.
const BLOCK_BYTES: usize = 8 << 20;

/// Why reports were not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rejected {
    /// They did not open: another key, another round, or nonsense.
    pub(crate) unopened: u64,
    /// A report of that id was there before.
    pub(crate) repeated: u64,
    /// No client could have made them.
    pub(crate) impossible: u64,
}

impl Rejected {
    pub(crate) fn total(self) -> u64 {
        self.unopened + self.repeated + self.impossible
    }
}

/// The running sum of a batch. It grows by 16 bytes and a set entry for each report; reports are
/// dropped once they are added.
pub(crate) struct Gathered {
    /// Those of this round.
    frames: Frames,
    keys: Arc<ServerSecretKeys>,
    context: RoundContext,
    sum: Segments<Counted>,
    seen: HashSet<ReportId>,
    unopened: u64,
    repeated: u64,
}

/// A report's fate within its segment.
enum Opened {
    Report(ReportId, Vec<u8>),
    Not,
}

impl Gathered {
    /// Nothing yet.
    pub(crate) fn new(plan: &Plan, keys: Arc<ServerSecretKeys>, context: RoundContext) -> Self {
        let frames = plan.frames.in_round(PublicSeed(context.public_seed()));
        Self { frames, keys, context, sum: Segments::default(), seen: HashSet::new(), unopened: 0, repeated: 0 }
    }

    /// How many records of this length should be handed over at once: whole segments, as sums want
    /// them.
    pub(crate) fn block_len(record_len: usize) -> usize {
        let enough = SEGMENT * rayon::current_num_threads() * 4;
        (BLOCK_BYTES / record_len.max(1)).clamp(SEGMENT, enough) / SEGMENT * SEGMENT
    }

    /// The round that it belongs to.
    pub(crate) fn context(&self) -> &RoundContext {
        &self.context
    }

    /// Ids of the reports that count.
    pub(crate) fn report_ids(&self) -> &[ReportId] {
        self.sum.merged().map_or(&[], |counted| &counted.accepted)
    }

    /// How many do not.
    pub(crate) fn rejected(&self) -> Rejected {
        let impossible = self.sum.merged().map_or(0, |counted| counted.impossible);
        Rejected { unopened: self.unopened, repeated: self.repeated, impossible }
    }

    /// The estimated mean gradient; `None` if no report counts.
    pub(crate) fn mean(&self) -> Result<Option<Vec<f64>>> {
        match self.sum.merged() {
            Some(counted) => Ok(self.frames.mean_of(&*counted.sum)?),
            None => Ok(None),
        }
    }

    /// Opens and adds a block of records, in parallel.
    pub(crate) fn absorb(&mut self, block: &[u8], record_len: usize) -> Result<()> {
        let (context, keys) = (&self.context, &*self.keys);
        let mut opened: Vec<Opened> = block
            .par_chunks_exact(record_len.max(1))
            .map(|record| match open_inner(record, context, keys) {
                Ok((id, payload)) => Opened::Report(id, payload),
                Err(_) => Opened::Not,
            })
            .collect();
        // The first report of an id counts. In order, so that it is always the same one.
        for report in &mut opened {
            match report {
                Opened::Report(id, _) if !self.seen.insert(*id) => {
                    self.repeated += 1;
                    *report = Opened::Not;
                }
                Opened::Report(..) => {}
                Opened::Not => self.unopened += 1,
            }
        }
        let frames = &self.frames;
        let segment = |(): &mut (), places: Range<usize>| Ok(Counted::of(&opened[places], frames));
        Ok(self.sum.add(opened.len(), || (), segment, |all, more| all.merge(more, frames))?)
    }
}

/// Some reports, added up.
struct Counted {
    sum: Box<dyn FrameAggregator>,
    accepted: Vec<ReportId>,
    impossible: u64,
}

impl Counted {
    fn of(reports: &[Opened], frames: &Frames) -> Self {
        let mut counted = Self { sum: frames.empty(), accepted: Vec::new(), impossible: 0 };
        for report in reports {
            let Opened::Report(id, payload) = report else { continue };
            match frames.add(payload, &mut counted.sum) {
                Ok(()) => counted.accepted.push(*id),
                Err(_) => counted.impossible += 1,
            }
        }
        counted
    }

    fn merge(&mut self, more: Self, frames: &Frames) -> shuffledp_learning::Result<()> {
        self.accepted.extend(more.accepted);
        self.impossible += more.impossible;
        frames.merge(&mut self.sum, more.sum)
    }
}
