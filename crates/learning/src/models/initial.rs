//! Where training begins.

use super::Architecture;
use crate::random;

/// PyTorch's default initialisation of `Conv2d` and `Linear`: weights and biases uniform in
/// ±1/√(inputs of one output) (`kaiming_uniform_` with a = √5 comes to the same). The law is
/// PyTorch's, the numbers are ours.
///
/// A linear model without biases starts at zero: its loss is convex, so no start is better in
/// expectation, and random weights would be noise that training has to remove.
pub fn initial_weights(architecture: &Architecture, seed: u64) -> Vec<f32> {
    if architecture.is_linear() {
        return vec![0.0; architecture.parameters()];
    }
    let mut weights = Vec::with_capacity(architecture.parameters());
    for (index, station) in architecture.stations().enumerate() {
        let Some((inputs, _)) = station.layer.fan(station.input) else { continue };
        let bound = 1.0 / (inputs as f32).sqrt();
        let mut random = random::stream(seed, "initial weights", &[index as u64]);
        weights.extend(
            (0..station.weights().len() + station.biases().len()).map(|_| random::between(&mut random, -bound, bound)),
        );
    }
    weights
}
