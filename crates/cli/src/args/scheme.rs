//! Who speaks in a round.

use super::flag::Flag;
use super::number::{count, real};
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
