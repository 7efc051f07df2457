//! The gallery: all items on one self-contained page.

use super::picture::Figure;
use super::text::{claims, summary};
use crate::output::page::{typed, with_provenance};
use crate::reproduce::judge::{Judged, Verdict};
use crate::reproduce::library::Library;
use anyhow::Result;
use shuffledp_report::{Card, KeyFigure, Page, Section};

/// Where the errors are that verdicts speak of.
const ERRORS: &str = "docs/errors-in-the-literature.md";

/// The page.
pub(crate) fn gallery(library: &Library, figures: &[Figure<'_>]) -> Result<String> {
    let judged: Vec<&Judged<'_>> = figures.iter().flat_map(|figure| figure.items.iter().copied()).collect();
    let mut page = Page::new("The papers' figures and tables, computed again")
        .subtitle("The paper's claim, the value of its formula, and the bounds around the true value")
        .section(overview(&judged)?);
    for figure in figures {
        page = page.section(section(library, figure)?);
    }
    Ok(with_provenance(page, typed()).to_html())
}

/// How many items have which verdict, and a row for each.
fn overview(judged: &[&Judged<'_>]) -> Result<Section> {
    let mut section = Section::new("Summary");
    let count = |verdict: Verdict| judged.iter().filter(|judged| judged.verdict == verdict).count();
    let verdicts = [
        (Verdict::Reproduced, "every claim holds, every bound is proven"),
        (Verdict::Corrected, "some claim holds in another form, or a bound has no proof"),
        (Verdict::NotReproducible, "a claim does not hold"),
    ];
    section
        .key_figures(verdicts.map(|(verdict, note)| KeyFigure::new(verdict.words(), count(verdict).to_string(), note)));
    section.paragraph(format!(
        "A verdict is computed from the numbers of its claims. The truth is between a lower bound that one mechanism of the class \
         attains and the best proven upper bound; for a factor it is how many times that truth the larger curve is, for an accuracy \
         the ε that it cost. Errors of the papers: {ERRORS}."
    ));
    section.table(summary(judged)?);
    Ok(section)
}

fn section(library: &Library, figure: &Figure<'_>) -> Result<Section> {
    let first = figure.items[0].reproduced.item;
    let paper = library.paper(first);
    let mut section = Section::new(figure.id);
    section.panels(&figure.panels)?;
    if let Some(paper) = paper {
        section.paragraph(format!("{}.", paper.citation));
    }
    let cards = figure
        .items
        .iter()
        .map(|judged| Card::new(judged.reproduced.item.id.clone(), judged.verdict.words(), judged.sentences()));
    section.cards(cards);
    for judged in &figure.items {
        let item = judged.reproduced.item;
        let several = figure.items.len() > 1;
        let name = if several { format!("{}. ", item.id) } else { String::new() };
        section.paragraph(format!("{name}{}. Printed: {}.", item.title, item.printed));
        if !item.note.is_empty() {
            section.paragraph(item.note.clone());
        }
        if !item.evidence.is_empty() {
            section.paragraph(format!("Evidence: {}, in {ERRORS}.", item.evidence.join("; ")));
        }
        section.table(claims(&judged.claims)?);
    }
    section.preformatted(command(figure.id));
    Ok(section)
}

/// The command that makes the files of a figure again.
pub(super) fn command(id: &str) -> String {
    format!("shuffledp reproduce {id} -o gallery")
}
