//! Public state, rebuilt whenever something has changed and served from memory.

use crate::conductor::{Conductor, Pause, Phase};
use crate::error::{Result, ServerError};
use crate::keys::KeyRing;
use crate::link::date;
use crate::plan::Plan;
use crate::privacy::PrivacyStatement;
use crate::service::sign_round;
use crate::store::{RoundSummary, Status};
use bytes::Bytes;
use serde::Serialize;
use shuffledp_learning::models::Model;
use shuffledp_learning::monitor::CheckInMonitor;
use shuffledp_transport::MetricsPage;
use shuffledp_wire::ModelHash;
use std::collections::HashSet;

/// A view of the server at one moment.
pub(crate) struct Published {
    /// The last round that was opened, signed.
    pub(crate) round: Option<Bytes>,
    /// The model of the open round and the one to use.
    pub(crate) models: Vec<(ModelHash, Bytes)>,
    /// All models that are stored, so that nobody is kept waiting by those who ask for others.
    pub(crate) stored: HashSet<ModelHash>,
    /// `GET /v1/privacy`.
    pub(crate) privacy: Bytes,
    /// `GET /v1/status`.
    pub(crate) status: Bytes,
    /// `GET /metrics`.
    pub(crate) metrics: String,
    /// Why no round can be opened or served, with names for programs; empty if all is well.
    pub(crate) reasons: Vec<(&'static str, String)>,
    /// When the open round opened.
    pub(crate) opened: Option<u64>,
}

/// `GET /v1/status`: what the dashboard draws. Field names are a contract.
#[derive(Serialize)]
struct StatusDocument<'a> {
    name: &'a str,
    task: String,
    phase: &'static str,
    /// Hash of the model to use.
    answer: String,
    weights: usize,
    rounds_planned: u64,
    /// How many are heard in a round if clients do as the task says.
    expected_reports: f64,
    /// Where the open round is, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<OpenDocument>,
    /// Something an operator should look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    privacy: &'a PrivacyStatement,
    rounds: &'a [RoundSummary],
}

#[derive(Serialize)]
struct OpenDocument {
    round: u64,
    opens: u64,
    closes: u64,
    gives_up: u64,
}

impl Published {
    /// Of what the conductor knows, and the `problems` that there are otherwise, by name; without a
    /// phase it has only just been set up.
    pub(crate) fn new(
        plan: &Plan,
        conductor: &mut Conductor,
        keys: &KeyRing,
        phase: Option<Phase>,
        problems: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        let rounds = conductor.rounds()?;
        let privacy = PrivacyStatement::new(plan, conductor)?;
        let (hash, bytes) = plan.model_file(&conductor.state().weights)?;
        let mut models = vec![(hash, Bytes::from(bytes))];
        let (answer, bytes) = plan.model_file(&conductor.state().answer())?;
        if answer != hash {
            models.push((answer, Bytes::from(bytes)));
        }
        let open = conductor.open_round().map(|open| OpenDocument {
            round: open.context.round,
            opens: open.opens,
            closes: open.closes,
            gives_up: conductor.deadline().unwrap_or(open.closes),
        });
        let is_braked = matches!(phase, Some(Phase::Paused(Pause::NoBatch)));
        let phase = match phase {
            _ if open.is_some() => "open",
            Some(Phase::Finished) => "finished",
            Some(Phase::BudgetSpent) => "budget-spent",
            Some(Phase::Paused(_)) => "paused",
            _ => "between-rounds",
        };
        let opened = open.as_ref().map(|open| open.opens);
        let silence = silence(conductor, &rounds, is_braked);
        let mut warnings: Vec<String> = problems.iter().map(|(_, problem)| problem.clone()).collect();
        let mut reasons = problems;
        reasons.extend(silence.clone().filter(|_| is_braked).map(|silence| ("paused", silence)));
        warnings.extend(silence);
        warnings.extend(participation(plan, &rounds));
        let task = plan.task();
        let heard = task.check_in_rate * (1.0 - task.drop_out);
        let status = StatusDocument {
            name: &task.name,
            task: plan.hash().to_string(),
            phase,
            answer: answer.to_string(),
            weights: plan.model.parameters(),
            rounds_planned: task.rounds,
            expected_reports: task.clients as f64 * heard,
            open,
            warning: (!warnings.is_empty()).then(|| warnings.join(". ")),
            privacy: &privacy,
            rounds: &rounds,
        };
        Ok(Self {
            round: sign_round(plan, conductor, keys)?,
            models,
            stored: conductor.models()?,
            privacy: json(&privacy)?,
            status: json(&status)?,
            metrics: metrics(&rounds, &privacy, conductor.silent(), phase == "paused"),
            reasons,
            opened,
        })
    }

