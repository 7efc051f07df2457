//! The spent ε as JSON: the `epsilon` object of the command line, and the rounds left.

use crate::conductor::Conductor;
use crate::error::Result;
use crate::plan::Plan;
use serde::Serialize;
use shuffledp_accounting::scheme::{Adjacency, Question, RandomizerSpec};
use shuffledp_question::VERSION;
use shuffledp_question::described::Described;
use shuffledp_question::warning::of_spent;

/// `GET /v1/privacy`. Field names are a contract: added, never renamed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PrivacyStatement {
    adjacency: &'static str,
    /// Charged so far: opened, whatever became of them.
    pub(crate) rounds: u64,
    pub(crate) delta: f64,
    #[serde(with = "shuffledp_learning::unbounded")]
    pub(crate) epsilon: f64,
    method: &'static str,
    standing: &'static str,
    #[serde(with = "shuffledp_learning::unbounded")]
    pub(crate) epsilon_lower: f64,
    lower_method: &'static str,
    /// Rounds that may still be opened, by the task's number and by its budget.
    pub(crate) rounds_left: u64,
    pub(crate) budget: f64,
    /// At least ε once those rounds are spent too.
    #[serde(with = "shuffledp_learning::unbounded")]
    epsilon_at_end: f64,
    /// The guarantee if the shuffler colludes with the server: every round's ε0, added up.
    #[serde(with = "shuffledp_learning::unbounded")]
    local_epsilon: f64,
    clients: u64,
    check_in_rate: f64,
    drop_out: f64,
    randomizer: RandomizerSpec,
    assumptions: Vec<String>,
    /// The rounds so far as a question, to be asked again; left out before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Described>,
    /// Warnings for the reader.
    pub(crate) warnings: Vec<String>,
    version: &'static str,
}

impl PrivacyStatement {
    /// Of everything that the conductor's ledger holds.
    pub(crate) fn new(plan: &Plan, conductor: &mut Conductor) -> Result<Self> {
        let (rounds_left, epsilon_at_end) = conductor.forecast()?;
        let (epsilon, epsilon_lower) = conductor.spent()?;
        let ledger = conductor.ledger();
        let task = plan.task();
        let rounds = ledger.accountant().ledger().iter().map(|entry| entry.count).sum();
        Ok(Self {
            adjacency: Adjacency::ReplaceOne.word(),
            rounds,
            delta: task.delta,
            epsilon,
            method: "accountant",
            standing: "rigorous",
            epsilon_lower,
            lower_method: "accountant",
            rounds_left,
            budget: task.budget,
            epsilon_at_end,
            local_epsilon: ledger.accountant().local_epsilon(),
            clients: task.clients,
            check_in_rate: task.check_in_rate,
            drop_out: task.drop_out,
            randomizer: plan.charge.randomizer,
            assumptions: assumptions(plan),
            question: Question::new(plan.charge, rounds).ok().map(|question| Described::of(&question)),
            warnings: of_spent(epsilon, task.delta, task.clients).into_iter().map(|warning| warning.words()).collect(),
            version: VERSION,
        })
    }
}

/// Returns the assumptions under which ε holds.
fn assumptions(plan: &Plan) -> Vec<String> {
    let task = plan.task();
    vec![
        format!("at least {} honest clients are offered every round, whoever else sends reports", task.clients),
        format!(
            "each of them participates in a round with probability at most {}, decided by a coin of its own that nobody \
             else sees and that downloads of tasks and models do not reveal",
            task.check_in_rate
        ),
        format!("every report is lost with the same probability, at least {}, independent of its content and sender", task.drop_out),
        "the shuffler permutes, forgets who sent what and does not collude with the server; if it does, local_epsilon is what is left"
            .to_owned(),
        "every client randomizes its report as the task says".to_owned(),
        "a neighbour is the same population with the record of one client replaced".to_owned(),
    ]
}
