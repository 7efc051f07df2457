//! The errors of this crate. They contain no secrets.

/// Why bytes were refused or could not be made.
///
/// No variant carries a key, a plaintext or a ciphertext, so that an error may be logged as it is.
/// Everything that can fail while a layer of a report is opened is one variant: who sends bytes and
/// watches the answers learns that they were refused, and not why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end too early.
    #[error("{message}: the bytes end within {field}")]
    Truncated {
        /// Which message.
        message: &'static str,
        /// Which field was being read.
        field: &'static str,
    },
    /// There are more bytes than the message has.
    #[error("{message}: {extra} bytes after its end")]
    TrailingBytes {
        /// Which message.
        message: &'static str,
        /// How many bytes are left over.
        extra: usize,
    },
    /// Another version of the protocol.
    #[error("{message}: version {found}; this program speaks version 1")]
    Version {
        /// Which message was expected.
        message: &'static str,
        /// The version byte.
        found: u8,
    },
    /// Another message than the one expected.
    #[error("{message}: its type byte is {found}, not {expected}")]
    Type {
        /// Which message was expected.
        message: &'static str,
        /// Its type byte.
        expected: u8,
        /// The type byte that came.
        found: u8,
    },
    /// A length outside its bounds.
    #[error("{message}: {field} has length {found}; it has to be between {minimum} and {maximum}")]
    Length {
        /// Which message.
        message: &'static str,
        /// Which field.
        field: &'static str,
        /// The length given.
        found: u64,
        /// The smallest one allowed.
        minimum: u64,
        /// The largest one allowed.
        maximum: u64,
    },
    /// A value that the message must not have.
    #[error("{message}: {field} {reason}")]
    Value {
        /// Which message.
        message: &'static str,
        /// Which field.
        field: &'static str,
        /// The requirement.
        reason: &'static str,
    },
    /// The signature is not that of this key over these bytes.
    #[error("{message}: the signature does not verify with the given key")]
    Signature {
        /// Which message.
        message: &'static str,
    },
    /// A public key that nobody can encrypt to or verify with: not canonical, or of small order.
    #[error("{kind}: not a usable public key")]
    UnusableKey {
        /// Which kind of key.
        kind: &'static str,
    },
    /// Text that is not a key of the kind wanted. The text is not repeated: it may be a secret.
    #[error("not a key of the kind wanted: expected a line that starts with {prefix:?}, then 44 characters of Base64")]
    KeyText {
        /// The prefix that such a line must have.
        prefix: &'static str,
    },
    /// The outer layer of a report did not open, for whatever reason.
    #[error("the report's outer layer does not open")]
    OpenOuter,
    /// The inner layer of a report did not open, for whatever reason.
    #[error("the report's inner layer does not open")]
    OpenInner,
    /// A payload has to have exactly the length that its task says.
    #[error("payload of {found} bytes; it has to have between 1 and {maximum}")]
    Payload {
        /// The length given.
        found: usize,
        /// The largest one that any task may have.
        maximum: u32,
    },
    /// A batch's records and its header do not belong together.
    #[error("batch: {reason}")]
    Batch {
        /// The mismatch.
        reason: &'static str,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system's generator failed: {reason}")]
    Entropy {
        /// The reason it gave.
        reason: String,
    },
}

/// Of whatever this room makes or reads.
pub type Result<T> = std::result::Result<T, WireError>;
