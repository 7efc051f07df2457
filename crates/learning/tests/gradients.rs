//! Per-example gradients against PyTorch, against finite differences, and against themselves on
//! other numbers of threads.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{gradients, mean_gradient, number};
use serde::Deserialize;
use shuffledp_learning::LearningError;
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_learning::models::{
    Architecture, Layer, Model, ModelConfig, Network, Nonlinearity, TensorShape, initial_weights,
};

#[derive(Deserialize)]
struct Case {
    salt: u32,
    examples: usize,
    size: f32,
    architecture: Architecture,
}

/// As PyTorch would draw them: within 1/√(inputs of one output).
fn weights_of(architecture: &Architecture, salt: u32) -> Vec<f32> {
    // The bounds of the initial weights are not public: each layer's largest possible weight is
    // found by its shape.
    let mut weights = Vec::new();
    let mut shape = architecture.input();
    for layer in architecture.layers() {
        let (inputs, outputs) = match *layer {
            Layer::Convolution { filters, kernel, .. } => (shape.channels * kernel * kernel, filters),
            Layer::Dense { units, .. } => (shape.len(), units),
            _ => (0, 0),
        };
        let bound = (1.0 / (inputs as f64).sqrt()) as f32;
        for _ in 0..(inputs + 1) * outputs {
            weights.push((f64::from(number(weights.len(), 2 * salt)) * f64::from(bound)) as f32);
        }
        shape = output(*layer, shape);
    }
    weights
}

fn output(layer: Layer, input: TensorShape) -> TensorShape {
    let slide = |length: usize, size: usize, stride: usize| (length - size) / stride + 1;
    match layer {
        Layer::Convolution { filters, kernel, stride, padding } => TensorShape::new(
            filters,
            slide(input.height + 2 * padding, kernel, stride),
            slide(input.width + 2 * padding, kernel, stride),
        ),
        Layer::MaxPool { window, stride } => {
            TensorShape::new(input.channels, slide(input.height, window, stride), slide(input.width, window, stride))
        }
        Layer::Dense { units, .. } => TensorShape::vector(units),
        Layer::Tanh | Layer::Relu => input,
    }
}

