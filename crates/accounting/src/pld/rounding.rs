//! Which way a loss was rounded, as a type: bounds in opposite directions cannot be mixed up.

use super::cache::Remembered;
use crate::pair::Direction;
use std::fmt::Debug;

/// A direction of rounding: [`Up`] or [`Down`].
pub trait Rounding: Remembered + Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The direction as a value.
    const DIRECTION: Direction;
}

/// At least the truth: for upper bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Up;

/// At most the truth: for lower bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Down;

impl Rounding for Up {
    const DIRECTION: Direction = Direction::Up;
}

impl Rounding for Down {
    const DIRECTION: Direction = Direction::Down;
}
