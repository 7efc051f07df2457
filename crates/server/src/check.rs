//! Checks a configuration and the link to the shuffler, without starting anything that others could see.

use crate::config::ServerConfig;
use crate::error::{Result, ServerError};
use crate::keys::ServerKeys;
use crate::link::{Link, date};
use crate::plan::Plan;
use crate::store::{FileStore, PostgresStore};
use crate::timekeeper::duration;
use axum::Router;
use shuffledp_host::{Clock, SystemClock};
use shuffledp_transport::{ListenConfig, Shutdown, serve};
use std::error::Error;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// Its name: `task`, `keys`, `store`, `listen` or `shuffler`.
    pub what: &'static str,
    /// Whether it is as it should be.
    pub is_good: bool,
    /// What was found, or what is wrong and what to change.
    pub sentence: String,
}

/// Looks at everything that a start needs. The store is neither made nor changed, and a server that runs is not disturbed.
pub async fn check(config: &ServerConfig) -> Vec<Finding> {
    let plan = {
        let config = config.clone();
        let planned = tokio::task::spawn_blocking(move || Plan::new(&config)).await;
        planned.map_err(|error| ServerError::Interrupted(error.to_string())).flatten()
    };
    let task = plan.as_ref().map(|plan| format!("task {}", plan.hash())).map_err(|error| in_full(error));
    let mut findings = vec![
        finding("task", task),
        finding("keys", keys(config).map_err(|error| in_full(&error))),
        finding("store", store(config).map_err(|error| in_full(&error))),
        finding("listen", listen(&config.listen).await),
    ];
    if let Ok(plan) = plan {
        findings.push(finding("shuffler", shuffler(config, &plan).await));
    }
    findings
}

fn finding(what: &'static str, outcome: std::result::Result<String, String>) -> Finding {
    let is_good = outcome.is_ok();
    Finding { what, is_good, sentence: outcome.unwrap_or_else(|problem| problem) }
}

fn keys(config: &ServerConfig) -> Result<String> {
    let keys = ServerKeys::read(&config.keys)?;
    Ok(format!("public key {}", keys.verifying_key()))
}

fn store(config: &ServerConfig) -> Result<String> {
    let place = config.store.display();
    if let Some(url) = &config.database {
        PostgresStore::open(url)?;
        return Ok(format!("{place} answers, and has this program's tables"));
    }
    if !config.store.exists() {
        return Ok(format!("{place} is not there yet; the first start makes it"));
    }
    match FileStore::layout(&config.store) {
        Ok(layout) => Ok(format!("{place} has layout {layout}")),
        Err(ServerError::InUse(_)) => Ok(format!("{place} is in use by a server that runs")),
        Err(error) => Err(error),
    }
}

/// Reads the certificate and its key, and listens for a moment: on another port, because a server may be running.
async fn listen(config: &ListenConfig) -> std::result::Result<String, String> {
    let mut elsewhere = config.clone();
    elsewhere.address.set_port(0);
    elsewhere.admin = None;
    let (stop, shutdown) = Shutdown::new();
    let serving = serve(&elsewhere, Router::new(), shutdown).await.map_err(|error| in_full(&error))?;
    stop.stop();
    serving.ended().await.map_err(|error| in_full(&error))?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    Ok(format!("{scheme}://{}", config.address))
}

async fn shuffler(config: &ServerConfig, plan: &Plan) -> std::result::Result<String, String> {
    let link = Link::new(plan, &config.http).map_err(|error| in_full(&error))?;
    let contact = link.probe().await?;
    if contact.min_batch < config.round.min_batch {
        return Err(format!(
            "the shuffler's min_batch is {} and round.min_batch is {}: batches in between would be refused",
            contact.min_batch, config.round.min_batch
        ));
    }
    let (now, round) = (SystemClock.now(), config.round.window().saturating_add(config.round.grace()));
    if let Some(time) = contact.time.filter(|time| time.abs_diff(now) > round) {
        return Err(format!(
            "the shuffler's clock says {} and this one {}, a difference of {}: set the one that is wrong",
            date(time),
            date(now),
            duration(time.abs_diff(now))
        ));
    }
    Ok(format!(
        "{} answers, with the key of the task; its min_batch is {}",
        plan.task().shuffler_url,
        contact.min_batch
    ))
}

/// An error with its causes.
pub(crate) fn in_full(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let more = deeper.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = deeper.source();
    }
    text
}
