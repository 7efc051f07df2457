//! Models with per-example gradients.

mod architecture;
mod config;
mod engine;
mod evaluate;
mod gradients;
mod initial;
mod model;
mod network;
mod shape;
mod weights;

pub use architecture::{Architecture, Layer};
pub use config::{ModelConfig, Nonlinearity};
pub use engine::Judgement;
pub use evaluate::Evaluation;
pub use gradients::ClientGradient;
pub use initial::initial_weights;
pub use model::Model;
pub use network::{Network, NetworkTools};
pub use shape::TensorShape;
pub use weights::{load_weights, save_weights};
