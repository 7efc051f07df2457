//! Requests of operators to a running server, through files in its folder of keys: whoever may
//! write there is the operator. The request is one file, the answer another; nothing listens for
//! it.

use crate::check::in_full;
use crate::config::ServerConfig;
use crate::error::{Result, ServerError};
use crate::ledger_file::LedgerFile;
use crate::service::Service;
use crate::store;
use serde::{Deserialize, Serialize};
use shuffledp_host::files;
use shuffledp_wire::{BatchId, SystemRandom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const REQUEST: &str = "operator-request.json";
const ANSWER: &str = "operator-answer.json";

/// Between two looks for a request, and for an answer.
const NAP: Duration = Duration::from_millis(200);

/// Until a running server has taken a request up.
const UNTIL_TAKEN: Duration = Duration::from_secs(5);

/// Until it has done it.
const UNTIL_DONE: Duration = Duration::from_secs(300);

/// Something that only the running server can do: it alone has the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// End a pause.
    Resume,
    /// Give up the open round.
    Abandon {
        /// Which it must be.
        round: u64,
    },
    /// Copy the store to a new file.
    Backup {
        /// The file.
        to: PathBuf,
    },
    /// Tell what was charged.
    Ledger,
}

#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    id: String,
    request: Request,
}

#[derive(Debug, Serialize, Deserialize)]
struct Answered {
    id: String,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Done(String),
    Refused(String),
}

/// Tells the running server of this configuration to go on after a pause. Returns what it said.
pub fn resume(config: &ServerConfig) -> Result<String> {
    ask(&config.keys, Request::Resume)
}

/// Tells it to give up its open round, which must be this one. The round stays charged.
pub fn abandon(config: &ServerConfig, round: u64) -> Result<String> {
    ask(&config.keys, Request::Abandon { round })
}

/// Copies the store to a new file of mode 0600, whether a server runs or not. Returns what was
/// done.
pub fn backup(config: &ServerConfig, to: &Path) -> Result<String> {
    if config.database.is_none() && !config.store.exists() {
        return Err(ServerError::Config(format!("there is no store at {}", config.store.display())));
    }
    let to = std::path::absolute(to).map_err(ServerError::file("find", to))?;
    match store::open(config) {
        Ok(mut store) => store.backup(&to).map(|()| format!("the store was copied to {}", to.display())),
        // The server that has it copies it.
        Err(ServerError::InUse(_)) => ask(&config.keys, Request::Backup { to }),
        Err(error) => Err(error),
    }
}

/// The ledger of the store, whether a server runs or not.
pub fn export_ledger(config: &ServerConfig) -> Result<LedgerFile> {
    if config.database.is_none() && !config.store.exists() {
        return Err(ServerError::Config(format!("there is no store at {}", config.store.display())));
    }
    match store::open(config) {
        Ok(mut store) => Ok(LedgerFile::new(store.charges()?)),
        Err(ServerError::InUse(_)) => LedgerFile::parse(&ask(&config.keys, Request::Ledger)?),
        Err(error) => Err(error),
    }
}

/// Charges in the store what is in a ledger and not in the store, while no server runs. Returns how
/// many rounds that was.
pub fn import_ledger(config: &ServerConfig, ledger: &LedgerFile) -> Result<u64> {
    let mut store = store::open(config)?;
    let before = LedgerFile::new(store.charges()?).rounds();
    store.charge(ledger.charges())?;
    Ok(LedgerFile::new(store.charges()?).rounds() - before)
}

/// Asks the server whose keys are in `folder`, and waits for its answer.
fn ask(folder: &Path, request: Request) -> Result<String> {
    let (place, answer) = (folder.join(REQUEST), folder.join(ANSWER));
    // One question at a time.
    let _alone = files::lock(&place).map_err(ServerError::file("lock", &place))?;
    let id = BatchId::random(&mut SystemRandom::from_operating_system()?).to_string();
    let asked = serde_json::to_vec(&Asked { id: id.clone(), request })
        .map_err(|error| ServerError::damaged(format!("no JSON: {error}")))?;
    files::replace(&place, &asked).map_err(ServerError::file("write", &place))?;
    let began = Instant::now();
    while began.elapsed() < UNTIL_DONE {
        if let Some(outcome) = answer_to(&answer, &id) {
            files::remove(&answer).map_err(ServerError::file("remove", &answer))?;
            return match outcome {
                Outcome::Done(sentence) => Ok(sentence),
                Outcome::Refused(sentence) => Err(ServerError::Config(sentence)),
            };
        }
        // Taken back only if nobody has taken it up: removing it and taking it up are both one
        // rename or removal.
        if began.elapsed() > UNTIL_TAKEN && place.exists() && std::fs::remove_file(&place).is_ok() {
            return Err(ServerError::NotRunning);
        }
        std::thread::sleep(NAP);
    }
    Err(ServerError::Config("the server took the request up and did not answer: look at its log".to_owned()))
}

fn answer_to(path: &Path, id: &str) -> Option<Outcome> {
    let answered: Answered = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (answered.id == id).then_some(answered.outcome)
}

/// Does what is asked, as long as the server runs.
pub(crate) async fn serve(service: Arc<Service>) {
    let Some(folder) = service.keys_folder().map(Path::to_owned) else { return std::future::pending().await };
    loop {
        tokio::time::sleep(NAP).await;
        if !folder.join(REQUEST).exists() {
            continue;
        }
        let done = {
            let (service, folder) = (Arc::clone(&service), folder.clone());
            tokio::task::spawn_blocking(move || answer_one(&service, &folder)).await
        };
        if let Err(error) = done.map_err(|error| ServerError::Interrupted(error.to_string())).flatten() {
            tracing::error!(error = &error as &(dyn std::error::Error + 'static), "an operator's request failed");
        }
    }
}

/// Takes a request up, so that nobody does it twice, and answers it.
fn answer_one(service: &Service, folder: &Path) -> Result<()> {
    let (place, answer) = (folder.join(REQUEST), folder.join(ANSWER));
    let asked = std::fs::read(&place).map_err(ServerError::file("read", &place))?;
    std::fs::remove_file(&place).map_err(ServerError::file("remove", &place))?;
    let Asked { id, request } =
        serde_json::from_slice(&asked).map_err(|error| ServerError::Config(format!("{}: {error}", place.display())))?;
    let outcome = match perform(service, request) {
        Ok(sentence) => Outcome::Done(sentence),
        Err(error) => Outcome::Refused(in_full(&error)),
    };
    let answered = serde_json::to_vec(&Answered { id, outcome })
        .map_err(|error| ServerError::damaged(format!("no JSON: {error}")))?;
    files::replace(&answer, &answered).map_err(ServerError::file("write", &answer))
}

fn perform(service: &Service, request: Request) -> Result<String> {
    match request {
        Request::Resume => service.resume(),
        Request::Abandon { round } => service.abandon(round),
        Request::Backup { to } => service.backup(&to),
        Request::Ledger => service.ledger()?.to_text(),
    }
}
