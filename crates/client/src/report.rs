//! From a gradient to sealed bytes.

use crate::assignment::Assignment;
use crate::error::{ClientError, Result};
use shuffledp_learning::collect::Collector;
use shuffledp_randomizers::{PublicSeed, Randomness};
use shuffledp_wire::{RoundOffer, ShufflerKeys, SystemRandom, seal_report};

/// Randomizes a gradient and seals it to the newest keys of both. `frame` is room for the
/// randomized gradient.
pub(crate) fn sealed_report(
    assignment: &Assignment,
    round: &RoundOffer,
    keys: &ShufflerKeys,
    gradient: &[f32],
    rng: &mut dyn Randomness,
    system: &mut SystemRandom,
    frame: &mut Vec<u8>,
) -> Result<Vec<u8>> {
    let context = round.context();
    assignment.frames.in_round(PublicSeed(context.public_seed())).report(gradient, rng, frame)?;
    let no_key = || ClientError::Task("a list of keys is empty".to_owned());
    let server_key = round.server_keys.first().ok_or_else(no_key)?;
    let shuffler_key = keys.keys.first().ok_or_else(no_key)?;
    seal_report(frame, &context, server_key, shuffler_key, system).map_err(ClientError::wire("sealing a report"))
}
