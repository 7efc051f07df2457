//! Where the vector of a report comes from.

use crate::assignment::Assignment;
use crate::error::{ClientError, Result};
use shuffledp_learning::data::Examples;
use shuffledp_learning::models::Model;

/// Computes what a client randomizes and sends, such as the gradient of its loss at the round's
/// weights. It is asked only in rounds in which the coin said yes.
pub trait Vectors: Send + Sync {
    /// The vector, one number for each of `weights`. What is longer than the task's clipping norm
    /// is scaled down to it afterwards.
    ///
    /// # Errors
    ///
    /// If there is none; then nothing is sent in this round.
    fn vector(&self, assignment: &Assignment, round: u64, weights: &[f32]) -> Result<Vec<f32>>;
}

/// The gradient of the task's own model on one example.
pub(crate) struct Gradient(pub(crate) Examples);

impl Vectors for Gradient {
    fn vector(&self, assignment: &Assignment, _round: u64, weights: &[f32]) -> Result<Vec<f32>> {
        Ok(assignment.model.fold_gradients_or_zeros(
            weights,
            &self.0,
            &[0],
            Vec::<f32>::new,
            |own, client| {
                own.extend_from_slice(client.gradient);
                Ok(())
            },
            |all, more| {
                all.extend(more);
                Ok(())
            },
        )?)
    }
}

/// The vector, with zeros in place of one that is not finite: the server chose the weights, and
/// must not learn from a missing report at which records they overflow.
pub(crate) fn finite(vectors: &dyn Vectors, assignment: &Assignment, round: u64, weights: &[f32]) -> Result<Vec<f32>> {
    let mut vector = vectors.vector(assignment, round, weights)?;
    if vector.len() != weights.len() {
        let (found, expected) = (vector.len(), weights.len());
        return Err(ClientError::Vector(format!("it has {found} numbers, and the model has {expected} weights")));
    }
    if !vector.iter().all(|x| x.is_finite()) {
        vector.fill(0.0);
    }
    Ok(vector)
}
