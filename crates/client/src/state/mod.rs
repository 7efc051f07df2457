//! A client's own budget and its report on the way, in a folder that survives kills and power cuts.
//!
//! Order is everything. A round is charged on the disk *before* the coin is flipped; a report lies
//! on the disk *before* it is first sent. Killed in between, a client that starts again finds the
//! round charged and no report: it stays silent in that round. It does not flip again, because a
//! second chance would raise the rate that the charge was made for; and it never makes a second
//! report, because two reports of one round are twice the ε0.

mod lock;
mod record;

pub use record::Pending;

use crate::config::BudgetConfig;
use crate::error::{ClientError, Result};
use lock::Lock;
use record::{Record, sha256};
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_host::files;
use shuffledp_learning::ledger::Ledger;
use shuffledp_wire::RoundContext;
use std::path::{Path, PathBuf};

const BUDGET: &str = "budget.json";
const REPORT: &str = "report.sealed";
const LOCK: &str = "lock";

/// No report on the disk is longer than one on the wire can be.
const MOST_REPORT_BYTES: u64 = 1 << 25;

/// The folder, locked.
pub struct State {
    folder: PathBuf,
    _lock: Lock,
    record: Record,
    ledger: Ledger,
    budget: BudgetConfig,
    /// A write failed: the disk is asked before anything else is done.
    in_doubt: bool,
}

/// The decision on a round that the server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Later than all before.
    New,
    /// Charged and decided before.
    Known,
}

impl State {
    /// Opens the folder, or makes one where there is none yet.
    pub fn open(folder: &Path, budget: BudgetConfig) -> Result<Self> {
        if is_missing_or_empty(folder)? {
            create(folder)?;
        }
        let lock = Lock::take(folder, LOCK)?;
        let record = read(folder)?;
        let ledger = budget.ledger(record.accountant.clone())?;
        let state = Self { folder: folder.to_owned(), _lock: lock, record, ledger, budget, in_doubt: false };
        // A report that the record does not know was never sent.
        if state.record.pending.is_none() {
            remove(folder, REPORT)?;
        }
        Ok(state)
    }

    /// Returns the ledger of spent budget.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether the rounds so far were charged by another analysis than the one that prices them
    /// now. To be said before the next one is charged.
    pub fn is_repriced(&self) -> bool {
        self.record.is_repriced
    }

    /// Compares a round with those before. One that goes back, or repeats with another model or
    /// other keys, is how a server would make a client answer twice.
    pub fn judge(&self, offered: &RoundContext) -> Result<Offer> {
        judge(self.record.seen.iter().find(|seen| seen.task == offered.task), offered)
    }

    /// Charges a round that is about to be decided, on the disk. Once: whatever happens afterwards,
    /// it was offered.
    pub fn charge(&mut self, offered: RoundContext, cost: AccountedRound) -> Result<()> {
        self.settle_doubt()?;
        if self.judge(&offered)? == Offer::Known {
            return Err(ClientError::Equivocation(format!("round {} is offered twice", offered.round)));
        }
        let mut ledger = self.ledger.clone();
        charge_within(&mut ledger, cost, &self.budget)?;
        let mut record = self.record.clone();
        record.accountant = ledger.accountant().clone();
        record.is_repriced = false;
        record.seen.retain(|seen| seen.task != offered.task);
        record.seen.push(offered);
        self.write(record)?;
        self.ledger = ledger;
        Ok(())
    }

    /// Keeps a sealed report until it is acknowledged. For the round that was charged last, and
    /// only one for each; one of an older round, which is over, goes.
    pub fn keep_report(&mut self, context: RoundContext, shuffler_url: &str, closes: u64, sealed: &[u8]) -> Result<()> {
        self.settle_doubt()?;
        let is_second = self.record.pending.as_ref().is_some_and(|pending| pending.context == context);
        if !self.record.seen.contains(&context) || is_second {
            return Err(ClientError::Interrupted("a report without a charge, or a second one".to_owned()));
        }
        self.settle_report()?;
        replace(&self.folder, REPORT, sealed).inspect_err(|_| self.in_doubt = true)?;
        let pending = Pending { context, shuffler_url: shuffler_url.to_owned(), closes, sha256: sha256(sealed) };
        self.write(Record { spoken: self.record.spoken + 1, pending: Some(pending), ..self.record.clone() })
    }

    /// The report on its way, byte by byte as it was kept.
    pub fn pending(&mut self) -> Result<Option<(Pending, Vec<u8>)>> {
        self.settle_doubt()?;
        let Some(pending) = &self.record.pending else { return Ok(None) };
        let path = self.folder.join(REPORT);
        let sealed = read_at_most(&path, MOST_REPORT_BYTES)?;
        if sha256(&sealed) != pending.sha256 {
            return Err(ClientError::damaged(&path, "not the report that was sealed"));
        }
        Ok(Some((pending.clone(), sealed)))
    }

