//! One round, as three functions: what a client does, what the server does, and what it costs. Simulations and services call these and
//! nothing else, so what is simulated is what is deployed; the one shortcut is equal in law, see [`client_report`].

use crate::ledger::{Cost, Ledger};
use crate::models::Architecture;
use crate::step::{ServerState, StepRule};
use crate::{LearningError, Result};
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_randomizers::Randomness;
use shuffledp_randomizers::erased::VectorRandomizer;

/// Refuses what is for simulations only, where reports are to leave a machine: noise in floating point, whose low-order bits can give the input away (Mironov 2012).
pub fn check_deployable(randomizer: &RandomizerSpec) -> Result<()> {
    let (name, instead) = match randomizer.mechanism() {
        Mechanism::Gaussian { .. } => ("gaussian", "discrete-gaussian"),
        Mechanism::Laplace { .. } => ("laplace", "discrete-laplace"),
        _ => return Ok(()),
    };
    let reason = "low-order bits of noise in floating point can give the input away";
    Err(LearningError::out_of_range("randomizer", format!("{instead} where reports leave a machine ({reason})"), name))
}

/// A client's report: its gradient, clipped and randomized, as a frame of the mechanism's length.
///
/// Simulations go through it by way of a [`Collector`](crate::collect::Collector). One of these, [`SummedGaussian`](crate::collect::SummedGaussian), draws
/// the noise of all clients at once: not the same reports, but a sum with the law of theirs, as is proven there.
pub fn client_report(
    mechanism: &dyn VectorRandomizer,
    gradient: &[f32],
    rng: &mut dyn Randomness,
    frame: &mut [u8],
) -> Result<()> {
    Ok(mechanism.randomize_into(gradient, rng, frame)?)
}

/// The server's step along the estimated mean gradient of a shuffled batch; `None` if nobody was heard: the round counts, and the
/// weights stay. `architecture` says which weights are of which layer.
pub fn server_step(
    estimate: Option<&[f64]>,
    rule: &StepRule,
    architecture: &Architecture,
    state: &mut ServerState,
) -> Result<()> {
    state.advance(estimate, rule, architecture)
}

/// Charges a round that is about to happen. False if it would exceed the budget: then nothing was charged, and it must not happen.
///
/// Mostly `cost` is a [`Round`](shuffledp_accounting::scheme::Round); an epoch over blocks of records is charged as one, see [`Cost`].
pub fn charge(ledger: &mut Ledger, cost: impl Into<Cost>) -> Result<bool> {
    ledger.spend(cost.into())
}
