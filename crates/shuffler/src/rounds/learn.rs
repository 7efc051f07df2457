//! Learning rounds from the servers that sign them: every second or so, and at once when a report
//! names a round that is not known.

use super::Shared;
use super::blocking;
use super::contact::{Contact, Expected, unreachable, wrong_key};
use super::table::Live;
use crate::config::ServerConfig;
use crate::error::{Result, ShufflerError};
use crate::store::{Memory, RoundStore, RoundTerms};
use crate::writer::Writer;
use shuffledp_transport::{TransportError, bytes_at_most, join};
use shuffledp_wire::{RoundOffer, Signed, TaskHash, VerifyingKey, inner_len, paths, report_len};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Between two questions to the same server that reports caused. Whoever sends nonsense cannot make
/// us ask more often.
const PAUSE: Duration = Duration::from_millis(200);
/// Until an answer must have come.
const PATIENCE: Duration = Duration::from_secs(5);
/// Reports that may wait for such an answer at once: so many of tasks that a server is known to
/// have, and as many of others, which anybody can make up.
const ASKING: usize = 256;
/// Tasks of one server that are looked after.
const TASKS: usize = 1024;

/// A server and what is known of its tasks.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) key: VerifyingKey,
    /// Whether tasks are added as reports name them.
    any_task: bool,
    /// With the payload's length, once a round has told it.
    tasks: Mutex<HashMap<TaskHash, Option<u32>>>,
    /// Questions that reports caused, about tasks that are known and about others. Apart, so that
    /// made-up tasks keep nobody waiting but each other.
    asked: Asked,
    asked_of_strangers: Asked,
    pub(crate) contact: Contact,
    /// Tasks that the configuration names.
    named: Vec<TaskHash>,
}

/// When the last question began, and about what; held while it is under way.
type Asked = AsyncMutex<Option<(Instant, TaskHash)>>;

impl Server {
    fn new(config: &ServerConfig, memory: &dyn Memory) -> Result<Self> {
        let any_task = config.tasks.is_empty();
        let tasks = if any_task { memory.tasks(config.key.as_bytes())? } else { config.tasks.clone() };
        Ok(Self {
            url: config.url.clone(),
            key: config.key,
            any_task,
            tasks: Mutex::new(tasks.into_iter().map(|task| (task, None)).collect()),
            asked: AsyncMutex::new(None),
            asked_of_strangers: AsyncMutex::new(None),
            contact: Contact::new(&config.url),
            named: config.tasks.clone(),
        })
    }

    // Changed by single calls: a thread that panicked left it whole.
    fn tasks(&self) -> MutexGuard<'_, HashMap<TaskHash, Option<u32>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the task is new.
    fn remember(&self, round: &RoundOffer) -> bool {
        let mut tasks = self.tasks();
        let is_new = !tasks.contains_key(&round.task);
        if is_new && tasks.len() >= TASKS {
            return false;
        }
        tasks.insert(round.task, Some(round.payload_len));
        is_new
    }

    fn has(&self, task: &TaskHash) -> bool {
        self.tasks().contains_key(task)
    }

    fn may_have(&self, task: &TaskHash) -> bool {
        self.any_task || self.has(task)
    }

    /// Whether one of its reports may have this length. While there are tasks that nothing is known
    /// of yet, any may.
    fn expects(&self, report: usize) -> bool {
        let fits = |payload: &Option<u32>| payload.is_none_or(|payload| report_len(payload) == report);
        self.any_task || self.tasks().values().any(fits)
    }
}

/// Asks the servers.
#[derive(Debug)]
pub(crate) struct Learner {
    servers: Vec<Arc<Server>>,
    asking: Semaphore,
    strangers: Semaphore,
    /// One round is taken up at a time, so that no two answers make the same store.
    taking: AsyncMutex<()>,
}

impl Learner {
    /// With the tasks that an earlier process came to know.
    pub(crate) fn new(servers: &[ServerConfig], memory: &dyn Memory) -> Result<Self> {
        let servers = servers.iter().map(|server| Ok(Arc::new(Server::new(server, memory)?)));
        Ok(Self {
            servers: servers.collect::<Result<_>>()?,
            asking: Semaphore::new(ASKING),
            strangers: Semaphore::new(ASKING),
            taking: AsyncMutex::new(()),
        })
    }

    /// Whether some report may have this length.
    pub(crate) fn expects(&self, report: usize) -> bool {
        self.servers.iter().any(|server| server.expects(report))
    }

    /// The way to each server.
    pub(crate) fn contacts(&self) -> impl Iterator<Item = &Contact> {
        self.servers.iter().map(|server| &server.contact)
    }

    /// The same with their addresses.
    pub(crate) fn contacts_by_url(&self) -> impl Iterator<Item = (&str, &Contact)> {
        self.servers.iter().map(|server| (server.url.as_str(), &server.contact))
    }

