//! Checks a configuration and the link to the shuffler, without starting anything that others could
//! see.

use crate::config::ServerConfig;
use crate::error::{Result, ServerError};
use crate::keys::ServerKeys;
use crate::link::{Link, date};
use crate::plan::Plan;
use crate::store::{FileStore, PostgresStore};
use crate::timekeeper::duration;
use shuffledp_host::{Clock, SystemClock};
use shuffledp_transport::Finding;
use std::error::Error;

/// Looks at everything that a start needs. The store is neither made nor changed, and a server that
/// runs is not disturbed.
pub async fn check(config: &ServerConfig) -> Vec<Finding> {
    let plan = {
        let config = config.clone();
        let planned = tokio::task::spawn_blocking(move || Plan::new(&config)).await;
        planned.map_err(|error| ServerError::Interrupted(error.to_string())).flatten()
    };
    let task = plan.as_ref().map(|plan| plan.hash().to_string()).map_err(|error| in_full(error));
    let mut findings = vec![
        finding("task", task),
        finding("keys", keys(config).map_err(|error| in_full(&error))),
        finding("store", store(config).map_err(|error| in_full(&error))),
    ];
    findings.extend(config.listen.findings());
    if let Ok(plan) = plan {
        findings.push(finding("shuffler", shuffler(config, &plan).await));
    }
    findings
}

/// The findings: each correct item with its value, each problem with its remedy.
fn finding(what: &str, outcome: std::result::Result<String, String>) -> Finding {
    match outcome {
        Ok(found) => Finding::new(format!("{what}: {found}"), Ok::<(), String>(())),
        Err(problem) => Finding::new(what, Err::<(), String>(problem)),
    }
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
