//! The task: the server's public, unchangeable commitment.

use crate::codec::sealed::Body;
use crate::codec::{MAX_COUNT, Message, Reader, put_bytes, require, require_len, types};
use crate::error::Result;
use crate::ids::TaskHash;
use crate::keys::VerifyingKey;
use crate::report::MAX_PAYLOAD_LEN;

const MAX_NAME: usize = 100;
const MAX_URL: usize = 500;
const MAX_OPAQUE: usize = 16 * 1024;

/// A task. It never changes: its hash is its id, and everything that ε depends on is in it.
///
/// Opaque fields are read by the rooms that know them, client's and server's; neither this room nor
/// the shuffler looks inside.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// For people: 1 to 100 bytes without control characters.
    pub name: String,
    /// The model's architecture, opaque: up to 16 KiB.
    pub architecture: Vec<u8>,
    /// The randomizer and its parameters, opaque: up to 16 KiB.
    pub randomizer: Vec<u8>,
    /// The norm that gradients are clipped to.
    pub clip: f32,
    /// How many honest clients the accounting assumes.
    pub clients: u64,
    /// With which probability a client participates in a round.
    pub check_in_rate: f64,
    /// With which probability a report is lost, at the least and the same for all: the accounting
    /// lowers the rate by it. 0 is always safe.
    pub drop_out: f64,
    /// How many rounds at most.
    pub rounds: u64,
    /// δ of the whole task.
    pub delta: f64,
    /// ε at δ that the whole task may cost at most.
    pub budget: f64,
    /// How the server moves the weights, opaque: up to 16 KiB.
    pub step: Vec<u8>,
    /// Bytes of every payload: the length of the mechanism's frames.
    pub payload_len: u32,
    /// Where the shuffler is: `https://` (or `http://`), host, optional port and path, without a
    /// slash at the end.
    pub shuffler_url: String,
    /// The key that signs the shuffler's key list and its batches.
    pub shuffler_key: VerifyingKey,
}

impl Task {
    /// The task's id: SHA-256 of its encoding.
    pub fn hash(&self) -> Result<TaskHash> {
        Ok(TaskHash::of_encoding(&self.encode()?))
    }
}

impl Body for Task {
    const NAME: &'static str = "task";
    const TYPE: u8 = types::TASK;
    const SIGNATURE_CONTEXT: &'static [u8] = b"shuffledp v1 signature task\0";
    // Two bytes, five lengths, the variable parts, six eights, two fours, and the key.
    const MAX_LEN: usize = 2 + 5 * 2 + MAX_NAME + MAX_URL + 3 * MAX_OPAQUE + 6 * 8 + 2 * 4 + 32;

    fn write(&self, bytes: &mut Vec<u8>) {
        put_bytes(bytes, self.name.as_bytes());
        put_bytes(bytes, &self.architecture);
        put_bytes(bytes, &self.randomizer);
        bytes.extend_from_slice(&self.clip.to_be_bytes());
        bytes.extend_from_slice(&self.clients.to_be_bytes());
        bytes.extend_from_slice(&self.check_in_rate.to_be_bytes());
        bytes.extend_from_slice(&self.drop_out.to_be_bytes());
        bytes.extend_from_slice(&self.rounds.to_be_bytes());
        bytes.extend_from_slice(&self.delta.to_be_bytes());
        bytes.extend_from_slice(&self.budget.to_be_bytes());
        put_bytes(bytes, &self.step);
        bytes.extend_from_slice(&self.payload_len.to_be_bytes());
        put_bytes(bytes, self.shuffler_url.as_bytes());
        bytes.extend_from_slice(self.shuffler_key.as_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            name: reader.text("name")?,
            architecture: reader.bytes("architecture")?.to_vec(),
            randomizer: reader.bytes("randomizer")?.to_vec(),
            clip: reader.f32("clip")?,
            clients: reader.u64("clients")?,
            check_in_rate: reader.f64("check_in_rate")?,
            drop_out: reader.f64("drop_out")?,
            rounds: reader.u64("rounds")?,
            delta: reader.f64("delta")?,
            budget: reader.f64("budget")?,
            step: reader.bytes("step")?.to_vec(),
            payload_len: reader.u32("payload_len")?,
            shuffler_url: reader.text("shuffler_url")?,
            shuffler_key: VerifyingKey::from_bytes(&reader.array("shuffler_key")?)?,
        })
    }

    // Comparisons are written so that NaN fails them.
    fn check(&self) -> Result<()> {
        require_len(self.name.len(), (1, MAX_NAME), Self::NAME, "name")?;
        require(!self.name.chars().any(char::is_control), Self::NAME, "name", "contains control characters")?;
        require_len(self.architecture.len(), (0, MAX_OPAQUE), Self::NAME, "architecture")?;
        require_len(self.randomizer.len(), (0, MAX_OPAQUE), Self::NAME, "randomizer")?;
        require_len(self.step.len(), (0, MAX_OPAQUE), Self::NAME, "step")?;
        require(self.clip > 0.0 && self.clip.is_finite(), Self::NAME, "clip", "has to be positive and finite")?;
        require((1..=MAX_COUNT).contains(&self.clients), Self::NAME, "clients", "has to be between 1 and 2^53")?;
        let rate = self.check_in_rate > 0.0 && self.check_in_rate <= 1.0;
        require(rate, Self::NAME, "check_in_rate", "has to be above 0 and at most 1")?;
        // −0 would be a second spelling of 0.
        let drop_out = self.drop_out >= 0.0 && self.drop_out < 1.0 && self.drop_out.is_sign_positive();
        require(drop_out, Self::NAME, "drop_out", "has to be at least 0 and below 1")?;
        require((1..=MAX_COUNT).contains(&self.rounds), Self::NAME, "rounds", "has to be between 1 and 2^53")?;
        require(self.delta > 0.0 && self.delta < 1.0, Self::NAME, "delta", "has to be between 0 and 1")?;
        require(self.budget > 0.0 && self.budget.is_finite(), Self::NAME, "budget", "has to be positive and finite")?;
        let payload = (1..=MAX_PAYLOAD_LEN).contains(&self.payload_len);
        require(payload, Self::NAME, "payload_len", "has to be between 1 and 16777216")?;
        check_url(&self.shuffler_url)
    }
}

/// Enough that a path can be appended; whether a host is behind it is for whoever connects.
fn check_url(url: &str) -> Result<()> {
    require_len(url.len(), (1, MAX_URL), Task::NAME, "shuffler_url")?;
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or("");
    let plain = url.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#@\\\"<>".contains(&byte));
    let whole = !host.is_empty() && !host.starts_with(['/', ':']) && !url.ends_with('/');
    let reason = "has to be https:// or http://, a host, an optional port and path, and no slash at the end";
    require(plain && whole, Task::NAME, "shuffler_url", reason)
}