fn examples_of(case: &Case) -> Examples {
    let (shape, classes) = (case.architecture.input(), case.architecture.classes());
    let mut values = Vec::new();
    for example in 0..case.examples {
        for place in 0..shape.len() {
            let (place, size) = if case.size > 0.0 { (place, case.size) } else { (0, 1.0) };
            values.push(number(example * shape.len() + place, 2 * case.salt + 1) * size);
        }
    }
    let labels = (0..case.examples).map(|example| ((example * 7 + 1) % classes) as u8).collect();
    Examples::from_floats(shape, classes, values, labels).unwrap()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn gradients_are_those_of_pytorch() {
    let bytes = include_bytes!("data/gradients/gradients.safetensors");
    let (_, metadata) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
    let file = safetensors::SafeTensors::deserialize(bytes).unwrap();
    let cases = metadata.metadata().as_ref().unwrap();
    assert_eq!(cases.len(), 11);
    for (name, case) in cases {
        let case: Case = serde_json::from_str(case).unwrap();
        let weights = weights_of(&case.architecture, case.salt);
        let losses = floats(file.tensor(&format!("{name}.losses")).unwrap().data());
        let expected = floats(file.tensor(&format!("{name}.gradients")).unwrap().data());
        let examples = examples_of(&case);
        let ours = gradients(&Network::new(case.architecture), &weights, &examples);
        assert_eq!(ours.len(), case.examples, "{name}");
        for (example, (loss, gradient)) in ours.iter().enumerate() {
            assert!(
                (loss - losses[example]).abs() <= 1e-5 * losses[example],
                "{name} {example}: {loss}, not {}",
                losses[example]
            );
            let expected = &expected[example * weights.len()..][..weights.len()];
            let largest = expected.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
            for (index, (ours, theirs)) in gradient.iter().zip(expected).enumerate() {
                let wrong = (ours - theirs).abs();
                assert!(wrong <= 1e-5 * largest, "{name}, example {example}, weight {index}: {ours}, not {theirs}");
            }
        }
    }
}

/// (loss(w + h v) − loss(w − h v))/2h along random directions v must be the gradient's product with
/// v.
fn assert_slopes(layers: Vec<Layer>, step: f32, tolerance: f64) {
    let architecture = Architecture::new(TensorShape::new(2, 9, 8), layers).unwrap();
    let weights = initial_weights(&architecture, 3);
    let examples = examples_of(&Case { salt: 40, examples: 5, size: 1.5, architecture: architecture.clone() });
    let model = Network::new(architecture);
    let at = gradients(&model, &weights, &examples);
    for direction in 0..20 {
        let towards: Vec<f32> = (0..weights.len()).map(|index| number(index, 50 + direction)).collect();
        let moved =
            |sign: f32| -> Vec<f32> { weights.iter().zip(&towards).map(|(w, v)| w + sign * step * v).collect() };
        let (above, below) = (gradients(&model, &moved(1.0), &examples), gradients(&model, &moved(-1.0), &examples));
        for (example, (_, gradient)) in at.iter().enumerate() {
            let slope = (f64::from(above[example].0) - f64::from(below[example].0)) / (2.0 * f64::from(step));
            let product: f64 = gradient.iter().zip(&towards).map(|(g, v)| f64::from(g * v)).sum();
            let norm = gradient.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
            assert!(
                (slope - product).abs() < tolerance * norm,
                "example {example}: slope {slope}, product {product}, ‖g‖ {norm}"
            );
        }
    }
}

#[test]
fn gradients_are_slopes() {
    let convolution = |filters, kernel, stride, padding| Layer::Convolution { filters, kernel, stride, padding };
    let end = [Layer::Dense { units: 7, bias: true }, Layer::Tanh, Layer::Dense { units: 4, bias: true }];
    let smooth = [convolution(5, 3, 1, 1), Layer::Tanh, convolution(6, 3, 2, 0), Layer::Tanh];
    // Losses near 1.4 are known to about 3e-7: over 2h that is 2e-4. The cubic term is h² times
    // third derivatives.
    assert_slopes(smooth.into_iter().chain(end).collect(), 1e-3, 2e-3);
    // Pooling and ReLU have corners: within h of one, the slope belongs to neither side. A smaller
    // h crosses fewer.
    let corners = [
        convolution(5, 3, 1, 1),
        Layer::MaxPool { window: 2, stride: 1 },
        Layer::Tanh,
        convolution(6, 3, 2, 0),
        Layer::Relu,
        Layer::MaxPool { window: 2, stride: 1 },
    ];
    assert_slopes(corners.into_iter().chain(end).collect(), 1e-4, 5e-2);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let config = ModelConfig::Cnn16 { activation: Nonlinearity::Tanh };
    let architecture = config.architecture(TensorShape::new(1, 28, 28), 10).unwrap();
    let weights = initial_weights(&architecture, 5);
    // Not a multiple of the lanes nor of the segments.
    let examples = examples_of(&Case { salt: 60, examples: 203, size: 1.0, architecture: architecture.clone() });
    let model = Network::new(architecture);
    let clients: Vec<u64> = (0..203).rev().collect();
    let sum = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| mean_gradient(&model, &weights, &examples, &clients))
    };
    let one = sum(1);
    assert!([2, 3, 8].into_iter().all(|threads| sum(threads) == one));
}

