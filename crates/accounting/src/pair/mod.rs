//! The linear multinomial pair: the one dominating pair behind every ε0-LDP protocol here.
//!
//! Outcome counts are multinomial under a base measure W, and both hypotheses have a density linear
//! in the counts (`docs/theory/pair.md`). One engine serves every row of the table there:
//! [`LinearPair`] says *which* pair, [`upper`] which pair dominates a round, [`lower`] which pairs
//! are attained, `rows` lists its outcomes level by level with what was cut off, and
//! [`LinearPair::delta_upper`] and friends sum over them.

mod binary_sum;
pub mod envelope;
mod exact;
mod linear;
pub mod lower;
mod remainder;
mod rows;
pub mod upper;
mod walks;
mod window;

pub use linear::LinearPair;
pub(crate) use remainder::Remainder;
pub(crate) use rows::{Resolution, Row, Rows};
pub(crate) use walks::Walks;
pub(crate) use window::Binomial;

/// Which side of the truth a computation must stay on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// At least the truth: what is cut off is charged.
    Up,
    /// At most the truth: what is cut off is dropped.
    Down,
}

impl Direction {
    /// +1 upward, −1 downward.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Up => 1.0,
            Self::Down => -1.0,
        }
    }
}
