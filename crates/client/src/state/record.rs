//! The state of a client as a file: a line with the SHA-256 of the rest, then JSON.
//!
//! The hash is not against attackers, who could write it too: it turns every flipped bit and every
//! half-written file into an error, where JSON alone would read a smaller count without a word.

use crate::error::{ClientError, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shuffledp_accounting::accountant::{ANALYSIS, Accountant};
use shuffledp_wire::{KeysHash, ModelHash, RoundContext, TaskHash};
use std::path::Path;

const VERSION: u32 = 1;
const FIRST_LINE: &str = "shuffledp client state, sha256 ";

/// The state of a client.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Record {
    /// Every round ever offered.
    pub(crate) accountant: Accountant,
    /// Whether they were charged by another analysis than today's, and nobody was told yet.
    pub(crate) is_repriced: bool,
    /// In how many of them it made a report.
    pub(crate) spoken: u64,
    /// The last round of each task that it was offered.
    pub(crate) seen: Vec<RoundContext>,
    /// The report that is not acknowledged yet.
    pub(crate) pending: Option<Pending>,
}

/// About a sealed report that lies in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The round that it belongs to.
    pub context: RoundContext,
    /// Where it goes.
    pub shuffler_url: String,
    /// Until when, in milliseconds since 1970.
    pub closes: u64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub(crate) sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    shuffledp_client: u32,
    accountant: serde_json::Value,
    /// The analysis that the rounds were charged by; left out before there was a second one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    analysis: Option<String>,
    spoken: u64,
    seen: Vec<SavedContext>,
    pending: Option<SavedPending>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedContext {
    task: String,
    round: u64,
    model: String,
    keys: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedPending {
    report: SavedContext,
    shuffler_url: String,
    closes: u64,
    sha256: String,
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

impl Record {
    /// How many rounds it was offered.
    pub(crate) fn offered(&self) -> u64 {
        self.accountant.ledger().iter().map(|entry| entry.count).sum()
    }

    /// The bytes of the file. `path` is for the error's text.
    pub(crate) fn encode(&self, path: &Path) -> Result<Vec<u8>> {
        let wrong = |error: serde_json::Error| ClientError::damaged(path, format!("cannot be written: {error}"));
        let saved = Saved {
            shuffledp_client: VERSION,
            accountant: serde_json::from_str(&self.accountant.save()?).map_err(wrong)?,
            analysis: (!self.is_repriced).then(|| ANALYSIS.to_owned()),
            spoken: self.spoken,
            seen: self.seen.iter().map(save_context).collect(),
            pending: self.pending.as_ref().map(|pending| SavedPending {
                report: save_context(&pending.context),
                shuffler_url: pending.shuffler_url.clone(),
                closes: pending.closes,
                sha256: pending.sha256.clone(),
            }),
        };
        let json = serde_json::to_string_pretty(&saved).map_err(wrong)?;
        Ok(format!("{FIRST_LINE}{}\n{json}\n", sha256(format!("{json}\n").as_bytes())).into_bytes())
    }

    /// The inverse of [`encode`](Self::encode).
    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |problem: String| ClientError::damaged(path, problem);
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("not a client's state".to_owned()))?;
        let hash_and_json = text.strip_prefix(FIRST_LINE).and_then(|rest| rest.split_once('\n'));
        let (hash, json) = hash_and_json.ok_or_else(|| wrong("not a client's state".to_owned()))?;
        if hash != sha256(json.as_bytes()) {
            return Err(wrong("damaged: its contents do not have the hash of its first line".to_owned()));
        }
        let saved: Saved = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
        if saved.shuffledp_client != VERSION {
            return Err(wrong(format!("version {} is not {VERSION}", saved.shuffledp_client)));
        }
        let accountant = Accountant::load(&saved.accountant.to_string()).map_err(|error| wrong(error.to_string()))?;
        let context = |saved: &SavedContext| load_context(saved).map_err(|error| wrong(error.to_string()));
        let pending = match &saved.pending {
            Some(SavedPending { report, shuffler_url, closes, sha256 }) => Some(Pending {
                context: context(report)?,
                shuffler_url: shuffler_url.clone(),
                closes: *closes,
                sha256: sha256.clone(),
            }),
            None => None,
        };
        let seen = saved.seen.iter().map(context).collect::<Result<_>>()?;
        let is_repriced = !accountant.is_empty() && saved.analysis.as_deref() != Some(ANALYSIS);
        Ok(Self { accountant, is_repriced, spoken: saved.spoken, seen, pending })
    }
}

fn save_context(context: &RoundContext) -> SavedContext {
    let RoundContext { task, round, model, keys } = context;
    SavedContext { task: task.to_string(), round: *round, model: model.to_string(), keys: keys.to_string() }
}

fn load_context(saved: &SavedContext) -> shuffledp_wire::Result<RoundContext> {
    let (task, model) = (saved.task.parse::<TaskHash>()?, saved.model.parse::<ModelHash>()?);
    Ok(RoundContext { task, round: saved.round, model, keys: saved.keys.parse::<KeysHash>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::scheme::{RandomizerSpec, Round, Scheme};

    fn record() -> Record {
        let (task, keys) = (TaskHash::from_bytes([1; 32]), KeysHash::from_bytes([2; 32]));
        let context = RoundContext { task, round: 9, model: ModelHash::of(b"weights"), keys };
        let mut accountant = Accountant::new();
        // A rate that JSON would move by one unit in the last place if it were read carelessly.
        let scheme = Scheme::check_in(10_000, 0.1 + 0.2, 0.0).unwrap();
        accountant.compose(Round { scheme, randomizer: RandomizerSpec::any(1.0 / 3.0).unwrap() }, 17).unwrap();
        let pending = Pending {
            context,
            shuffler_url: "https://shuffler.example".to_owned(),
            closes: 12,
            sha256: sha256(b"report"),
        };
        Record { accountant, is_repriced: false, spoken: 3, seen: vec![context], pending: Some(pending) }
    }

    #[test]
    fn what_is_written_is_read() {
        let path = Path::new("budget.json");
        for record in [Record::default(), record()] {
            assert_eq!(Record::decode(&record.encode(path).unwrap(), path).unwrap(), record);
        }
        assert_eq!(record().offered(), 17);
    }

    #[test]
    fn every_flipped_bit_and_every_missing_end_is_an_error() {
        let path = Path::new("budget.json");
        let whole = record().encode(path).unwrap();
        for index in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[index] ^= 1 << (index % 8);
            let error = Record::decode(&flipped, path).expect_err("a flipped bit").to_string();
            assert!(error.contains("budget.json") && error.contains("`state`"), "{error}");
            assert!(Record::decode(&whole[..index], path).is_err());
        }
    }
}
