//! What is solved for, and for which target.

use super::flag::Flag;
use super::given::give;
use super::number::real;
use crate::failure::Failure;
use clap::ValueEnum;
use shuffledp_accounting::calibrate::Unknown;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is wanted")]
pub(crate) struct SolveArgs {
    /// What to solve for; the flag of that name is then left out
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) solve: Solve,

    /// ε that may not be exceeded, above 0
    #[arg(long, value_name = "E", value_parser = real)]
    pub(crate) target_epsilon: f64,

    /// δ, strictly between 0 and 1
    #[arg(long, value_name = "D", value_parser = real)]
    pub(crate) delta: f64,
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

    /// The flag whose number is looked for.
    pub(crate) fn flag(self) -> Flag {
        match self {
            Self::LocalEpsilon => Flag::LocalEpsilon,
            Self::Sigma => Flag::Sigma,
            Self::Rounds => Flag::Rounds,
            Self::Clients => Flag::Clients,
            Self::Sampled => Flag::Sampled,
            Self::CheckIn => Flag::CheckIn,
        }
    }

    /// A value that fits whatever else is asked, until the right one is known.
    fn stand_in(self) -> &'static str {
        match self {
            // At least as many as any sample.
            Self::Clients => "9007199254740992",
            _ => "1",
        }
    }
}

/// Gives the flag that is solved for a value that stands in for the answer.
pub(crate) fn give_stand_in(args: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    give(args, ("calibrate", "--solve", "solved for"), |text| {
        let solve = Solve::from_str(text, false).ok()?;
        Some((solve.flag(), solve.stand_in().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solved_flag_is_given_a_stand_in() {
        let give = |line: &str| {
            let args = line.split(' ').map(OsString::from).collect();
            give_stand_in(args).map(|args| args.join(&OsString::from(" ")).into_string().unwrap())
        };
        assert_eq!(give("p calibrate --solve rounds").unwrap(), "p calibrate --solve rounds --rounds=1");
        assert_eq!(give("p calibrate --solve=sigma --all").unwrap(), "p calibrate --solve=sigma --all --sigma=1");
        for untouched in
            ["p epsilon --solve rounds", "p calibrate --solve", "p calibrate --solve x", "p calibrate", "p"]
        {
            assert_eq!(give(untouched).unwrap(), untouched);
        }
        for refused in ["p calibrate --solve rounds --rounds 5", "p calibrate --rounds=5 --solve=rounds"] {
            assert!(matches!(give(refused), Err(Failure::Usage(message)) if message.contains("--rounds")), "{refused}");
        }
    }
}
