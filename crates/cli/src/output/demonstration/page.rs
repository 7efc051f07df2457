//! The demonstration's page.

use super::text::accuracy;
use super::views::{self, one_operator};
use crate::commands::demo::{Seen, Setting};
use crate::output::page;
use crate::sweep::Swept;
use anyhow::Result;
use shuffledp_question::words;
use shuffledp_report::number::{round_down_significant, round_up_significant};
use shuffledp_report::{Axis, Column, KeyFigure, Page, Plot, Section, Series, Style, Table};

/// Curves, every bound, what each party saw.
pub(crate) fn page(setting: &Setting, seen: &Seen, swept: &Swept) -> Result<String> {
    let mut page = Page::new("The shuffle model at work: clients, shuffler, server")
        .subtitle(words::question(setting.outcome.question(), None))
        .section(learned(seen)?)
        .section(parties(setting, seen)?)
        .section(page::result(&setting.outcome))
        .section(page::curves(swept)?);
    for section in page::details(&setting.outcome)? {
        page = page.section(section);
    }
    let page = page.section(rounds(seen)?).section(published(seen)?);
    Ok(page::with_provenance(page, page::typed()).to_html())
}

fn learned(seen: &Seen) -> Result<Section> {
    let mut section = Section::new("What was learned");
    let points = |x: fn(&crate::commands::demo::PublicRound) -> f64| {
        seen.rounds.iter().filter_map(move |round| Some((x(round), 100.0 * round.test_accuracy?)))
    };
    if let Some(last) = seen.rounds.iter().rfind(|round| round.test_accuracy.is_some()) {
        section.key_figures([
            KeyFigure::new("test accuracy", accuracy(last), "generated digits, ten classes"),
            KeyFigure::new("ε at most", round_up_significant(last.epsilon, 5), "rigorous, charged before each round"),
            KeyFigure::new("ε at least", round_down_significant(last.epsilon_lower, 5), "whatever the analysis"),
            KeyFigure::new(
                "reports",
                seen.rounds.iter().map(|round| round.accepted).sum::<u64>().to_string(),
                "aggregated",
            ),
        ]);
    }
    let vertical = || Axis::linear("test accuracy").unit("%");
    section.plot(
        &Plot::new("Accuracy against rounds", Axis::linear("rounds T"), vertical())
            .series(Series::new("the server's model", points(|round| round.round as f64)).emphasized()),
    )?;
    section.plot(
        &Plot::new("Accuracy against ε", Axis::linear("ε at the task's δ"), vertical())
            .series(Series::new("at ε, rigorous", points(|round| round.epsilon)).emphasized())
            .series(
                Series::new("at the ε that no analysis can go below", points(|round| round.epsilon_lower))
                    .style(Style::Dashed),
            ),
    )?;
    Ok(section)
}

fn parties(setting: &Setting, seen: &Seen) -> Result<Section> {
    let mut table = Table::new([Column::text("who"), Column::note("saw")]);
    for (who, what) in views::of(setting, seen) {
        table.row([who.to_owned(), format!("{what}.")])?;
    }
    let mut section = Section::new("What each party saw");
    section.table(table).paragraph(one_operator(setting));
    Ok(section)
}

fn rounds(seen: &Seen) -> Result<Section> {
    let names = ["round", "reports", "refused", "accuracy", "ε at most", "ε at least"];
    let mut table = Table::new(names.map(Column::number).into_iter().chain([Column::text("ended")]));
    for round in &seen.rounds {
        table.row([
            round.round.to_string(),
            round.accepted.to_string(),
            round.rejected.to_string(),
            accuracy(round),
            round_up_significant(round.epsilon, 5),
            round_down_significant(round.epsilon_lower, 5),
            round.status.clone(),
        ])?;
    }
    let mut section = Section::new("Rounds");
    section.table(table);
    Ok(section)
}

fn published(seen: &Seen) -> Result<Section> {
    let mut section = Section::new("What the services said at the end");
    section
        .paragraph("The server, at /v1/privacy:")
        .preformatted(serde_json::to_string_pretty(&seen.privacy)?)
        .paragraph("The shuffler, at /metrics: how rounds ended, and nothing about reports.")
        .preformatted(seen.shuffler_metrics.clone());
    Ok(section)
}
