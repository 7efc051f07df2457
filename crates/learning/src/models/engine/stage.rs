//! One step of the engine: a layer with the activation that follows it, if it can be applied in
//! place.

use super::super::architecture::Station;
use super::super::{Architecture, Layer};
use super::activation::{self, Activation};
use super::aligned::Aligned;
use super::transpose::Transpose;
use super::{convolution, dense, pooling, window};
use pulp::Arch;
use std::ops::Range;

#[derive(Debug, Clone)]
pub(super) struct Stage {
    kind: Kind,
    /// How many numbers come out for one example.
    outputs: usize,
}

#[derive(Debug, Clone)]
enum Kind {
    Convolution {
        geometry: window::Geometry,
        weights: Range<usize>,
        biases: Range<usize>,
        activation: Option<Activation>,
    },
    Dense {
        weights: Range<usize>,
        biases: Range<usize>,
        activation: Option<Activation>,
    },
    MaxPool(pooling::Geometry),
    /// After a layer whose own output is still needed on the way back.
    Activation(Activation),
}

/// The values that a stage keeps for a group of examples. Empty where a stage does not need them.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) values: Aligned,
    /// Derivative of the loss by the values.
    pub(super) deltas: Aligned,
    /// The input within its zeros, and the derivative by it.
    padded: Aligned,
    padded_deltas: Aligned,
    /// The gradient by the weights, then the biases: of all lanes number by number, and lane by
    /// lane.
    gradients: Aligned,
    rows: Aligned,
}

impl Stage {
    pub(super) fn chain(architecture: &Architecture) -> Vec<Self> {
        let mut stages: Vec<Self> = Vec::new();
        for station in architecture.stations() {
            let previous = stages.last_mut().map(|stage| &mut stage.kind);
            let kind = match (activation_of(station.layer), previous) {
                // These never look at their output again, so it may be overwritten.
                (
                    Some(which),
                    Some(
                        Kind::Convolution { activation: free @ None, .. } | Kind::Dense { activation: free @ None, .. },
                    ),
                ) => {
                    *free = Some(which);
                    continue;
                }
                (Some(which), _) => Kind::Activation(which),
                (None, _) => Kind::new(station),
            };
            stages.push(Self { kind, outputs: station.output.len() });
        }
        stages
    }

    pub(super) fn buffers(&self, lanes: usize) -> Buffers {
        let zeros = |length: usize| Aligned::zeros(length * lanes);
        let mut buffers = Buffers { values: zeros(self.outputs), deltas: zeros(self.outputs), ..Buffers::default() };
        if let Kind::Convolution { geometry, weights, biases, .. } = &self.kind {
            buffers.gradients = zeros(weights.len() + biases.len());
            buffers.rows = zeros(weights.len() + biases.len());
            if geometry.is_padded() {
                buffers.padded = zeros(geometry.padded_len());
                buffers.padded_deltas = zeros(geometry.padded_len());
            }
        }
        buffers
    }

    pub(super) fn forward(&self, arch: Arch, lanes: usize, all: &[f32], input: &[f32], buffers: &mut Buffers) {
        let Buffers { values: output, padded, .. } = buffers;
        let activation = match &self.kind {
            Kind::Convolution { geometry, weights, biases, activation } => {
                let input = if geometry.is_padded() {
                    geometry.pad(lanes, input, padded);
                    padded
                } else {
                    input
                };
                let (weights, biases) = (&all[weights.clone()], &all[biases.clone()]);
                arch.dispatch(convolution::Forward { geometry, weights, biases, input, output });
                *activation
            }
            Kind::Dense { weights, biases, activation, .. } => {
                let (weights, biases) = (&all[weights.clone()], &all[biases.clone()]);
                arch.dispatch(dense::Forward { weights, biases, input, output });
                *activation
            }
            Kind::MaxPool(geometry) => {
                arch.dispatch(pooling::Forward { geometry, input, output });
                None
            }
            Kind::Activation(activation) => {
                output.copy_from_slice(input);
                Some(*activation)
            }
        };
        if let Some(activation) = activation {
            arch.dispatch(activation::Apply { activation, values: output });
        }
    }

