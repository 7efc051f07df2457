//! `--dry-run`: what a run would cost, without the run.

use super::{every_bound, refused};
use crate::failure::Failure;
use crate::output;
use crate::output::training::plan;
use serde_json::json;
use shuffledp_learning::data::Clients;
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::training::{Simulation, TrainingConfig};
use shuffledp_learning::unbounded;
use std::time::{Duration, Instant};

/// The first round also starts threads; more of them, for about so long, tell more.
const PATIENCE: Duration = Duration::from_millis(500);

/// ε of as many rounds as would be run, and the time of a round times their number.
pub(super) fn run<P: Clients>(
    mut simulation: Simulation<P>,
    config: &TrainingConfig,
    json: bool,
    every: bool,
) -> Result<(), Failure> {
    let (rounds, epsilon) = simulation.plan().map_err(refused)?;
    let all = simulation.account_of(rounds).map_err(refused)?;
    let started = Instant::now();
    let stepped = simulation.step().map_err(refused)?;
    let first = if stepped { started.elapsed().as_secs_f64() } else { 0.0 };
    let seconds = seconds_of_a_round(&mut simulation, first)? * rounds as f64;
    let local = all.local_epsilon();
    let outcome = if every { every_bound(config, &all)? } else { None };
    let ledger = Ledger::resume(all, config.delta, None).map_err(refused)?;
    let epsilons = match epsilon {
        Some(epsilon) => Some((epsilon, ledger.epsilon_lower().map_err(refused)?, local)),
        None => None,
    };
    let threads = rayon::current_num_threads();
    if !json {
        output::print(&plan(config, rounds, epsilons, seconds, threads))?;
        return outcome
            .map_or(Ok(()), |outcome| output::print(&format!("\n{}", output::text::answer(&outcome, true)?)));
    }
    let number = |value: f64| unbounded::serialize(&value, serde_json::value::Serializer).map_err(anyhow::Error::from);
    let (epsilon, lower, local) = epsilons.unwrap_or((f64::INFINITY, f64::INFINITY, f64::INFINITY));
    let estimate = json!({
        "name": config.name,
        "rounds": rounds,
        "delta": config.delta,
        "epsilon": number(epsilon)?,
        "epsilon_lower": number(lower)?,
        "local_epsilon": number(local)?,
        "seconds": seconds,
        "threads": threads,
    });
    output::print(&format!("{estimate}\n"))?;
    outcome.map_or(Ok(()), |outcome| output::print(&output::text::document(&outcome, true)?))
}

/// The mean of some rounds after the first one, which took `first` seconds; that, if there are no
/// others.
fn seconds_of_a_round<P: Clients>(simulation: &mut Simulation<P>, first: f64) -> Result<f64, Failure> {
    let started = Instant::now();
    let mut rounds = 0;
    while started.elapsed() < PATIENCE && simulation.step().map_err(refused)? {
        rounds += 1;
    }
    Ok(if rounds > 0 { started.elapsed().as_secs_f64() / f64::from(rounds) } else { first })
}
