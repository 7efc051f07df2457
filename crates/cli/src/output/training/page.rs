//! `--report`: a run as one self-contained HTML page.

use super::{Charged, Trained, collusion, pictures};
use crate::output::page::{typed, with_provenance};
use anyhow::Result;
use shuffledp_accounting::scheme::Adjacency;
use shuffledp_question::Outcome;
use shuffledp_question::words::{self, capitalised};
use shuffledp_report::number::{self, round_down_significant, round_up_significant};
use shuffledp_report::{Column, KeyFigure, Page, Section, Table};

/// The page of a run; `outcome` adds every bound.
pub(crate) fn page(trained: &Trained<'_>, outcome: Option<&Outcome>) -> Result<String> {
    let config = trained.config;
    let subtitle = format!("{}: {} clients, a model of {} weights", trained.data, trained.clients, trained.weights);
    let mut curves = Section::new("Accuracy");
    for (_, picture) in pictures(trained) {
        curves.plot(&picture)?;
    }
    let mut evaluations = Section::new("Evaluations");
    evaluations.table(table_of(trained)?);
    let mut setting = Section::new("Configuration");
    setting.preformatted(config.to_text()?);
    let mut page = Page::new(format!("Private training: {}", config.name)).subtitle(subtitle).section(result(trained));
    for section in [curves, evaluations].into_iter().chain(bounds(outcome)?).chain([setting]) {
        page = page.section(section);
    }
    Ok(with_provenance(page, typed()).to_html())
}

fn result(trained: &Trained<'_>) -> Section {
    let mut section = Section::new("Result");
    let Some(last) = trained.last() else { return section };
    let mut figures = vec![KeyFigure::new(
        trained.accuracy(),
        format!("{:.2} %", 100.0 * last.test_accuracy),
        last.test_accuracy_last.map_or(String::new(), |last| format!("{:.2} % with the last weights", 100.0 * last)),
    )];
    if last.epsilon.is_finite() {
        figures.push(KeyFigure::new("ε at most", round_up_significant(last.epsilon, 5), "rigorous"));
        figures.push(KeyFigure::new(
            "ε at least",
            round_down_significant(last.epsilon_lower, 5),
            "whatever the analysis",
        ));
        figures.push(KeyFigure::new("δ", number::given(last.delta), "as configured"));
    }
    figures.push(KeyFigure::new("rounds", last.round.to_string(), format!("of {}", trained.config.rounds)));
    section.key_figures(figures);
    let adjacency = Adjacency::ReplaceOne;
    let neighbours = format!("{} ({})", capitalised(adjacency.sentence()), adjacency.word());
    let setting = trained.setting();
    let alone = collusion(trained.config, trained.accountant.local_epsilon());
    match trained.charged() {
        Charged::Rounds(question) => {
            let assumptions = words::assumptions(&question, None).join(", ");
            section.paragraph(format!("{setting}. Assumes {assumptions}. {neighbours}. {alone}."))
        }
        Charged::Epochs { .. } | Charged::Mixed => section.paragraph(format!("{setting}. {neighbours}. {alone}.")),
        Charged::Nothing => section.paragraph(format!("{setting}.")),
    };
    for remark in &trained.remarks {
        section.paragraph(format!("{remark}."));
    }
    section
}

fn table_of(trained: &Trained<'_>) -> Result<Table> {
    let averaged = trained.config.step.average_from.is_some();
    let columns = ["round", "accuracy"].into_iter().chain(averaged.then_some("last weights"));
    let columns = columns.chain(["loss", "ε at most", "ε at least", "participants", "seconds"]);
    let mut table = Table::new(columns.map(Column::number).collect::<Vec<_>>());
    for metrics in &trained.metrics {
        let percent = |accuracy: f64| format!("{:.2} %", 100.0 * accuracy);
        let last = averaged.then(|| percent(metrics.test_accuracy_last.unwrap_or(metrics.test_accuracy)));
        let cells = [metrics.round.to_string(), percent(metrics.test_accuracy)].into_iter().chain(last);
        let cells = cells.chain([
            format!("{:.4}", metrics.train_loss),
            round_up_significant(metrics.epsilon, 5),
            round_down_significant(metrics.epsilon_lower, 5),
            metrics.participants.to_string(),
            format!("{:.0}", metrics.seconds),
        ]);
        table.row(cells.collect::<Vec<_>>())?;
    }
    Ok(table)
}

fn bounds(outcome: Option<&Outcome>) -> Result<Vec<Section>> {
    outcome.map_or(Ok(Vec::new()), super::super::page::details)
}
