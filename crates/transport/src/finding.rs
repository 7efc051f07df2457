//! The findings of a configuration's check.

use crate::{ListenConfig, TransportError, descriptors, tls};
use serde::Serialize;
use std::fmt::Display;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The item that was checked.
    pub what: String,
    /// The problem to mend; none if it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Finding {
    /// Of something that is right, or of what is wrong with it.
    pub fn new<T, E: Display>(what: impl Into<String>, found: Result<T, E>) -> Self {
        Self { what: what.into(), problem: found.err().map(|error| error.to_string()) }
    }
}

impl ListenConfig {
    /// Checks everything that [`serve`](crate::serve) needs, and does not listen.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = vec![
            Finding::new("[listen]", self.check()),
            Finding::new("file descriptors for `connections`", descriptors::provide(self.connections)),
        ];
        if let Some(files) = &self.tls {
            let used: Result<_, TransportError> = tls::server_config(files);
            findings.push(Finding::new("TLS certificate and key", used));
        }
        findings
    }
}
