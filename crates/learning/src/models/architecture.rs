//! The architecture of a network, without weights. [`Architecture::new`] is the only constructor,
//! also when reading a file.

use super::TensorShape;
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One layer. Geometry and arithmetic are those of PyTorch's `Conv2d`, `MaxPool2d`, `Linear`,
/// `Tanh` and `ReLU`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Layer {
    /// Square filters over all channels, with a bias; zeros around the picture.
    Convolution {
        /// How many feature maps come out.
        filters: usize,
        /// Rows and columns of a filter.
        kernel: usize,
        /// How far the filter moves.
        #[serde(default = "one")]
        stride: usize,
        /// How many rows and columns of zeros on each side.
        #[serde(default)]
        padding: usize,
    },
    /// The largest number in each square window. Of equal ones the first, row by row, takes the
    /// gradient.
    MaxPool {
        /// Rows and columns of the window.
        window: usize,
        /// How far the window moves.
        stride: usize,
    },
    /// tanh, number by number.
    Tanh,
    /// max(0, x), number by number.
    Relu,
    /// Every output sees every input. Pictures are flattened: channel by channel, row by row.
    Dense {
        /// How many outputs.
        units: usize,
        /// Whether every output has a bias.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        bias: bool,
    },
}

fn one() -> usize {
    1
}

pub(super) fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(super) fn is_yes(value: &bool) -> bool {
    *value
}

/// Weights of an architecture, at most: beyond this a mistyped number is likelier than a wish.
const MOST_PARAMETERS: usize = 100_000_000;
/// Numbers between two layers for one example, at most.
const MOST_VALUES: usize = 100_000_000;

/// A chain of layers that fit each other and end in at least two scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Architecture {
    input: TensorShape,
    layers: Vec<Layer>,
    /// The output shape of each layer.
    shapes: Vec<TensorShape>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    input: TensorShape,
    layers: Vec<Layer>,
}

impl Architecture {
    /// Checks that the layers fit each other.
    pub fn new(input: TensorShape, layers: Vec<Layer>) -> Result<Self> {
        if input.is_empty() || input.len() > MOST_VALUES {
            return Err(LearningError::out_of_range("input", format!("of 1 to {MOST_VALUES} numbers"), input));
        }
        let mut shapes = Vec::with_capacity(layers.len());
        let mut shape = input;
        let mut parameters = 0usize;
        for (index, layer) in layers.iter().enumerate() {
            let place = |name: &str| format!("layers[{index}].{name}");
            let next = layer.output(shape, &place)?;
            if next.len() > MOST_VALUES {
                return Err(LearningError::out_of_range(
                    place("output"),
                    format!("at most {MOST_VALUES} numbers"),
                    next,
                ));
            }
            parameters = parameters.saturating_add(layer.parameters(shape));
            shape = next;
            shapes.push(shape);
        }
        if !matches!(layers.last(), Some(Layer::Dense { units: 2.., .. })) {
            let last = layers.last().map_or("missing".to_owned(), |layer| format!("{layer:?}"));
            return Err(LearningError::out_of_range(
                "the last layer",
                "dense with a unit for each of two or more classes",
                last,
            ));
        }
        if parameters > MOST_PARAMETERS {
            return Err(LearningError::out_of_range(
                "layers",
                format!("at most {MOST_PARAMETERS} weights in all"),
                parameters,
            ));
        }
        Ok(Self { input, layers, shapes })
    }

    /// Whether it is one dense layer without a bias: scores are products of weights and input.
    pub fn is_linear(&self) -> bool {
        matches!(self.layers[..], [Layer::Dense { bias: false, .. }])
    }

    /// The shape of the input.
    pub fn input(&self) -> TensorShape {
        self.input
    }

    /// The layers, first to last.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// How many scores come out.
    pub fn classes(&self) -> usize {
        self.shapes.last().map_or(0, |shape| shape.len())
    }

    /// d, the number of weights and biases.
    pub fn parameters(&self) -> usize {
        self.stations().map(|station| station.layer.parameters(station.input)).sum()
    }

    /// d as randomizers count it: reports have room for 2³² − 1 coordinates.
    pub fn dimension(&self) -> Result<u32> {
        let weights = self.parameters();
        u32::try_from(weights)
            .map_err(|_| LearningError::out_of_range("the model's number of weights", "below 2^32", weights))
    }

    /// How many weights and biases each layer has that has any, first to last.
    pub fn weights_by_layer(&self) -> impl Iterator<Item = usize> {
        self.stations().map(|station| station.layer.parameters(station.input)).filter(|&weights| weights > 0)
    }

