//! `prefix:BASE64` for 32 bytes. The prefix says what they are, so that a secret is not taken for a
//! public key and the other way round.

use crate::error::{Result, WireError};
use base64ct::{Base64, Encoding};
use zeroize::{Zeroize, Zeroizing};

pub(super) const SIGNING: &str = "shuffledp-signing-secret-v1:";
pub(super) const VERIFYING: &str = "shuffledp-verifying-v1:";
pub(super) const HPKE_SECRET: &str = "shuffledp-hpke-secret-v1:";
pub(super) const HPKE_PUBLIC: &str = "shuffledp-hpke-public-v1:";

/// Padded standard Base64: 44 characters for 32 bytes.
pub(super) fn write(prefix: &str, bytes: &[u8; 32]) -> Zeroizing<String> {
    let mut encoded = Base64::encode_string(bytes);
    // One allocation of the right size: growing would leave copies of a secret behind.
    let mut text = Zeroizing::new(String::with_capacity(prefix.len() + encoded.len()));
    text.push_str(prefix);
    text.push_str(&encoded);
    encoded.zeroize();
    text
}

/// Only what [`write`] writes, and blanks around it.
pub(super) fn read(prefix: &'static str, text: &str) -> Result<Zeroizing<[u8; 32]>> {
    let wrong = WireError::KeyText { prefix };
    let encoded = text.trim().strip_prefix(prefix).ok_or(wrong.clone())?;
    let mut bytes = Zeroizing::new([0; 32]);
    match Base64::decode(encoded, bytes.as_mut_slice()) {
        Ok(decoded) if decoded.len() == 32 => Ok(bytes),
        _ => Err(wrong),
    }
}