#[test]
fn an_example_does_not_feel_its_neighbours() {
    let config = ModelConfig::Cnn16 { activation: Nonlinearity::Relu };
    let architecture = config.architecture(TensorShape::new(1, 28, 28), 10).unwrap();
    let weights = initial_weights(&architecture, 6);
    let examples = examples_of(&Case { salt: 61, examples: 20, size: 1.0, architecture: architecture.clone() });
    let model = Network::new(architecture);
    let together = gradients(&model, &weights, &examples);
    for alone in [0, 7, 13, 19] {
        let fold = model.fold_gradients(
            &weights,
            &examples,
            &[alone],
            Vec::new,
            |g: &mut Vec<f32>, c| {
                *g = c.gradient.to_vec();
                Ok(())
            },
            |_, _| Ok(()),
        );
        assert_eq!(fold.unwrap(), together[alone as usize].1);
    }
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let architecture = ModelConfig::Linear { bias: true }.architecture(TensorShape::vector(3), 2).unwrap();
    let model = Network::new(architecture);
    let examples = Examples::from_floats(TensorShape::vector(3), 2, vec![1.0; 6], vec![0, 1]).unwrap();
    let attempt = |weights: &[f32], examples: &Examples, clients: &[u64]| {
        let fold = model.fold_gradients(weights, examples, clients, || (), |(), _| Ok(()), |_, _| Ok(()));
        fold.unwrap_err().to_string()
    };
    assert_eq!(attempt(&[0.0; 7], &examples, &[0]), "the model has 8 weights, but 7 were given");
    assert_eq!(attempt(&[0.0; 8], &examples, &[0, 2]), "there is no client 2: the population has 2");
    let mut weights = [0.0; 8];
    weights[5] = f32::NAN;
    assert!(attempt(&weights, &examples, &[0]).starts_with("weight 5 is NaN: the training has diverged"));
    let others = Examples::from_floats(TensorShape::vector(2), 2, vec![1.0; 2], vec![1]).unwrap();
    assert_eq!(attempt(&[0.0; 8], &others, &[0]), "the model's input is 1×1×3, but the examples are 1×1×2");
    let others = Examples::from_floats(TensorShape::vector(3), 3, vec![1.0; 3], vec![2]).unwrap();
    assert_eq!(attempt(&[0.0; 8], &others, &[0]), "the model tells 2 classes apart, but the data has 3");
    // Weights whose scores overflow.
    let error =
        model.fold_gradients(&[f32::MAX; 8], &examples, &[1], || (), |(), _| Ok(()), |_, _| Ok(())).unwrap_err();
    assert!(matches!(error, LearningError::NotFinite { what: "loss", client: 1, .. }), "{error}");
    // At one record only, and there it is zeros for whoever must not say so: the others' gradients
    // are theirs.
    let mixed =
        Examples::from_floats(TensorShape::vector(3), 2, vec![0.0, 0.0, 0.0, 1e30, 1e30, 1e30], vec![0, 1]).unwrap();
    let weights = [1e30, -1e30, 1e30, -1e30, 1e30, -1e30, 0.0, 0.0];
    assert!(attempt(&weights, &mixed, &[0, 1]).contains("client 1"));
    let gradients = model.fold_gradients_or_zeros(
        &weights,
        &mixed,
        &[1, 0, 1],
        Vec::new,
        |all: &mut Vec<Vec<f32>>, client| {
            all.push(client.gradient.to_vec());
            Ok(())
        },
        |all, more| {
            all.extend(more);
            Ok(())
        },
    );
    let [overflown, good, again] = &gradients.unwrap()[..] else { panic!("three clients") };
    assert_eq!((overflown, again), (&vec![0.0; 8], &vec![0.0; 8]));
    let alone = model.fold_gradients(
        &weights,
        &mixed,
        &[0],
        Vec::new,
        |all: &mut Vec<f32>, client| {
            all.extend_from_slice(client.gradient);
            Ok(())
        },
        |_, _| Ok(()),
    );
    assert_eq!(good, &alone.unwrap());
    assert!(good.iter().any(|x| *x != 0.0));
    // A visitor's error comes through.
    let refuse =
        |(): &mut (), _: shuffledp_learning::models::ClientGradient<'_>| Err(LearningError::Data("enough".to_owned()));
    let error = model.fold_gradients(&[0.0; 8], &examples, &[1], || (), refuse, |_, _| Ok(())).unwrap_err();
    assert_eq!(error.to_string(), "enough");
    assert_eq!(examples.count(), 2);
}
