//! A message and who said it.

use crate::codec::{Message, Reader, VERSION, require_len};
use crate::error::{Result, WireError};
use crate::keys::{SigningKey, VerifyingKey};
use std::fmt;
use std::marker::PhantomData;

/// Length of an Ed25519 signature.
pub const SIGNATURE_LEN: usize = 64;

/// A message's encoding and an Ed25519 signature over the message type's context string and the
/// encoding. Nothing of the message can be read before [`verify`](Self::verify).
pub struct Signed<T> {
    body: Vec<u8>,
    signature: [u8; SIGNATURE_LEN],
    message: PhantomData<T>,
}

impl<T: Message> Signed<T> {
    /// Signs.
    pub fn sign(message: &T, key: &SigningKey) -> Result<Self> {
        let body = message.encode()?;
        let signature = key.sign(&covered::<T>(&body));
        Ok(Self { body, signature, message: PhantomData })
    }

    /// The message, if `key` signed it.
    pub fn verify(&self, key: &VerifyingKey) -> Result<T> {
        if !key.verifies(&covered::<T>(&self.body), &self.signature) {
            return Err(WireError::Signature { message: T::NAME });
        }
        T::decode(&self.body)
    }

    /// The message's encoding, then the signature.
    pub fn encode(&self) -> Vec<u8> {
        [self.body.as_slice(), &self.signature].concat()
    }

    /// The inverse of [`encode`](Self::encode). Looks at length, version and type only; what is
    /// inside stays closed until it is verified.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let truncated = WireError::Truncated { message: T::NAME, field: "signature" };
        let (body, signature) = bytes.split_last_chunk::<SIGNATURE_LEN>().ok_or(truncated)?;
        require_len(body.len(), (2, T::MAX_LEN), T::NAME, "encoding")?;
        Reader::new(T::NAME, body).start(T::TYPE)?;
        Ok(Self { body: body.to_vec(), signature: *signature, message: PhantomData })
    }

    /// No encoding is longer: what a caller should read at most.
    pub const fn max_len() -> usize {
        T::MAX_LEN + SIGNATURE_LEN
    }
}

/// Returns the bytes that a signature covers. The context ends in a zero byte and contains no
/// other, and the encoding repeats version and type.
fn covered<T: Message>(body: &[u8]) -> Vec<u8> {
    debug_assert_eq!(body[0], VERSION);
    [T::SIGNATURE_CONTEXT, body].concat()
}

impl<T> Clone for Signed<T> {
    fn clone(&self) -> Self {
        Self { body: self.body.clone(), signature: self.signature, message: PhantomData }
    }
}

impl<T> PartialEq for Signed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.signature == other.signature
    }
}

impl<T> Eq for Signed<T> {}

impl<T: Message> fmt::Debug for Signed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signed({}, {} bytes)", T::NAME, self.body.len())
    }
}
