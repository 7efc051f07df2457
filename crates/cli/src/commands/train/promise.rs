//! Convergence bounds that are known before a run: how far from the optimum it ends.

use shuffledp_learning::LearningError;
use shuffledp_learning::convergence::{Convergence, convergence};
use shuffledp_learning::data::Clients;
use shuffledp_learning::schedule::Schedule;
use shuffledp_learning::training::TrainingConfig;

/// A sentence about so many `rounds`, for the schedule that was made for it.
pub(super) fn promise(
    config: &TrainingConfig,
    population: &impl Clients,
    rounds: u64,
) -> Result<Option<String>, LearningError> {
    if !matches!(config.step.schedule, Schedule::InverseSqrt { .. }) {
        return Ok(None);
    }
    let theorem = "Girgis et al. 2021, Theorem 3";
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
