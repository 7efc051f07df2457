//! A model as a configuration file names it.

use super::architecture::{is_yes, yes};
use super::{Architecture, Layer, TensorShape};
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};

/// tanh or ReLU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nonlinearity {
    /// tanh.
    Tanh,
    /// max(0, x).
    Relu,
}

/// A named model or a chain of layers. The shape of the input and the number of classes come from
/// the data.
///
/// ```
/// # use shuffledp_learning::models::{ModelConfig, TensorShape};
/// let config: ModelConfig = toml::from_str(r#"
///     kind = "cnn-16"
///     activation = "tanh"
/// "#)?;
/// assert_eq!(config.architecture(TensorShape::new(1, 28, 28), 10)?.parameters(), 13_706);
/// let config: ModelConfig = toml::from_str(r#"
///     kind = "layers"
///     layers = [
///         { kind = "convolution", filters = 4, kernel = 5, stride = 2, padding = 2 },
///         { kind = "relu" },
///         { kind = "max-pool", window = 2, stride = 2 },
///         { kind = "dense", units = 10 },
///     ]
/// "#)?;
/// assert_eq!(config.architecture(TensorShape::new(1, 28, 28), 10)?.parameters(), 2_074);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ModelConfig {
    /// Multinomial logistic regression: one dense layer. Without biases its weights start at zero,
    /// and rounds are computed by matrix products ([`Linear`](super::Linear)).
    Linear {
        /// Whether every class has a bias.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        bias: bool,
    },
    /// Dense layers with a nonlinearity between them.
    Mlp {
        /// Units of each hidden layer.
        hidden: Vec<usize>,
        /// Between the layers.
        activation: Nonlinearity,
    },
    /// The network of Girgis et al.: 13,706 weights on MNIST (they count 13,170).
    #[serde(rename = "cnn-16")]
    Cnn16 {
        /// After every layer but the last.
        activation: Nonlinearity,
    },
    /// The network of the check-in and Gaussian papers: 26,010 weights on MNIST.
    #[serde(rename = "cnn-32")]
    Cnn32 {
        /// After every layer but the last.
        activation: Nonlinearity,
    },
    /// Any chain of layers.
    Layers {
        /// First to last; the last one dense, with a unit for each class.
        layers: Vec<Layer>,
    },
}

impl ModelConfig {
    /// The layers, for examples of this shape.
    pub fn architecture(&self, input: TensorShape, classes: usize) -> Result<Architecture> {
        let scores = Layer::Dense { units: classes, bias: true };
        let layers = match self {
            Self::Linear { bias } => vec![Layer::Dense { units: classes, bias: *bias }],
            Self::Mlp { hidden, activation } => {
                let hidden = hidden.iter().flat_map(|&units| [Layer::Dense { units, bias: true }, activation.layer()]);
                hidden.chain([scores]).collect()
            }
            Self::Cnn16 { activation } => papers(2, 16, activation.layer(), scores),
            Self::Cnn32 { activation } => papers(3, 32, activation.layer(), scores),
            Self::Layers { layers } => layers.clone(),
        };
        let architecture = Architecture::new(input, layers)?;
        if architecture.classes() != classes {
            let requirement = format!("{classes}, the number of classes in the data");
            return Err(LearningError::out_of_range("units of the last layer", requirement, architecture.classes()));
        }
        Ok(architecture)
    }
}

impl Nonlinearity {
    fn layer(self) -> Layer {
        match self {
            Self::Tanh => Layer::Tanh,
            Self::Relu => Layer::Relu,
        }
    }
}

/// The papers' tables: two convolutions with pooling of stride 1 (so the pictures overlap), then
/// two dense layers.
fn papers(padding: usize, filters: usize, activation: Layer, scores: Layer) -> Vec<Layer> {
    let pool = Layer::MaxPool { window: 2, stride: 1 };
    vec![
        Layer::Convolution { filters: 16, kernel: 8, stride: 2, padding },
        activation,
        pool,
        Layer::Convolution { filters, kernel: 4, stride: 2, padding: 0 },
        activation,
        pool,
        Layer::Dense { units: 32, bias: true },
        activation,
        scores,
    ]
}
