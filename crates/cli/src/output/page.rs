//! `--report`: the result as one self-contained HTML page.

use super::{calibration, date, plot, table};
use crate::args::Sweep;
use crate::sweep::Swept;
use anyhow::{Result, anyhow};
use shuffledp_accounting::catalogue;
use shuffledp_accounting::scheme::Question;
use shuffledp_question::calibration::Solution;
use shuffledp_question::described::command_of;
use shuffledp_question::words::{self, headline, lower_line, value};
use shuffledp_question::{Asked, Outcome, Parameter, Quantity, VERSION, what_if};
use shuffledp_report::number::{self, count, nearest};
use shuffledp_report::{Card, KeyFigure, Page, Section};

/// The page of one question.
pub(crate) fn answer(outcome: &Outcome) -> Result<String> {
    let mut page =
        Page::new(title(outcome)).subtitle(words::question(outcome.question(), None)).section(result(outcome));
    page = page.section(variations(outcome)).section(against_rounds(outcome)?);
    for section in details(outcome)? {
        page = page.section(section);
    }
    Ok(with_provenance(page, command_of(&outcome.asked)).to_html())
}

/// How the page came about.
pub(super) fn with_provenance(page: Page, command: String) -> Page {
    page.provenance(command, VERSION, date::today())
}

/// The command as it was typed.
pub(super) fn typed() -> String {
    let plain =
        |word: &str| !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"$\\*?&|;<>()".contains(c));
    let words = std::env::args().skip(1);
    let words = words.map(|word| if plain(&word) { word } else { format!("'{}'", word.replace('\'', "'\\''")) });
    std::iter::once("shuffledp".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The same question, a little different.
fn variations(outcome: &Outcome) -> Section {
    let mut section = Section::new("What if");
    section.cards(what_if(outcome).into_iter().map(|what| Card::new(what.change, what.answer, what.note)));
    section
}

/// Points of the chart: every method is asked at each.
const POINTS: usize = 13;

/// How the answer grows with the number of rounds, by every bound.
fn against_rounds(outcome: &Outcome) -> Result<Section> {
    let mut section = Section::new("Privacy over rounds");
    // One round alone is no curve.
    let last = if outcome.question().rounds() == 1 { 100 } else { outcome.question().rounds() };
    let sweep = Sweep::new(Parameter::Rounds, 1.0, last as f64, POINTS).map_err(|reason| anyhow!("{reason}"))?;
    let at = |rounds: f64| {
        let question = Question::new(*outcome.question().round(), rounds as u64)?;
        Ok(Asked { question: question.with_adjacency(outcome.question().adjacency())?, ..outcome.asked })
    };
    match Swept::find(sweep, at, &catalogue::methods().collect::<Vec<_>>()) {
        Ok(swept) => {
            section.plot(&plot::picture(&swept, true))?;
        }
        Err(_) => {
            section.paragraph("No bound applies to other numbers of rounds.");
        }
    }
    Ok(section)
}

/// The page of a calibration: what was solved for, then the question with the answer in place.
pub(crate) fn calibration(solution: &Solution) -> Result<String> {
    let Solution { wanted, solved, outcome } = solution;
    let (what, bound) = (wanted.parameter().name(), if wanted.unknown.is_largest() { "most" } else { "least" });
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
        .subtitle(words::question(outcome.question(), Some(wanted.parameter())))
        .section(answer)
        .section(result(outcome));
    for section in details(outcome)? {
        page = page.section(section);
    }
    Ok(with_provenance(page, command_of(&outcome.asked)).to_html())
}

/// The page of a sweep.
pub(crate) fn sweep(swept: &Swept, cut_far: bool, command: String) -> Result<String> {
    let picture = plot::picture(swept, cut_far);
    let mut drawn = Section::new("Curves");
    drawn.plot(&picture)?;
    drawn.paragraph(format!(
        "Assumes {}.",
        words::assumptions(&swept.first().question, Some(swept.sweep.parameter)).join(", ")
    ));
    let mut answers = Section::new("Answers");
    answers
        .paragraph("The tightest upper bound of sufficient status. Upper bounds are rounded up and lower bounds down.")
        .table(plot::answers(swept, swept.points.len())?);
    let mut sources = Section::new("Sources of the curves");
    sources.table(plot::sources(swept)?);
    let mut page =
        Page::new(picture.title.clone()).subtitle(picture.subtitle).section(drawn).section(answers).section(sources);
    if !swept.silent().is_empty() {
        let mut silent = Section::new("Bounds that do not apply").folded();
        silent.table(table::silent(swept.silent())?);
        page = page.section(silent);
    }
    Ok(with_provenance(page, command).to_html())
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
        format!("{}, {}", answer.name, answer.standing.word(answer.kind)),
    )];
    if let Some(lower) = &outcome.lower {
        figures.push(KeyFigure::new(format!("{} at least", quantity.symbol()), value(lower), lower.name));
    }
    figures.push(KeyFigure::new(quantity.given().symbol(), number::given(outcome.given()), "as asked"));
    figures.push(KeyFigure::new("rounds", count(outcome.question().rounds()), "all alike"));
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
    for warning in outcome.warnings() {
        section.warning(format!("{}.", words::capitalised(&warning.words())));
    }
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
        let mut silent = Section::new("Bounds that do not apply").folded();
        silent.table(table::silent(&outcome.survey.not_applicable)?);
        sections.push(silent);
    }
    Ok(sections)
}
