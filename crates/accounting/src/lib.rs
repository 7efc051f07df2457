//! Privacy accounting for the shuffle model: pure functions, no I/O, no randomness.
//!
//! Follow one number: [`scheme`] (what was asked) → [`catalogue`] (who can answer) → [`rdp`] (T rounds) →
//! [`bound`] (the value with its standing).
//!
//! Adjacency is **replace-one** everywhere: neighbouring datasets differ in the record of one client.

pub mod bound;
pub mod catalogue;
pub mod error;
pub mod numerics;
pub mod published;
pub mod rdp;
pub mod scheme;

pub use error::{AccountingError, Result};
