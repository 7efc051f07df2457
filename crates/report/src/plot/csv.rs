//! The data of a plot as CSV: one row for every point.

use super::{Plot, Series};
use crate::escape::csv_record;

/// A column about a series: its heading, and the function that reads its value.
type Known = (&'static str, fn(&Series) -> &str);

const KNOWN: [Known; 3] =
    [("name", |series| &series.name), ("kind", |series| &series.kind), ("standing", |series| &series.standing)];

pub(super) fn render(plot: &Plot) -> String {
    let mut out = String::new();
    let x = if plot.x_id.is_empty() { plot.x.heading() } else { plot.x_id.clone() };
    let which = if plot.series.iter().any(|series| !series.id.is_empty()) { "bound" } else { "series" };
    // Only what any series has: columns of nothing help nobody.
    let known: Vec<Known> =
        KNOWN.into_iter().filter(|(_, read)| plot.series.iter().any(|series| !read(series).is_empty())).collect();
    let heads = known.iter().map(|(head, _)| (*head).to_owned());
    csv_record([x, which.to_owned()].into_iter().chain(heads).chain(["value".to_owned()]), &mut out);
    for series in &plot.series {
        let id = if series.id.is_empty() { &series.label } else { &series.id };
        let mut points = series.points.clone();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (x, y) in points {
            let known = known.iter().map(|(_, read)| read(series).to_owned());
            csv_record([number(x), id.clone()].into_iter().chain(known).chain([number(y)]), &mut out);
        }
    }
    out
}

/// The shortest text that reads back as the same double; "inf" and "NaN" as every CSV reader knows
/// them.
fn number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::{Axis, Plot, Series};

    #[test]
    fn every_point_is_a_row() {
        let plot = Plot::new("t", Axis::log("rounds").unit("T"), Axis::log("ε"))
            .series(Series::new("a, b", [(10.0, 0.5), (1.0, f64::INFINITY)]))
            .series(Series::new("c", [(1e7, 1e-300), (10.0, 2.0), (10.0, 3.0)]));
        assert_eq!(
            plot.to_csv(),
            "rounds (T),series,value\n1,\"a, b\",inf\n10,\"a, b\",0.5\n10,c,2\n10,c,3\n10000000,c,1e-300\n"
        );
    }

    #[test]
    fn what_is_known_has_columns_of_its_own() {
        let bound = Series::new("Clones (rigorous)", [(1.0, 0.5)])
            .named("clones-pld", "Feldman–McMillan–Talwar clones, composed")
            .judged("upper", "rigorous");
        let other = Series::new("other", [(1.0, 0.25)]).named("other-lower", "").judged("lower", "rigorous");
        let plot = Plot::new("t", Axis::log("rounds T"), Axis::log("ε")).x_id("rounds").series(bound).series(other);
        assert_eq!(
            plot.to_csv(),
            "rounds,bound,name,kind,standing,value\n\
             1,clones-pld,\"Feldman–McMillan–Talwar clones, composed\",upper,rigorous,0.5\n\
             1,other-lower,,lower,rigorous,0.25\n"
        );
    }
}
