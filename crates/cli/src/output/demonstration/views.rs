//! What each party saw, in sentences made of this run's figures.

use crate::commands::demo::{Seen, Setting};
use shuffledp_report::number::{nearest, round_up_significant};

/// The parties, each with what it saw.
pub(super) fn of(setting: &Setting, seen: &Seen) -> [(&'static str, String); 4] {
    let sent: u64 = seen.crowd.iter().map(|round| round.acknowledged).sum();
    let opened: u64 = seen.rounds.iter().map(|round| round.accepted + round.rejected).sum();
    let batches = seen.rounds.iter().filter(|round| round.status == "done").count();
    let smallest = seen.rounds.iter().filter(|round| round.status == "done").map(|round| round.accepted).min();
    let client = &seen.client;
    [
        (
            "Each client",
            format!(
                "its own image, the task, {} models and keys; the one with a ledger on its disk was offered {} rounds, spoke in {} and has spent ε ≤ {}",
                client.rounds_offered,
                client.rounds_offered,
                client.rounds_spoken,
                round_up_significant(client.epsilon, 5)
            ),
        ),
        (
            "The shuffler",
            format!(
                "{} sealed reports of {} bytes each, from whom and when they came; not what they say, and it stored neither senders nor times",
                sent + client.rounds_spoken,
                setting.report_bytes()
            ),
        ),
        (
            "The server",
            format!(
                "{batches} batches, the smallest of {} reports, {opened} in all, each batch in random order: {} numbers a report, mostly noise; not from whom",
                smallest.unwrap_or(0),
                setting.weights()
            ),
        ),
        (
            "Whoever asks",
            "the task, every model, how many reports each round had, accuracy and ε: all that the server publishes"
                .to_owned(),
        ),
    ]
}

/// What design and honesty ask to be said.
pub(super) fn one_operator(setting: &Setting) -> String {
    format!(
        "All of it ran here, under one operator, who holds both views and can tell who sent what. Against such an operator shuffling protects nobody: \
         what is left is the clients' own noise, local ε0 = {} for each report that a client sends, and nothing better. The ε above needs a shuffler \
         that does not work together with the server.",
        nearest(setting.local_epsilon(), 15)
    )
}
