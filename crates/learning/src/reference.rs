//! Training without privacy: the reference that private training is measured against.

use crate::data::Clients;
use crate::models::Model;
use crate::random;
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};

/// Mini-batch SGD with momentum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sgd {
    /// Clients in a batch; the last one of an epoch may be smaller.
    pub batch: usize,
    /// Step size at the beginning. It falls to nothing along half a cosine wave.
    pub learning_rate: f64,
    /// How much of the last step is taken again.
    pub momentum: f64,
    /// How often every client takes part.
    pub epochs: u64,
}

impl Sgd {
    /// Trains, and calls `after_epoch` with the number of epochs done and the weights.
    pub fn train(
        &self,
        model: &Model,
        weights: &mut [f32],
        population: &impl Clients,
        seed: u64,
        mut after_epoch: impl FnMut(u64, &[f32]) -> Result<()>,
    ) -> Result<()> {
        self.check()?;
        let mut velocity = vec![0.0f32; weights.len()];
        let batches = population.count().div_ceil(self.batch as u64);
        let steps = (batches * self.epochs) as f64;
        for epoch in 0..self.epochs {
            let mut clients: Vec<u64> = (0..population.count()).collect();
            random::shuffle(&mut random::stream(seed, "order of an epoch", &[epoch]), &mut clients);
            for (index, batch) in clients.chunks(self.batch).enumerate() {
                let progress = (epoch * batches + index as u64) as f64 / steps;
                let rate = self.learning_rate * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * progress));
                let gradient = mean_gradient(model, weights, population, batch)?;
                for ((weight, velocity), gradient) in weights.iter_mut().zip(&mut velocity).zip(gradient) {
                    *velocity = self.momentum as f32 * *velocity + gradient;
                    *weight -= rate as f32 * *velocity;
                }
            }
            after_epoch(epoch + 1, weights)?;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.batch == 0 {
            return Err(LearningError::out_of_range("batch", "at least 1", self.batch));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(LearningError::out_of_range("learning_rate", "positive", self.learning_rate));
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(LearningError::out_of_range("momentum", "in [0, 1)", self.momentum));
        }
        Ok(())
    }
}

/// The mean of the clients' gradients.
pub fn mean_gradient(model: &Model, weights: &[f32], population: &impl Clients, clients: &[u64]) -> Result<Vec<f32>> {
    let add = |sum: &mut [f32], more: &[f32]| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    let sum = model.fold_gradients(
        weights,
        population,
        clients,
        || vec![0.0f32; weights.len()],
        |sum, client| {
            add(sum, client.gradient);
            Ok(())
        },
        |sum, more| add(sum, &more),
    )?;
    let scale = 1.0 / clients.len().max(1) as f32;
    Ok(sum.into_iter().map(|sum| sum * scale).collect())
}