    /// From the derivative by the values to those by the weights and, unless this is the first
    /// stage, by the input.
    pub(super) fn backward(
        &self,
        arch: Arch,
        lanes: usize,
        all: &[f32],
        input: &[f32],
        buffers: &mut Buffers,
        input_deltas: Option<&mut Aligned>,
    ) {
        let Buffers { values, deltas, padded, padded_deltas, gradients, rows } = buffers;
        if let Kind::Convolution { activation: Some(activation), .. }
        | Kind::Dense { activation: Some(activation), .. }
        | Kind::Activation(activation) = self.kind
        {
            arch.dispatch(activation::Derive { activation, values, deltas });
        }
        if let Kind::Convolution { geometry, .. } = &self.kind {
            let input = if geometry.is_padded() { padded } else { input };
            arch.dispatch(convolution::WeightGradient { geometry, input, deltas, gradient: gradients });
            arch.dispatch(Transpose { interleaved: gradients, rows });
        }
        let Some(input_deltas) = input_deltas else { return };
        match &self.kind {
            Kind::Convolution { geometry, weights, .. } => {
                let weights = &all[weights.clone()];
                if geometry.is_padded() {
                    padded_deltas.fill(0.0);
                    arch.dispatch(convolution::InputGradient {
                        geometry,
                        weights,
                        deltas,
                        input_deltas: padded_deltas,
                    });
                    geometry.unpad(lanes, padded_deltas, input_deltas);
                } else {
                    input_deltas.fill(0.0);
                    arch.dispatch(convolution::InputGradient { geometry, weights, deltas, input_deltas });
                }
            }
            Kind::Dense { weights, .. } => {
                arch.dispatch(dense::InputGradient { weights: &all[weights.clone()], deltas, input_deltas });
            }
            Kind::MaxPool(geometry) => {
                input_deltas.fill(0.0);
                arch.dispatch(pooling::Backward { geometry, input, deltas, input_deltas });
            }
            Kind::Activation(_) => input_deltas.copy_from_slice(deltas),
        }
    }

    /// Writes one lane's gradient by this stage's weights and biases into their places. `row` and
    /// `column` are scratch.
    #[expect(
        clippy::too_many_arguments,
        reason = "everything of one lane, and two scratch vectors that outlive the call"
    )]
    pub(super) fn gradient(
        &self,
        arch: Arch,
        lanes: usize,
        lane: usize,
        input: &[f32],
        buffers: &Buffers,
        row: &mut Vec<f32>,
        column: &mut Vec<f32>,
        gradient: &mut [f32],
    ) {
        match &self.kind {
            Kind::Convolution { weights, biases, .. } => {
                let places = &mut gradient[weights.start..biases.end];
                places.copy_from_slice(&buffers.rows[lane * places.len()..][..places.len()]);
            }
            Kind::Dense { weights, biases, .. } => {
                take_lane(row, input, lanes, lane);
                take_lane(column, &buffers.deltas, lanes, lane);
                if !biases.is_empty() {
                    gradient[biases.clone()].copy_from_slice(column);
                }
                arch.dispatch(dense::OuterProduct {
                    deltas: column,
                    input: row,
                    gradient: &mut gradient[weights.clone()],
                });
            }
            Kind::MaxPool(_) | Kind::Activation(_) => {}
        }
    }
}

fn take_lane(taken: &mut Vec<f32>, all: &[f32], lanes: usize, lane: usize) {
    taken.clear();
    taken.extend(all.chunks_exact(lanes).map(|values| values[lane]));
}

fn activation_of(layer: Layer) -> Option<Activation> {
    match layer {
        Layer::Tanh => Some(Activation::Tanh),
        Layer::Relu => Some(Activation::Relu),
        _ => None,
    }
}

impl Kind {
    fn new(station: Station) -> Self {
        let (weights, biases) = (station.weights(), station.biases());
        let Station { layer, input, output, .. } = station;
        match layer {
            Layer::Convolution { kernel, stride, padding, .. } => {
                let geometry = window::Geometry::new(input, output, kernel, stride, padding);
                Self::Convolution { geometry, weights, biases, activation: None }
            }
            Layer::Dense { .. } => Self::Dense { weights, biases, activation: None },
            Layer::MaxPool { window, stride } => Self::MaxPool(pooling::Geometry::new(input, output, window, stride)),
            Layer::Tanh => Self::Activation(Activation::Tanh),
            Layer::Relu => Self::Activation(Activation::Relu),
        }
    }
}
