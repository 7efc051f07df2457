//! Where ids and ephemeral keys come from.

use crate::error::{Result, WireError};
use rand::rand_core::{Infallible, TryCryptoRng, TryRng};
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};
use zeroize::Zeroizing;

/// ChaCha20, keyed with 256 bits of the operating system's generator. It cannot be seeded, cloned,
/// printed or saved.
pub struct SystemRandom(ChaCha20Rng);

impl SystemRandom {
    /// Keyed by the operating system.
    pub fn from_operating_system() -> Result<Self> {
        Ok(Self(ChaCha20Rng::from_seed(*system_bytes()?)))
    }
}

/// 32 bytes of the operating system's generator.
pub(crate) fn system_bytes() -> Result<Zeroizing<[u8; 32]>> {
    let mut bytes = Zeroizing::new([0; 32]);
    SysRng.try_fill_bytes(bytes.as_mut_slice()).map_err(|error| WireError::Entropy { reason: error.to_string() })?;
    Ok(bytes)
}

impl std::fmt::Debug for SystemRandom {
    // Who reads its state can open every report sealed after it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SystemRandom(…)")
    }
}

impl TryRng for SystemRandom {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for SystemRandom {}
