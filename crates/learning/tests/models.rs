//! Architectures, their configuration and their files; and that models learn.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use shuffledp_learning::data::digits;
use shuffledp_learning::models::{
    Architecture, Model, ModelConfig, TensorShape, initial_weights, load_weights, save_weights,
};
use shuffledp_learning::training::{Simulation, TrainingConfig};
use std::path::Path;

const MNIST: TensorShape = TensorShape { channels: 1, height: 28, width: 28 };

fn named(text: &str) -> Architecture {
    toml::from_str::<ModelConfig>(text).unwrap().architecture(MNIST, 10).unwrap()
}

#[test]
fn the_papers_networks_have_their_numbers_of_weights() {
    assert_eq!(named("kind = 'cnn-16'\nactivation = 'tanh'").parameters(), 13_706);
    assert_eq!(named("kind = 'cnn-32'\nactivation = 'relu'").parameters(), 26_010);
    assert_eq!(named("kind = 'linear'").parameters(), 7_850);
    assert_eq!(named("kind = 'mlp'\nhidden = [100, 30]\nactivation = 'relu'").parameters(), 78_500 + 3_030 + 310);
}

#[test]
fn configurations_that_make_no_sense_are_refused_with_the_place() {
    let refused = |text: &str, expected: &str| {
        let error = match toml::from_str::<ModelConfig>(text) {
            Ok(config) => config.architecture(MNIST, 10).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(expected), "{error}");
    };
    let layers = |layers: &str| format!("kind = 'layers'\nlayers = [{layers}]");
    refused("kind = 'cnn-64'\nactivation = 'tanh'", "unknown variant `cnn-64`");
    refused("kind = 'cnn-16'", "missing field `activation`");
    refused("kind = 'cnn-16'\nactivation = 'tanh'\nfilters = 3", "unknown field `filters`");
    refused(&layers(""), "the last layer must be dense");
    refused(&layers("{ kind = 'dense', units = 10 }, { kind = 'tanh' }"), "the last layer must be dense");
    refused(
        &layers("{ kind = 'dense', units = 9 }"),
        "units of the last layer must be 10, the number of classes in the data, but is 9",
    );
    refused(
        &layers("{ kind = 'dense', units = 0 }, { kind = 'dense', units = 10 }"),
        "layers[0].units must be at least 1, but is 0",
    );
    let ending = ", { kind = 'dense', units = 10 }";
    let convolution = |text: &str| layers(&format!("{{ kind = 'convolution', {text} }}{ending}"));
    refused(
        &convolution("filters = 4, kernel = 29"),
        "layers[0].kernel must be at most 28, what comes in with its padding, but is 29",
    );
    refused(
        &convolution("filters = 4, kernel = 3, padding = 3"),
        "layers[0].padding must be below the kernel, 3, but is 3",
    );
    refused(&convolution("filters = 4, kernel = 3, stride = 0"), "layers[0].stride must be at least 1, but is 0");
    refused(&convolution("filters = 9223372036854775807, kernel = 3"), "layers[0].output must be at most");
    refused(
        &layers(&format!("{{ kind = 'dense', units = 90000000 }}{ending}")),
        "layers must be at most 100000000 weights in all",
    );
    let pools = "{ kind = 'max-pool', window = 20, stride = 1 }, { kind = 'max-pool', window = 10, stride = 1 }";
    refused(&layers(&format!("{pools}{ending}")), "layers[1].window must be at most 9");
}

#[test]
fn an_architecture_survives_a_file_and_is_checked_on_the_way_in() {
    let architecture = named("kind = 'cnn-16'\nactivation = 'tanh'");
    let text = toml::to_string(&architecture).unwrap();
    assert_eq!(toml::from_str::<Architecture>(&text).unwrap(), architecture);
    let text = text.replace("units = 10", "units = 1");
    assert!(toml::from_str::<Architecture>(&text).unwrap_err().to_string().contains("the last layer"));
}

