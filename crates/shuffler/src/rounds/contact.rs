//! Whether a server answers, and answers with the right key. A wrong address or key must not be
//! found out by nobody.

use serde::Deserialize;
use shuffledp_transport::reqwest::Response;
use shuffledp_transport::{HttpClient, TransportError, bytes_at_most, join};
use shuffledp_wire::{Signed, Task, TaskHash, VerifyingKey, WireError, paths};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Between two questions whose only purpose is to hear whether the server is there.
const PROBE_EVERY: Duration = Duration::from_secs(5);
/// Between the first warning and the second; then twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// Between two warnings, at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Until an answer must have come.
const PATIENCE: Duration = Duration::from_secs(5);
/// A server's status is no longer.
const MOST_STATUS_BYTES: usize = 16 << 20;

/// The known state of the link to one server.
#[derive(Debug)]
pub(crate) struct Contact {
    url: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The last good answer, or the start.
    good: Instant,
    is_proven: bool,
    failing: Option<Failing>,
    probed: Option<Instant>,
}

#[derive(Debug)]
struct Failing {
    problem: String,
    said: Instant,
    pause: Duration,
}

impl Contact {
    pub(crate) fn new(url: &str) -> Self {
        let state = State { good: Instant::now(), is_proven: false, failing: None, probed: None };
        Self { url: url.to_owned(), state: Mutex::new(state) }
    }

    // Changed by single assignments: a thread that panicked left it usable.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A verified answer came.
    pub(crate) fn good(&self) {
        let mut state = self.state();
        if state.failing.take().is_some() {
            tracing::info!(server = self.url, "the server answers again");
        }
        (state.good, state.is_proven) = (Instant::now(), true);
    }

    /// No answer, or one that cannot be believed. Says so at once, and again with growing pauses
    /// while it lasts.
    pub(crate) fn bad(&self, problem: String) {
        let mut state = self.state();
        let now = Instant::now();
        let pause = match &state.failing {
            Some(failing) if failing.problem == problem => {
                if now < failing.said + failing.pause {
                    return;
                }
                (failing.pause * 2).min(LONGEST_PAUSE)
            }
            _ => FIRST_PAUSE,
        };
        let seconds = now.duration_since(state.good).as_secs();
        tracing::warn!(server = self.url, seconds_without_contact = seconds, "no round can be learned: {problem}");
        state.failing = Some(Failing { problem, said: now, pause });
    }

    /// Why the server cannot be worked with; `None` if it can.
    pub(crate) fn problem(&self) -> Option<String> {
        let state = self.state();
        match &state.failing {
            Some(failing) => Some(failing.problem.clone()),
            None if !state.is_proven => Some(format!("{} has not answered yet", self.url)),
            None => None,
        }
    }

    /// Since when there was no good answer; since the start, if there never was one.
    pub(crate) fn age(&self) -> Duration {
        self.state().good.elapsed()
    }

    /// Whether it is time to ask for no other reason; if so, it is not for a while.
    fn is_due(&self) -> bool {
        let mut state = self.state();
        let now = Instant::now();
        let is_due = state.probed.is_none_or(|probed| now >= probed + PROBE_EVERY);
        if is_due {
            state.probed = Some(now);
        }
        is_due
    }

    /// Asks, if it is time to.
    pub(crate) async fn keep(&self, http: &HttpClient, asked: &Expected<'_>) {
        if self.is_due() {
            match probe(http, asked).await {
                Ok(()) => self.good(),
                Err(problem) => self.bad(problem),
            }
        }
    }
}

/// The requirements on a server's answers.
pub(crate) struct Expected<'a> {
    pub(crate) url: &'a str,
    pub(crate) key: &'a VerifyingKey,
    /// Tasks that it has to have; without any, the one that it says it has.
    pub(crate) tasks: &'a [TaskHash],
    /// This shuffler, which its tasks have to name.
    pub(crate) shuffler: &'a VerifyingKey,
}

/// The part of a server's status that says which task it has.
#[derive(Deserialize)]
struct Status {
    task: String,
}

