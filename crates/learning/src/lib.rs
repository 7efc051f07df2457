//! Learning under the shuffle model: data, models with per-example gradients, and training.
//!
//! A client has one example. Its gradient is made, looked at and forgotten:
//! [`Model::fold_gradients`](models::Model::fold_gradients) hands every client's gradient to a
//! closure and never holds two of them per thread, so that memory does not grow with the number of
//! clients in a round. Follow one gradient: [`Ledger::charge`](ledger::Ledger::charge) (what the
//! round costs) → [`participation`] (who participates) → [`models`] → [`collect`] (report, shuffle,
//! mean) → [`ServerState::advance`](step::ServerState::advance); [`training`] does so round after
//! round, and the services call the same functions. Everything random comes from named streams, and
//! sums are taken in a fixed order, so that the same seed gives the same result, whatever the
//! number of threads.

pub mod collect;
pub mod convergence;
pub mod data;
pub mod decay;
mod error;
pub mod ledger;
pub mod models;
pub mod monitor;
mod ordered;
pub mod participation;
pub mod random;
pub mod schedule;
pub mod step;
pub mod training;
pub mod unbounded;

pub use error::{LearningError, Result};
