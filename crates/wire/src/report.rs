//! Where everything is in a report. All reports of a task have one length.
//!
//! ```text
//! report   version ‖ 4 ‖ key id ‖ enc (32) ‖ AES-128-GCM of [ context (104) ‖ inner ] ‖ tag (16)     to the shuffler
//! inner    version ‖ 5 ‖ key id ‖ enc (32) ‖ AES-128-GCM of [ report id (16) ‖ payload ] ‖ tag (16)  to the server
//! ```

use crate::codec::{VERSION, types};
use crate::error::{Result, WireError};
use crate::ids::{KeyId, ReportId, RoundContext};
use sha2::{Digest, Sha256};
use std::fmt;

/// No payload is longer: 16 MiB.
pub const MAX_PAYLOAD_LEN: u32 = 1 << 24;

/// Version, type, key id.
pub(crate) const HEADER_LEN: usize = 3;
/// An encapsulated X25519 key.
pub(crate) const ENC_LEN: usize = 32;
/// Of AES-128-GCM.
pub(crate) const TAG_LEN: usize = 16;
/// The length of the bytes before the ciphertext, in either layer.
pub(crate) const PREFIX_LEN: usize = HEADER_LEN + ENC_LEN;

const INNER_OVERHEAD: usize = PREFIX_LEN + ReportId::LEN + TAG_LEN;
const OVERHEAD: usize = PREFIX_LEN + RoundContext::LEN + INNER_OVERHEAD + TAG_LEN;

/// Length of a sealed report, the body of `POST /v1/reports`: the payload's and 222 bytes.
pub const fn report_len(payload_len: u32) -> usize {
    payload_len as usize + OVERHEAD
}

/// Length of an inner report, a batch's record: the payload's and 67 bytes.
pub const fn inner_len(payload_len: u32) -> usize {
    payload_len as usize + INNER_OVERHEAD
}

/// Whether this is the length of some task's inner reports.
pub(crate) const fn is_inner_len(len: usize) -> bool {
    inner_len(1) <= len && len <= inner_len(MAX_PAYLOAD_LEN)
}

/// Whether this is the length of some task's reports.
pub(crate) const fn is_report_len(len: usize) -> bool {
    report_len(1) <= len && len <= report_len(MAX_PAYLOAD_LEN)
}

/// A layer's first three bytes; they are also authenticated with it.
pub(crate) const fn outer_header(id: KeyId) -> [u8; HEADER_LEN] {
    [VERSION, types::REPORT, id.0]
}

/// As [`outer_header`], of the inner layer.
pub(crate) const fn inner_header(id: KeyId) -> [u8; HEADER_LEN] {
    [VERSION, types::INNER_REPORT, id.0]
}

/// A layer in its parts: key id, encapsulated key, ciphertext with tag. `None` if the header is not
/// this one's.
pub(crate) fn split(bytes: &[u8], header: fn(KeyId) -> [u8; HEADER_LEN]) -> Option<(KeyId, &[u8], &[u8])> {
    let (prefix, ciphertext) = bytes.split_at_checked(PREFIX_LEN)?;
    let (head, enc) = prefix.split_at(HEADER_LEN);
    let id = KeyId(head[2]);
    (head == header(id)).then_some((id, enc, ciphertext))
}

/// A report without its outer layer, sealed to the server: what the shuffler stores, permutes and
/// passes on. It cannot be opened without the server's key.
#[derive(Clone, PartialEq, Eq)]
pub struct InnerReport(Vec<u8>);

impl InnerReport {
    /// From stored bytes. Looks at length and header only.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let framed = is_inner_len(bytes.len()) && split(&bytes, inner_header).is_some();
        if framed { Ok(Self(bytes)) } else { Err(WireError::OpenInner) }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// SHA-256 of its bytes: the same report sealed once more for the shuffler has the same digest,
    /// and counts once.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

impl fmt::Debug for InnerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InnerReport({} bytes)", self.0.len())
    }
}
