//! Reports the claim of an algorithm's paper, where that claim is not sound.

use shuffledp_learning::LearningError;
use shuffledp_learning::training::TrainingConfig;

/// A sentence about so many `rounds`, for people who compare.
pub(super) fn claim(config: &TrainingConfig, clients: u64, rounds: u64) -> Result<Option<String>, LearningError> {
    let claim = config.algorithm.published_claim(clients, rounds, config.delta)?;
    Ok(claim.map(|claim| {
        let (epsilon, citation, note) = (claim.value, claim.citation, claim.note);
        let standing = claim.standing.word(claim.kind);
        format!("{citation}: claims ε = {epsilon:.4} for {rounds} rounds; {standing}, and not what is charged: {note}")
    }))
}