    /// The report was acknowledged, or its window has closed.
    pub fn settle_report(&mut self) -> Result<()> {
        self.settle_doubt()?;
        if self.record.pending.is_some() {
            self.write(Record { pending: None, ..self.record.clone() })?;
            remove(&self.folder, REPORT)?;
        }
        Ok(())
    }

    /// After a write that failed, half or whole: what the disk says now is what memory goes on
    /// with.
    fn settle_doubt(&mut self) -> Result<()> {
        if self.in_doubt {
            let record = read(&self.folder)?;
            self.ledger = self.budget.ledger(record.accountant.clone())?;
            self.record = record;
            self.in_doubt = false;
        }
        Ok(())
    }

    fn write(&mut self, record: Record) -> Result<()> {
        let bytes = record.encode(&self.folder.join(BUDGET))?;
        // Half a write may be a whole one after a restart: memory must not go on without it.
        replace(&self.folder, BUDGET, &bytes).inspect_err(|_| self.in_doubt = true)?;
        self.record = record;
        Ok(())
    }
}

/// Without the folder's lock, for a look from outside: what was spent, and what is remembered.
pub(crate) fn look(folder: &Path, budget: BudgetConfig) -> Result<(Ledger, Record)> {
    let record = if is_missing_or_empty(folder)? { Record::default() } else { read(folder)? };
    Ok((budget.ledger(record.accountant.clone())?, record))
}

/// Charges a round, or says that it does not fit.
pub(crate) fn charge_within(ledger: &mut Ledger, cost: AccountedRound, budget: &BudgetConfig) -> Result<()> {
    if ledger.charge(cost)? {
        return Ok(());
    }
    Err(ClientError::BudgetSpent { spent: ledger.epsilon()?, budget: budget.epsilon, delta: budget.delta })
}

/// Classifies `offered`, given the last round of its task.
pub(crate) fn judge(last: Option<&RoundContext>, offered: &RoundContext) -> Result<Offer> {
    match last {
        Some(last) if offered.round < last.round => {
            Err(ClientError::WentBack { offered: offered.round, last: last.round })
        }
        Some(last) if offered.round == last.round && offered.model != last.model => {
            Err(ClientError::Equivocation(format!("round {} is offered with two models", offered.round)))
        }
        Some(last) if offered.round == last.round && offered.keys != last.keys => {
            Err(ClientError::Equivocation(format!("round {} is offered with two lists of keys", offered.round)))
        }
        Some(last) if offered.round == last.round => Ok(Offer::Known),
        _ => Ok(Offer::New),
    }
}

fn is_missing_or_empty(folder: &Path) -> Result<bool> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(ClientError::file("read", folder)(error)),
    }
}

/// A folder with nothing spent. It appears whole or not at all, so that a folder without a budget
/// is always one that lost it.
fn create(folder: &Path) -> Result<()> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).map_err(ClientError::file("create", parent))?;
    let name = folder.file_name().map_or_else(|| "state".to_owned(), |name| name.to_string_lossy().into_owned());
    let part = parent.join(format!(".{name}.{}.part", std::process::id()));
    std::fs::create_dir_all(&part).map_err(ClientError::file("create", &part))?;
    replace(&part, BUDGET, &Record::default().encode(&part.join(BUDGET))?)?;
    if let Err(error) = std::fs::rename(&part, folder) {
        // Somebody else was first: theirs is as good as ours, and its lock decides.
        let _ = std::fs::remove_dir_all(&part);
        if is_missing_or_empty(folder)? {
            return Err(ClientError::file("create", folder)(error));
        }
    }
    files::sync_folder(parent).map_err(ClientError::file("write", parent))
}

fn read(folder: &Path) -> Result<Record> {
    let path = folder.join(BUDGET);
    match std::fs::read(&path) {
        Ok(bytes) => Record::decode(&bytes, &path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(ClientError::damaged(&path, "missing from a folder that is not empty"))
        }
        Err(error) => Err(ClientError::file("read", &path)(error)),
    }
}

fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(ClientError::file("read", path))?;
    Ok(bytes)
}

// What a client spent and where it took part is nobody else's business: all of these are for their
// owner's eyes only.
fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    files::replace(&path, bytes).map_err(ClientError::file("write", &path))
}

fn remove(folder: &Path, name: &str) -> Result<()> {
    let path = folder.join(name);
    files::remove(&path).map_err(ClientError::file("remove", &path))
}
