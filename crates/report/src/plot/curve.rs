//! What of the data can be drawn, and what must be said about the rest.

use super::{Axis, Plot, Scale, Series};

/// A stretch of a curve without gaps, by increasing x.
pub(super) type Stretch = Vec<(f64, f64)>;

/// Why a value has no place on an axis.
enum Missing {
    Infinite,
    NotANumber,
    NotPositive,
}

fn missing(axis: &Axis, value: f64) -> Option<Missing> {
    if value.is_nan() {
        Some(Missing::NotANumber)
    } else if value.is_infinite() {
        Some(Missing::Infinite)
    } else if axis.scale == Scale::Log && value <= 0.0 {
        Some(Missing::NotPositive)
    } else {
        None
    }
}

/// The drawable stretches of a series: sorted by x, broken where a point has no place.
pub(super) fn stretches(plot: &Plot, series: &Series) -> Vec<Stretch> {
    let mut points = series.points.clone();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let drawable = |point: &(f64, f64)| missing(&plot.x, point.0).or(missing(&plot.y, point.1)).is_none();
    points.split(|point| !drawable(point)).filter(|stretch| !stretch.is_empty()).map(<[_]>::to_vec).collect()
}

/// How many points are left out of the picture, by reason.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Omitted {
    infinite: usize,
    not_a_number: usize,
    not_positive: usize,
}

impl Omitted {
    pub(super) fn of(plot: &Plot) -> Self {
        let mut omitted = Self::default();
        for &(x, y) in plot.series.iter().flat_map(|series| &series.points) {
            match missing(&plot.x, x).or(missing(&plot.y, y)) {
                Some(Missing::Infinite) => omitted.infinite += 1,
                Some(Missing::NotANumber) => omitted.not_a_number += 1,
                Some(Missing::NotPositive) => omitted.not_positive += 1,
                None => {}
            }
        }
        omitted
    }

    pub(super) fn total(&self) -> usize {
        self.infinite + self.not_a_number + self.not_positive
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let note = |count: usize, one: &str, many: &str, fate: &str| match count {
            0 => None,
            1 => Some(format!("1 value {one} and {fate}.")),
            n => Some(format!("{n} values {many} and {fate}.")),
        };
        let fate = "not drawn";
        [
            note(self.infinite, "is infinite", "are infinite", fate),
            note(self.not_a_number, "is not a number", "are not numbers", fate),
            note(self.not_positive, "is not positive", "are not positive", "not drawn on a logarithmic axis"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_cut_and_counted() {
        let points =
            [(4.0, 4.0), (2.0, f64::INFINITY), (1.0, 1.0), (3.0, 3.0), (5.0, 0.0), (6.0, f64::NAN), (-1.0, 1.0)];
        let plot = Plot::new("t", Axis::log("x"), Axis::log("y")).series(Series::new("s", points));
        assert_eq!(stretches(&plot, &plot.series[0]), [vec![(1.0, 1.0)], vec![(3.0, 3.0), (4.0, 4.0)]]);
        assert_eq!(
            plot.notes(),
            [
                "1 value is infinite and not drawn.",
                "1 value is not a number and not drawn.",
                "2 values are not positive and not drawn on a logarithmic axis.",
            ]
        );
    }
}