#[test]
fn initial_weights_have_the_law_of_pytorch() {
    let architecture = named("kind = 'cnn-16'\nactivation = 'tanh'");
    let weights = initial_weights(&architecture, 1);
    assert_eq!(weights.len(), 13_706);
    let mut rest = weights.as_slice();
    for (count, inputs) in [(1_040, 64.0f64), (4_112, 256.0), (8_224, 256.0), (330, 32.0)] {
        let (layer, others) = rest.split_at(count);
        rest = others;
        let bound = 1.0 / inputs.sqrt();
        let largest = layer.iter().fold(0.0f64, |largest, weight| largest.max(f64::from(weight.abs())));
        assert!(largest <= bound * (1.0 + 1e-6) && largest > bound * 0.97, "{largest} of {bound}");
        let variance = layer.iter().map(|weight| f64::from(weight * weight)).sum::<f64>() / count as f64;
        // bound²/3, and the variance of w² is 4/45 bound⁴: four standard deviations.
        let slack = 4.0 * (4.0 / 45.0 / count as f64).sqrt() * bound.powi(2);
        assert!((variance - bound.powi(2) / 3.0).abs() < slack, "{variance}");
    }
    assert_eq!(weights, initial_weights(&architecture, 1));
    assert_ne!(weights, initial_weights(&architecture, 2));
}

#[test]
fn weights_survive_a_file() {
    let architecture = named("kind = 'cnn-16'\nactivation = 'tanh'");
    let weights = initial_weights(&architecture, 1);
    let bytes = save_weights(&architecture, &weights).unwrap();
    let path = Path::new("model.safetensors");
    assert_eq!(load_weights(&architecture, &bytes, path).unwrap(), weights);
    let names = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(names.tensor("0.weight").unwrap().shape(), [16, 1, 8, 8]);
    assert_eq!(names.tensor("6.weight").unwrap().shape(), [32, 256]);
    assert_eq!(names.tensor("8.bias").unwrap().shape(), [10]);

    let refused = |architecture: &Architecture, bytes: &[u8], expected: &str| {
        let error = load_weights(architecture, bytes, path).unwrap_err().to_string();
        assert!(error.contains("model.safetensors") && error.contains(expected), "{error}");
    };
    refused(&architecture, &bytes[..bytes.len() - 1], "not a safetensors file");
    refused(
        &named("kind = 'cnn-32'\nactivation = 'tanh'"),
        &bytes,
        "is [16, 16, 4, 4], but the model has [32, 16, 4, 4]",
    );
    refused(&named("kind = 'linear'"), &bytes, "8 tensors, but the model has 2");
    let mut broken = weights.clone();
    broken[2_000] = f32::INFINITY;
    refused(&architecture, &save_weights(&architecture, &broken).unwrap(), "tensor '3.weight' holds inf");
    assert!(save_weights(&architecture, &weights[1..]).is_err());
}

#[test]
fn models_learn_digits_and_a_linear_one_less() {
    let data = digits::dataset(4_000, 1_000, 1).unwrap();
    let accuracy = |model: &str, rate: f64| {
        let text = format!(
            "name = 'test'\nseed = 1\nrounds = 500\ndelta = 1e-5\nevaluate_every = 500\n[data]\nkind = 'digits'\ntrain = 4000\ntest = 1000\n\
             [model]\n{model}\n[algorithm]\nkind = 'no-privacy'\nsampled = 32\n\
             [step]\nmomentum = 0.9\n[step.schedule]\nkind = 'cosine'\nrounds = 500\nrate = {rate}"
        );
        let config = TrainingConfig::parse(&text, Path::new("test.toml")).unwrap();
        let mut simulation = Simulation::new(&config, &data.train).unwrap();
        while simulation.step().unwrap() {}
        let evaluation = simulation.model().evaluate(&simulation.state().answer(), &data.test).unwrap();
        assert_eq!(evaluation.examples, 1_000);
        evaluation.accuracy()
    };
    let linear = accuracy("kind = 'linear'", 0.005);
    let network = accuracy("kind = 'cnn-16'\nactivation = 'tanh'", 0.02);
    assert!((0.6..0.9).contains(&linear), "linear: {linear}");
    assert!(network > 0.93, "network: {network}");
}
