//! A sweep as curves.

use crate::sweep::{Curve, Swept};
use shuffledp_accounting::bound::{About, Kind, Standing};
use shuffledp_accounting::catalogue::{self, Origin, origin};
use shuffledp_question::json::side;
use shuffledp_question::words::{self, capitalised};
use shuffledp_question::{Quantity, given_number};
use shuffledp_report::number;
use shuffledp_report::{Axis, Plot, Scale, Series, Style};

/// A picture that is not told which bounds to draw ends this far above the largest answer and below
/// the smallest: what lies beyond would press the curves that matter flat.
const FAR: f64 = 100.0;

/// It leaves out what exceeds the answer by this factor wherever it is drawn.
const HOPELESS: f64 = 1000.0;

/// It shows no smaller δ than this, unless all are smaller.
const LEAST_DELTA: f64 = 1e-20;

/// A vertical axis over this ratio or more is logarithmic.
const DECADE: f64 = 10.0;

/// The part of the curves that is drawn.
struct View<'a> {
    curves: Vec<&'a Curve>,
    left_out: Vec<&'a Curve>,
    /// Those that are drawn in part.
    cut: Vec<&'a Curve>,
    shown: (f64, f64),
}

impl<'a> View<'a> {
    fn of(swept: &'a Swept, cut_far: bool) -> Self {
        let mut curves: Vec<&Curve> = swept.curves.iter().collect();
        // The answer first, then our other bounds, then the published ones, then lower bounds.
        let is_winner = |curve: &Curve| swept.winner().is_some_and(|winner| winner.about.id == curve.about.id);
        let is_published = |curve: &Curve| origin(curve.about.id) == Origin::Published;
        curves.sort_by_key(|curve| (!is_winner(curve), curve.about.kind == Kind::Lower, is_published(curve)));
        let shown = if cut_far { stretch(swept) } else { EVERYTHING };
        let (least, most) = shown;
        let is_inside = |point: &(f64, f64)| (least..=most).contains(&point.1);
        let is_drawn = |curve: &&Curve| !cut_far || curve.points.iter().any(is_inside) && !is_hopeless(swept, curve);
        let (curves, left_out): (Vec<_>, Vec<_>) = curves.into_iter().partition(is_drawn);
        let is_cut = |curve: &&&Curve| curve.points.iter().any(|point| point.1.is_finite() && !is_inside(point));
        let cut = curves.iter().filter(is_cut).copied().collect();
        Self { curves, left_out, cut, shown }
    }

    /// Lists the parts of the curves that the picture does not show.
    fn remarks(&self) -> Vec<String> {
        let names = |curves: &[&Curve]| curves.iter().map(|curve| curve.about.id).collect::<Vec<_>>().join(", ");
        let mut remarks = Vec::new();
        if !self.cut.is_empty() {
            remarks.push(format!("Cut at the edge of the picture: {}.", names(&self.cut)));
        }
        if !self.left_out.is_empty() {
            remarks.push(format!("Left out, too far from the answer: {}.", names(&self.left_out)));
        }
        remarks
    }
}

const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn is_hopeless(swept: &Swept, curve: &Curve) -> bool {
    let answer = |x: f64| swept.points.iter().find(|point| point.x.total_cmp(&x).is_eq())?.answer(swept.widest);
    curve.points.iter().all(|&(x, y)| answer(x).is_some_and(|answer| y > HOPELESS * answer.value))
}

/// The smallest and the largest y worth showing.
fn stretch(swept: &Swept) -> (f64, f64) {
    let answers = || {
        let answers = swept.points.iter().filter_map(|point| point.answer(swept.widest));
        answers.map(|answer| answer.value).filter(|value| *value > 0.0 && value.is_finite())
    };
    let (smallest, largest) = (answers().fold(f64::INFINITY, f64::min), answers().fold(0.0, f64::max));
    match swept.quantity() {
        _ if largest <= 0.0 => EVERYTHING,
        Quantity::Delta if largest > LEAST_DELTA => ((smallest / FAR).max(LEAST_DELTA), 1.0),
        Quantity::Delta => (smallest / FAR, 1.0),
        Quantity::Epsilon | Quantity::Rdp => (smallest / FAR, largest * FAR),
    }
}

/// The curves with their numbers in full and nothing left out.
pub(crate) fn data(swept: &Swept) -> Plot {
    plot(swept, swept.curves.iter())
}

/// The curves as they are best seen. `cut_far`: those far above the answer are cut or left out; the
/// caption says so.
pub(crate) fn picture(swept: &Swept, cut_far: bool) -> Plot {
    let view = View::of(swept, cut_far);
    let mut plot = plot(swept, view.curves.iter().copied()).shown(view.shown.0, view.shown.1);
    plot.y.scale = y_scale(&plot);
    let remarks = [format!("{} adjacency.", capitalised(swept.first().question.adjacency().word())), key(swept, &plot)]
        .into_iter()
        .chain(view.remarks());
    let caption = remarks.collect::<Vec<_>>().join(" ");
    plot.caption(caption)
}

/// Lists the parts of the curves that the picture does not show, for the terminal.
pub(crate) fn omissions(swept: &Swept, cut_far: bool) -> Vec<String> {
    let remarks = View::of(swept, cut_far).remarks();
    remarks.into_iter().map(|remark| format!("{remark} (--bounds all shows everything.)")).collect()
}

