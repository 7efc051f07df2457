//! How much a service logs.

use serde::Deserialize;

/// The least important lines that are logged. There is nothing below `debug`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Problems that the service cannot mend by itself.
    Error,
    /// Events that an operator should look at.
    Warn,
    /// The work of the service: rounds that begin and end.
    Info,
    /// Why it does not do something.
    Debug,
}
