//! The client: it verifies every message and keeps its own privacy budget.
//!
//! It verifies what server and shuffler say, refuses what is below its own floors, keeps a lifetime
//! budget of its own on disk, flips its own coin, and only then takes a gradient on its own
//! example, randomizes it, seals it twice and sends it. Follow one round: [`Client::step`].
//!
//! - [`config`](ClientConfig): whom it believes, what it asks for, what it spends
//! - [`Assignment`], [`verify`]: signatures, hashes, floors
//! - [`state`]: the budget and the report on its way, on the disk before they count
//! - [`Client`], [`run`]: one client, as a library and as a program
//! - [`crowd`]: thousands of simulated clients in one process
//! - [`Status`]: what was spent
//!
//! # Who sees what
//!
//! Every client fetches every round, the shuffler's keys and the model, whether or not it will
//! participate: the server cannot tell from that. A client that does not participate sends nothing.
//! So the *shuffler*, and whoever watches its line, learns who participated in which round; it is
//! trusted not to tell the server. There is no cover traffic. Nothing that this crate logs or
//! prints says whether the client participated, except [`Status`], which is read from its own disk.

mod assignment;
mod config;
pub mod crowd;
mod error;
mod init;
mod link;
mod outbox;
mod participate;
mod report;
mod run;
mod send;
pub mod state;
mod status;
mod vectors;
pub mod verify;

pub use assignment::Assignment;
pub use config::{BudgetConfig, ClientConfig, Floors, Times};
pub use error::{ClientError, Result};
pub use init::init;
pub use participate::{Client, Moment, Step};
pub use run::{Ended, run, run_with};
pub use shuffledp_host::{Clock, SystemClock};
pub use status::Status;
pub use vectors::Vectors;
