//! The front desk: a question, its words, its answer, defined once.
//!
//! Whoever asks, by flags, keyword arguments or configuration files, hands over (name, value)
//! pairs. Follow one: [`parameter`] (what it is called, and what it may be) → [`Given`] (all of
//! them judged together, with the [`randomizers`] table) → [`Asked`] → [`Outcome`] (what answers),
//! which has one [`json`] form, one set of [`words`], its [`warning`]s and its [`statement`]. What
//! is wrong is a [`Refusal`], typed, which every front end words with its own [`Spelling`].

pub mod calibration;
pub mod configured;
pub mod described;
mod given;
pub mod json;
mod outcome;
pub mod parameter;
mod profile;
mod quantity;
pub mod randomizers;
mod refusal;
pub mod statement;
mod value;
pub mod warning;
mod what_if;
pub mod words;

pub use given::{Given, parameter_of};
pub use outcome::{Asked, NoAnswer, Outcome};
pub use parameter::Parameter;
pub use profile::profile_of_text;
pub use quantity::{Quantity, given_number};
pub use refusal::{Advice, Refusal, Spelling};
pub use value::Value;
pub use warning::Warning;
pub use what_if::{WhatIf, what_if};

/// The version of every answer.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