/// Asks the server for its tasks, which it signs. An error says what to mend.
pub(crate) async fn probe(http: &HttpClient, asked: &Expected<'_>) -> Result<(), String> {
    if !asked.tasks.is_empty() {
        for task in asked.tasks {
            check_task(http, asked, task).await?;
        }
        return Ok(());
    }
    let url = join(asked.url, "/v1/status");
    let answer = get(http, &url).await?;
    let bytes = match answer.status().as_u16() {
        200 => bytes_at_most(answer, MOST_STATUS_BYTES).await.map_err(|error| unreachable(asked.url, &error))?,
        status => return Err(not_a_server(&url, &format!("answers {status}"))),
    };
    let status: Status = serde_json::from_slice(&bytes).map_err(|_| not_a_server(&url, "has no task"))?;
    let task = status.task.parse().map_err(|_| not_a_server(&url, "names no task"))?;
    check_task(http, asked, &task).await
}

async fn check_task(http: &HttpClient, asked: &Expected<'_>, hash: &TaskHash) -> Result<(), String> {
    let url = join(asked.url, &paths::task(hash));
    let answer = get(http, &url).await?;
    match answer.status().as_u16() {
        200 => {}
        404 => return Err(format!("{} has no task {hash}: mend `tasks` of [[servers]]", asked.url)),
        status => return Err(not_a_server(&url, &format!("answers {status}"))),
    }
    let bytes =
        bytes_at_most(answer, Signed::<Task>::max_len()).await.map_err(|error| unreachable(asked.url, &error))?;
    let task = Signed::<Task>::decode(&bytes).and_then(|signed| signed.verify(asked.key));
    let task = task.map_err(|error| wrong_key(asked.url, &error))?;
    if task.hash().ok() != Some(*hash) {
        return Err(not_a_server(&url, "is another task"));
    }
    if task.shuffler_key != *asked.shuffler {
        return Err(format!(
            "the task of {} names another shuffler ({}): put this one's key ({}) into its [task.shuffler], or use the \
             `signing_key` that it names",
            asked.url, task.shuffler_key, asked.shuffler
        ));
    }
    Ok(())
}

async fn get(http: &HttpClient, url: &str) -> Result<Response, String> {
    let request = http.get(url).map_err(|error| error.to_string())?;
    request.timeout(PATIENCE).send().await.map_err(|error| unreachable(url, &TransportError::from(error)))
}

pub(crate) fn unreachable(url: &str, error: &TransportError) -> String {
    format!("{url} cannot be reached ({error}): mend `url` of [[servers]], `roots` of [http], or the network")
}

pub(crate) fn wrong_key(url: &str, error: &WireError) -> String {
    format!("{url} answers with another key ({error}): mend `key` of [[servers]]; `shuffledp server show` prints it")
}

fn not_a_server(url: &str, what: &str) -> String {
    format!("{url} {what}, as no server of shuffledp does: mend `url` of [[servers]]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_wrong_is_said_at_once_and_then_less_and_less_often() {
        let contact = Contact::new("https://server.example");
        assert!(contact.problem().unwrap().contains("not answered yet"));
        let said = |contact: &Contact| contact.state().failing.as_ref().map(|failing| failing.said);
        let mut times = Vec::new();
        let began = Instant::now();
        for _ in 0..3600 {
            contact.bad("mend it".to_owned());
            let at = said(&contact).unwrap().duration_since(began).as_secs();
            if times.last() != Some(&at) {
                times.push(at);
            }
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(times, [0, 5, 15, 35, 75, 155, 315, 635, 1235, 1835, 2435, 3035]);
        assert_eq!(contact.age().as_secs(), 3600);
        assert_eq!(contact.problem().unwrap(), "mend it");
        // Another problem is news.
        contact.bad("mend that".to_owned());
        assert_eq!(said(&contact), Some(Instant::now()));
        contact.good();
        assert_eq!((contact.problem(), contact.age()), (None, Duration::ZERO));
    }
}
