//! Weights that are pulled towards 0.

use crate::models::Architecture;
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};

/// The weight decay: each round updates w ← w − rate·(v + decay·w), where v is the gradient or,
/// with momentum, the velocity. The decay term is not part of the velocity.
///
/// Steps along gradients with noise σ make every weight a random walk, of size rate·σ·√rounds at
/// the end (without momentum). The small gradients of the first layers are soon lost in it; with
/// decay, the walk stays at about σ·√(rate/(2·decay)). The layer of the scores has large gradients,
/// and usually needs no decay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number, or a list with a number for each layer that has weights")]
pub enum WeightDecay {
    /// The same for all weights.
    Everywhere(f64),
    /// For each layer that has weights, first to last; biases are weights.
    ByLayer(Vec<f64>),
}

impl Default for WeightDecay {
    fn default() -> Self {
        Self::Everywhere(0.0)
    }
}

impl WeightDecay {
    /// Whether nothing is taken off.
    pub fn is_none(&self) -> bool {
        self.values().iter().all(|&decay| decay == 0.0)
    }

    /// Whether it makes sense with steps of at most `largest_rate`. A step that took off more than
    /// the weight would turn its sign.
    pub(crate) fn check(&self, largest_rate: f64) -> Result<()> {
        let wrong = |decay: &&f64| !(**decay >= 0.0 && **decay * largest_rate <= 1.0);
        match self.values().iter().find(wrong) {
            Some(decay) => {
                let requirement = format!("in [0, {}], the inverse of the largest step size", 1.0 / largest_rate);
                Err(LearningError::out_of_range("weight_decay", requirement, decay))
            }
            None => Ok(()),
        }
    }

    /// Whether there is a number for each layer of this network.
    pub(crate) fn check_layers(&self, architecture: &Architecture) -> Result<()> {
        let layers = architecture.weights_by_layer().count();
        match self {
            Self::ByLayer(decays) if decays.len() != layers => {
                let requirement = format!("a number, or a list of {layers}: one for each layer that has weights");
                Err(LearningError::out_of_range("weight_decay", requirement, format!("a list of {}", decays.len())))
            }
            _ => Ok(()),
        }
    }

    /// For each weight of this network.
    pub(crate) fn of_each_weight(&self, architecture: &Architecture) -> impl Iterator<Item = f64> {
        architecture.weights_by_layer().enumerate().flat_map(|(layer, weights)| {
            let decay = match self {
                Self::Everywhere(decay) => *decay,
                Self::ByLayer(decays) => decays[layer],
            };
            std::iter::repeat_n(decay, weights)
        })
    }

    fn values(&self) -> &[f64] {
        match self {
            Self::Everywhere(decay) => std::slice::from_ref(decay),
            Self::ByLayer(decays) => decays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{Layer, TensorShape};

    #[derive(Deserialize)]
    struct Table {
        weight_decay: WeightDecay,
    }

    fn parse(value: &str) -> std::result::Result<WeightDecay, toml::de::Error> {
        toml::from_str::<Table>(&format!("weight_decay = {value}")).map(|table| table.weight_decay)
    }

    /// Layers of 8 and 6 weights.
    fn network() -> Architecture {
        let layers = vec![Layer::Dense { units: 2, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }];
        let network = Architecture::new(TensorShape::vector(3), layers).unwrap();
        assert_eq!(network.weights_by_layer().collect::<Vec<_>>(), [8, 6]);
        network
    }

    #[test]
    fn one_for_all_or_one_for_each_layer() {
        let each = |value: &str| {
            let decay = parse(value).unwrap();
            decay.check_layers(&network()).unwrap();
            decay.of_each_weight(&network()).collect::<Vec<_>>()
        };
        assert_eq!(each("0.5"), [0.5; 14]);
        assert_eq!(each("[0.25, 0]"), [[0.25; 8].as_slice(), &[0.0; 6]].concat());
        assert!(parse("0").unwrap().is_none() && parse("[0, 0.0]").unwrap().is_none());
        assert!(!parse("[0, 1e-9]").unwrap().is_none());
    }

    #[test]
    fn nonsense_is_refused() {
        for value in ["-0.1", "nan", "inf", "2.1", "[0.1, -0.1]", "[nan]"] {
            let error = parse(value).unwrap().check(0.5).unwrap_err().to_string();
            assert!(error.contains("weight_decay") && error.contains("[0, 2]"), "{error}");
        }
        parse("2").unwrap().check(0.5).unwrap();
        for value in ["[]", "[0.1]", "[0.1, 0.1, 0.1]"] {
            let error = parse(value).unwrap().check_layers(&network()).unwrap_err().to_string();
            assert!(error.contains("a list of 2"), "{error}");
        }
        assert!(parse("'much'").unwrap_err().to_string().contains("for each layer"));
    }
}
