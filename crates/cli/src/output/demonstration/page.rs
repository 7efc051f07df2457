//! The demonstration's page.

use super::text::{accuracy, percent};
use super::views::{self, one_operator};
use crate::commands::demo::{PublicRound, Seen, Setting};
use crate::output::page;
use crate::sweep::Swept;
use anyhow::Result;
use shuffledp_question::words;
use shuffledp_report::number::{count, nearest, round_down_significant, round_up_significant};
use shuffledp_report::{Axis, Column, KeyFigure, Page, Plot, Section, Series, Style, Table};

/// Curves, every bound, what each party saw.
pub(crate) fn page(setting: &Setting, seen: &Seen, swept: &Swept) -> Result<String> {
    let mut page = Page::new("The shuffle model at work: clients, shuffler, server")
        .subtitle(words::question(setting.outcome.question(), None))
        .section(learned(setting, seen)?)
        .section(parties(setting, seen)?)
        .section(page::result(&setting.outcome))
        .section(page::curves(swept)?);
    for section in page::details(&setting.outcome)? {
        page = page.section(section);
    }
    let page = page.section(rounds(seen)?).section(published(seen)?);
    Ok(page::with_provenance(page, page::typed()).to_html())
}

fn learned(setting: &Setting, seen: &Seen) -> Result<Section> {
    let mut section = Section::new("The trained model");
    let Some(last) = views::last_tested(seen) else {
        section.paragraph("No round ended with a batch, so nothing was learned.");
        return Ok(section);
    };
    let without = percent(seen.accuracy_without_privacy);
    let chance = nearest(100.0 * setting.chance(), 4);
    let reports = count(seen.rounds.iter().map(|round| round.accepted).sum());
    section.key_figures([
        KeyFigure::new("test accuracy", accuracy(last), format!("without privacy {without}, by chance {chance} %")),
        KeyFigure::new("ε at most", round_up_significant(last.epsilon, 5), "rigorous, charged before each round"),
        KeyFigure::new("ε at least", round_down_significant(last.epsilon_lower, 5), "whatever the analysis"),
        KeyFigure::new("reports", reports, views::sizes(setting)),
    ]);
    section.paragraph(format!("{} {}", views::model(setting), views::report(setting)));
    let by_round = tested("the server's model", seen, |round| round.round as f64).emphasized();
    let title = "Accuracy against rounds";
    section.plot(&accuracies(title, Axis::linear("rounds T"), [by_round].into(), setting, seen))?;
    let spent = tested("at ε, rigorous", seen, |round| round.epsilon).emphasized();
    let least = tested("at the ε that no analysis can go below", seen, |round| round.epsilon_lower);
    let curves = vec![spent, least.style(Style::Dashed)];
    section.plot(&accuracies("Accuracy against ε", Axis::linear("ε at the task's δ"), curves, setting, seen))?;
    section.paragraph(views::without_privacy());
    Ok(section)
}

/// The accuracy after every round that ended in a test, in percent.
fn tested(label: &str, seen: &Seen, x: fn(&PublicRound) -> f64) -> Series {
    Series::new(label, seen.rounds.iter().filter_map(|round| Some((x(round), 100.0 * round.test_accuracy?))))
}

/// The curves, between the level of no privacy and the level of chance.
fn accuracies(title: &str, x: Axis, curves: Vec<Series>, setting: &Setting, seen: &Seen) -> Plot {
    let places = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.0);
    let ends = [places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max)];
    let level = |key: usize, what: &str, share: f64| {
        let percents = 100.0 * share;
        let label = format!("{what} ({} %)", nearest(percents, 4));
        Series::new(label, ends.map(|x| (x, percents))).style(Style::Dotted).key(key)
    };
    // Keys behind those of the curves: the levels look the same in both plots.
    let levels = [level(2, "no privacy", seen.accuracy_without_privacy), level(3, "chance", setting.chance())];
    let plot = Plot::new(title, x, Axis::linear("test accuracy").unit("%"));
    curves.into_iter().chain(levels).fold(plot, Plot::series)
}

fn parties(setting: &Setting, seen: &Seen) -> Result<Section> {
    let mut table = Table::new([Column::text("who"), Column::note("saw")]);
    for (who, what) in views::of(setting, seen) {
        table.row([who.to_owned(), format!("{what}.")])?;
    }
    let mut section = Section::new("The view of each party");
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
    let mut section = Section::new("The services' final state");
    section
        .paragraph("The server, at /v1/privacy:")
        .preformatted(serde_json::to_string_pretty(&seen.privacy)?)
        .paragraph("The shuffler, at /metrics: how rounds ended, and nothing about reports.")
        .preformatted(seen.shuffler_metrics.clone());
    Ok(section)
}
