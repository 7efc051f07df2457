//! Flags, in groups that commands share. Those of a question are made from the parameter table.

mod bounds;
mod output;
mod picture;
mod quantity;
mod solve;
mod sweep;
mod typed;

pub(crate) use bounds::BoundsArgs;
pub(crate) use output::{JsonArgs, OutputArgs};
pub(crate) use picture::PictureArgs;
pub(crate) use quantity::QuantityArgs;
pub(crate) use shuffledp_number::typed::{count, real};
pub(crate) use solve::SolveArgs;
pub(crate) use sweep::{Sweep, SweepArgs};
pub(crate) use typed::{
    DeltaFlags, EpsilonFlags, Flags, GoalFlags, QuestionFlags, RoundFlags, TargetFlags, TrustFlags, Typed,
};
