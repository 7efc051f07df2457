//! Sums in a fixed order: by segments, the same bits whatever the number of threads.

use crate::{LearningError, Result, ordered};
use std::ops::Range;

/// Items that are added up on their own before their sum joins the others'.
///
/// Fixed, because the order of floating-point sums depends on it. Simulations and the server sum in
/// the same segments: the same reports in the same order give the same weights, bit for bit.
pub const SEGMENT: usize = 64;

/// The sum of items that come in order: each segment of [`SEGMENT`] is summed on its own, by one
/// thread, and the segments' sums are merged one after the other.
#[derive(Debug)]
pub struct Segments<A> {
    merged: Option<A>,
    /// The last segment was a short one: nothing can come after it.
    is_ended: bool,
}

impl<A> Default for Segments<A> {
    fn default() -> Self {
        Self { merged: None, is_ended: false }
    }
}

impl<A: Send> Segments<A> {
    /// Adds the next `items` items. `segment` sums the items of a range, numbered from 0 in every
    /// call, with its thread's `tools`; `merge` joins its sum to those before.
    ///
    /// Items may come in several calls, of whole segments in all but the last: otherwise where one
    /// segment ends would depend on how they came, which is refused. After an error there is no
    /// sum.
    pub fn add<T>(
        &mut self,
        items: usize,
        tools: impl Fn() -> T + Sync,
        segment: impl Fn(&mut T, Range<usize>) -> Result<A> + Sync,
        merge: impl Fn(&mut A, A) -> Result<()> + Sync,
    ) -> Result<()> {
        if self.is_ended && items > 0 {
            return Err(LearningError::Data(format!("items after a segment of fewer than {SEGMENT}")));
        }
        self.is_ended |= !items.is_multiple_of(SEGMENT);
        let work = |tools: &mut T, index: usize| {
            let first = index * SEGMENT;
            segment(tools, first..items.min(first + SEGMENT))
        };
        self.merged = ordered::fold(self.merged.take(), items.div_ceil(SEGMENT), tools, work, merge)?;
        Ok(())
    }

    /// The sum of everything so far, `None` of nothing.
    pub fn merged(&self) -> Option<&A> {
        self.merged.as_ref()
    }

    /// The same, taken out.
    pub fn into_merged(self) -> Option<A> {
        self.merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that is lost or kept by f32 sums, depending on their order.
    fn number(index: usize) -> f32 {
        if index.is_multiple_of(3) { 1e8 } else { (index as f32).sin() }
    }

    fn add(sum: &mut Segments<f32>, offset: usize, items: usize) -> Result<()> {
        let segment = |(): &mut (), range: Range<usize>| Ok(range.map(|index| number(offset + index)).sum());
        let merge = |all: &mut f32, more| {
            *all += more;
            Ok(())
        };
        sum.add(items, || (), segment, merge)
    }

    #[test]
    fn calls_of_whole_segments_are_one_call() {
        let mut at_once = Segments::default();
        add(&mut at_once, 0, 1000).unwrap();
        let mut by_parts = Segments::default();
        for (offset, items) in [(0, 5 * SEGMENT), (5 * SEGMENT, SEGMENT), (6 * SEGMENT, 1000 - 6 * SEGMENT)] {
            add(&mut by_parts, offset, items).unwrap();
        }
        let bits = |sum: &Segments<f32>| sum.merged().unwrap().to_bits();
        assert_eq!(bits(&at_once), bits(&by_parts));
        // Spelled out: within segments first. Another order has another sum, so the test can tell.
        let expected = (0..16).map(|at| (at * SEGMENT..1000.min((at + 1) * SEGMENT)).map(number).sum::<f32>());
        assert_eq!(bits(&at_once), expected.reduce(|all, more| all + more).unwrap().to_bits());
        assert_ne!(bits(&at_once), (0..1000).map(number).sum::<f32>().to_bits());
    }

    #[test]
    fn nothing_comes_after_a_short_segment() {
        let mut sum = Segments::default();
        assert!(sum.merged().is_none());
        add(&mut sum, 0, 10).unwrap();
        add(&mut sum, 10, 0).unwrap();
        assert!(add(&mut sum, 10, SEGMENT).is_err());
    }
}
