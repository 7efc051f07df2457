//! One round of a task.

use crate::codec::sealed::Body;
use crate::codec::{MAX_COUNT, Reader, require, types};
use crate::error::Result;
use crate::ids::{KeyId, KeysHash, ModelHash, RoundContext, TaskHash};
use crate::keys::{HpkePublicKey, MAX_KEYS, check_keys, read_keys, write_keys};
use crate::report::MAX_PAYLOAD_LEN;
use crate::task::Task;

/// A round, open from `opens` until `closes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundOffer {
    /// The task.
    pub task: TaskHash,
    /// Which round, counted from 1.
    pub round: u64,
    /// The model that clients take gradients at.
    pub model: ModelHash,
    /// Bytes of every payload, as the task says. Here once more for the shuffler, which refuses
    /// reports of another length and has no other use for the task.
    pub payload_len: u32,
    /// The keys that the inner layer is sealed to, newest first. They are the same for all clients:
    /// their hash is part of the context of a report.
    pub server_keys: Vec<(KeyId, HpkePublicKey)>,
    /// When reports are first taken, in milliseconds since 1970 (UTC).
    pub opens: u64,
    /// From when on none are taken.
    pub closes: u64,
}

impl RoundOffer {
    /// The context of its reports.
    pub fn context(&self) -> RoundContext {
        RoundContext { task: self.task, round: self.round, model: self.model, keys: KeysHash::of(&self.server_keys) }
    }

    /// Whether reports are taken at this time: `opens` ≤ now < `closes`.
    pub fn is_open_at(&self, now: u64) -> bool {
        (self.opens..self.closes).contains(&now)
    }

    /// Refuses a round that is not one of this task's.
    pub fn check_task(&self, task: &Task) -> Result<()> {
        require(self.task == task.hash()?, Self::NAME, "task", "is another one")?;
        require(self.round <= task.rounds, Self::NAME, "round", "is beyond the task's last")?;
        require(self.payload_len == task.payload_len, Self::NAME, "payload_len", "is not the task's")
    }
}

impl Body for RoundOffer {
    const NAME: &'static str = "round";
    const TYPE: u8 = types::ROUND;
    const SIGNATURE_CONTEXT: &'static [u8] = b"shuffledp v1 signature round\0";
    const MAX_LEN: usize = 2 + 32 + 8 + 32 + 4 + 1 + MAX_KEYS * 33 + 2 * 8;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.task.as_bytes());
        bytes.extend_from_slice(&self.round.to_be_bytes());
        bytes.extend_from_slice(self.model.as_bytes());
        bytes.extend_from_slice(&self.payload_len.to_be_bytes());
        write_keys(bytes, &self.server_keys);
        bytes.extend_from_slice(&self.opens.to_be_bytes());
        bytes.extend_from_slice(&self.closes.to_be_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            task: TaskHash::from_bytes(reader.array("task")?),
            round: reader.u64("round")?,
            model: ModelHash::from_bytes(reader.array("model")?),
            payload_len: reader.u32("payload_len")?,
            server_keys: read_keys(reader, Self::NAME)?,
            opens: reader.u64("opens")?,
            closes: reader.u64("closes")?,
        })
    }

    fn check(&self) -> Result<()> {
        require((1..=MAX_COUNT).contains(&self.round), Self::NAME, "round", "has to be between 1 and 2^53")?;
        let payload = (1..=MAX_PAYLOAD_LEN).contains(&self.payload_len);
        require(payload, Self::NAME, "payload_len", "has to be between 1 and 16777216")?;
        check_keys(&self.server_keys, Self::NAME)?;
        require(self.opens < self.closes, Self::NAME, "closes", "has to be after opens")?;
        require(self.closes <= MAX_COUNT, Self::NAME, "closes", "has to be at most 2^53")
    }
}
