//! The ledger as a file: what was charged, by task and round, to be kept apart from the store and
//! brought into another. A ledger only grows: nothing here takes a charge away.

use crate::error::{Result, ServerError};
use crate::store::Charges;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_host::files;
use shuffledp_question::VERSION;
use shuffledp_wire::TaskHash;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const FORMAT: &str = "shuffledp-ledger";

/// The version of the file's layout.
const LAYOUT: u32 = 1;

/// More rounds than this are no ledger of ours.
const MOST_ROUNDS: u64 = 100_000_000;

/// A ledger, read and checked or about to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerFile {
    charges: Vec<Charges>,
}

/// The file. Field names are a contract: added, never renamed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    program: String,
    rounds: u64,
    charges: Vec<Line>,
    /// Of the charges as JSON without blanks: a file that was cut or edited is noticed.
    sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    task: String,
    first: u64,
    last: u64,
    charge: AccountedRound,
}

impl LedgerFile {
    /// Of a store's charges.
    pub(crate) fn new(charges: Vec<Charges>) -> Self {
        Self { charges }
    }

    /// The charges.
    pub(crate) fn charges(&self) -> &[Charges] {
        &self.charges
    }

    /// How many rounds were charged.
    pub fn rounds(&self) -> u64 {
        self.charges.iter().map(Charges::count).sum()
    }

    /// At least ε at `delta` of everything in it.
    pub fn epsilon(&self, delta: f64) -> Result<f64> {
        let mut accountant = Accountant::new();
        for charges in &self.charges {
            accountant.compose(charges.charge, charges.count())?;
        }
        Ok(accountant.epsilon(delta)?)
    }

    /// The text of the file.
    pub fn to_text(&self) -> Result<String> {
        let lines = self.charges.iter().map(|charges| Line {
            task: charges.task.to_string(),
            first: charges.first,
            last: charges.last,
            charge: charges.charge,
        });
        let charges: Vec<Line> = lines.collect();
        let sha256 = digest(&charges)?;
        let document = Document {
            format: FORMAT.to_owned(),
            version: LAYOUT,
            program: VERSION.to_owned(),
            rounds: self.rounds(),
            charges,
            sha256,
        };
        Ok(serde_json::to_string_pretty(&document).map_err(no_json)? + "\n")
    }

    /// Writes a new file of mode 0600.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::create(path, self.to_text()?.as_bytes()).map_err(ServerError::file("create", path))
    }

    /// Reads the text of a file, and checks it.
    pub fn parse(text: &str) -> Result<Self> {
        let document: Document = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if document.format != FORMAT || document.version != LAYOUT {
            return Err(wrong(format!(
                "it is '{}' of version {}, and this program reads '{FORMAT}' of version {LAYOUT}",
                document.format, document.version
            )));
        }
        if digest(&document.charges)? != document.sha256 {
            return Err(wrong("its charges do not have the SHA-256 that it names: it was cut or edited".to_owned()));
        }
        let mut charges = Vec::new();
        for Line { task, first, last, charge } in document.charges {
            let task: TaskHash = task.parse().map_err(|_| wrong(format!("'{task}' is not the hash of a task")))?;
            if first == 0 || last < first || last > MOST_ROUNDS {
                return Err(wrong(format!("rounds {first} to {last} of task {task} are not possible")));
            }
            charges.push(Charges { task, first, last, charge });
        }
        let ledger = Self { charges };
        ledger.check_apart()?;
        if ledger.rounds() != document.rounds || ledger.rounds() > MOST_ROUNDS {
            return Err(wrong(format!("it says {} rounds and has {}", document.rounds, ledger.rounds())));
        }
        Ok(ledger)
    }

    /// Whether every round is there once.
    fn check_apart(&self) -> Result<()> {
        let mut ranges: Vec<_> =
            self.charges.iter().map(|charges| (charges.task, charges.first, charges.last)).collect();
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            if pair[0].0 == pair[1].0 && pair[0].2 >= pair[1].1 {
                return Err(wrong(format!("round {} of task {} is there twice", pair[1].1, pair[1].0)));
            }
        }
        Ok(())
    }

    /// The rounds that are here and not in `other`, in words; nothing if it has all of them,
    /// charged alike.
    pub fn missing_in(&self, other: &Self) -> Option<String> {
        let theirs = other.by_round();
        let mine = self.by_round();
        let missing = mine.iter().filter(|(place, charge)| theirs.get(*place) != Some(charge));
        let mut tasks: BTreeMap<TaskHash, (u64, u64, u64)> = BTreeMap::new();
        for ((task, round), _) in missing {
            let (count, first, last) = tasks.entry(*task).or_insert((0, *round, *round));
            (*count, *first, *last) = (*count + 1, (*first).min(*round), (*last).max(*round));
        }
        let mut text = String::new();
        for (task, (count, first, last)) in &tasks {
            let separator = if text.is_empty() { "" } else { "; " };
            // Writing into a String cannot fail.
            let _ = write!(text, "{separator}{count} of the rounds {first} to {last} of task {task}");
        }
        (!text.is_empty()).then_some(text)
    }

    fn by_round(&self) -> BTreeMap<(TaskHash, u64), AccountedRound> {
        let rounds = self.charges.iter().flat_map(|charges| {
            (charges.first..=charges.last).map(move |round| ((charges.task, round), charges.charge))
        });
        rounds.collect()
    }
}

fn digest(charges: &[Line]) -> Result<String> {
    let text = serde_json::to_vec(charges).map_err(no_json)?;
    let mut words = String::new();
    for byte in Sha256::digest(text) {
        let _ = write!(words, "{byte:02x}");
    }
    Ok(words)
}

fn no_json(error: serde_json::Error) -> ServerError {
    ServerError::damaged(format!("no JSON: {error}"))
}

fn wrong(problem: String) -> ServerError {
    ServerError::Config(format!("not a ledger: {problem}"))
}
