//! `shuffledp client`: takes part in a task, within its own floors and its own budget.

use crate::args::count;
use crate::failure::Failure;
use crate::{output, service};
use serde::Serialize;
use shuffledp_client::crowd::CrowdRound;
use shuffledp_client::{ClientConfig, ClientError, Ended, Status, crowd};
use shuffledp_report::number::upper_bound;
use std::path::PathBuf;

/// Run a client: takes part within its own floors and its own lifetime budget
///
/// It refuses tasks below its own floors and charges every round that it is offered to its own budget on disk, before the coin is flipped. Killed and
/// started again, it sends the same sealed bytes or nothing. Ends when the task is over or its budget is spent.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct ClientArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,

    /// Print what was spent and do not take part; also while the client runs
    #[arg(long)]
    status: bool,

    /// Play so many clients in this process, for demonstrations and load; they keep nothing on disk
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "status")]
    simulate: Option<u64>,

    /// Make the simulated clients' coins and noise repeatable, which protects nobody
    #[arg(long, value_name = "S", value_parser = count, requires = "simulate")]
    seed: Option<u64>,

    /// Print JSON: what was spent, or a line for each simulated round
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp client --config client.toml
  $ shuffledp client --config client.toml --status
  $ shuffledp client --config client.toml --simulate 10000";

pub(crate) fn run(args: &ClientArgs) -> Result<(), Failure> {
    let config = ClientConfig::read(&args.config).map_err(refused)?;
    match args.simulate {
        _ if args.status => {}
        Some(clients) => return simulate(&config, clients, args),
        None => service::run(async |shutdown| shuffledp_client::run(&config, shutdown).await.map(say_why))?,
    }
    print_status(&Status::read(&config).map_err(refused)?, args.json)
}

fn simulate(config: &ClientConfig, clients: u64, args: &ClientArgs) -> Result<(), Failure> {
    let mut printed = Ok(());
    let print = |round: &CrowdRound| {
        if printed.is_ok() {
            printed = print_round(round, args.json);
        }
    };
    service::run(async |shutdown| crowd::run(config, clients, args.seed, shutdown, print).await.map(say_why))?;
    printed
}

fn say_why(ended: Ended) {
    output::say(match ended {
        Ended::Finished => "the task is over",
        Ended::BudgetSpent => "the lifetime budget is spent: another round would exceed it",
        Ended::Stopped => "stopped",
    });
}

fn print_status(status: &Status, json: bool) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string_pretty(status).map_err(anyhow::Error::from)?;
        return output::print(&format!("{text}\n"));
    }
    let Status { delta, rounds_offered, rounds_spoken, .. } = *status;
    output::print(&format!(
        "ε ≤ {} of {} at δ = {delta:e}, after {rounds_offered} rounds offered, {rounds_spoken} of them answered\n\
         ε ≤ {} if shuffler and server work together\n{}",
        upper_bound(status.epsilon),
        status.budget,
        upper_bound(status.collusion_epsilon),
        if status.report_pending { "A report waits for its acknowledgement\n" } else { "" }
    ))
}

/// A simulated round.
#[derive(Serialize)]
struct Line {
    round: u64,
    clients: u64,
    spoke: u64,
    acknowledged: u64,
    epsilon: f64,
    sealing_seconds: f64,
    sending_seconds: f64,
}

fn print_round(round: &CrowdRound, json: bool) -> Result<(), Failure> {
    let CrowdRound { round, clients, spoke, acknowledged, epsilon, sealing_seconds, sending_seconds } = *round;
    if json {
        let line = Line { round, clients, spoke, acknowledged, epsilon, sealing_seconds, sending_seconds };
        let text = serde_json::to_string(&line).map_err(anyhow::Error::from)?;
        return output::print(&format!("{text}\n"));
    }
    output::print(&format!(
        "round {round}: {spoke} of {clients} spoke, {acknowledged} acknowledged, ε ≤ {} each, {:.1} s\n",
        upper_bound(epsilon),
        sealing_seconds + sending_seconds
    ))
}

/// What the user can change is bad usage, the rest a failure.
fn refused(error: ClientError) -> Failure {
    match error {
        ClientError::Config(sentence) => Failure::Usage(sentence),
        other => Failure::Failed(other.into()),
    }
}
