//! The linear model without biases: its gradients are the network's, its fast sum is the sum of its
//! clipped gradients.
#![allow(clippy::unwrap_used)]

mod common;

use common::{gradients, number};
use shuffledp_learning::LearningError;
use shuffledp_learning::collect::Clipping;
use shuffledp_learning::data::{Bootstrap, Clients, Examples};
use shuffledp_learning::models::{
    AnyModel, Architecture, Layer, Linear, Model, ModelConfig, Network, TensorShape, initial_weights, load_weights,
    save_weights,
};
use shuffledp_randomizers::clip::Norm;
use std::path::Path;

fn architecture(inputs: usize, classes: usize) -> Architecture {
    ModelConfig::Linear { bias: false }.architecture(TensorShape::vector(inputs), classes).unwrap()
}

fn examples(count: usize, inputs: usize, classes: usize) -> Examples {
    let floats = (0..count * inputs).map(|index| number(index, 3)).collect();
    let labels = (0..count).map(|index| (index * 7 % classes) as u8).collect();
    Examples::from_floats(TensorShape::vector(inputs), classes, floats, labels).unwrap()
}

fn weights(count: usize) -> Vec<f32> {
    (0..count).map(|index| number(index, 9)).collect()
}

fn everybody(population: &impl Clients) -> Vec<u64> {
    (0..population.count()).collect()
}

const CLIPPINGS: [Clipping; 5] = [
    Clipping::None,
    Clipping::To { norm: Norm::L1, bound: 2.0 },
    Clipping::To { norm: Norm::L2, bound: 0.5 },
    Clipping::To { norm: Norm::L2, bound: 1e6 },
    Clipping::To { norm: Norm::Linf, bound: 0.01 },
];

fn is_close(ours: &[f32], theirs: &[f32]) -> bool {
    // Sums of up to 40 products of numbers up to 1, in another order: some units in the last place
    // of them.
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() <= 4e-6)
}

#[test]
fn losses_and_gradients_are_the_networks() {
    for (inputs, classes) in [(1, 2), (7, 3), (16, 5), (37, 10), (40, 11)] {
        let examples = examples(71, inputs, classes);
        let weights = weights(inputs * classes);
        let linear = gradients(&AnyModel::new(architecture(inputs, classes)), &weights, &examples);
        // The engine on the same architecture, and with biases of zero.
        let dense = Architecture::new(TensorShape::vector(inputs), vec![Layer::Dense { units: classes, bias: true }]);
        let with_zeros: Vec<f32> = weights.iter().copied().chain(vec![0.0; classes]).collect();
        let without = gradients(&Network::new(architecture(inputs, classes)), &weights, &examples);
        let with = gradients(&Network::new(dense.unwrap()), &with_zeros, &examples);
        for ((ours, without), with) in linear.iter().zip(&without).zip(&with) {
            assert!((ours.0 - without.0).abs() <= 1e-5 && (ours.0 - with.0).abs() <= 1e-5, "{ours:?} {without:?}");
            assert!(is_close(&ours.1, &without.1) && is_close(&ours.1, &with.1[..weights.len()]));
        }
        let ours = AnyModel::new(architecture(inputs, classes)).evaluate(&weights, &examples).unwrap();
        let theirs = Network::new(architecture(inputs, classes)).evaluate(&weights, &examples).unwrap();
        assert_eq!((ours.examples, ours.correct), (theirs.examples, theirs.correct));
        assert!((ours.loss - theirs.loss).abs() < 1e-5);
    }
}

