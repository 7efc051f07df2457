//! A configuration, its files and the way to its servers, looked at without starting anything.

use crate::config::Config;
use crate::files::{read_hpke_keys, read_signing_key};
use crate::rounds::{Expected, probe};
use shuffledp_host::free_space;
use shuffledp_transport::{Finding, HttpClient};
use std::path::Path;

/// Checks everything that a start needs, and that every server answers with its key. Writes
/// nothing.
pub async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = vec![Finding::new("configuration", config.check())];
    let signing = read_signing_key(&config.signing_key);
    let shuffler = signing.as_ref().ok().map(|key| key.verifying_key());
    findings.push(Finding::new("signing_key", signing));
    findings.push(Finding::new("hpke_keys", read_hpke_keys(&config.hpke_keys)));
    findings.push(room(config));
    findings.extend(config.listen.findings());
    let http = HttpClient::new(&config.http);
    if let (Ok(http), Some(shuffler)) = (&http, shuffler) {
        for server in &config.servers {
            let asked = Expected { url: &server.url, key: &server.key, tasks: &server.tasks, shuffler: &shuffler };
            findings.push(Finding::new(format!("server {}", server.url), probe(http, &asked).await));
        }
    }
    findings.push(Finding::new("[http]", http));
    findings
}

/// The folder of the stores need not be there yet.
fn room(config: &Config) -> Finding {
    let mut there: &Path = &config.data;
    while !there.exists() {
        match there.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => there = parent,
            _ => there = Path::new("."),
        }
    }
    let least = config.min_free_bytes;
    let found = match free_space(there) {
        Ok(free) if free < least => {
            Err(format!("{free} bytes are free, fewer than min_free_bytes = {least}: make room on the disk"))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{}: {error}", there.display())),
    };
    Finding::new("room on the disk of `data`", found)
}
