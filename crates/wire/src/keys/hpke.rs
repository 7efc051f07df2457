//! HPKE keys of the one suite of version 1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM
//! (RFC 9180: 0x0020, 0x0001, 0x0001).

use super::text;
use crate::error::{Result, WireError};
use crate::kem::{Dhkem, KeyPair, Public};
use crate::random::system_bytes;
use hpke::{Deserializable, Kem as _, Serializable};
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

pub(crate) type Kem = Dhkem;
pub(crate) type Kdf = hpke::kdf::HkdfSha256;
pub(crate) type Aead = hpke::aead::AesGcm128;

/// p = 2^255 − 19, little-endian, as X25519 writes numbers.
const PRIME: [u8; 32] = {
    let mut prime = [0xff; 32];
    prime[0] = 0xed;
    prime[31] = 0x7f;
    prime
};

/// A public key that reports are sealed to. Its text is that of configuration files:
/// `shuffledp-hpke-public-v1:…`.
#[derive(Clone, PartialEq, Eq)]
pub struct HpkePublicKey(Public);

impl HpkePublicKey {
    /// From its bytes. Second spellings of a key (a number of p or more) are refused here; points
    /// of small order when something is sealed to them.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self> {
        let wrong = WireError::UnusableKey { kind: "HPKE public key" };
        if bytes.iter().rev().ge(PRIME.iter().rev()) {
            return Err(wrong);
        }
        Public::from_bytes(bytes).map(Self).map_err(|_| wrong)
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes().into()
    }

    pub(crate) fn as_hpke(&self) -> &Public {
        &self.0
    }
}

impl fmt::Display for HpkePublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::write(text::HPKE_PUBLIC, &self.to_bytes()))
    }
}

impl fmt::Debug for HpkePublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for HpkePublicKey {
    type Err = WireError;

    fn from_str(text: &str) -> Result<Self> {
        Self::from_bytes(&*text::read(text::HPKE_PUBLIC, text)?)
    }
}

/// A secret that opens what was sealed to its public half. Wiped when dropped; `Debug` shows the
/// public half only.
#[derive(Clone)]
pub struct HpkeSecretKey(KeyPair);

impl HpkeSecretKey {
    /// A new one from the operating system's generator.
    pub fn generate() -> Result<Self> {
        Ok(Self::derive(system_bytes()?.as_slice()))
    }

    /// `DeriveKeyPair` of RFC 9180, section 7.1.3, for test vectors. Who knows the material can
    /// open reports.
    pub fn derive(material: &[u8]) -> Self {
        Self(Kem::derive_keypair(material).0)
    }

    /// From the text of [`to_text`](Self::to_text).
    pub fn from_text(text: &str) -> Result<Self> {
        let bytes = text::read(text::HPKE_SECRET, text)?;
        KeyPair::from_bytes(bytes.as_slice()).map(Self).map_err(|_| WireError::KeyText { prefix: text::HPKE_SECRET })
    }

    /// For a file that only its owner may read.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new([0; 32]);
        self.0.write_exact(bytes.as_mut_slice());
        text::write(text::HPKE_SECRET, &bytes)
    }

    /// The public half.
    pub fn public_key(&self) -> HpkePublicKey {
        HpkePublicKey(self.0.public().clone())
    }

    pub(crate) fn as_hpke(&self) -> &KeyPair {
        &self.0
    }
}

impl fmt::Debug for HpkeSecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HpkeSecretKey(secret of {})", self.public_key())
    }
}
