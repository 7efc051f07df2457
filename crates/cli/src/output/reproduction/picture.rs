//! The curves of an item as panels, and the panels of a figure together.

use crate::output::plot::{dressed, reading};
use crate::reproduce::compute::{Computed, Curve};
use crate::reproduce::item::{Against, Drawn, Item, Read, Role};
use crate::reproduce::judge::Judged;
use crate::reproduce::library::Library;
use shuffledp_accounting::catalogue;
use shuffledp_question::given_number;
use shuffledp_report::number::nearest;
use shuffledp_report::{Axis, Panels, Plot, Scale, Series, Style};

/// Keys beyond those of the catalogue's bounds: printed values, training presets, curves that vary
/// a bound.
const PRINTED: usize = 52;
const PRESETS: usize = 57;
const VARIED: usize = 63;

/// A figure of a paper: the items that are its panels, and their picture.
pub(crate) struct Figure<'a> {
    /// The figure's name; the item's if it is the only one.
    pub(crate) id: &'a str,
    pub(crate) items: Vec<&'a Judged<'a>>,
    pub(crate) panels: Panels,
}

/// The figures of these items, in their order.
pub(crate) fn figures<'a>(library: &'a Library, judged: &'a [Judged<'a>]) -> Vec<Figure<'a>> {
    let mut figures: Vec<Figure<'a>> = Vec::new();
    for group in judged.chunk_by(|a, b| item(a).figure == item(b).figure) {
        let first = item(&group[0]);
        let items: Vec<&Judged<'a>> = group.iter().collect();
        let (id, title) = if let [_] = group {
            (first.id.as_str(), first.title.as_str())
        } else {
            let figures = library.paper(first).map(|paper| &paper.figures);
            let title = figures.and_then(|figures| figures.get(&first.figure));
            (first.figure.as_str(), title.map_or(first.title.as_str(), String::as_str))
        };
        figures.push(Figure { id, panels: panels(title, &items), items });
    }
    figures
}

fn item<'a>(judged: &Judged<'a>) -> &'a Item {
    judged.reproduced.item
}