    /// Takes up what other replicas have, and asks for the round of every task. A server that has
    /// none to show is asked whether it is the right one.
    pub(crate) async fn look(&self, shared: &Arc<Shared>) {
        self.adopt(shared).await;
        let mut questions = JoinSet::new();
        for server in &self.servers {
            let tasks: Vec<TaskHash> = server.tasks().keys().copied().collect();
            if tasks.is_empty() {
                questions.spawn(keep_contact(Arc::clone(shared), Arc::clone(server)));
            }
            for task in tasks {
                questions.spawn(ask_and_tell(Arc::clone(shared), Arc::clone(server), task));
            }
        }
        while let Some(answer) = questions.join_next().await {
            if let Ok(Some((server, signed, round))) = answer {
                self.take_up(shared, &server, signed, round).await;
            }
        }
    }

    /// A report names a round of `task` that is not known: asks whoever could have opened it since
    /// the last look. Returns when an answer is in that was asked for after the call; the caller
    /// looks again. `false` if too many are waiting already.
    pub(crate) async fn ask_about(&self, shared: &Arc<Shared>, task: TaskHash) -> bool {
        let is_known = self.servers.iter().any(|server| server.has(&task));
        let places = if is_known { &self.asking } else { &self.strangers };
        let Ok(_place) = places.try_acquire() else { return false };
        let called = Instant::now();
        for server in &self.servers {
            if !server.may_have(&task) {
                continue;
            }
            let asked = if is_known { &server.asked } else { &server.asked_of_strangers };
            let mut asked = asked.lock().await;
            match *asked {
                // Another report's question, begun after this call: its answer is as good.
                Some((began, about)) if began >= called && about == task => continue,
                Some((began, _)) => tokio::time::sleep_until(began + PAUSE).await,
                None => {}
            }
            *asked = Some((Instant::now(), task));
            if let Some((server, signed, round)) = ask(Arc::clone(shared), Arc::clone(server), task).await {
                self.take_up(shared, &server, signed, round).await;
            }
        }
        true
    }

    /// Gives a verified round its store, if it is one to take part in.
    async fn take_up(&self, shared: &Arc<Shared>, server: &Arc<Server>, signed: Vec<u8>, round: RoundOffer) {
        let _alone = self.taking.lock().await;
        if server.remember(&round) {
            let (memory, server, task) = (Arc::clone(&shared.memory), *server.key.as_bytes(), round.task);
            // Only for the next start: without it the task is a stranger once more until its first
            // report.
            if let Err(error) = blocking(move || memory.know(&server, &task)).await {
                tracing::warn!(%task, %error, "a task could not be remembered");
            }
        }
        let context = round.context();
        let now = shared.clock.now();
        if shared.table.contains(&context) || now >= round.closes {
            return;
        }
        if let Err(reason) = acceptable(shared, server, &round, now) {
            tracing::warn!(task = %round.task, round = round.round, reason, "a round is not taken part in");
            return;
        }
        let record = RoundTerms {
            signed,
            server: *server.key.as_bytes(),
            record_len: record_len(&round),
            min_batch: shared.config().min_batch,
        };
        let created = blocking({
            let stores = Arc::clone(&shared.stores);
            move || stores.create(&context, &record)
        });
        match created.await {
            Ok(Some(store)) => {
                // Another replica may have been first, with the round as it was signed for it.
                let (_, round) = match signed_round(&*store) {
                    Ok(round) => round,
                    Err(error) => return tracing::error!(%error, "a round's store holds no round"),
                };
                tracing::debug!(task = %round.task, round = round.round, "a round is taken part in");
                start(shared, server, round, store);
            }
            // It is over already; the server should not offer it.
            Ok(None) => {
                tracing::debug!(task = %round.task, round = round.round, "a finished round is offered again")
            }
            Err(error) => {
                shared.health.storage_failed(&error);
                tracing::error!(%error, "a round's store could not be made; it is tried again");
            }
        }
    }

    /// Takes up rounds that other replicas have learned, or left.
    async fn adopt(&self, shared: &Arc<Shared>) {
        if !shared.stores.is_shared() {
            return;
        }
        let stores = Arc::clone(&shared.stores);
        let _alone = self.taking.lock().await;
        let adopted = match blocking(move || stores.unfinished()).await {
            Ok(left) => {
                shared.health.storage_works();
                self.take_over(shared, left).map(|_| ())
            }
            Err(error) => Err(error),
        };
        if let Err(error) = adopted {
            shared.health.storage_failed(&error);
            tracing::warn!(%error, "the rounds of other replicas could not be looked for; it is tried again");
        }
    }

    /// Takes up what an earlier process left. A store whose server is not in the configuration
    /// stays untouched.
    pub(crate) fn resume(&self, shared: &Arc<Shared>, stores: Vec<Box<dyn RoundStore>>) -> Result<()> {
        for round in self.take_over(shared, stores)? {
            tracing::warn!(
                task = %round.task,
                round = round.round,
                "a store is left alone: its server is not among [[servers]] any more"
            );
        }
        Ok(())
    }

