//! Verdicts for a terminal.

use crate::output::width;
use crate::reproduce::judge::{Checked, Judged};
use crate::reproduce::library::Library;
use crate::reproduce::runs::Runs;
use anyhow::Result;
use shuffledp_report::{Column, Table};

/// More items than this are summarised.
const FEW: usize = 3;

/// Every item with its verdict and claims; of many items the first claim of each, and what is to be
/// said of the verdicts.
pub(crate) fn answer(judged: &[Judged<'_>]) -> Result<String> {
    let mut text = String::new();
    if judged.len() > FEW {
        text += &summary(&judged.iter().collect::<Vec<_>>())?.to_text(Some(width()));
        let told = judged.iter().filter(|judged| !judged.reasons.is_empty());
        told.for_each(|judged| text += &format!("\n{}: {}\n", judged.reproduced.item.id, judged.line()));
        return Ok(text);
    }
    for (index, judged) in judged.iter().enumerate() {
        let item = judged.reproduced.item;
        if index > 0 {
            text.push('\n');
        }
        text += &format!("{}: {}\n{} ({})\n", item.id, judged.line(), item.title, item.place);
        text += &format!("Printed: {}.\n", item.printed);
        if !item.chosen.is_empty() {
            text += &format!("Chosen: {}.\n", item.chosen.join("; "));
        }
        if !judged.runs.is_empty() {
            text += &format!("Training: {}.\n", judged.runs.join("; "));
        }
        if !item.evidence.is_empty() {
            text += &format!("Evidence: {}, in docs/errors-in-the-literature.md.\n", item.evidence.join("; "));
        }
        text += &format!("\n{}", claims(&judged.claims)?.to_text(Some(width())));
    }
    Ok(text)
}

/// The first claim of every item.
pub(super) fn summary(judged: &[&Judged<'_>]) -> Result<Table> {
    let mut table = Table::new([
        Column::text("item"),
        Column::note("claim"),
        Column::text("paper says"),
        Column::note("formula gives"),
        Column::note("truth is between"),
        Column::note("verdict"),
    ]);
    for judged in judged {
        let Some(first) = judged.claims.first() else { continue };
        table.row([
            judged.reproduced.item.id.clone(),
            first.claim.says.clone(),
            first.paper(),
            first.formula.clone(),
            first.truth(),
            judged.verdict.words().to_owned(),
        ])?;
    }
    Ok(table)
}

/// Tabulates the claims: the paper's number, the number of its formula, and the bounds around the
/// true value.
pub(super) fn claims(claims: &[Checked<'_>]) -> Result<Table> {
    let mut table = Table::new([
        Column::note("claim"),
        Column::text("paper says"),
        Column::note("formula gives"),
        Column::note("truth is between"),
        Column::text("outcome"),
    ]);
    for checked in claims {
        table.row([
            format!("{} ({})", checked.claim.says, checked.claim.read.words()),
            checked.paper(),
            checked.formula.clone(),
            checked.truth(),
            checked.outcome().to_owned(),
        ])?;
    }
    Ok(table)
}

/// All items, by paper.
pub(crate) fn list(library: &Library, runs: &Runs) -> Result<String> {
    let mut table = Table::new([Column::text("item"), Column::text("paper"), Column::note("what it shows")]);
    for item in &library.items {
        let stored: Vec<String> = item.presets().into_iter().map(|preset| runs.words(preset)).collect();
        let stored = if stored.is_empty() { String::new() } else { format!(" ({})", stored.join("; ")) };
        table.row([item.id.clone(), item.paper.clone(), format!("{}{stored}", item.title)])?;
    }
    Ok(table.to_text(Some(width())))
}
