//! The whole question: who speaks, through what, how often.

use super::flag::Flag;
use super::number::count;
use super::randomizer::RandomizerArgs;
use super::scheme::SchemeArgs;
use crate::failure::Failure;
use shuffledp_accounting::scheme::{Question, Round};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct QuestionArgs {
    #[command(flatten)]
    scheme: SchemeArgs,

    #[command(flatten)]
    randomizer: RandomizerArgs,

    /// How many rounds, all alike
    #[arg(long, value_name = "T", value_parser = count, default_value = "1", help_heading = "How often")]
    rounds: u64,
}

impl QuestionArgs {
    /// Sets one of the numbers, if that is what the flag is.
    pub(super) fn set(&mut self, flag: Flag, value: f64) {
        self.scheme.set(flag, value);
        self.randomizer.set(flag, value);
        if flag == Flag::Rounds {
            self.rounds = value as u64;
        }
    }

    /// Validates everything; errors name the flag.
    pub(crate) fn question(&self) -> Result<Question, Failure> {
        let round = Round { scheme: self.scheme.scheme()?, randomizer: self.randomizer.spec()? };
        Ok(Question::new(round, self.rounds)?)
    }
}
