//! `--report`: the result as one self-contained HTML page.

use super::{calibration, plot, table};
use crate::solution::Solution;
use crate::sweep::Swept;
use anyhow::Result;
use shuffledp_question::words::{self, headline, lower_line, value};
use shuffledp_question::{Outcome, Quantity};
use shuffledp_report::number::nearest;
use shuffledp_report::{KeyFigure, Page, Section};

/// The page of one question.
pub(crate) fn answer(outcome: &Outcome) -> Result<String> {
    let mut page =
        Page::new(title(outcome)).subtitle(words::question(outcome.question(), None)).section(result(outcome));
    for section in details(outcome)? {
        page = page.section(section);
    }
    Ok(page.to_html())
}

/// The page of a calibration: what was solved for, then the question with the answer in place.
pub(crate) fn calibration(solution: &Solution) -> Result<String> {
    let Solution { wanted, solved, outcome } = solution;
    let (what, bound) =
        (wanted.solve.parameter().name(), if wanted.solve.unknown().is_largest() { "most" } else { "least" });
    let mut answer = Section::new("Answer");
    answer
        .key_figures(vec![
            KeyFigure::new(format!("{what} at {bound}"), calibration::exactly(solved.value), "solved for"),
            KeyFigure::new("target ε", nearest(wanted.goal.target_epsilon, 15), "as asked"),
            KeyFigure::new("tolerance", nearest(solved.tolerance, 15), "step to the next value"),
        ])
        .paragraph(format!("{}.", calibration::claim(solution)))
        .paragraph(format!("{}.", calibration::beyond(solution)));
    let mut page = Page::new(format!("Calibrated for a target ε: {what}"))
        .subtitle(words::question(outcome.question(), Some(wanted.solve.parameter())))
        .section(answer)
        .section(result(outcome));
    for section in details(outcome)? {
        page = page.section(section);
    }
    Ok(page.to_html())
}

/// The page of a sweep.
pub(crate) fn sweep(swept: &Swept, cut_far: bool) -> Result<String> {
    let picture = plot::picture(swept, cut_far);
    let mut drawn = Section::new("Curves");
    drawn.plot(&picture)?;
    drawn.paragraph(format!(
        "Assumes {}.",
        words::assumptions(&swept.first().question, Some(swept.sweep.parameter)).join(", ")
    ));
    let mut answers = Section::new("Answers");
    answers
        .paragraph(
            "The tightest upper bound of sufficient standing. Upper bounds are rounded up and lower bounds down.",
        )
        .table(plot::answers(swept, swept.points.len())?);
    let mut sources = Section::new("Where the curves come from");
    sources.table(plot::sources(swept)?);
    let mut page =
        Page::new(picture.title.clone()).subtitle(picture.subtitle).section(drawn).section(answers).section(sources);
    if !swept.silent().is_empty() {
        let mut silent = Section::new("What does not apply, and why");
        silent.table(table::silent(swept.silent())?);
        page = page.section(silent);
    }
    Ok(page.to_html())
}

/// The curves of a sweep.
pub(super) fn curves(swept: &Swept) -> Result<Section> {
    let picture = plot::picture(swept, true);
    let mut section = Section::new(picture.title.clone());
    section.plot(&picture)?;
    Ok(section)
}

fn title(outcome: &Outcome) -> String {
    match outcome.quantity() {
        Quantity::Epsilon => "How private is it? ε of a shuffled protocol".to_owned(),
        Quantity::Delta => "How private is it? δ of a shuffled protocol".to_owned(),
        Quantity::Rdp => "How private is it? Rényi divergence of a shuffled protocol".to_owned(),
    }
}

/// The answer, and what it assumes.
pub(super) fn result(outcome: &Outcome) -> Section {
    let quantity = outcome.quantity();
    let answer = &outcome.best;
    let mut figures = vec![KeyFigure::new(
        format!("{} at most", quantity.symbol()),
        value(answer),
        format!("{}, {}", answer.id, answer.standing.word(answer.kind)),
    )];
    if let Some(lower) = &outcome.lower {
        figures.push(KeyFigure::new(format!("{} at least", quantity.symbol()), value(lower), lower.id));
    }
    figures.push(KeyFigure::new(quantity.given().symbol(), nearest(outcome.given(), 15), "as asked"));
    figures.push(KeyFigure::new("rounds", outcome.question().rounds().to_string(), "all alike"));
    let mut section = Section::new("Result");
    section.key_figures(figures).paragraph(format!("{}.", headline(outcome)));
    if let Some(line) = lower_line(outcome) {
        section.paragraph(format!("{line}."));
    }
    section.paragraph(format!(
        "Assumes {}. {} ({}).",
        words::assumptions(outcome.question(), None).join(", "),
        words::capitalised(outcome.question().adjacency().sentence()),
        outcome.question().adjacency().word()
    ));
    section
}

/// Every bound, and what does not apply.
pub(super) fn details(outcome: &Outcome) -> Result<Vec<Section>> {
    let mut bounds = Section::new("Every bound");
    bounds
        .paragraph("Upper bounds are rounded up and lower bounds down in the last digit shown.")
        .table(table::bounds(outcome)?);
    let mut sections = vec![bounds];
    if !outcome.survey.not_applicable.is_empty() {
        let mut silent = Section::new("What does not apply, and why");
        silent.table(table::silent(&outcome.survey.not_applicable)?);
        sections.push(silent);
    }
    Ok(sections)
}
