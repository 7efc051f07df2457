//! The shuffle under audit, and what its order gives away.
//!
//! A uniform shuffle leaves nothing in the order. One that is not may carry the victim's report to
//! some places more often than to others; where, is learnt by watching it shuffle numbered items,
//! and used as an attacker would.

use super::generators::Generators;
use super::trials::Trials;
use crate::error::Result;
use crate::randomness::Randomness;
use crate::shuffle;
use shuffledp_accounting::scheme::{Participation, Scheme};

/// Something that puts a batch in another order, without looking at what is in it.
pub trait Shuffle: Sync {
    /// Puts `items` in a random order.
    fn permute<T>(&self, items: &mut [T], rng: &mut dyn Randomness);
}

/// The shuffle of this crate.
#[derive(Debug, Clone, Copy, Default)]
pub struct FisherYates;

impl Shuffle for FisherYates {
    fn permute<T>(&self, items: &mut [T], rng: &mut dyn Randomness) {
        shuffle::permute(items, rng);
    }
}

/// Items moved while watching, in all; and the fewest times that it is watched.
const MOVES: u64 = 4_000_000;
const FEWEST: u64 = 32;

/// The share of times, at most `most`, in which the item that came in first (the victim's) came out
/// at each place. Nothing for a batch of one.
pub(super) fn positions<S: Shuffle, G: Generators>(
    shuffle: &S,
    scheme: &Scheme,
    most: u64,
    trials: &mut Trials<'_, G>,
) -> Result<Vec<f64>> {
    let size = typical_size(scheme);
    if size == 1 {
        return Ok(Vec::new());
    }
    let watched = (MOVES / size as u64).min(most).max(FEWEST);
    let places = trials.watch(watched, |rng| {
        let mut items: Vec<usize> = (0..size).collect();
        shuffle.permute(&mut items, rng);
        Ok(items.iter().position(|&item| item == 0).unwrap_or(0))
    })?;
    let mut shares = vec![0.0; size];
    places.into_iter().for_each(|place| shares[place] += 1.0 / watched as f64);
    Ok(shares)
}

/// How many participate, or about how many.
fn typical_size(scheme: &Scheme) -> usize {
    let size = match scheme.participation() {
        Participation::Everyone => scheme.clients() as f64,
        Participation::FixedSize { sampled } => sampled as f64,
        Participation::CheckIn { rate, drop_out } => (scheme.clients() as f64 * rate * (1.0 - drop_out)).round(),
    };
    (size as usize).max(1)
}
