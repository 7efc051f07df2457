//! Ed25519 keys.

use super::text;
use crate::error::{Result, WireError};
use crate::random::system_bytes;
use ed25519_dalek::Signer;
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// A secret that signs. Wiped when dropped; `Debug` shows the public half only.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// A new one from the operating system's generator.
    pub fn generate() -> Result<Self> {
        Ok(Self::from_seed(&*system_bytes()?))
    }

    /// The key of a seed (RFC 8032's private key), for test vectors. Who knows the seed can sign.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// From the text of [`to_text`](Self::to_text).
    pub fn from_text(text: &str) -> Result<Self> {
        Ok(Self::from_seed(&*text::read(text::SIGNING, text)?))
    }

    /// For a file that only its owner may read.
    pub fn to_text(&self) -> Zeroizing<String> {
        text::write(text::SIGNING, self.0.as_bytes())
    }

    /// The public half.
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey(self.0.verifying_key())
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(secret of {})", self.verifying_key())
    }
}

/// A public key that verifies. Its text is that of configuration files: `shuffledp-verifying-v1:…`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey(ed25519_dalek::VerifyingKey);

impl VerifyingKey {
    /// From its bytes. Keys of small order, which verify what nobody signed, and second spellings
    /// of a key are refused.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self> {
        let wrong = WireError::UnusableKey { kind: "verifying key" };
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| wrong.clone())?;
        let canonical = key.to_edwards().compress().to_bytes() == *bytes;
        if canonical && !key.is_weak() { Ok(Self(key)) } else { Err(wrong) }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Strict: canonical scalar, no point of small order, the equation without cofactor; so every
    /// verifier agrees.
    pub(crate) fn verifies(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(bytes, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::write(text::VERIFYING, self.as_bytes()))
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for VerifyingKey {
    type Err = WireError;

    fn from_str(text: &str) -> Result<Self> {
        Self::from_bytes(&*text::read(text::VERIFYING, text)?)
    }
}