    /// The bytes of a current model.
    pub(crate) fn model(&self, hash: &ModelHash) -> Option<Bytes> {
        self.models.iter().find(|(known, _)| known == hash).map(|(_, bytes)| bytes.clone())
    }
}

/// Rounds that were charged and had no batch, up to now.
fn silence(conductor: &Conductor, rounds: &[RoundSummary], is_braked: bool) -> Option<String> {
    let silent = conductor.silent();
    if silent == 0 {
        return None;
    }
    let last = rounds.iter().rev().find(|round| round.status == Status::Done);
    let since = match (last, conductor.last_batch()) {
        (_, Some((round, when))) => format!("no batch since {} (round {round})", date(when)),
        (Some(round), None) => format!("no batch since round {}, before this server started", round.round),
        (None, None) => "no batch yet".to_owned(),
    };
    let charged = if silent == 1 {
        "1 round was charged without one".to_owned()
    } else {
        format!("{silent} rounds in a row were charged without one")
    };
    let paused = if is_braked {
        "; no further round is opened until the shuffler answers, or `shuffledp server resume` says so"
    } else {
        ""
    };
    Some(format!("{since}: {charged}{paused}"))
}

/// Do more clients come than were accounted for, or far fewer?
fn participation(plan: &Plan, rounds: &[RoundSummary]) -> Option<String> {
    let mut monitor = CheckInMonitor::default();
    for round in rounds.iter().filter(|round| round.status == Status::Done) {
        monitor.add(round.accepted.min(plan.task().clients), plan.task().clients);
    }
    monitor.warning(&plan.charge.scheme)
}

fn json(value: &impl Serialize) -> Result<Bytes> {
    let text = serde_json::to_vec(value).map_err(|error| ServerError::damaged(format!("no JSON: {error}")))?;
    Ok(text.into())
}

/// Prometheus' text format. Nothing here says more than a batch does: no times, no senders.
fn metrics(rounds: &[RoundSummary], privacy: &PrivacyStatement, silent: u64, paused: bool) -> String {
    let ended = |status: Status| rounds.iter().filter(|round| round.status == status).count() as u64;
    let sum = |of: fn(&RoundSummary) -> u64| rounds.iter().map(of).sum::<u64>();
    let mut page = MetricsPage::new("shuffledp_server");
    page.counter("rounds_charged", "Rounds that were opened, and charged.", privacy.rounds);
    page.counter("rounds_done", "Rounds that ended with a batch.", ended(Status::Done));
    page.counter("rounds_expired", "Rounds that ended without one.", ended(Status::Expired));
    page.counter("reports_accepted", "Reports that were aggregated.", sum(|round| round.accepted));
    page.counter("reports_rejected", "Reports that were not.", sum(|round| round.rejected));
    page.gauge("rounds_without_batch", "Rounds in a row, up to the last, that ended without a batch.", silent as f64);
    page.gauge("paused", "1 if no further round is opened until something changes.", f64::from(u8::from(paused)));
    page.gauge("rounds_left", "Rounds that may still be opened.", privacy.rounds_left as f64);
    page.gauge("epsilon", "At least what has been spent.", privacy.epsilon);
    page.gauge("epsilon_budget", "What is never exceeded.", privacy.budget);
    if let Some(accuracy) = rounds.iter().rev().find_map(|round| round.test_accuracy) {
        page.gauge("test_accuracy", "Share of the test examples that the model gets right.", accuracy);
    }
    page.finish()
}
