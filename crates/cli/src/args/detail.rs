//! Which bounds may answer, and how far they may go.

use super::flag::Flag;
use super::number::real;
use crate::failure::Failure;
use clap::ValueEnum;
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::Options;

/// Above it the order search could only waste time: the conversion term ln(1/δ)/(λ−1) is below 1e-3 even at δ = 1e-300.
const LARGEST_ORDER: f64 = 1e6;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which bounds")]
pub(crate) struct DetailArgs {
    /// Show every bound, and why the others do not apply
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// What may answer.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Which bounds")]
pub(crate) struct TrustArgs {
    /// The weakest standing that may become the answer
    #[arg(long, value_name = "S", value_enum, default_value_t = Widest::Rigorous)]
    standing: Widest,

    /// The largest Rényi order that is tried, from 2 to 1e6
    #[arg(long, value_name = "L", value_parser = real, default_value = "1e6")]
    max_order: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Widest {
    /// Proven for exactly what is asked
    Rigorous,
    /// Also: computed exactly for a pair of datasets that is believed to be the worst
    Conjectured,
    /// Also: a limit used at a finite number of clients; may be below the truth
    Asymptotic,
    /// Also: as published, with a known error
    Flawed,
}

impl TrustArgs {
    /// Sets the largest order, if that is what the flag is.
    pub(super) fn set(&mut self, flag: Flag, value: f64) {
        if flag == Flag::MaxOrder {
            self.max_order = value;
        }
    }

    pub(crate) fn standing(&self) -> Standing {
        match self.standing {
            Widest::Rigorous => Standing::Rigorous,
            Widest::Conjectured => Standing::Conjectured,
            Widest::Asymptotic => Standing::Asymptotic,
            Widest::Flawed => Standing::Flawed,
        }
    }

    pub(crate) fn options(&self) -> Result<Options, Failure> {
        // NaN is not contained in any range.
        if (2.0..=LARGEST_ORDER).contains(&self.max_order) {
            Ok(Options { max_order: self.max_order })
        } else {
            Err(Failure::Usage(format!("--max-order must be between 2 and 1e6, but is {:?}", self.max_order)))
        }
    }
}