    /// Every layer with what goes in, what comes out and where its weights begin in the vector of
    /// all weights.
    pub(crate) fn stations(&self) -> impl Iterator<Item = Station> {
        let inputs = std::iter::once(self.input).chain(self.shapes.iter().copied());
        let mut first = 0;
        self.layers.iter().zip(inputs).zip(&self.shapes).map(move |((&layer, input), &output)| {
            let station = Station { layer, input, output, first };
            first += layer.parameters(input);
            station
        })
    }
}

/// One layer in its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Station {
    pub(crate) layer: Layer,
    pub(crate) input: TensorShape,
    pub(crate) output: TensorShape,
    /// Where its weights begin; its biases come after them.
    pub(crate) first: usize,
}

impl Station {
    /// The places of its weights; empty if it has none.
    pub(crate) fn weights(&self) -> Range<usize> {
        let (inputs, outputs) = self.layer.fan(self.input).unwrap_or((0, 0));
        self.first..self.first + inputs * outputs
    }

    /// The places of its biases; empty if it has none.
    pub(crate) fn biases(&self) -> Range<usize> {
        let first = self.weights().end;
        first..self.first + self.layer.parameters(self.input)
    }
}

impl Layer {
    /// How many inputs one output sees, and how many filters or units there are; `None` without
    /// weights.
    pub(crate) fn fan(self, input: TensorShape) -> Option<(usize, usize)> {
        match self {
            Self::Convolution { filters, kernel, .. } => {
                Some((input.channels.saturating_mul(kernel).saturating_mul(kernel), filters))
            }
            Self::Dense { units, .. } => Some((input.len(), units)),
            _ => None,
        }
    }

    /// Whether every filter or unit has a bias.
    pub(crate) fn has_bias(self) -> bool {
        matches!(self, Self::Convolution { .. } | Self::Dense { bias: true, .. })
    }

    /// Weights and biases. Saturates.
    fn parameters(self, input: TensorShape) -> usize {
        let biases = usize::from(self.has_bias());
        self.fan(input).map_or(0, |(inputs, outputs)| inputs.saturating_add(biases).saturating_mul(outputs))
    }

    fn output(self, input: TensorShape, place: &dyn Fn(&str) -> String) -> Result<TensorShape> {
        let positive = |name: &str, value: usize| match value {
            0 => Err(LearningError::out_of_range(place(name), "at least 1", 0)),
            _ => Ok(()),
        };
        match self {
            Self::Tanh | Self::Relu => Ok(input),
            Self::Dense { units, .. } => positive("units", units).map(|()| TensorShape::vector(units)),
            Self::Convolution { filters, kernel, stride, padding } => {
                positive("filters", filters)?;
                positive("kernel", kernel)?;
                positive("stride", stride)?;
                // PyTorch allows more, but then whole windows see nothing but zeros.
                if padding >= kernel {
                    return Err(LearningError::out_of_range(
                        place("padding"),
                        format!("below the kernel, {kernel}"),
                        padding,
                    ));
                }
                let height = slide(input.height, kernel, stride, padding, || place("kernel"))?;
                Ok(TensorShape::new(filters, height, slide(input.width, kernel, stride, padding, || place("kernel"))?))
            }
            Self::MaxPool { window, stride } => {
                positive("window", window)?;
                positive("stride", stride)?;
                let height = slide(input.height, window, stride, 0, || place("window"))?;
                Ok(TensorShape::new(input.channels, height, slide(input.width, window, stride, 0, || place("window"))?))
            }
        }
    }
}

/// How many places a window of `size` has in `length` numbers with `padding` on both sides:
/// ⌊(length + 2 padding − size)/stride⌋ + 1.
fn slide(length: usize, size: usize, stride: usize, padding: usize, place: impl Fn() -> String) -> Result<usize> {
    let padded = length.saturating_add(padding.saturating_mul(2));
    match padded.checked_sub(size) {
        Some(room) => Ok(room / stride + 1),
        None => {
            Err(LearningError::out_of_range(place(), format!("at most {padded}, what comes in with its padding"), size))
        }
    }
}

impl TryFrom<Unchecked> for Architecture {
    type Error = LearningError;

    fn try_from(unchecked: Unchecked) -> Result<Self> {
        Self::new(unchecked.input, unchecked.layers)
    }
}

impl From<Architecture> for Unchecked {
    fn from(architecture: Architecture) -> Self {
        Self { input: architecture.input, layers: architecture.layers }
    }
}
