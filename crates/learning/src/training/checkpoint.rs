//! A run, held still: everything that is needed to go on as if it had never stopped.
//!
//! The file is a line of text, the SHA-256 of what follows, and a safetensors file: weights,
//! velocity and their mean bit by bit, the rest as JSON among its metadata. Randomness needs no
//! place in it: every stream is named by the seed and the round.

use super::{Metrics, TrainingConfig};
use crate::data::{Clients, Examples};
use crate::monitor::CheckInMonitor;
use crate::step::ServerState;
use crate::{LearningError, Result};
use base16ct::lower::encode_string;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shuffledp_accounting::accountant::Accountant;
use std::collections::HashMap;
use std::path::Path;

const FIRST_LINE: &[u8] = b"shuffledp checkpoint\n";
const DIGEST: usize = 32;
const HEADER: &str = "run";

/// The state that a simulation keeps from round to round.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) state: ServerState,
    pub(crate) accountant: Accountant,
    pub(crate) monitor: CheckInMonitor,
    pub(crate) last: LastRound,
}

/// The last round, as far as the metrics need it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct LastRound {
    pub(crate) participants: u64,
    pub(crate) loss: f64,
}

/// A snapshot, and where its folder was.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Checkpoint {
    pub(crate) snapshot: Snapshot,
    /// The last evaluation.
    pub(crate) metrics: Option<Metrics>,
    /// How long `metrics.jsonl` was.
    pub(crate) metrics_bytes: u64,
    /// Seconds of work so far.
    pub(crate) seconds: f64,
}

/// Which run a checkpoint belongs to: by what, of what configuration, on which data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    version: String,
    config: String,
    data: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    identity: Identity,
    round: u64,
    averaged: u64,
    monitor: CheckInMonitor,
    last: LastRound,
    ledger: String,
    metrics: Option<Metrics>,
    metrics_bytes: u64,
    seconds: f64,
}

/// So many clients, and so many test examples, are looked at to recognise the data: all of MNIST, a
/// part of ten million.
const LOOKED_AT: u64 = 1 << 16;

impl Identity {
    pub(crate) fn new(config: &TrainingConfig, population: &impl Clients, test: &Examples) -> Result<Self> {
        let mut data = Sha256::new();
        recognise(population, &mut data);
        recognise(test, &mut data);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: encode_string(&Sha256::digest(config.to_text()?)),
            data: encode_string(&data.finalize()),
        })
    }

    /// Whether what a run of `other` left may be taken up here.
    pub(crate) fn accept(&self, other: &Self) -> std::result::Result<(), String> {
        if other.version != self.version {
            let (theirs, ours) = (&other.version, &self.version);
            return Err(format!("was written by version {theirs}, and this is {ours}: resume with that one"));
        }
        if other.config != self.config {
            return Err(
                "belongs to another configuration than the folder's config.toml: put that back as it was".into()
            );
        }
        if other.data != self.data {
            return Err("belongs to a run on other data: give the data directory of that run".into());
        }
        Ok(())
    }
}

fn recognise(clients: &impl Clients, data: &mut Sha256) {
    let (count, shape) = (clients.count(), clients.shape());
    for number in [count, shape.len() as u64, clients.classes() as u64] {
        data.update(number.to_le_bytes());
    }
    let mut example = vec![0.0; shape.len()];
    for index in 0..count.min(LOOKED_AT) {
        let client = (u128::from(index) * u128::from(count) / u128::from(count.min(LOOKED_AT))) as u64;
        data.update((clients.example(client, &mut example) as u64).to_le_bytes());
        example.iter().for_each(|value| data.update(value.to_le_bytes()));
    }
}

impl Checkpoint {
    pub(crate) fn encode(&self, identity: &Identity) -> Result<Vec<u8>> {
        let Snapshot { state, accountant, monitor, last } = &self.snapshot;
        let header = Header {
            identity: identity.clone(),
            round: state.round,
            averaged: state.averaged,
            monitor: *monitor,
            last: *last,
            ledger: accountant.save()?,
            metrics: self.metrics,
            metrics_bytes: self.metrics_bytes,
            seconds: self.seconds,
        };
        let complain =
            |error: &dyn std::fmt::Display| LearningError::Data(format!("no checkpoint can be made: {error}"));
        let header = serde_json::to_string(&header).map_err(|error| complain(&error))?;
        let singles = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let tensors = [
            ("weights", Dtype::F32, state.weights.len(), singles(&state.weights)),
            ("velocity", Dtype::F32, state.velocity.len(), singles(&state.velocity)),
            ("average", Dtype::F64, state.average.len(), doubles(&state.average)),
        ];
        let mut views = Vec::new();
        for (name, kind, length, bytes) in &tensors {
            views.push((*name, TensorView::new(*kind, vec![*length], bytes).map_err(|error| complain(&error))?));
        }
        let metadata = HashMap::from([(HEADER.to_owned(), header)]);
        let body = safetensors::serialize(views, Some(metadata)).map_err(|error| complain(&error))?;
        Ok([FIRST_LINE, Sha256::digest(&body).as_slice(), &body].concat())
    }

    /// Reads what [`encode`](Self::encode) wrote for the same run. `path` is for the error's text.
    pub(crate) fn decode(bytes: &[u8], identity: &Identity, path: &Path) -> Result<Self> {
        let wrong = |problem: &str| LearningError::format(path, problem);
        let Some(rest) = bytes.strip_prefix(FIRST_LINE) else {
            return Err(wrong("is not a checkpoint of shuffledp train"));
        };
        let damaged = || {
            wrong("is damaged: its contents do not match its checksum; the run must be started again in another folder")
        };
        let (digest, body) = rest.split_at_checked(DIGEST).ok_or_else(damaged)?;
        if Sha256::digest(body).as_slice() != digest {
            return Err(damaged());
        }
        let (_, metadata) = SafeTensors::read_metadata(body).map_err(|_| damaged())?;
        let header = metadata.metadata().as_ref().and_then(|metadata| metadata.get(HEADER)).ok_or_else(damaged)?;
        let header: Header =
            serde_json::from_str(header).map_err(|error| wrong(&format!("is of another version: {error}")))?;
        identity.accept(&header.identity).map_err(|problem| wrong(&problem))?;
        let tensors = SafeTensors::deserialize(body).map_err(|_| damaged())?;
        let tensor = |name: &str, kind: Dtype| match tensors.tensor(name) {
            Ok(tensor) if tensor.dtype() == kind => Ok(tensor.data().to_vec()),
            _ => Err(damaged()),
        };
        let singles = |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
        let doubles = |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value)).collect();
        let state = ServerState {
            round: header.round,
            weights: singles(tensor("weights", Dtype::F32)?),
            velocity: singles(tensor("velocity", Dtype::F32)?),
            average: doubles(tensor("average", Dtype::F64)?),
            averaged: header.averaged,
        };
        let accountant = Accountant::load(&header.ledger)?;
        Ok(Self {
            snapshot: Snapshot { state, accountant, monitor: header.monitor, last: header.last },
            metrics: header.metrics,
            metrics_bytes: header.metrics_bytes,
            seconds: header.seconds,
        })
    }
}
