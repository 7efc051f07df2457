//! The flags that make one question, whichever of its numbers is varied.

use super::detail::TrustArgs;
use super::flag::Flag;
use super::question::QuestionArgs;
use super::target::TargetArgs;
use crate::failure::Failure;
use crate::sweep::Asked;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PointArgs {
    #[command(flatten)]
    question: QuestionArgs,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

impl PointArgs {
    /// What is asked when one of the flags has this value; errors name the flag.
    pub(crate) fn at(&self, flag: Flag, value: f64) -> Result<Asked, Failure> {
        let mut args = self.clone();
        args.question.set(flag, value);
        args.target.set(flag, value);
        args.trust.set(flag, value);
        Ok(Asked {
            x: value,
            question: args.question.question()?,
            target: args.target.target()?,
            options: args.trust.options()?,
        })
    }
}
