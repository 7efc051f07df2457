//! The view of each party, in sentences with the figures of this run.

use super::text::{accuracy, percent};
use crate::commands::demo::{PublicRound, REFERENCE_ROUNDS, Seen, Setting};
use shuffledp_report::number::{count, nearest, plural, round_up_significant};

/// The last round after which the model was tested.
pub(super) fn last_tested(seen: &Seen) -> Option<&PublicRound> {
    seen.rounds.iter().rfind(|round| round.test_accuracy.is_some())
}

/// A sentence about the reports.
pub(super) fn report(setting: &Setting) -> String {
    format!(
        "A report is one index of {}, randomized with local ε0 = {}: {}.",
        count(setting.candidates()),
        nearest(setting.local_epsilon(), 15),
        sizes(setting)
    )
}

/// The lengths of a report.
pub(super) fn sizes(setting: &Setting) -> String {
    format!("{} each, {} when sealed", plural(setting.payload() as u64, "byte"), setting.report_bytes())
}

/// A sentence about the reference.
pub(super) fn without_privacy() -> String {
    format!(
        "No privacy: the same model on the same features, measured here. Every client sends its gradient, neither \
         clipped nor randomized, in each of {} rounds.",
        REFERENCE_ROUNDS
    )
}

/// A sentence about the model and its features.
pub(super) fn model(setting: &Setting) -> String {
    format!(
        "The model is linear: {} weights, one for each class and each of {} public features of a picture. The \
         features are scattering coefficients, whitened by components of other generated digits. No client's \
         picture decides what they are, so they cost no ε.",
        count(setting.weights()),
        setting.components()
    )
}

/// A sentence that compares what was learned with what is possible without privacy and by chance.
pub(super) fn learned(setting: &Setting, seen: &Seen) -> String {
    let (without, chance) = (percent(seen.accuracy_without_privacy), nearest(100.0 * setting.chance(), 4));
    let learned = last_tested(seen).map_or("not tested".to_owned(), accuracy);
    format!("Test accuracy: {learned}; the same model without privacy has {without}, chance {chance} %.")
}

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
                "its own picture, the task, {} and keys; the one with a ledger on its disk was offered {}, \
                 participated in {} and has spent ε ≤ {}",
                plural(client.rounds_offered, "model"),
                plural(client.rounds_offered, "round"),
                client.rounds_spoken,
                round_up_significant(client.epsilon, 5)
            ),
        ),
        (
            "The shuffler",
            format!(
                "{} sealed reports of {} bytes each, from whom and when they came; not what they say, and it \
                 stored neither senders nor times",
                count(sent + client.rounds_spoken),
                setting.report_bytes()
            ),
        ),
        (
            "The server",
            format!(
                "{}, the smallest of {}, {} in all, each batch in random order; a report is a randomized \
                 index of {}, in {}; not from whom",
                plural(batches as u64, "batch"),
                plural(smallest.unwrap_or(0), "report"),
                count(opened),
                count(setting.candidates()),
                plural(setting.payload() as u64, "byte")
            ),
        ),
        (
            "Whoever asks",
            "the task, every model, how many reports each round had, accuracy and ε: all that the server publishes"
                .to_owned(),
        ),
    ]
}

/// The caveat that all roles ran under one operator.
pub(super) fn one_operator(setting: &Setting) -> String {
    format!(
        "All of it ran here, under one operator, who holds both views and can tell who sent what. Against such an operator shuffling protects nobody: \
         what is left is the clients' own noise, local ε0 = {} for each report that a client sends, and nothing better. The ε above needs a shuffler \
         that does not work together with the server.",
        nearest(setting.local_epsilon(), 15)
    )
}
