//! Per-example gradients of the Girgis network: examples a second, as one JSON object.
//! `bench/training` sets it beside PyTorch.
//!
//! Every gradient is made, its coordinates clamped, and the sum kept: what a round does before it
//! randomizes.

use shuffledp_learning::data::Examples;
use shuffledp_learning::models::{Model, ModelConfig, Network, Nonlinearity, TensorShape, initial_weights};
use std::time::Instant;

const CLIP: f32 = 0.01;
const CLIENTS: usize = 1024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let threads: usize = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let seconds: f64 = arguments.next().map_or(Ok(0.5), |text| text.parse())?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;

    let shape = TensorShape::new(1, 28, 28);
    let architecture = ModelConfig::Cnn16 { activation: Nonlinearity::Tanh }.architecture(shape, 10)?;
    let weights = initial_weights(&architecture, 1);
    let model = Network::new(architecture);
    let bytes = (0..CLIENTS * 784).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let labels = (0..CLIENTS).map(|i| (i % 10) as u8).collect();
    let examples = Examples::from_bytes(shape, 10, bytes, labels, 0.1307, 0.3081)?;
    let clients: Vec<u64> = (0..CLIENTS as u64).collect();
    let round = || {
        model.fold_gradients(
            &weights,
            &examples,
            &clients,
            || vec![0.0f32; weights.len()],
            |sum, client| {
                for (sum, gradient) in sum.iter_mut().zip(client.gradient) {
                    *sum += gradient.clamp(-CLIP, CLIP);
                }
                Ok(())
            },
            |all, more| {
                all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
                Ok(())
            },
        )
    };
    round()?;
    // The best of ten spans: other programs only ever slow a span down.
    let mut best = 0.0f64;
    for _ in 0..10 {
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < seconds {
            round()?;
            done += CLIENTS;
        }
        best = best.max(done as f64 / start.elapsed().as_secs_f64());
    }
    println!("{{\"threads\": {threads}, \"parameters\": {}, \"examples_per_second\": {:.0}}}", weights.len(), best);
    Ok(())
}
