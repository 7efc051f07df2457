//! The papers' figures and tables by name: what is asked, what the paper says, what its formulas
//! give, and the verdict that follows from the numbers.
//!
//! The way of an item: `library` finds its file, `item` reads it, `runs` has the training runs that
//! it names, `compute` asks every bound at every point, `judge` compares with the claims.

pub(crate) mod compute;
mod formula;
pub(crate) mod item;
pub(crate) mod judge;
pub(crate) mod library;
pub(crate) mod runs;
