//! The accounting behind the explorer, a page that runs in a browser without a server.
//!
//! The page sends a request as JSON and receives JSON ([`answer`]). Its form is made from the
//! parameter and randomizer tables of `shuffledp_question`, and an answer holds the same object as
//! `--json` on the command line. [`exports`] are the three functions that JavaScript calls.

mod answer;
mod error_panel;
pub mod exports;
mod tables;

pub use answer::answer;
