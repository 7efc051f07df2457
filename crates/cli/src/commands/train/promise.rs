//! What is known beforehand about how far from the optimum a run ends.

use shuffledp_learning::LearningError;
use shuffledp_learning::convergence::{Convergence, convergence};
use shuffledp_learning::data::Clients;
use shuffledp_learning::schedule::Schedule;
use shuffledp_learning::training::TrainingConfig;

/// What the algorithm's paper claims where that is not sound.
pub(super) fn claim(config: &TrainingConfig, clients: u64) -> Result<Option<String>, LearningError> {
    let claim = config.algorithm.published_claim(clients, config.rounds, config.delta)?;
    Ok(claim.map(|claim| {
        let (epsilon, citation, note) = (claim.value, claim.citation, claim.note);
        format!(
            "{citation}: claims ε = {epsilon:.4} for {} rounds; flawed, and not what is charged: {note}",
            config.rounds
        )
    }))
}

/// A sentence, for the schedule that was made for it.
pub(super) fn promise(config: &TrainingConfig, population: &impl Clients) -> Result<Option<String>, LearningError> {
    if !matches!(config.step.schedule, Schedule::InverseSqrt { .. }) {
        return Ok(None);
    }
    let theorem = "Girgis et al. 2021, Theorem 3";
    let rounds = config.rounds;
    Ok(Some(match convergence(config, population)? {
        Convergence::Bounded(bound) => {
            let (gap, gradient) = (bound.gap_after(rounds), bound.best_gradient_bound());
            format!(
                "{theorem}: after {rounds} rounds the mean loss of the last weights is, on average, at most {gap:.4} above \
                 its minimum on the ball (G = {gradient:.4})"
            )
        }
        Convergence::NotCovered(why) => format!("{theorem} says nothing about this run: {why}"),
    }))
}
