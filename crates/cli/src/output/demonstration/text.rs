//! Lines of the demonstration, as it goes and at its end.

use super::views::{self, one_operator};
use crate::commands::demo::{PublicRound, Seen, Setting};
use crate::output::text;
use anyhow::{Context, Result};
use serde_json::json;
use shuffledp_report::number::{count, plural, round_down_significant, round_up_significant};

/// Significant digits of ε.
const DIGITS: usize = 5;

/// Describes the setting and names the columns.
pub(crate) fn heading(setting: &Setting) -> String {
    format!(
        "{} clients, a shuffler and a server over loopback, {}; at least {} reports in a batch\n\
         {}\n\
         {:>8} {:>10} {:>10} {:>10} {:>10}\n",
        count(setting.clients),
        plural(setting.rounds, "round"),
        count(setting.min_batch),
        views::report(setting),
        "round",
        "accuracy",
        "reports",
        "ε at most",
        "at least"
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
    round.test_accuracy.map_or(String::new(), percent)
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The text of the progress bar.
pub(crate) fn live(round: &PublicRound) -> String {
    format!("accuracy {}, ε ≤ {}", accuracy(round), round_up_significant(round.epsilon, 3))
}

/// Describes the result.
pub(crate) fn end(setting: &Setting, seen: &Seen) -> Result<String> {
    let mut end = format!("\n{}\n{}\n", text::answer(&setting.outcome, false)?, views::learned(setting, seen));
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
    fields.insert("weights".to_owned(), json!(setting.weights()));
    fields.insert("payload_bytes".to_owned(), json!(setting.payload()));
    fields.insert("report_bytes".to_owned(), json!(setting.report_bytes()));
    fields.insert("accuracy_by_chance".to_owned(), json!(setting.chance()));
    fields.insert("accuracy_without_privacy".to_owned(), json!(seen.accuracy_without_privacy));
    fields.insert("played".to_owned(), serde_json::to_value(&seen.rounds)?);
    fields.insert("server".to_owned(), seen.privacy.clone());
    fields.insert("client".to_owned(), serde_json::to_value(&seen.client)?);
    Ok(format!("{document}\n"))
}
