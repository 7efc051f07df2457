//! `shuffledp client`: participates in a task, within its own limits and its own budget.

use crate::args::count;
use crate::failure::Failure;
use crate::output;
use crate::service::{self, InitArgs};
use serde::Serialize;
use shuffledp_client::crowd::CrowdRound;
use shuffledp_client::{ClientConfig, ClientError, Ended, Status, crowd, init};
use shuffledp_report::number::upper_bound;
use std::path::PathBuf;

/// Run a client: participates within its own limits and its own lifetime budget
///
/// The client refuses tasks that do not meet its own minimum requirements. It charges every round
/// that it is offered to its own budget on disk, before it decides at random whether to
/// participate. After a crash it sends the same sealed bytes or nothing. It ends when the task is
/// over or its budget is spent.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct ClientArgs {
    #[command(subcommand)]
    command: Option<ClientCommand>,

    /// The configuration file (TOML)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, required = true)]
    config: Option<PathBuf>,

    /// Print the spent budget and do not participate; also while the client runs
    #[arg(long)]
    status: bool,

    /// Simulate this many clients in one process, for demonstrations and load tests; they keep
    /// nothing on disk
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "status")]
    simulate: Option<u64>,

    /// Make the simulated clients' randomness repeatable; this gives no privacy
    #[arg(long, value_name = "S", value_parser = count, requires = "simulate")]
    seed: Option<u64>,

    /// Print JSON: the spent budget, or a line for each simulated round
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, require_equals = true, default_value = "no",
        default_missing_value = "yes", hide_default_value = true, hide_possible_values = true,
        action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new())]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum ClientCommand {
    /// Write a configuration file that explains every setting
    Init(InitArgs),
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp client init .
  $ shuffledp client --config client.toml
  $ shuffledp client --config client.toml --status
  $ shuffledp client --config client.toml --simulate 10000";

pub(crate) fn run(args: &ClientArgs) -> Result<(), Failure> {
    let path = match (&args.command, &args.config) {
        (Some(ClientCommand::Init(args)), _) => {
            init(&args.folder)?;
            let advice = "fill in the output of `shuffledp server show`, and your own requirements";
            return service::made(args, "client.toml", advice, None);
        }
        (None, Some(path)) => path,
        // clap requires one of the two.
        (None, None) => return Err(Failure::Usage("give --config FILE, or `init`".to_owned())),
    };
    let config = ClientConfig::read(path)?;
    match args.simulate {
        _ if args.status => {}
        Some(clients) => return simulate(&config, clients, args),
        None => service::run(async |shutdown| shuffledp_client::run(&config, shutdown).await.map(say_why))?,
    }
    print_status(&Status::read(&config)?, args.json)
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
        return output::print_json(status);
    }
    let Status { delta, rounds_offered, rounds_spoken, .. } = *status;
    output::print(&format!(
        "ε ≤ {} of {} at δ = {delta:e}, after {rounds_offered} rounds offered, {rounds_spoken} of them answered\n\
         ε ≤ {} if shuffler and server work together\n{}{}",
        upper_bound(status.epsilon),
        status.budget,
        upper_bound(status.collusion_epsilon),
        if status.report_pending { "A report is waiting for its acknowledgement\n" } else { "" },
        if status.repriced {
            "These rounds were charged by an earlier analysis; the ε above is what today's makes of them (CHANGELOG, \
             \"Privacy accounting\")\n"
        } else {
            ""
        }
    ))
}

/// A simulated round.
#[derive(Serialize)]
struct Line {
    round: u64,
    clients: u64,
    spoke: u64,
    acknowledged: u64,
    #[serde(with = "shuffledp_learning::unbounded")]
    epsilon: f64,
    sealing_seconds: f64,
    sending_seconds: f64,
}

fn print_round(round: &CrowdRound, json: bool) -> Result<(), Failure> {
    let CrowdRound { round, clients, spoke, acknowledged, epsilon, sealing_seconds, sending_seconds } = *round;
    if json {
        let line = Line { round, clients, spoke, acknowledged, epsilon, sealing_seconds, sending_seconds };
        return output::print_json_line(&line);
    }
    let late = match spoke - acknowledged {
        0 => String::new(),
        late => format!(" ({late} not before the window closed)"),
    };
    output::print(&format!(
        "round {round}: {spoke} of {clients} participated, {acknowledged} acknowledged{late}, ε ≤ {} each, {:.1} s\n",
        upper_bound(epsilon),
        sealing_seconds + sending_seconds
    ))
}

impl From<ClientError> for Failure {
    /// Errors that the user can fix are usage errors; all others are failures.
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Config(sentence) => Self::Usage(sentence),
            other => Self::Failed(other.into()),
        }
    }
}
