//! Privacy accounting for the shuffle model: pure functions, no I/O, no randomness.
//!
//! Follow one number: [`scheme`] (what was asked) → [`catalogue`] (who can answer) → [`pair`] (what
//! dominates it) → [`pld`] or [`rdp`] (T rounds) → [`bound`] (the value with its standing).
//! [`accountant`] does the same round by round, [`calibrate`] asks the question backwards.
//!
//! Adjacency is part of the [question](scheme::Question), **replace-one** unless said otherwise:
//! neighbouring datasets differ in the record of one client. [`scheme::Adjacency`] has the words;
//! [`catalogue::Method::covers`] says which method speaks of which.

// Only `numerics::elementary` knows the errors of elementary functions; tests may ask the
// platform's.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod accountant;
pub mod bound;
pub mod calibrate;
pub mod catalogue;
mod displacement;
mod dominating;
pub mod error;
pub mod gaussian;
mod lower;
pub mod numerics;
pub mod pair;
pub mod pld;
pub mod profile;
pub mod published;
pub mod rdp;
pub mod scheme;
mod sums;

pub use error::{AccountingError, Result};
