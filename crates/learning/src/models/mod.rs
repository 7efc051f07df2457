//! Networks with per-example gradients.

mod architecture;
mod config;
mod engine;
mod evaluate;
mod gradients;
mod initial;
mod shape;
mod weights;

pub use architecture::{Architecture, Layer};
pub use config::{ModelConfig, Nonlinearity};
pub use evaluate::Evaluation;
pub use gradients::ClientGradient;
pub use initial::initial_weights;
pub use shape::TensorShape;
pub use weights::{load_weights, save_weights};

use crate::data::Clients;
use crate::{LearningError, Result};
use engine::Engine;

/// A network, without its weights: those are a vector of [`parameters`](Model::parameters) numbers that the caller keeps.
///
/// The vector is ordered as PyTorch's `parameters()`: layer by layer, weights before biases, a convolution's as \[filter\]\[channel\]\[row\]\[column\],
/// a dense layer's as \[unit\]\[input\].
#[derive(Debug, Clone)]
pub struct Model {
    architecture: Architecture,
    engine: Engine,
}

impl Model {
    /// Makes an architecture ready for this machine.
    pub fn new(architecture: Architecture) -> Self {
        let engine = Engine::new(&architecture);
        Self { architecture, engine }
    }

    /// What it is made of.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// d, the number of weights and biases.
    pub fn parameters(&self) -> usize {
        self.architecture.parameters()
    }

    /// Whether these weights and this population can meet: a clear sentence before the work instead of nonsense after it.
    fn check(&self, weights: &[f32], population: &impl Clients) -> Result<()> {
        if weights.len() != self.parameters() {
            let (needed, given) = (self.parameters(), weights.len());
            return Err(LearningError::Data(format!("the model has {needed} weights, but {given} were given")));
        }
        if let Some(index) = weights.iter().position(|weight| !weight.is_finite()) {
            let weight = weights[index];
            return Err(LearningError::Data(format!(
                "weight {index} is {weight}: the training has diverged; take smaller steps"
            )));
        }
        if population.shape().len() != self.architecture.input().len() {
            let (wanted, given) = (self.architecture.input(), population.shape());
            return Err(LearningError::Data(format!("the model's input is {wanted}, but the examples are {given}")));
        }
        if population.classes() > self.architecture.classes() {
            let (outputs, classes) = (self.architecture.classes(), population.classes());
            return Err(LearningError::Data(format!(
                "the model tells {outputs} classes apart, but the data has {classes}"
            )));
        }
        Ok(())
    }
}
