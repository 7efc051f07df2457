//! The flag that names the parameter to solve for.

use clap::ValueEnum;
use shuffledp_accounting::calibrate::Unknown;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Goal")]
pub(crate) struct SolveArgs {
    /// Parameter to solve for; leave out its own flag
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) solve: Solve,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Solve {
    /// The largest ε0 of a report
    LocalEpsilon,
    /// The smallest noise of a Gaussian randomizer
    Sigma,
    /// The largest number of rounds
    Rounds,
    /// The smallest population, with --sampled or --check-in as given
    Clients,
    /// The largest sample
    Sampled,
    /// The largest check-in rate
    CheckIn,
}

impl Solve {
    pub(crate) fn unknown(self) -> Unknown {
        match self {
            Self::LocalEpsilon => Unknown::LocalEpsilon,
            Self::Sigma => Unknown::Sigma,
            Self::Rounds => Unknown::Rounds,
            Self::Clients => Unknown::Clients,
            Self::Sampled => Unknown::Sampled,
            Self::CheckIn => Unknown::CheckIn,
        }
    }
}