#[test]
fn the_fast_sum_is_the_fold_over_clipped_gradients() {
    for (count, inputs, classes) in [(0, 3, 2), (1, 37, 10), (31, 16, 5), (33, 5, 11), (600, 40, 3)] {
        let examples = examples(count.max(1), inputs, classes);
        let model = Linear::new(architecture(inputs, classes)).unwrap();
        let weights = weights(inputs * classes);
        let clients: Vec<u64> = (0..count as u64).collect();
        let singles = gradients(&model, &weights, &examples);
        for clipping in CLIPPINGS {
            let (mut sum, mut loss, mut clipped) = (vec![0.0; weights.len()], 0.0, vec![0.0; weights.len()]);
            for (each, gradient) in singles.iter().take(count) {
                loss += f64::from(*each);
                clipping.clip_into(gradient, &mut clipped);
                sum.iter_mut().zip(&clipped).for_each(|(sum, more)| *sum += more);
            }
            let fast = model.sum_of_clipped_gradients(&weights, &examples, &clients, clipping).unwrap();
            assert_eq!(fast.sum.count(), count as u64);
            assert!((fast.loss - loss).abs() <= 1e-9 * (1.0 + loss), "{} {loss}", fast.loss);
            // f32 within a block of 32, f64 beyond: 2⁻²⁴ for each of up to 32 additions, of terms
            // up to 1.
            let slack = 32.0 * 2.0_f64.powi(-24) * (count as f64).max(1.0);
            let close = fast.sum.sum().iter().zip(&sum).all(|(fast, slow)| (fast - slow).abs() <= slack);
            assert!(close, "{count} × {inputs} × {classes}, {clipping:?}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (inputs, classes) = (45, 10);
    let examples = examples(1500, inputs, classes);
    let model = AnyModel::new(architecture(inputs, classes));
    let weights = weights(inputs * classes);
    let clients: Vec<u64> = everybody(&examples).into_iter().rev().collect();
    let sum = |threads: usize, clipping| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| model.sum_of_clipped_gradients(&weights, &examples, &clients, clipping).unwrap())
    };
    for clipping in CLIPPINGS {
        let one = sum(1, clipping);
        for threads in [2, 7] {
            assert_eq!(sum(threads, clipping), one, "{threads} threads, {clipping:?}");
        }
    }
}

#[test]
fn a_single_client_is_clipped_to_the_bound_and_not_below() {
    let (inputs, classes) = (37, 10);
    let examples = examples(40, inputs, classes);
    let model = AnyModel::new(architecture(inputs, classes));
    let weights = weights(inputs * classes);
    let singles = gradients(&model, &weights, &examples);
    for (client, (_, gradient)) in singles.iter().enumerate() {
        let norm = gradient.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        for share in [1e-3, 0.999_999, 1.0, 2.0] {
            let bound = (norm * share) as f32;
            let clipping = Clipping::To { norm: Norm::L2, bound };
            let sum = model.sum_of_clipped_gradients(&weights, &examples, &[client as u64], clipping).unwrap();
            let clipped = sum.sum.sum().iter().map(|x| x * x).sum::<f64>().sqrt();
            let expected = norm.min(f64::from(bound));
            // Each product is rounded to f32 once more.
            assert!((clipped - expected).abs() <= 2e-7 * expected, "{clipped} for {expected}");
        }
    }
}

#[test]
fn rows_of_zeros_and_of_units() {
    let classes = 4;
    let rows = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]].concat();
    let examples = Examples::from_floats(TensorShape::vector(3), classes, rows, vec![2, 1]).unwrap();
    let model = AnyModel::new(architecture(3, classes));
    let start = initial_weights(model.architecture(), 5);
    assert_eq!(start, [0.0; 12]);
    let sum = |client| {
        let sum = model.sum_of_clipped_gradients(&start, &examples, &[client], Clipping::None).unwrap();
        assert!((sum.loss - 4.0_f64.ln()).abs() < 1e-6);
        sum.sum.sum().to_vec()
    };
    assert_eq!(sum(0), [0.0; 12]);
    // ¼ for every class, less the label's 1, in the column of the unit.
    let expected = [0.25, -0.75, 0.25, 0.25].map(|p| [0.0, p, 0.0]).concat();
    assert!(sum(1).iter().zip(expected).all(|(ours, expected)| (ours - expected).abs() < 1e-7));
}

