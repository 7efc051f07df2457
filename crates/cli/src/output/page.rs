//! `--report`: the result as one self-contained HTML page.

use super::{table, text, words};
use crate::outcome::{Outcome, Quantity};
use anyhow::Result;
use shuffledp_accounting::bound::{About, Kind, Standing};
use shuffledp_report::number::nearest;
use shuffledp_report::{Axis, KeyFigure, Page, Plot, Section, Series, Style};

/// One method's answers over a range of rounds.
pub(crate) struct Curve {
    pub(crate) about: About,
    /// (rounds, ε); only where the method answered.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The page of one question.
pub(crate) fn answer(outcome: &Outcome) -> Result<String> {
    let mut page = Page::new(title(outcome)).subtitle(words::question(&outcome.question)).section(result(outcome));
    for section in details(outcome)? {
        page = page.section(section);
    }
    Ok(page.to_html())
}

/// The page of the demonstration: the headline question, and how ε grows with the rounds.
pub(crate) fn demonstration(outcome: &Outcome, curves: &[Curve]) -> Result<String> {
    let mut growth = Section::new("ε against rounds");
    growth.plot(&rounds_plot(outcome, curves))?;
    growth.paragraph(
        "Solid curves are upper bounds that are proven for exactly this question, dashed ones are upper bounds that are not, \
         and dotted ones are lower bounds. The thick curve gave the answer.",
    );
    let mut page =
        Page::new(title(outcome)).subtitle(words::question(&outcome.question)).section(result(outcome)).section(growth);
    for section in details(outcome)? {
        page = page.section(section);
    }
    Ok(page.to_html())
}

fn title(outcome: &Outcome) -> String {
    match outcome.quantity() {
        Quantity::Epsilon => "How private is it? ε of a shuffled protocol".to_owned(),
        Quantity::Delta => "How private is it? δ of a shuffled protocol".to_owned(),
    }
}

fn result(outcome: &Outcome) -> Section {
    let quantity = outcome.quantity();
    let answer = &outcome.answer;
    let mut figures = vec![KeyFigure::new(
        format!("{} at most", quantity.symbol()),
        text::value(answer),
        format!("{}, {}", answer.id, answer.standing.word(answer.kind)),
    )];
    if let Some(lower) = &outcome.lower {
        figures.push(KeyFigure::new(format!("{} at least", quantity.symbol()), text::value(lower), lower.id));
    }
    figures.push(KeyFigure::new(quantity.other().symbol(), nearest(outcome.given(), 15), "as asked"));
    figures.push(KeyFigure::new("rounds", outcome.question.rounds().to_string(), "all alike"));
    let mut section = Section::new("Result");
    section.key_figures(figures).paragraph(format!("{}.", text::headline(outcome)));
    if let Some(line) = text::lower_line(outcome) {
        section.paragraph(format!("{line}."));
    }
    section.paragraph(format!(
        "Assumes {}. Neighbouring datasets differ in the record of one client (replace-one).",
        words::assumptions(&outcome.question)
    ));
    section
}

fn details(outcome: &Outcome) -> Result<Vec<Section>> {
    let mut bounds = Section::new("Every bound");
    bounds
        .paragraph("Upper bounds are rounded up and lower bounds down in the last digit shown.")
        .table(table::bounds(outcome)?);
    let mut sections = vec![bounds];
    if !outcome.survey.not_applicable.is_empty() {
        let mut silent = Section::new("What does not apply, and why");
        silent.table(table::not_applicable(outcome)?);
        sections.push(silent);
    }
    Ok(sections)
}

fn rounds_plot(outcome: &Outcome, curves: &[Curve]) -> Plot {
    let mut plot = Plot::new("Privacy spent over the rounds", Axis::log("rounds"), Axis::log("ε")).subtitle(format!(
        "{}, at δ = {}",
        words::round(&outcome.question),
        nearest(outcome.given(), 15)
    ));
    for Curve { about, points } in curves.iter().filter(|curve| !curve.points.is_empty()) {
        let style = match (about.kind, about.standing) {
            (Kind::Lower, _) => Style::Dotted,
            (Kind::Upper, Standing::Rigorous) => Style::Solid,
            (Kind::Upper, _) => Style::Dashed,
        };
        let mut series = Series::new(label(about), points.iter().copied()).style(style);
        series.emphasis = about.id == outcome.answer.id;
        plot = plot.series(series);
    }
    plot
}

/// The name of a curve, with what a reader must know to trust it.
fn label(about: &About) -> String {
    match (about.kind, about.standing) {
        (Kind::Upper, Standing::Rigorous) => about.id.to_owned(),
        (Kind::Upper, standing) => format!("{} ({})", about.id, standing.word(Kind::Upper)),
        (Kind::Lower, Standing::Rigorous) => format!("{} (lower)", about.id),
        (Kind::Lower, standing) => format!("{} (lower, {})", about.id, standing.word(Kind::Lower)),
    }
}
