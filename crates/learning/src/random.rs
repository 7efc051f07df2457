//! Random numbers that can be named: a seed, a purpose and indices give a stream of their own.

use rand::Rng;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use sha2::{Digest, Sha256};

/// The stream of `purpose` at `indices` (a round, a client, …): ChaCha20 with the key
/// SHA-256("shuffledp" ‖ seed ‖ length of purpose ‖ purpose ‖ indices), numbers as 8 bytes,
/// little-endian.
///
/// Streams of different names are independent for every practical purpose, so nothing depends on
/// who draws first: neither the number of threads nor a resumed run changes what is drawn.
pub fn stream(seed: u64, purpose: &str, indices: &[u64]) -> ChaCha20Rng {
    let mut hash = Sha256::new();
    hash.update(b"shuffledp");
    hash.update(seed.to_le_bytes());
    hash.update((purpose.len() as u64).to_le_bytes());
    hash.update(purpose.as_bytes());
    for index in indices {
        hash.update(index.to_le_bytes());
    }
    ChaCha20Rng::from_seed(hash.finalize().into())
}

/// Uniform in [0, 1): the multiples of 2⁻²⁴.
///
/// Spelled out, because `rand` may change how it makes floats, and a dataset or an initialisation
/// should not change with it.
pub fn unit(random: &mut impl Rng) -> f32 {
    (random.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Uniform in [low, high), up to rounding.
pub fn between(random: &mut impl Rng, low: f32, high: f32) -> f32 {
    low + (high - low) * unit(random)
}
