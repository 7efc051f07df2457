//! The answer for a person: the number first, then what it is about and what it assumes, then the
//! details. And for a program: the JSON contract, on one line.

use super::{table, width};
use anyhow::{Context, Result};
use serde::Serialize;
use shuffledp_question::Outcome;
use shuffledp_question::json::Document;
use shuffledp_question::words::{assumptions, headline, lower_line, question};

/// The whole answer; `all` adds every bound and the reasons of those that do not apply.
pub(crate) fn answer(outcome: &Outcome, all: bool) -> Result<String> {
    let mut text = format!("{}\n", headline(outcome));
    if let Some(line) = lower_line(outcome) {
        text += &format!("{line}\n");
    }
    text += &format!("Asked: {}.\n", question(outcome.question(), None));
    text += &format!("Assumes: {}.\n", assumptions(outcome.question(), None).join(", "));
    for warning in outcome.warnings() {
        text += &format!("Warning: {}.\n", warning.words());
    }
    if all {
        text += &format!("\n{}", table::bounds(outcome)?.to_text(Some(width())));
        if !outcome.survey.not_applicable.is_empty() {
            text += &format!("\n{}", table::silent(&outcome.survey.not_applicable)?.to_text(Some(width())));
        }
    }
    Ok(text)
}

/// The answer as one line of JSON.
pub(crate) fn document(outcome: &Outcome, all: bool) -> Result<String> {
    json_line(&Document { outcome, all })
}

/// Any object as one line of JSON, with its newline.
pub(crate) fn json_line(object: &impl Serialize) -> Result<String> {
    let mut text = serde_json::to_string(object).context("cannot write JSON")?;
    text.push('\n');
    Ok(text)
}
