//! The cells of rounded Gaussian reports: thresholds that a server can put between them.

/// Cells in a standard deviation of the noise.
const PER_DEVIATION: f64 = 2.0;

/// Standard deviations beyond the largest coordinate that reports are sure to tell apart.
const REACH: f64 = 6.0;

/// The edges of the cells, as seen from the record that everybody else holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cells {
    /// The record's position, in deviations. Position 0 is the middle of a cell.
    record: f64,
    /// The largest edge, in cells: half of an odd number.
    last: f64,
}

impl Cells {
    /// The cells as seen from a record at `record` deviations, coordinates being at most `largest`.
    pub(super) fn new(record: f64, largest: f64) -> Self {
        Self { record, last: ((largest + REACH) * PER_DEVIATION - 0.5).floor() + 0.5 }
    }

    /// The edge next to a threshold, both in deviations from the record; `None` where reports have
    /// no edge any more.
    pub(super) fn nearest(self, threshold: f64) -> Option<f64> {
        let edge = ((self.record + threshold) * PER_DEVIATION - 0.5).round() + 0.5;
        (edge.abs() <= self.last).then(|| self.seen(edge))
    }

    /// The first edge at or above a threshold, or the last one that there is.
    pub(super) fn above(self, threshold: f64) -> f64 {
        let edge = ((self.record + threshold) * PER_DEVIATION - 0.5).ceil() + 0.5;
        self.seen(edge.clamp(-self.last, self.last))
    }

    fn seen(self, edge: f64) -> f64 {
        edge / PER_DEVIATION - self.record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_half_way_between_whole_steps() {
        let cells = Cells::new(-0.2, 0.2);
        // 12.4 cells reach to the edge at 11.5; as seen from −0.2 deviations.
        assert!((cells.above(100.0) - (11.5 / 2.0 + 0.2)).abs() < 1e-12);
        assert!((cells.above(-100.0) - (-11.5 / 2.0 + 0.2)).abs() < 1e-12);
        assert_eq!((cells.nearest(100.0), cells.nearest(-100.0)), (None, None));
        for threshold in [-3.0, -0.3, 0.0, 0.1, 0.44, 0.46, 5.0] {
            let (nearest, above) = (cells.nearest(threshold).unwrap(), cells.above(threshold));
            for edge in [nearest, above] {
                let steps = (edge - 0.2) * 2.0 + 0.5;
                assert!((steps - steps.round()).abs() < 1e-12, "{threshold}: {edge}");
            }
            assert!(
                (nearest - threshold).abs() <= 0.25 + 1e-12 && above >= threshold && above < threshold + 0.5 + 1e-12
            );
        }
    }
}