    /// Takes up rounds that are stored and not known. Those of other servers are returned.
    fn take_over(&self, shared: &Arc<Shared>, stores: Vec<Box<dyn RoundStore>>) -> Result<Vec<RoundOffer>> {
        let mut strange = Vec::new();
        for store in stores {
            let (key, round) = match signed_round(&*store) {
                Ok(read) => read,
                Err(error) => {
                    tracing::error!(%error, "a store is left alone: it does not say which round it is of");
                    continue;
                }
            };
            match self.servers.iter().find(|server| server.key == key) {
                _ if shared.table.contains(&round.context()) => {}
                Some(server) => {
                    server.remember(&round);
                    start(shared, server, round, store);
                }
                None => strange.push(round),
            }
        }
        Ok(strange)
    }
}

/// The round of a store, and the server that signed it.
fn signed_round(store: &dyn RoundStore) -> Result<(VerifyingKey, RoundOffer)> {
    let key = VerifyingKey::from_bytes(&store.record().server)?;
    Ok((key, Signed::<RoundOffer>::decode(&store.record().signed)?.verify(&key)?))
}

fn record_len(round: &RoundOffer) -> u32 {
    // At most 2^24 + 67, by the round's own check.
    inner_len(round.payload_len) as u32
}

fn start(shared: &Arc<Shared>, server: &Arc<Server>, round: RoundOffer, store: Box<dyn RoundStore>) {
    let (stores, health) = (Arc::clone(&shared.stores), Arc::clone(&shared.health));
    let (writer, thread) = Writer::start(round.context(), store, stores, health, shared.config().max_reports);
    shared.table.insert(Live::new(round, Arc::clone(server), writer), thread);
}

/// A server may be hostile: it must not fill our disk or keep reports waiting for years.
fn acceptable(
    shared: &Shared,
    server: &Arc<Server>,
    round: &RoundOffer,
    now: u64,
) -> std::result::Result<(), &'static str> {
    let longest = shared.config().max_window_seconds.saturating_mul(1000);
    if round.closes > now.saturating_add(longest) {
        return Err("its window ends later than max_window_seconds from now");
    }
    if report_len(round.payload_len) > shared.config().max_report_bytes {
        return Err("its reports are longer than max_report_bytes");
    }
    if shared.table.of_server(server) >= shared.config().max_rounds {
        return Err("its server has max_rounds unfinished already");
    }
    Ok(())
}

/// [`ask`], and what the answer says about the way to the server.
async fn ask_and_tell(shared: Arc<Shared>, server: Arc<Server>, task: TaskHash) -> Option<Taught> {
    match fetch(&shared, &server, &task).await {
        Ok(Some((signed, round))) => {
            server.contact.good();
            Some((server, signed, round))
        }
        Ok(None) => keep_contact(shared, server).await,
        Err(ShufflerError::Transport(error)) => {
            server.contact.bad(unreachable(&server.url, &error));
            None
        }
        Err(ShufflerError::Wire(error)) => {
            server.contact.bad(wrong_key(&server.url, &error));
            None
        }
        Err(_) => None,
    }
}

/// Asks the server for its task, now and then. Never a round.
async fn keep_contact(shared: Arc<Shared>, server: Arc<Server>) -> Option<Taught> {
    let shuffler = shared.keys.signing().verifying_key();
    let asked = Expected { url: &server.url, key: &server.key, tasks: &server.named, shuffler: &shuffler };
    server.contact.keep(&shared.http, &asked).await;
    None
}

/// A server, its signed round, and the round.
type Taught = (Arc<Server>, Vec<u8>, RoundOffer);

/// The server's round of a task, verified; nothing if there is none.
/// `(server, signed bytes, round)`.
async fn ask(shared: Arc<Shared>, server: Arc<Server>, task: TaskHash) -> Option<Taught> {
    match fetch(&shared, &server, &task).await {
        Ok(Some((signed, round))) => Some((server, signed, round)),
        Ok(None) => None,
        Err(error) => {
            tracing::debug!(%error, %task, "no round from the server");
            None
        }
    }
}

async fn fetch(shared: &Shared, server: &Server, task: &TaskHash) -> Result<Option<(Vec<u8>, RoundOffer)>> {
    let request = shared.http.get(&join(&server.url, &paths::round(task)))?.timeout(PATIENCE);
    let response = request.send().await.map_err(TransportError::from)?;
    if !response.status().is_success() {
        return Ok(None);
    }
    let bytes = bytes_at_most(response, Signed::<RoundOffer>::max_len()).await?;
    let round = Signed::<RoundOffer>::decode(&bytes)?.verify(&server.key)?;
    // Signed, and an answer to another question.
    if round.task != *task {
        return Ok(None);
    }
    Ok(Some((bytes, round)))
}
