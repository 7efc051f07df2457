//! Learning under the shuffle model: data, models with per-example gradients, and training.
//!
//! A client has one example. Its gradient is made, looked at and forgotten: [`Model::fold_gradients`](models::Model::fold_gradients)
//! hands every client's gradient to a closure and never holds two of them per thread, so that memory does not grow with the number of
//! clients in a round. Everything random comes from [`random::stream`], and sums are taken in a fixed order, so that the same seed gives
//! the same result, whatever the number of threads.

pub mod data;
mod error;
pub mod models;
mod ordered;
pub mod random;
pub mod reference;

pub use error::{LearningError, Result};
