//! The shuffler: takes reports in, keeps them until their round is over, permutes them, passes them
//! on. It cannot read them.
//!
//! What it promises, and where:
//!
//! - **Nothing lost, nothing twice.** A report is acknowledged after it is on disk, and a digest
//!   that was seen is not stored again ([`store`], `intake`). A batch is sent until the server
//!   acknowledges it, always with the same id in the same order (`rounds::forward`).
//! - **Nothing short.** The transaction that makes a batch is the one that counts it
//!   ([`store::RoundStore::seal`]); a round that ends below the minimum is deleted. What has one
//!   task, round, model and list of the server's keys is released at most once, across restarts too
//!   ([`store::Memory`]).
//! - **No order, no sender.** Keys of rows are random, the permutation is uniform
//!   ([`permutation`]); no handler can learn an address, and nothing is logged or counted per
//!   report.
//! - **No reading.** The only rooms below are `wire`, `transport`, `host` and `postgres`: there is
//!   no decoder for what a report says, and no server's key.
//!
//! [`run`] is the program; [`start`] is the same for tests and demonstrations, with a clock and an
//! address of their own.

mod check;
mod config;
mod error;
mod files;
mod health;
mod house;
mod intake;
mod keys;
mod metrics;
mod operator;
pub mod permutation;
mod rounds;
mod service;
pub mod store;
mod witness;
mod writer;

pub use check::check;
pub use config::{Config, ServerConfig};
pub use error::{Result, ShufflerError};
pub use files::{init, rotate_key, verifying_key};
pub use service::{Environment, Running, run, start};
pub use shuffledp_host::{Clock, ManualClock, SystemClock};
pub use witness::{CommitPoint, NoWitness, Witness};
