//! Who speaks in a round.

use super::flag::Flag;
use super::number::{count, real};
use clap::{ArgMatches, Command, FromArgMatches};
use shuffledp_accounting::scheme::{Participation, Scheme};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Who speaks")]
pub(crate) struct SchemeArgs {
    /// Honest clients in the population
    #[arg(long, value_name = "N", value_parser = count)]
    clients: u64,

    /// Clients drawn each round, afresh, without replacement, hidden from the server [default: all speak]
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "check_in")]
    sampled: Option<u64>,

    /// Probability that a client decides, on its own, to speak in a round
    #[arg(long, value_name = "RATE", value_parser = real)]
    check_in: Option<f64>,

    /// Probability that a client who checked in is not heard; equal for all and independent of the data [default: 0]
    #[arg(long, value_name = "D", value_parser = real, requires = "check_in")]
    drop_out: Option<f64>,
}

impl SchemeArgs {
    /// Sets one of the numbers, if that is what the flag is.
    pub(super) fn set(&mut self, flag: Flag, value: f64) {
        match flag {
            Flag::Clients => self.clients = value as u64,
            Flag::Sampled => self.sampled = Some(value as u64),
            Flag::CheckIn => self.check_in = Some(value),
            Flag::DropOut => self.drop_out = Some(value),
            _ => {}
        }
    }

    pub(crate) fn scheme(&self) -> shuffledp_accounting::Result<Scheme> {
        let participation = match (self.sampled, self.check_in) {
            (Some(sampled), _) => Participation::FixedSize { sampled },
            (None, Some(rate)) => Participation::CheckIn { rate, drop_out: self.drop_out.unwrap_or(0.0) },
            (None, None) => Participation::Everyone,
        };
        Scheme::new(self.clients, participation)
    }
}

/// The same for commands that need no round: `--clients` asks for one.
#[derive(Debug, Clone)]
pub(crate) struct OptionalSchemeArgs(Option<SchemeArgs>);

impl OptionalSchemeArgs {
    pub(crate) fn scheme(&self) -> shuffledp_accounting::Result<Option<Scheme>> {
        self.0.as_ref().map(SchemeArgs::scheme).transpose()
    }
}

impl clap::Args for OptionalSchemeArgs {
    fn augment_args(command: Command) -> Command {
        SchemeArgs::augment_args(command)
            .mut_arg("clients", |arg| arg.required(false))
            .mut_arg("sampled", |arg| arg.requires("clients"))
            .mut_arg("check_in", |arg| arg.requires("clients"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionalSchemeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = matches.contains_id("clients");
        Ok(Self(is_given.then(|| SchemeArgs::from_arg_matches(matches)).transpose()?))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
