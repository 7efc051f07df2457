//! The reports of one batch: opened, checked, added up.

use crate::error::Result;
use crate::plan::Plan;
use rayon::prelude::*;
use shuffledp_randomizers::erased::{FrameAggregator, VectorRandomizer};
use shuffledp_wire::{ReportId, RoundContext, ServerSecretKeys, open_inner};
use std::collections::HashSet;
use std::sync::Arc;

/// Reports that are added up on their own before their sum joins the others'. Fixed, because the order of sums depends on it, and the same as
/// a simulation's: the same reports in the same order give the same weights, bit for bit, whatever the number of threads.
const SEGMENT: usize = 64;

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

/// What a batch comes to so far. Grows by 16 bytes and a set's entry for each report; records themselves are forgotten as they are added.
pub(crate) struct Gathered {
    plan: Arc<Plan>,
    keys: Arc<ServerSecretKeys>,
    context: RoundContext,
    sum: Option<Box<dyn FrameAggregator>>,
    accepted: Vec<ReportId>,
    seen: HashSet<ReportId>,
    rejected: Rejected,
}

/// A report's fate within its segment.
enum Opened {
    Report(ReportId, Vec<u8>),
    Not,
}

impl Gathered {
    /// Nothing yet.
    pub(crate) fn new(plan: Arc<Plan>, keys: Arc<ServerSecretKeys>, context: RoundContext) -> Self {
        let rejected = Rejected::default();
        Self { plan, keys, context, sum: None, accepted: Vec::new(), seen: HashSet::new(), rejected }
    }

    /// How many records of this length should be handed over at once: whole segments, so that it makes no difference to sums.
    pub(crate) fn block_len(record_len: usize) -> usize {
        let enough = SEGMENT * rayon::current_num_threads() * 4;
        (BLOCK_BYTES / record_len.max(1)).clamp(SEGMENT, enough) / SEGMENT * SEGMENT
    }

    /// What it is for.
    pub(crate) fn context(&self) -> &RoundContext {
        &self.context
    }

    /// Ids of the reports that count.
    pub(crate) fn report_ids(&self) -> &[ReportId] {
        &self.accepted
    }

    /// How many do not.
    pub(crate) fn rejected(&self) -> Rejected {
        self.rejected
    }

    /// The estimated mean gradient; `None` if no report counts.
    pub(crate) fn mean(&self) -> Result<Option<Vec<f64>>> {
        match &self.sum {
            Some(sum) if sum.count() > 0 => Ok(Some(sum.mean()?)),
            _ => Ok(None),
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
                    self.rejected.repeated += 1;
                    *report = Opened::Not;
                }
                Opened::Report(..) => {}
                Opened::Not => self.rejected.unopened += 1,
            }
        }
        let mechanism = &*self.plan.mechanism;
        let sums: Vec<Segment> = opened.par_chunks(SEGMENT).map(|reports| Segment::of(reports, mechanism)).collect();
        for Segment { sum, accepted, impossible } in sums {
            self.accepted.extend(accepted);
            self.rejected.impossible += impossible;
            match &mut self.sum {
                Some(all) => all.merge(sum)?,
                none => *none = Some(sum),
            }
        }
        Ok(())
    }
}

/// Some reports, added up.
struct Segment {
    sum: Box<dyn FrameAggregator>,
    accepted: Vec<ReportId>,
    impossible: u64,
}

impl Segment {
    fn of(reports: &[Opened], mechanism: &dyn VectorRandomizer) -> Self {
        let mut segment = Self { sum: mechanism.aggregator(), accepted: Vec::new(), impossible: 0 };
        for report in reports {
            let Opened::Report(id, payload) = report else { continue };
            match segment.sum.add_frame(payload) {
                Ok(()) => segment.accepted.push(*id),
                Err(_) => segment.impossible += 1,
            }
        }
        segment
    }
}
