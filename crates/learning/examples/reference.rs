//! Training without privacy: what the models can learn.
//!
//!     cargo run --release -p shuffledp-learning --example reference -- digits linear 10
//!     cargo run --release -p shuffledp-learning --example reference -- mnist cnn-16 20
//!
//! Arguments: data (`digits` or `mnist`), model (`linear`, `mlp`, `cnn-16`, `cnn-32`), epochs, seed. Prints a JSON line per epoch.

use shuffledp_learning::data::{Clients, digits, directory::data_directory, mnist};
use shuffledp_learning::models::{Model, ModelConfig, Nonlinearity, initial_weights};
use shuffledp_learning::reference::Sgd;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &'static str| arguments.get(index).map_or(default, String::as_str);
    let data = match argument(0, "digits") {
        "mnist" => mnist::load(&data_directory(None)?)?,
        _ => digits::dataset(20_000, 5_000, 1)?,
    };
    let activation = Nonlinearity::Relu;
    let config = match argument(1, "linear") {
        "cnn-16" => ModelConfig::Cnn16 { activation },
        "cnn-32" => ModelConfig::Cnn32 { activation },
        "mlp" => ModelConfig::Mlp { hidden: vec![100], activation },
        _ => ModelConfig::Linear,
    };
    let epochs = argument(2, "10").parse()?;
    let seed = argument(3, "1").parse()?;
    let architecture = config.architecture(data.train.shape(), data.train.classes())?;
    let mut weights = initial_weights(&architecture, seed);
    let model = Model::new(architecture);
    let learning_rate = if matches!(config, ModelConfig::Linear) { 0.01 } else { 0.02 };
    let sgd = Sgd { batch: 64, learning_rate, momentum: 0.9, epochs };
    let start = Instant::now();
    sgd.train(&model, &mut weights, &data.train, seed, |epoch, weights| {
        let (train, test) = (model.evaluate(weights, &data.train)?, model.evaluate(weights, &data.test)?);
        println!(
            "{{\"epoch\": {epoch}, \"train_loss\": {:.4}, \"train_accuracy\": {:.4}, \"test_accuracy\": {:.4}, \"seconds\": {:.1}}}",
            train.loss,
            train.accuracy(),
            test.accuracy(),
            start.elapsed().as_secs_f64()
        );
        Ok(())
    })?;
    Ok(())
}
