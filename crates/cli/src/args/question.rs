//! The whole question: who speaks, through what, how often.

use super::number::count;
use super::randomizer::RandomizerArgs;
use super::scheme::SchemeArgs;
use crate::failure::Failure;
use shuffledp_accounting::scheme::{Question, Round};

#[derive(Debug, clap::Args)]
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
    /// Validates everything; errors name the flag.
    pub(crate) fn question(&self) -> Result<Question, Failure> {
        let round = Round { scheme: self.scheme.scheme()?, randomizer: self.randomizer.spec()? };
        Ok(Question::new(round, self.rounds)?)
    }
}