/// The panels of some items, with one legend.
pub(crate) fn panels(title: &str, items: &[&Judged<'_>]) -> Panels {
    let computed = || items.iter().flat_map(|judged| &judged.reproduced.panels);
    // The same printed value looks the same in every panel, and two do not look alike.
    let mut printed: Vec<&str> = Vec::new();
    for given in computed().flat_map(|computed| &computed.panel.given) {
        if !printed.contains(&given.label.as_str()) {
            printed.push(&given.label);
        }
    }
    let plots: Vec<Plot> = computed().map(|computed| plot(computed, &printed)).collect();
    let series: Vec<&Series> =
        plots.iter().flat_map(|plot| &plot.series).filter(|series| !series.kind.is_empty()).collect();
    let mut caption = vec![reading(&series)];
    let chosen: Vec<(&str, String)> = items
        .iter()
        .map(|judged| (item(judged).id.as_str(), item(judged).chosen.join("; ")))
        .filter(|(_, chosen)| !chosen.is_empty())
        .collect();
    // Said once if it is the same for all.
    let chosen = match chosen.as_slice() {
        [] => None,
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => Some(first.clone()),
        several => Some(several.iter().map(|(id, chosen)| format!("{id}: {chosen}")).collect::<Vec<_>>().join(". ")),
    };
    caption.extend(chosen.map(|chosen| format!("Chosen here, because the paper does not print it: {chosen}.")));
    for run in items.iter().flat_map(|judged| &judged.runs) {
        caption.push(format!("{}.", shuffledp_question::words::capitalised(run)));
    }
    caption.retain(|text| !text.is_empty());
    let places: Vec<&str> = items.iter().map(|judged| item(judged).place.as_str()).collect();
    Panels::new(title, plots).subtitle(places.join(" · ")).caption(caption.join(" "))
}

fn plot(computed: &Computed<'_>, printed: &[&str]) -> Plot {
    let plot = match (computed.draws_accuracy(), computed.panel.against) {
        (true, Against::Epsilon) => accuracy_against_epsilon(computed),
        (true, Against::Rounds) => accuracy_against_rounds(computed),
        (false, _) => bounds(computed),
    };
    let plot = plot.subtitle(computed.panel.caption.clone());
    computed.panel.given.iter().fold(plot, |plot, given| {
        let index = printed.iter().position(|label| *label == given.label).unwrap_or_default();
        let read = if given.read == Read::Picture { ", read off the picture" } else { "" };
        let series = Series::new(format!("{}{read}", given.label), given.points.iter().copied());
        plot.series(series.style(Style::Points).key(PRINTED + index).named("printed", given.label.clone()))
    })
}

/// Every bound against what is varied.
fn bounds(computed: &Computed<'_>) -> Plot {
    let row = computed.parameter.row();
    let scale = if computed.logarithmic { Scale::Log } else { Scale::Linear };
    let x = Axis { label: row.label.to_owned(), unit: row.unit.to_owned(), scale };
    let divisor = computed.panel.divide_by.as_deref().and_then(|id| computed.curve(id));
    let quantity = computed.panel.quantity.quantity();
    let at = computed.first.filter(|_| computed.parameter != quantity.given());
    let at = at.map(|first| format!(" at {} = {}", quantity.given().symbol(), nearest(given_number(first.target), 4)));
    let y = match (divisor, computed.panel.quantity) {
        (Some(curve), _) => format!("{} over that of {}", quantity.symbol(), curve.id),
        (None, Drawn::Rdp) => format!("Rényi divergence{}", at.unwrap_or_default()),
        (None, _) => format!("{}{}", quantity.symbol(), at.unwrap_or_default()),
    };
    let plot = Plot::new("", x, Axis::log(y)).x_id(computed.parameter.name());
    computed.curves.iter().enumerate().fold(plot, |plot, (index, curve)| {
        let divided = |&(x, y): &(f64, f64)| match divisor {
            Some(divisor) => divisor.at(x).map(|z| (x, y / z)),
            None => Some((x, y)),
        };
        plot.series(look(curve, index, curve.points.iter().filter_map(divided).collect()))
    })
}

/// The accuracy of the first preset against ε by every bound; of the others against ε by ours.
fn accuracy_against_epsilon(computed: &Computed<'_>) -> Plot {
    let delta = computed.first.map_or(f64::NAN, |first| given_number(first.target));
    let x = Axis::log(format!("ε at δ = {}", nearest(delta, 4)));
    let plot = Plot::new("", x, accuracy_axis()).x_id("epsilon");
    let traced = |curve: &Curve, run: &[(u64, f64)]| -> Vec<(f64, f64)> {
        run.iter().filter_map(|(round, accuracy)| Some((curve.at(*round as f64)?, 100.0 * accuracy))).collect()
    };
    let Some(((_, first), others)) = computed.runs.split_first() else { return plot };
    let plot = computed
        .curves
        .iter()
        .enumerate()
        .fold(plot, |plot, (index, curve)| plot.series(look(curve, index, traced(curve, first))));
    let ours: Vec<&Curve> = computed.curves.iter().filter(|curve| curve.role == Role::Ours).collect();
    others.iter().enumerate().fold(plot, |plot, (index, (preset, run))| {
        ours.iter().fold(plot, |plot, curve| {
            let mut series = dressed(&curve.about, traced(curve, run)).key(PRESETS + index);
            series.label = format!("{}, {preset}", curve.about.name);
            plot.series(series)
        })
    })
}

fn accuracy_against_rounds(computed: &Computed<'_>) -> Plot {
    let plot = Plot::new("", Axis::linear("rounds T"), accuracy_axis()).x_id("rounds");
    computed.runs.iter().enumerate().fold(plot, |plot, (index, (preset, run))| {
        let points = run.iter().map(|(round, accuracy)| (*round as f64, 100.0 * accuracy));
        plot.series(Series::new(format!("Training runs of {preset}"), points).key(PRESETS + index).named(*preset, ""))
    })
}

fn accuracy_axis() -> Axis {
    Axis::linear("test accuracy").unit("%")
}

/// A bound's curve in the look that it has everywhere; ours is the one to look at.
fn look(curve: &Curve, index: usize, points: Vec<(f64, f64)>) -> Series {
    let mut series = dressed(&curve.about, points);
    series.breaks = curve.silent.iter().map(|(x, _)| *x).collect();
    series.emphasis = curve.role == Role::Ours;
    if let Some(label) = &curve.label {
        series = series.key(VARIED + index).named(curve.id.clone(), label.clone());
        series.label.clone_from(label);
    } else if catalogue::method(curve.about.id).is_none() {
        series = series.key(VARIED + index);
        series.open_markers = true;
    }
    series
}
