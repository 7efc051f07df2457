//! What is asked of server and shuffler, and verified before it is handed on.

use crate::assignment::Assignment;
use crate::config::ClientConfig;
use crate::error::{ClientError, Result};
use crate::verify;
use shuffledp_transport::reqwest::header::CONTENT_TYPE;
use shuffledp_transport::{HttpClient, TransportError, bytes_at_most, join};
use shuffledp_wire::{Round, ShufflerKeys, Signed, Task, paths};

/// A verified task, and the way to its server and shuffler.
pub(crate) struct Link {
    http: HttpClient,
    config: ClientConfig,
    pub(crate) assignment: Assignment,
}

const NOT_FOUND: u16 = 404;
const ACCEPTED: u16 = 202;

impl Link {
    /// Fetches and verifies the task.
    pub(crate) async fn open(config: &ClientConfig) -> Result<Self> {
        let http = HttpClient::new(&config.connection)?;
        let url = join(&config.server, &paths::task(&config.task));
        let signed = get(&http, &url, "the server's task", Signed::<Task>::max_len()).await?;
        let assignment = Assignment::verify(&signed, config)?;
        http.check_url(&assignment.task().shuffler_url)?;
        Ok(Self { http, config: config.clone(), assignment })
    }

    /// The round that is open, or the last one that was; `None` before the first.
    pub(crate) async fn round(&self) -> Result<Option<Round>> {
        let url = join(&self.config.server, &paths::round(&self.config.task));
        match get(&self.http, &url, "the server's round", Signed::<Round>::max_len()).await {
            Ok(signed) => verify::round(&signed, &self.config.server_key, &self.assignment).map(Some),
            Err(ClientError::Answer { status: NOT_FOUND, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a round needs: the shuffler's keys and the weights. Every client asks for both, whether or not it will speak: who fetches only what it
    /// needs tells the server whether it needed it.
    pub(crate) async fn round_needs(&self, round: &Round) -> Result<(ShufflerKeys, Vec<f32>)> {
        let url = join(&self.assignment.task().shuffler_url, paths::KEYS);
        let signed = get(&self.http, &url, "the shuffler's keys", Signed::<ShufflerKeys>::max_len()).await?;
        let keys = verify::shuffler_keys(&signed, &self.assignment, &self.config.floors)?;
        let url = join(&self.config.server, &paths::model(&round.model));
        let bytes = get(&self.http, &url, "the round's model", self.assignment.model_bytes()).await?;
        let weights = verify::model(&bytes, round, &self.assignment)?;
        Ok((keys, weights))
    }

    /// Sends a sealed report. Anything but the one answer that says "on the disk" is a failure.
    pub(crate) async fn post_report(&self, shuffler_url: &str, sealed: bytes::Bytes) -> Result<()> {
        let request = self.http.post(&join(shuffler_url, paths::REPORTS))?;
        let request = request.header(CONTENT_TYPE, paths::CONTENT_TYPE).body(sealed);
        let status = request.send().await.map_err(TransportError::from)?.status().as_u16();
        if status == ACCEPTED { Ok(()) } else { Err(ClientError::Answer { what: "the report", status }) }
    }
}

async fn get(http: &HttpClient, url: &str, what: &'static str, limit: usize) -> Result<Vec<u8>> {
    let response = http.get(url)?.send().await.map_err(TransportError::from)?;
    match response.status().as_u16() {
        200 => Ok(bytes_at_most(response, limit).await?),
        status => Err(ClientError::Answer { what, status }),
    }
}
