//! How a message becomes bytes, and bytes a message: big-endian, bounded, and nothing left over.

use crate::error::{Result, WireError};

/// The first byte of every message.
pub const VERSION: u8 = 1;

/// The second byte of every message.
pub(crate) mod types {
    pub(crate) const TASK: u8 = 1;
    pub(crate) const ROUND: u8 = 2;
    pub(crate) const SHUFFLER_KEYS: u8 = 3;
    pub(crate) const REPORT: u8 = 4;
    pub(crate) const INNER_REPORT: u8 = 5;
    pub(crate) const BATCH_HEADER: u8 = 6;
    pub(crate) const BATCH_END: u8 = 7;
}

/// The largest count that is also exact as a double, which is what accounting, JSON and JavaScript
/// make of it.
pub(crate) const MAX_COUNT: u64 = 1 << 53;

/// A message with one encoding per value: what is decoded encodes to the same bytes, and values
/// that it must not have are refused both ways.
pub trait Message: Sized + sealed::Body {
    /// The message's bytes: version, type, body. Refuses a value that no decoder would accept.
    fn encode(&self) -> Result<Vec<u8>> {
        self.check()?;
        let mut bytes = vec![VERSION, Self::TYPE];
        self.write(&mut bytes);
        Ok(bytes)
    }

    /// The message that these bytes are, all of them.
    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.start(Self::TYPE)?;
        let message = Self::read(&mut reader)?;
        reader.finish()?;
        message.check()?;
        Ok(message)
    }
}

impl<T: sealed::Body> Message for T {}

pub(crate) mod sealed {
    use super::{Reader, Result};

    /// The type tag, length and fields of a message. Sealed: the list of messages is the protocol.
    pub trait Body: Sized {
        /// For errors.
        const NAME: &'static str;
        /// The second byte.
        const TYPE: u8;
        /// The signature covers this context before the message's bytes. It ends in a zero byte,
        /// which no context contains elsewhere, so that none is a prefix of another.
        const SIGNATURE_CONTEXT: &'static [u8];
        /// No encoding is longer.
        const MAX_LEN: usize;

        /// Appends the body.
        fn write(&self, bytes: &mut Vec<u8>);
        /// Reads the body; lengths are judged here, values in `check`.
        fn read(reader: &mut Reader<'_>) -> Result<Self>;
        /// Refuses values that the message must not have.
        fn check(&self) -> Result<()>;
    }
}

/// Takes a message's fields off the front of a slice. Nothing is allocated for a length until that
/// many bytes are there.
#[derive(Debug)]
pub struct Reader<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'static str, bytes: &'a [u8]) -> Self {
        Self { message, rest: bytes }
    }

    /// Version and type.
    pub(crate) fn start(&mut self, expected: u8) -> Result<()> {
        let message = self.message;
        let version = self.u8("version")?;
        if version != VERSION {
            return Err(WireError::Version { message, found: version });
        }
        let found = self.u8("type")?;
        if found != expected {
            return Err(WireError::Type { message, expected, found });
        }
        Ok(())
    }

    pub(crate) fn take(&mut self, len: usize, field: &'static str) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(len).ok_or(WireError::Truncated { message: self.message, field })?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        let (taken, rest) =
            self.rest.split_first_chunk::<N>().ok_or(WireError::Truncated { message: self.message, field })?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn f32(&mut self, field: &'static str) -> Result<f32> {
        Ok(f32::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn f64(&mut self, field: &'static str) -> Result<f64> {
        Ok(f64::from_be_bytes(self.array(field)?))
    }

    /// A 16-bit length and that many bytes; its bounds are the message's to check.
    pub(crate) fn bytes(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let len = self.u16(field)?;
        self.take(usize::from(len), field)
    }

    pub(crate) fn text(&mut self, field: &'static str) -> Result<String> {
        let bytes = self.bytes(field)?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.value(field, "is not UTF-8"))?;
        Ok(text.to_owned())
    }

    pub(crate) fn value(&self, field: &'static str, reason: &'static str) -> WireError {
        WireError::Value { message: self.message, field, reason }
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            extra => Err(WireError::TrailingBytes { message: self.message, extra }),
        }
    }
}

/// A 16-bit length and the bytes. `check` has bounded the length, so that it fits.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, field: &[u8]) {
    debug_assert!(field.len() <= usize::from(u16::MAX));
    bytes.extend_from_slice(&(field.len() as u16).to_be_bytes());
    bytes.extend_from_slice(field);
}

/// Refuses what `holds` is false for, by name.
pub(crate) fn require(holds: bool, message: &'static str, field: &'static str, reason: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(WireError::Value { message, field, reason }) }
}

/// Refuses a length outside `minimum..=maximum`.
pub(crate) fn require_len(
    found: usize,
    (minimum, maximum): (usize, usize),
    message: &'static str,
    field: &'static str,
) -> Result<()> {
    if (minimum..=maximum).contains(&found) {
        return Ok(());
    }
    let [found, minimum, maximum] = [found, minimum, maximum].map(|len| len as u64);
    Err(WireError::Length { message, field, found, minimum, maximum })
}