#[test]
fn examples_of_bytes_and_drawn_ones_are_the_same_as_floats() {
    let shape = TensorShape::vector(19);
    let bytes: Vec<u8> = (0..50 * 19).map(|index| (index * 37 % 256) as u8).collect();
    let labels: Vec<u8> = (0..50).map(|index| index % 3).collect();
    let compact = Examples::from_bytes(shape, 3, bytes.clone(), labels.clone(), 0.0, 1.0).unwrap();
    let floats = bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect();
    let floats = Examples::from_floats(shape, 3, floats, labels).unwrap();
    let (model, weights) = (AnyModel::new(architecture(19, 3)), weights(57));
    let clip = CLIPPINGS[2];
    let clients = everybody(&compact);
    let of_bytes = model.sum_of_clipped_gradients(&weights, &compact, &clients, clip).unwrap();
    let of_floats = model.sum_of_clipped_gradients(&weights, &floats, &clients, clip).unwrap();
    assert_eq!(of_bytes, of_floats);
    let drawn = [&compact, &floats].map(|examples| Bootstrap::new(examples, 200, 4).unwrap());
    let clients = everybody(&drawn[0]);
    let [of_bytes, of_floats] =
        drawn.map(|drawn| model.sum_of_clipped_gradients(&weights, &drawn, &clients, clip).unwrap());
    assert_eq!(of_bytes, of_floats);
}

#[test]
fn what_is_not_finite_is_refused_or_zero() {
    let shape = TensorShape::vector(3);
    let mixed = Examples::from_floats(shape, 2, [[0.5; 3], [1e30; 3]].concat(), vec![0, 1]).unwrap();
    let model = AnyModel::new(architecture(3, 2));
    let weights = [1e30, -1e30, 1e30, -1e30, 1e30, -1e30];
    let sum = |clients: &[u64]| model.sum_of_clipped_gradients(&weights, &mixed, clients, CLIPPINGS[2]);
    let error = sum(&[0, 1]).unwrap_err();
    assert!(matches!(error, LearningError::NotFinite { what: "loss", client: 1, .. }), "{error}");
    assert!(sum(&[2]).unwrap_err().to_string().contains("there is no client 2"));
    // Each gradient is finite, their sum in f32 is not.
    let large = Examples::from_floats(shape, 2, vec![3e38; 6], vec![0, 0]).unwrap();
    assert!(model.sum_of_clipped_gradients(&[0.0; 6], &large, &[0, 1], Clipping::None).is_ok());
    let large = Examples::from_floats(shape, 2, vec![3e38; 9], vec![0; 3]).unwrap();
    let error = model.sum_of_clipped_gradients(&[0.0; 6], &large, &[0, 1, 2], Clipping::None).unwrap_err();
    assert!(matches!(error, LearningError::NotFinite { what: "gradient", .. }), "{error}");
    // A client's program says nothing about it.
    let zeros = model.fold_gradients_or_zeros(
        &weights,
        &mixed,
        &[1],
        Vec::new,
        |all: &mut Vec<f32>, client| {
            all.extend_from_slice(client.gradient);
            Ok(())
        },
        |_, _| Ok(()),
    );
    assert_eq!(zeros.unwrap(), [0.0; 6]);
}

#[test]
fn files_of_architecture_and_weights_have_no_bias() {
    let architecture = architecture(3, 2);
    let text = toml::to_string(&architecture).unwrap();
    assert!(text.contains("bias = false"), "{text}");
    assert_eq!(toml::from_str::<Architecture>(&text).unwrap(), architecture);
    let with_bias = ModelConfig::Linear { bias: true }.architecture(TensorShape::vector(3), 2).unwrap();
    assert!(!toml::to_string(&with_bias).unwrap().contains("bias"));
    assert!(Linear::new(with_bias.clone()).is_err());
    let weights = weights(6);
    let bytes = save_weights(&architecture, &weights).unwrap();
    assert_eq!(load_weights(&architecture, &bytes, Path::new("weights")).unwrap(), weights);
    assert!(load_weights(&with_bias, &bytes, Path::new("weights")).is_err());
    assert_eq!(toml::from_str::<ModelConfig>("kind = 'linear'").unwrap(), ModelConfig::Linear { bias: true });
    let wrong = toml::from_str::<ModelConfig>("kind = 'linear'\nbias = 0").unwrap_err();
    assert!(wrong.to_string().contains("bias") || wrong.to_string().contains("boolean"), "{wrong}");
}
