//! The data of a plot as CSV.

use super::Plot;
use crate::escape::csv_record;

pub(super) fn render(plot: &Plot) -> String {
    let mut out = String::new();
    csv_record(
        std::iter::once(plot.x.heading()).chain(plot.series.iter().map(|series| series.label.clone())),
        &mut out,
    );
    let sorted: Vec<Vec<(f64, f64)>> = plot
        .series
        .iter()
        .map(|series| {
            let mut points = series.points.clone();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        })
        .collect();
    // Merge by x. A series with several points at one x takes several rows there, so `next` moves by at most one per row.
    let mut next = vec![0; sorted.len()];
    while let Some(x) =
        sorted.iter().zip(&next).filter_map(|(points, &i)| points.get(i)).map(|point| point.0).min_by(f64::total_cmp)
    {
        let mut record = vec![number(x)];
        for (points, i) in sorted.iter().zip(&mut next) {
            match points.get(*i) {
                Some(point) if point.0.total_cmp(&x).is_eq() => {
                    record.push(number(point.1));
                    *i += 1;
                }
                _ => record.push(String::new()),
            }
        }
        csv_record(record, &mut out);
    }
    out
}

/// The shortest text that reads back as the same double; "inf" and "NaN" as every CSV reader knows them.
fn number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::{Axis, Plot, Series};

    #[test]
    fn union_of_x_with_empty_cells() {
        let plot = Plot::new("t", Axis::log("rounds").unit("T"), Axis::log("ε"))
            .series(Series::new("a, b", [(10.0, 0.5), (1.0, f64::INFINITY)]))
            .series(Series::new("c", [(1e7, 1e-300), (10.0, 2.0), (10.0, 3.0)]));
        assert_eq!(plot.to_csv(), "rounds (T),\"a, b\",c\n1,inf,\n10,0.5,2\n10,,3\n10000000,,1e-300\n");
    }
}
