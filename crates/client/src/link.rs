//! Requests to server and shuffler; every answer is verified before it is used.

use crate::assignment::Assignment;
use crate::config::ClientConfig;
use crate::error::{ClientError, Result};
use crate::state::Offer;
use crate::verify;
use serde::Deserialize;
use shuffledp_host::Clock;
use shuffledp_transport::reqwest::header::CONTENT_TYPE;
use shuffledp_transport::{HttpClient, TransportError, bytes_at_most, join, retry_after};
use shuffledp_wire::{RoundContext, RoundOffer, ShufflerKeys, Signed, Task, paths};
use std::time::Duration;

/// A verified task, and the way to its server and shuffler.
pub(crate) struct Link {
    http: HttpClient,
    config: ClientConfig,
    pub(crate) assignment: Assignment,
}

/// The next action of a client.
pub(crate) enum Next {
    /// No new round is open.
    Nothing,
    /// To decide in this one.
    Decide(RoundOffer),
    /// The task is over.
    Finished,
}

/// The answer to a report.
pub(crate) enum Posted {
    /// It is on the shuffler's disk.
    Acknowledged,
    /// It is to be sent again, after the time that was asked for.
    Again { status: u16, after: Option<Duration> },
}

/// The part of `GET /v1/privacy` that a client reads.
#[derive(Deserialize)]
struct Left {
    rounds_left: u64,
}

/// A page of figures and sentences is no longer.
const MOST_PRIVACY_BYTES: usize = 1 << 16;

const NOT_FOUND: u16 = 404;
const ACCEPTED: u16 = 202;

impl Link {
    /// Fetches and verifies the task.
    pub(crate) async fn open(config: &ClientConfig) -> Result<Self> {
        let http = HttpClient::new(&config.connection)?;
        let url = join(&config.server, &paths::task(&config.task));
        let signed = match get(&http, &url, "the server's task", Signed::<Task>::max_len()).await {
            Err(ClientError::Answer { status: NOT_FOUND, .. }) => {
                return Err(ClientError::UnknownTask { task: config.task, server: config.server.clone() });
            }
            answer => answer?,
        };
        let assignment = Assignment::verify(&signed, config)?;
        http.check_url(&assignment.task().shuffler_url)?;
        Ok(Self { http, config: config.clone(), assignment })
    }

    /// Asks for the round, and says what it is to whoever `judge`s it by what came before.
    pub(crate) async fn next(
        &self,
        clock: &dyn Clock,
        judge: impl FnOnce(&RoundContext) -> Result<Offer>,
    ) -> Result<Next> {
        let Some(round) = self.round().await? else { return Ok(Next::Nothing) };
        let (offer, now) = (judge(&round.context())?, clock.now());
        if offer == Offer::New && round.is_open_at(now) {
            return Ok(Next::Decide(round));
        }
        let is_over = now >= round.closes;
        let is_last = round.round == self.assignment.task().rounds;
        // The budget may have ended the task before its last round.
        let finished = is_last && (is_over || offer == Offer::Known) || is_over && self.is_over().await?;
        Ok(if finished { Next::Finished } else { Next::Nothing })
    }

    /// The round that is open, or the last one that was; `None` before the first.
    async fn round(&self) -> Result<Option<RoundOffer>> {
        let url = join(&self.config.server, &paths::round(&self.config.task));
        match get(&self.http, &url, "the server's round", Signed::<RoundOffer>::max_len()).await {
            Ok(signed) => verify::round(&signed, &self.config.server_key, &self.assignment).map(Some),
            Err(ClientError::Answer { status: NOT_FOUND, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the server will open no further round. Its word alone, unsigned: whoever lies about
    /// it can only send clients away.
    async fn is_over(&self) -> Result<bool> {
        let url = join(&self.config.server, paths::PRIVACY);
        match get(&self.http, &url, "the server's figures", MOST_PRIVACY_BYTES).await {
            Ok(bytes) => Ok(serde_json::from_slice::<Left>(&bytes).is_ok_and(|left| left.rounds_left == 0)),
            Err(ClientError::Answer { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The inputs of a round: the shuffler's keys and the weights. Every client asks for both,
    /// whether or not it will participate: who fetches only what it needs tells the server whether
    /// it needed it.
    pub(crate) async fn round_needs(&self, round: &RoundOffer) -> Result<(ShufflerKeys, Vec<f32>)> {
        let url = join(&self.assignment.task().shuffler_url, paths::KEYS);
        let signed = get(&self.http, &url, "the shuffler's keys", Signed::<ShufflerKeys>::max_len()).await?;
        let keys = verify::shuffler_keys(&signed, &self.assignment, &self.config.floors)?;
        let url = join(&self.config.server, &paths::model(&round.model));
        let bytes = get(&self.http, &url, "the round's model", self.assignment.model_bytes()).await?;
        let weights = verify::model(&bytes, round, &self.assignment)?;
        Ok((keys, weights))
    }

    /// Sends a sealed report. Anything but the one answer that says "on the disk" means to send it
    /// again.
    pub(crate) async fn post_report(&self, shuffler_url: &str, sealed: bytes::Bytes) -> Result<Posted> {
        let request = self.http.post(&join(shuffler_url, paths::REPORTS))?;
        let request = request.header(CONTENT_TYPE, paths::CONTENT_TYPE).body(sealed);
        let response = request.send().await.map_err(TransportError::from)?;
        Ok(match response.status().as_u16() {
            ACCEPTED => Posted::Acknowledged,
            status => Posted::Again { status, after: retry_after(&response) },
        })
    }
}

async fn get(http: &HttpClient, url: &str, what: &'static str, limit: usize) -> Result<Vec<u8>> {
    let response = http.get(url)?.send().await.map_err(TransportError::from)?;
    match response.status().as_u16() {
        200 => Ok(bytes_at_most(response, limit).await?),
        status => Err(ClientError::Answer { what, status }),
    }
}
