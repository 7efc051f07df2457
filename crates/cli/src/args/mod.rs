//! Flags, in groups that commands share.

mod detail;
mod number;
mod output;
mod question;
mod randomizer;
mod scheme;

pub(crate) use detail::DetailArgs;
pub(crate) use number::real;
pub(crate) use output::OutputArgs;
pub(crate) use question::QuestionArgs;