fn plot<'a>(swept: &Swept, curves: impl Iterator<Item = &'a Curve>) -> Plot {
    let parameter = swept.sweep.parameter;
    let (label, unit) = (parameter.row().label, parameter.row().unit);
    let scale = if swept.sweep.logarithmic { Scale::Log } else { Scale::Linear };
    let x = Axis { label: label.to_owned(), unit: unit.to_owned(), scale };
    let y = Axis::linear(format!("{}{}", swept.quantity().symbol(), at_given(swept)));
    let subtitle = words::question(&swept.first().question, Some(parameter));
    curves.fold(Plot::new(title(swept), x, y).x_id(parameter.name()).subtitle(subtitle), |plot, curve| {
        plot.series(series(swept, curve))
    })
}

/// "ε against rounds"
pub(super) fn title(swept: &Swept) -> String {
    let parameter = swept.sweep.parameter;
    let label = parameter.row().label;
    // "rounds T" is "rounds" in a title; "local ε0" needs its letter.
    let word = label.strip_suffix(parameter.symbol()).filter(|_| parameter.symbol().is_ascii()).unwrap_or(label);
    format!("{} against {}", swept.quantity().symbol(), word.trim_end())
}

/// " at δ = 1e-8", unless that is what is varied.
pub(super) fn at_given(swept: &Swept) -> String {
    let given_parameter = swept.quantity().given();
    if swept.sweep.parameter == given_parameter {
        return String::new();
    }
    format!(" at {} = {}", given_parameter.symbol(), number::given(given_number(swept.first().target)))
}

fn y_scale(plot: &Plot) -> Scale {
    let (least, most) = plot.shown;
    let values = || {
        let values = plot.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        values.filter(|value| value.is_finite() && *value > 0.0 && (least..=most).contains(value))
    };
    let (smallest, largest) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if largest >= DECADE * smallest { Scale::Log } else { Scale::Linear }
}

/// How to read the curves: only what occurs is explained.
fn key(swept: &Swept, plot: &Plot) -> String {
    let mut text = reading(&plot.series.iter().collect::<Vec<_>>());
    if let Some(winner) = swept.winner() {
        let (wins, of) = (winner.wins, swept.points.len());
        let where_ = if wins == of { "everywhere".to_owned() } else { format!("at {wins} of {of} points") };
        text += &format!(" Thick: the tightest {} bound {where_}.", standing_word(swept.widest));
    }
    text
}

/// Explains the strokes and markers.
pub(crate) fn reading(series: &[&Series]) -> String {
    let has = |style: Style| series.iter().any(|series| series.style == style);
    let mut parts = Vec::new();
    if has(Style::Solid) {
        parts.push("Solid: upper bounds with a proof.");
    }
    if has(Style::Dotted) {
        parts.push("Dotted: upper bounds without one.");
    }
    if has(Style::Dashed) {
        parts.push("Dashed: lower bounds.");
    }
    let lines = series.iter().filter(|series| series.style != Style::Points);
    let open = lines.clone().filter(|series| series.open_markers).count();
    if open > 0 && open < lines.count() {
        parts.push("Full markers: computed here; open ones: published formulas.");
    }
    parts.join(" ")
}

/// "rigorous", or the weakest that may answer.
fn standing_word(widest: Standing) -> String {
    match widest {
        Standing::Rigorous => "rigorous".to_owned(),
        other => format!("{} or better", other.word(Kind::Upper)),
    }
}

fn series(swept: &Swept, curve: &Curve) -> Series {
    let mut series = dressed(&curve.about, curve.points.iter().copied());
    series.breaks.clone_from(&curve.gaps);
    series.emphasis = swept.winner().is_some_and(|winner| winner.about.id == curve.about.id);
    series
}

/// A bound's curve as it looks in every picture: name, stroke, colour and markers follow from the
/// bound.
pub(crate) fn dressed(about: &About, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    let style = match (about.kind, about.standing) {
        (Kind::Lower, _) => Style::Dashed,
        (Kind::Upper, Standing::Rigorous) => Style::Solid,
        (Kind::Upper, _) => Style::Dotted,
    };
    let mut series = Series::new(label(about), points)
        .style(style)
        .key(look(about.id))
        .named(about.id, about.name)
        .judged(side(about.kind), about.standing.word(about.kind));
    series.open_markers = origin(about.id) == Origin::Published;
    series
}

/// Bounds that are drawn beside the published ones in nearly every picture: all green, which none
/// of those is.
const GREEN: [(&str, usize); 3] =
    [("displacement-any-pld", 50), ("displacement-one-bit-pld", 62), ("displacement-profile-pld", 74)];

/// The key of a bound's look: its place in the catalogue, unless that would be mistaken for
/// another.
fn look(id: &str) -> usize {
    let place = || catalogue::methods().position(|method| method.about().id == id);
    GREEN.iter().find(|(green, _)| *green == id).map(|(_, key)| *key).or_else(place).unwrap_or_default()
}

/// The name of a curve, with what a reader must know to trust it.
fn label(about: &About) -> String {
    let name = about.name.trim_end_matches(" (lower)");
    match (about.kind, about.standing) {
        (Kind::Lower, Standing::Conjectured | Standing::Asymptotic | Standing::Flawed) => {
            format!("{name} (lower, {})", about.standing.word(Kind::Lower))
        }
        (kind, standing) => format!("{name} ({})", standing.word(kind)),
    }
}
