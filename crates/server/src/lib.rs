//! The server: tasks and rounds, models, batches of shuffled reports, and a ledger that is charged
//! before a round is shown to anyone.
//!
//! The server is not trusted with reports: it sees shuffled batches of randomized ones and nothing
//! else, and the ε that it states is about what it sees. (It is trusted to offer every round to all
//! clients; see docs/threat-model.md.) What it can do is to be honest about it: the ledger is
//! charged, durably, *before* a round is published, is never refunded, and a round that would
//! exceed the budget is not opened, whatever crashed in between.
//!
//! Follow one round: conductor charges and opens it → `GET /v1/tasks/{hash}/round` → clients →
//! shuffler → `PUT /v1/batches/{id}` (http) → batch opens the reports and adds them up → conductor
//! takes the step and closes the round, in one transaction of the [`store`].

mod batch;
mod check;
mod conductor;
mod config;
mod error;
mod http;
mod init;
mod key_history;
mod keys;
mod ledger_file;
mod link;
mod operate;
mod plan;
mod privacy;
mod published;
mod restore;
mod run;
mod service;
pub mod store;
#[cfg(test)]
mod tests;
mod timekeeper;

pub use check::check;
pub use config::{RoundConfig, ServerConfig, ShufflerConfig, TaskConfig};
pub use error::{Result, ServerError};
pub use init::init;
pub use key_history::{KeyHistory, KeyRecord, KeyState};
pub use keys::ServerKeys;
pub use ledger_file::LedgerFile;
pub use link::date;
pub use operate::{abandon, backup, export_ledger, import_ledger, resume};
pub use restore::{Restored, restore};
pub use run::{Identity, Parts, RunningServer, identity, run, start};
pub use shuffledp_host::{Clock, SystemClock};
