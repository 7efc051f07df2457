//! One file per command. A new command adds its file, a variant and a line in `run`.

mod answer;
mod audit;
mod calibrate;
mod client;
mod completions;
mod data;
mod delta;
pub(crate) mod demo;
mod epsilon;
mod explore;
mod man;
mod plot;
mod reproduce;
mod server;
mod shuffler;
mod statement;
mod train;

use crate::failure::Failure;

/// How private is a shuffled protocol? Tightest provable ε and δ in the shuffle model of
/// differential privacy
#[derive(Debug, clap::Parser)]
#[command(name = "shuffledp", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Program {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Example:
  $ shuffledp epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --delta 1e-8

Adjacency is replace-one unless told: neighbouring datasets differ in the record of one client.
Exit code 0: answered; 1: failed, or nothing answers the question; 2: bad usage.";

#[derive(Debug, clap::Subcommand)]
enum Command {
    Epsilon(epsilon::EpsilonArgs),
    Delta(delta::DeltaArgs),
    Calibrate(calibrate::CalibrateArgs),
    Plot(plot::PlotArgs),
    Statement(statement::StatementArgs),
    Explore(explore::ExploreArgs),
    Audit(audit::AuditArgs),
    Train(train::TrainArgs),
    Reproduce(reproduce::ReproduceArgs),
    Data(data::DataArgs),
    Shuffler(shuffler::ShufflerArgs),
    Server(server::ServerArgs),
    Client(client::ClientArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Program {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Epsilon(args) => epsilon::run(&args),
            Command::Delta(args) => delta::run(&args),
            Command::Calibrate(args) => calibrate::run(&args),
            Command::Plot(args) => plot::run(&args),
            Command::Statement(args) => statement::run(&args),
            Command::Explore(args) => explore::run(&args),
            Command::Audit(args) => audit::run(&args),
            Command::Train(args) => train::run(&args),
            Command::Reproduce(args) => reproduce::run(&args),
            Command::Data(args) => data::run(&args),
            Command::Shuffler(args) => shuffler::run(&args),
            Command::Server(args) => server::run(&args),
            Command::Client(args) => client::run(&args),
            Command::Demo(args) => demo::run(&args),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}
