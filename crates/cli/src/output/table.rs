//! Every bound in a table, and the reasons of the silent.

use anyhow::Result;
use shuffledp_accounting::bound::{Bound, Kind};
use shuffledp_accounting::catalogue::Silent;
use shuffledp_question::Outcome;
use shuffledp_question::words::{capitalised, value};
use shuffledp_report::number::nearest;
use shuffledp_report::{Column, Table};

/// All bounds: upper ones from the tightest on, then lower ones from the best on.
pub(crate) fn bounds(outcome: &Outcome) -> Result<Table> {
    let mut table = Table::new([
        Column::text("bound"),
        Column::number(outcome.quantity().symbol()),
        Column::number("order"),
        Column::text("standing"),
        Column::note("source and remarks"),
    ]);
    for bound in ranked(outcome) {
        let sign = if bound.kind == Kind::Upper { "≤" } else { "≥" };
        let order = bound.order.map(|order| nearest(order, 5)).unwrap_or_default();
        let remarks = format!("{}. {}", bound.name, remarks(bound.citation, &bound.note));
        table.row([
            bound.id.to_owned(),
            format!("{sign} {}", value(bound)),
            order,
            bound.standing.word(bound.kind).to_owned(),
            remarks,
        ])?;
    }
    Ok(table)
}

/// Those that did not answer, and why.
pub(crate) fn silent<'a>(silent: impl IntoIterator<Item = &'a Silent>) -> Result<Table> {
    let mut table = Table::new([Column::text("not applicable"), Column::note("because")]);
    for silent in silent {
        table.row([silent.id, &silent.reason])?;
    }
    Ok(table)
}

fn ranked(outcome: &Outcome) -> Vec<&Bound> {
    let mut bounds: Vec<&Bound> = outcome.survey.bounds.iter().collect();
    // Stable: equal bounds stay in the catalogue's order.
    bounds.sort_by(|a, b| match (a.kind, b.kind) {
        (Kind::Upper, Kind::Upper) => a.value.total_cmp(&b.value),
        (Kind::Lower, Kind::Lower) => b.value.total_cmp(&a.value),
        (Kind::Upper, Kind::Lower) => std::cmp::Ordering::Less,
        (Kind::Lower, Kind::Upper) => std::cmp::Ordering::Greater,
    });
    bounds
}

/// Where a bound comes from, and what a reader should know of it.
pub(super) fn remarks(citation: &str, note: &str) -> String {
    if note.is_empty() { citation.to_owned() } else { format!("{citation}. {}", capitalised(note)) }
}
