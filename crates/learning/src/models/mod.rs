//! Models with per-example gradients.

mod any;
mod architecture;
mod config;
mod engine;
mod evaluate;
mod gradients;
mod initial;
mod linear;
mod model;
mod network;
mod shape;
mod weights;

pub use any::{AnyModel, AnyTools};
pub use architecture::{Architecture, Layer};
pub use config::{ModelConfig, Nonlinearity};
pub use engine::Judgement;
pub use evaluate::Evaluation;
pub use gradients::{ClientGradient, ClippedSum};
pub use initial::initial_weights;
pub use linear::{Linear, LinearTools};
pub use model::Model;
pub use network::{Network, NetworkTools};
pub use shape::TensorShape;
pub use weights::{load_weights, save_weights};
