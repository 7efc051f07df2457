//! Weights in files, as safetensors with the names of a PyTorch `Sequential`.

use super::Architecture;
use crate::{LearningError, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::path::Path;

/// One tensor: its name, shape and place among all weights.
struct Tensor {
    name: String,
    shape: Vec<usize>,
    place: std::ops::Range<usize>,
}

/// `0.weight`, `0.bias`, …: the number is that of the layer.
fn tensors(architecture: &Architecture) -> Vec<Tensor> {
    let mut tensors = Vec::new();
    for (index, station) in architecture.stations().enumerate() {
        let Some((inputs, outputs)) = station.layer.fan(station.input) else { continue };
        let shape = match station.layer {
            super::Layer::Convolution { kernel, .. } => vec![outputs, station.input.channels, kernel, kernel],
            _ => vec![outputs, inputs],
        };
        tensors.push(Tensor { name: format!("{index}.weight"), shape, place: station.weights() });
        if station.layer.has_bias() {
            let place = station.biases();
            tensors.push(Tensor { name: format!("{index}.bias"), shape: vec![outputs], place });
        }
    }
    tensors
}

/// The weights as the bytes of a safetensors file.
///
/// PyTorch reads it with `safetensors.torch.load_file`; a `Sequential` that counts a flattening as
/// a layer needs the later names shifted.
pub fn save_weights(architecture: &Architecture, weights: &[f32]) -> Result<Vec<u8>> {
    if weights.len() != architecture.parameters() {
        let (needed, given) = (architecture.parameters(), weights.len());
        return Err(LearningError::Data(format!("the model has {needed} weights, but {given} were given")));
    }
    let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    let complain =
        |error: safetensors::SafeTensorError| LearningError::Data(format!("weights cannot be saved: {error}"));
    let mut views = Vec::new();
    for Tensor { name, shape, place } in tensors(architecture) {
        let view = TensorView::new(Dtype::F32, shape, &bytes[place.start * 4..place.end * 4]).map_err(complain)?;
        views.push((name, view));
    }
    safetensors::serialize(views, None).map_err(complain)
}

/// The weights in the bytes of a safetensors file, if they are those of this architecture. `path`
/// is for the error's text.
pub fn load_weights(architecture: &Architecture, bytes: &[u8], path: &Path) -> Result<Vec<f32>> {
    let wrong = |problem: String| LearningError::format(path, problem);
    let file = SafeTensors::deserialize(bytes).map_err(|error| wrong(format!("not a safetensors file: {error}")))?;
    let expected = tensors(architecture);
    if file.len() != expected.len() {
        return Err(wrong(format!("{} tensors, but the model has {}", file.len(), expected.len())));
    }
    let mut weights = vec![0.0; architecture.parameters()];
    for Tensor { name, shape, place } in expected {
        let tensor = file.tensor(&name).map_err(|_| wrong(format!("no tensor '{name}', which the model has")))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(wrong(format!("tensor '{name}' is {:?}, not F32", tensor.dtype())));
        }
        if tensor.shape() != shape {
            return Err(wrong(format!("tensor '{name}' is {:?}, but the model has {shape:?}", tensor.shape())));
        }
        for (weight, bytes) in weights[place].iter_mut().zip(tensor.data().as_chunks::<4>().0) {
            *weight = f32::from_le_bytes(*bytes);
            if !weight.is_finite() {
                return Err(wrong(format!("tensor '{name}' holds {weight}")));
            }
        }
    }
    Ok(weights)
}
