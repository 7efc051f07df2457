//! Lines of the demonstration, as it goes and at its end.

use super::views::{self, one_operator};
use crate::commands::demo::{PublicRound, Seen, Setting};
use crate::output::text;
use anyhow::{Context, Result};
use serde_json::json;
use shuffledp_report::number::{round_down_significant, round_up_significant};

/// Significant digits of ε.
const DIGITS: usize = 5;

/// What is played, and the names of the columns.
pub(crate) fn heading(setting: &Setting) -> String {
    format!(
        "{} clients, a shuffler and a server over loopback, {} rounds; at least {} reports in a batch\n\
         {:>8} {:>10} {:>10} {:>10} {:>10}\n",
        setting.clients, setting.rounds, setting.min_batch, "round", "accuracy", "reports", "ε at most", "at least"
    )
}

/// A line of the table. ε is rounded up, and what no analysis can get below down.
pub(crate) fn line(round: &PublicRound) -> String {
    format!(
        "{:>8} {:>10} {:>10} {:>10} {:>10}\n",
        round.round,
        accuracy(round),
        if round.status == "done" { round.accepted.to_string() } else { round.status.clone() },
        round_up_significant(round.epsilon, DIGITS),
        round_down_significant(round.epsilon_lower, DIGITS)
    )
}

pub(super) fn accuracy(round: &PublicRound) -> String {
    round.test_accuracy.map_or(String::new(), |accuracy| format!("{:.2} %", 100.0 * accuracy))
}

/// What the progress bar says.
pub(crate) fn live(round: &PublicRound) -> String {
    format!("accuracy {}, ε ≤ {}", accuracy(round), round_up_significant(round.epsilon, 3))
}

/// What it came to.
pub(crate) fn end(setting: &Setting, seen: &Seen) -> Result<String> {
    let mut end = format!("\n{}\n", text::answer(&setting.outcome, false)?);
    for (who, what) in views::of(setting, seen) {
        end += &format!("{who} saw: {what}.\n");
    }
    Ok(end + &format!("\n{}\n", one_operator(setting)))
}

/// The `epsilon` object with every bound, and what happened.
pub(crate) fn json(setting: &Setting, seen: &Seen) -> Result<String> {
    let mut document: serde_json::Value = serde_json::from_str(&text::document(&setting.outcome, true)?)?;
    let fields = document.as_object_mut().context("the contract's document is an object")?;
    fields.insert("clients".to_owned(), json!(setting.clients));
    fields.insert("min_batch".to_owned(), json!(setting.min_batch));
    fields.insert("played".to_owned(), serde_json::to_value(&seen.rounds)?);
    fields.insert("server".to_owned(), seen.privacy.clone());
    fields.insert("client".to_owned(), serde_json::to_value(&seen.client)?);
    Ok(format!("{document}\n"))
}
