//! From values to places along an axis.

use super::Scale;

/// The stretch of an axis that is shown, in the axis's own measure: values if linear, their base-10
/// logarithms if not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) scale: Scale,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether fractions mean nothing here, as between two rounds.
    pub(super) whole: bool,
}

/// Logarithms of the smallest and the largest positive double.
const LOG_LIMITS: (f64, f64) = (-323.4, 308.26);

/// Part of the range left free at either end.
const MARGIN: f64 = 0.04;

impl Range {
    /// A range that holds all `values` (which must have a place on the scale) with a little room
    /// around them; `None` if there are no values.
    pub(super) fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            return None;
        }
        Some(match scale {
            Scale::Linear => Self::linear(low, high),
            Scale::Log => Self::log(low.log10(), high.log10()),
        })
    }

    fn linear(low: f64, high: f64) -> Self {
        // Closer than this and the labels would not tell the ticks apart, or their distance would
        // be subnormal.
        let least = (1e-9 * low.abs().max(high.abs())).max(1e-290);
        let half_span = high / 2.0 - low / 2.0; // halves: the span of two doubles can exceed every double
        let constant = half_span < least;
        let margin = match constant {
            true if half_span > 0.0 => least,
            true if low.abs() > 0.0 => (low.abs() * 0.1).max(least),
            true => 1.0,
            false => 2.0 * MARGIN * half_span,
        };
        // An axis of amounts starts at zero where that costs little: lengths can then be compared.
        let from_zero = !constant && low >= 0.0 && low <= 0.3 * high;
        Self {
            scale: Scale::Linear,
            low: if from_zero { 0.0 } else { (low - margin).max(f64::MIN) },
            high: (high + margin).min(f64::MAX),
            whole: false,
        }
    }

    fn log(low: f64, high: f64) -> Self {
        let span = high - low;
        if span < 1e-6 {
            // Where doubles end, a narrow range holds no round number.
            let margin = if low.abs() > 300.0 { 1.0 } else { 0.5 };
            let (low, high) = ((low - margin).max(LOG_LIMITS.0), (high + margin).min(LOG_LIMITS.1));
            return Self { scale: Scale::Log, low, high, whole: false };
        }
        let margin = MARGIN * span;
        // An end that almost reaches a power of ten goes on to it; the data of a sweep usually
        // start and end at one.
        let settle = |end: f64, outward: f64, decade: f64| {
            if (decade - end).abs() <= 1e-9 {
                end
            } else if (decade - end).abs() <= margin.max(0.05).min(0.15 * span) {
                decade
            } else {
                end + outward
            }
        };
        Self {
            scale: Scale::Log,
            low: settle(low, -margin, (low + 1e-9).floor()).max(LOG_LIMITS.0),
            high: settle(high, margin, (high - 1e-9).ceil()).min(LOG_LIMITS.1),
            whole: false,
        }
    }

    /// Finds out whether the values it was made for are whole numbers, several units apart.
    pub(super) fn judge_whole(&mut self, values: impl Iterator<Item = f64>) {
        let (mut low, mut high, mut whole) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for value in values {
            (low, high) = (low.min(value), high.max(value));
            whole &= value.fract().abs() <= 0.0;
        }
        self.whole = whole && high - low >= 2.0;
    }

    /// The same range without what lies outside these values, if anything is left of it.
    pub(super) fn end_at(&mut self, (least, most): (f64, f64)) {
        let measure = |value: f64| if self.scale == Scale::Log { value.max(0.0).log10() } else { value };
        let (low, high) = (self.low.max(measure(least)), self.high.min(measure(most)));
        if low < high {
            (self.low, self.high) = (low, high);
        }
    }

    /// Where a value stands, from 0 at the low end to 1 at the high end.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.place_of_measure(value),
            Scale::Log => self.place_of_measure(value.log10()),
        }
    }

    /// [`Range::place`] of a value in the axis's own measure.
    pub(super) fn place_of_measure(&self, measure: f64) -> f64 {
        (measure / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_place_inside() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [
                vec![1.0],
                vec![5e-324],
                vec![f64::MAX],
                vec![1e-300, 1e300],
                vec![5e-324, f64::MAX],
                vec![1.0, 1.0 + f64::EPSILON],
                vec![1e15, 1e15 + 1.0],
                vec![0.3, 0.31],
            ] {
                let range = Range::around(scale, values.iter().copied()).unwrap();
                for &value in &values {
                    let place = range.place(value);
                    assert!(
                        (-1e-9..=1.0 + 1e-9).contains(&place),
                        "{scale:?} {values:?}: {value} at {place} in {range:?}"
                    );
                }
            }
        }
        let range = Range::around(Scale::Linear, [f64::MIN, f64::MAX].into_iter()).unwrap();
        assert!((range.place(0.0) - 0.5).abs() < 1e-12);
        assert!(Range::around(Scale::Log, [].into_iter()).is_none());
    }

    #[test]
    fn sweeps_end_at_their_decades() {
        let range = Range::around(Scale::Log, [1.0, 1e5].into_iter()).unwrap();
        assert_eq!((range.low, range.high), (0.0, 5.0));
    }
}
