//! The link to the shuffler, as seen from here: does it answer, with the key that the task names,
//! and what time does it say it is?
//!
//! Batches come in the other direction, so an answer does not prove that they will; but a server
//! whose shuffler does not answer charges rounds for nothing.

use crate::error::{Result, ServerError};
use crate::plan::Plan;
use shuffledp_transport::reqwest::header::{AGE, DATE, HeaderMap};
use shuffledp_transport::{ClientConfig, HttpClient, bytes_at_most, join};
use shuffledp_wire::{ShufflerKeys, Signed, VerifyingKey, paths};
use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

/// Until an answer must have come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the shuffler is, and who it must be.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    http: HttpClient,
    url: String,
    key: VerifyingKey,
}

/// The answer of a shuffler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contact {
    /// Its minimum batch.
    pub(crate) min_batch: u64,
    /// Its time in milliseconds since 1970, exact to a second, if it said one.
    pub(crate) time: Option<u64>,
}

impl Link {
    /// To the shuffler of the plan.
    pub(crate) fn new(plan: &Plan, http: &ClientConfig) -> Result<Self> {
        let http = HttpClient::new(http)?;
        let url = plan.task().shuffler_url.clone();
        http.check_url(&url).map_err(|error| ServerError::Config(format!("task.shuffler.url: {error}")))?;
        Ok(Self { http, url, key: plan.shuffler })
    }

    /// Asks for the shuffler's signed keys, as clients do. An error is a sentence that says what to
    /// mend.
    pub(crate) async fn probe(&self) -> std::result::Result<Contact, String> {
        let unreachable = |error: &(dyn Error + 'static)| {
            format!("the shuffler at {} does not answer ({}): check task.shuffler.url", self.url, innermost(error))
        };
        let request = self.http.get(&join(&self.url, paths::KEYS)).map_err(|error| unreachable(&error))?;
        // The cause is at the bottom of the client's own error: ours has the whole chain in one
        // sentence.
        let response = request.timeout(PATIENCE).send().await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!(
                "{} answers {status} to {}: task.shuffler.url leads to something that is no shuffler",
                self.url,
                paths::KEYS
            ));
        }
        let time = time_of(response.headers());
        let bytes =
            bytes_at_most(response, Signed::<ShufflerKeys>::max_len()).await.map_err(|error| unreachable(&error))?;
        let keys = Signed::<ShufflerKeys>::decode(&bytes).and_then(|keys| keys.verify(&self.key));
        match keys {
            Ok(keys) => Ok(Contact { min_batch: keys.min_batch, time }),
            Err(_) => Err(format!(
                "{} is not signed with task.shuffler.verifying_key: it is another shuffler, or the key is wrong",
                join(&self.url, paths::KEYS)
            )),
        }
    }
}

/// When an answer was made. A cache on the way says how old it is.
fn time_of(headers: &HeaderMap) -> Option<u64> {
    let made = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let age = headers.get(AGE).and_then(|age| age.to_str().ok()?.parse().ok()).unwrap_or(0);
    let time = made.checked_add(Duration::from_secs(age))?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(time.as_millis()).ok()
}

/// The cause at the bottom says what happened; those above say that a request failed.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// A time in milliseconds since 1970, for people.
pub fn date(millis: u64) -> String {
    // The year 9999 is the last that has this form.
    let time = UNIX_EPOCH + Duration::from_millis(millis.min(253_402_300_799_000));
    httpdate::fmt_http_date(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_transport::reqwest::header::HeaderValue;

    #[test]
    fn dates_are_read_with_their_age_and_written() {
        let mut headers = HeaderMap::new();
        assert_eq!(time_of(&headers), None);
        headers.insert(DATE, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(time_of(&headers), Some(784_111_777_000));
        headers.insert(AGE, HeaderValue::from_static("60"));
        assert_eq!(time_of(&headers), Some(784_111_837_000));
        headers.insert(DATE, HeaderValue::from_static("yesterday"));
        assert_eq!(time_of(&headers), None);
        assert_eq!(date(784_111_777_000), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert!(date(u64::MAX).contains("9999"));
    }
}
