//! A public rotation of vectors: **wire format, version 1**. `tests/data/rotation/v1.txt` holds
//! examples.
//!
//! y = H·diag(s)·x/√D, with D the dimension filled up to a power of 2, H the matrix of
//! [`hadamard`], and signs s from a public seed. Client and server must have the same signs:
//!
//! 1. Keystream: ChaCha8 with the 32 bytes of the seed as its key, a 64-bit counter from 0, and the
//!    8 bytes of [`NONCE`]. It is read as little-endian u32 words.
//! 2. s_i is − if bit i mod 32 of word ⌊i/32⌋ is 1, bit 0 the lowest.
//!
//! Nobody needs the bits of y but the client who computes it, so its arithmetic is no part of the
//! format. **Privacy does not depend on this file**: the seed is public, and mechanisms that rotate
//! are private under every seed.

use crate::hadamard;
use crate::randomizer::PublicSeed;
use pulp::Arch;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

/// Version of the signs. Another one is another wire format.
pub const VERSION: u32 = 1;

/// The nonce of the keystream.
pub const NONCE: &[u8; 8] = b"rotate.1";

/// Signs of a word.
const WORD: usize = 32;

/// The rotation of one seed, for vectors of one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    seed: PublicSeed,
    dimension: usize,
    /// A bit for each coordinate, 1 for −.
    signs: Arc<[u32]>,
}

impl Rotation {
    /// For vectors of `dimension` ≥ 1 coordinates.
    pub fn new(seed: PublicSeed, dimension: u32) -> Self {
        let dimension = dimension as usize;
        let mut keystream = ChaCha8Rng::from_seed(seed.0);
        keystream.set_stream(u64::from_le_bytes(*NONCE));
        let signs = (0..dimension.div_ceil(WORD)).map(|_| keystream.next_u32()).collect();
        Self { seed, dimension, signs }
    }

    /// The seed.
    pub fn seed(&self) -> PublicSeed {
        self.seed
    }

    /// D: the dimension, filled up to a power of 2.
    pub fn padded_dimension(&self) -> usize {
        self.dimension.next_power_of_two()
    }

    /// Is s_i negative?
    pub fn is_negative(&self, i: usize) -> bool {
        self.signs[i / WORD] >> (i % WORD) & 1 == 1
    }

    /// Writes `scale`·H·diag(s)·x: without 1/√D. `rotated` becomes D long.
    ///
    /// # Panics
    ///
    /// If `x` has another dimension.
    pub fn apply(&self, x: &[f32], scale: f32, rotated: &mut Vec<f32>) {
        assert_eq!(x.len(), self.dimension, "a vector of another dimension");
        rotated.resize(self.padded_dimension(), 0.0);
        let (signed, filling) = rotated.split_at_mut(self.dimension);
        let (signed, signed_rest) = signed.as_chunks_mut::<WORD>();
        let (x, x_rest) = x.as_chunks::<WORD>();
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for ((signed, x), &signs) in signed.iter_mut().zip(x).zip(self.signs.iter()) {
                    flip(signed, x, signs, scale);
                }
            },
        );
        if let Some(&signs) = self.signs.get(x.len()) {
            flip(signed_rest, x_rest, signs, scale);
        }
        filling.fill(0.0);
        hadamard::transform(rotated);
    }

    /// diag(s)·H·y, its first coordinates, as many as a vector has: the inverse of
    /// [`apply`](Self::apply) times D.
    ///
    /// # Panics
    ///
    /// If `y` does not have D coordinates.
    pub fn undo(&self, mut y: Vec<i64>) -> Vec<i64> {
        assert_eq!(y.len(), self.padded_dimension(), "a rotated vector of another dimension");
        hadamard::transform(&mut y);
        y.truncate(self.dimension);
        for (i, y) in y.iter_mut().enumerate() {
            if self.is_negative(i) {
                *y = -*y;
            }
        }
        y
    }
}

/// `scale`·x with the signs of a word.
#[inline(always)]
fn flip(signed: &mut [f32], x: &[f32], signs: u32, scale: f32) {
    for (i, (signed, &x)) in signed.iter_mut().zip(x).enumerate() {
        // A sign is a float's highest bit.
        *signed = f32::from_bits((x * scale).to_bits() ^ (signs >> i << 31));
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_d_times() {
        for dimension in [1, 2, 5, 31, 32, 33, 64, 100, 5000] {
            let rotation = Rotation::new(PublicSeed([7; 32]), dimension);
            let x: Vec<f32> = (0..dimension).map(|i| (i % 19) as f32 - 9.0).collect();
            let mut rotated = vec![f32::NAN; 3];
            rotation.apply(&x, 1.0, &mut rotated);
            let d = rotation.padded_dimension() as f32;
            let back = rotation.undo(rotated.iter().map(|&y| y as i64).collect());
            assert!(back.iter().zip(&x).all(|(&back, &x)| back as f32 == d * x), "d = {dimension}");
        }
    }

    #[test]
    fn every_bit_of_the_seed_counts() {
        let mut other = [7; 32];
        other[31] ^= 1;
        let signs = |seed| Rotation::new(PublicSeed(seed), 4096).signs;
        assert_ne!(signs([7; 32]), signs(other));
        // Half of the signs are −: 2048 expected, standard deviation 32.
        let negative: u32 = signs([7; 32]).iter().map(|word| word.count_ones()).sum();
        assert!((1856..2240).contains(&negative), "{negative}");
    }
}
