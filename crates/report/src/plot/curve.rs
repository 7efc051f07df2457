//! The part of the data that can be drawn, and remarks on the rest.

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

/// Whether a point has a place on both axes.
pub(super) fn is_drawable(plot: &Plot, point: &(f64, f64)) -> bool {
    missing(&plot.x, point.0).or(missing(&plot.y, point.1)).is_none()
}

/// The drawable stretches of a series: sorted by x, broken where a point has no place or the curve
/// no value, cut where it leaves what the plot shows.
pub(super) fn stretches(plot: &Plot, series: &Series) -> Vec<Stretch> {
    let mut points = series.points.clone();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let joined = |a: &(f64, f64), b: &(f64, f64)| !series.breaks.iter().any(|x| (a.0..b.0).contains(x) && *x > a.0);
    points
        .split(|point| !is_drawable(plot, point))
        .flat_map(|stretch| stretch.chunk_by(joined))
        .flat_map(|stretch| cut(plot, stretch))
        .collect()
}

/// The parts of a stretch whose y is shown, up to the very edge.
fn cut(plot: &Plot, stretch: &[(f64, f64)]) -> Vec<Stretch> {
    let (least, most) = plot.shown;
    let is_shown = |y: f64| (least..=most).contains(&y);
    let mut parts: Vec<Stretch> = Vec::new();
    let mut part: Stretch = Vec::new();
    for (i, &point) in stretch.iter().enumerate() {
        if let Some(&before) = i.checked_sub(1).and_then(|i| stretch.get(i)) {
            let mut edges = [least, most].map(|edge| crossing(plot, before, point, edge));
            if before.1 > point.1 {
                edges.reverse();
            }
            part.extend(edges.into_iter().flatten());
        }
        if is_shown(point.1) {
            part.push(point);
        } else {
            parts.push(std::mem::take(&mut part));
        }
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Where the line between two points, straight on the picture, passes through y = `edge` strictly
/// between them.
fn crossing(plot: &Plot, from: (f64, f64), to: (f64, f64), edge: f64) -> Option<(f64, f64)> {
    if !(from.1.min(to.1) < edge && edge < from.1.max(to.1)) {
        return None;
    }
    let measure = |axis: &Axis, value: f64| if axis.scale == Scale::Log { value.ln() } else { value };
    let (y, y_from, y_to) = (measure(&plot.y, edge), measure(&plot.y, from.1), measure(&plot.y, to.1));
    let part = (y / 2.0 - y_from / 2.0) / (y_to / 2.0 - y_from / 2.0); // halves: a span of doubles may be infinite
    let x = match plot.x.scale {
        Scale::Log => (from.0.ln() * (1.0 - part) + to.0.ln() * part).exp(),
        Scale::Linear => from.0 * (1.0 - part) + to.0 * part,
    };
    Some((x.max(from.0).min(to.0), edge))
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
    fn curves_are_cut_at_the_edge_and_at_breaks() {
        let plot = |points: &[(f64, f64)], breaks: &[f64]| {
            let series = Series::new("s", points.iter().copied()).broken_at(breaks.iter().copied());
            let plot = Plot::new("t", Axis::linear("x"), Axis::linear("y")).shown(1.0, 3.0).series(series);
            stretches(&plot, &plot.series[0])
        };
        let inside = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)];
        assert_eq!(plot(&inside, &[]), [inside.to_vec()]);
        assert_eq!(plot(&inside, &[1.5, 7.0]), [vec![(0.0, 1.0), (1.0, 2.0)], vec![(2.0, 3.0)]]);
        assert_eq!(
            plot(&[(0.0, 2.0), (1.0, 4.0), (2.0, 2.0)], &[]),
            [[(0.0, 2.0), (0.5, 3.0)], [(1.5, 3.0), (2.0, 2.0)]]
        );
        // Through the whole stretch in one step, in either direction.
        assert_eq!(plot(&[(0.0, 0.0), (1.0, 4.0)], &[]), [[(0.25, 1.0), (0.75, 3.0)]]);
        assert_eq!(plot(&[(0.0, 4.0), (1.0, 0.0)], &[]), [[(0.25, 3.0), (0.75, 1.0)]]);
        assert_eq!(plot(&[(0.0, 4.0), (1.0, 5.0)], &[]), Vec::<Stretch>::new());
    }

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
