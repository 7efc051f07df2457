//! A round of a linear model: 60,000 clients, 3,472 features, 10 classes, ℓ2 clipping, the sum;
//! seconds as one JSON object. `bench/training` sets it beside other libraries.
//!
//!     linear_speed [threads] [seconds] [clients]

use shuffledp_learning::collect::Clipping;
use shuffledp_learning::data::Examples;
use shuffledp_learning::models::{AnyModel, Model, ModelConfig, TensorShape};
use shuffledp_randomizers::clip::Norm;
use std::time::Instant;

const FEATURES: usize = 3472;
const CLASSES: usize = 10;
const CLIP: f32 = 0.1;

/// A number in [−1, 1) from an index.
fn number(index: usize) -> f32 {
    (index.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f32 / 32_768.0 - 1.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let threads: usize = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let seconds: f64 = arguments.next().map_or(Ok(0.5), |text| text.parse())?;
    let clients: usize = arguments.next().map_or(Ok(60_000), |text| text.parse())?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;

    // Features of about unit length.
    let floats = (0..clients * FEATURES).map(|index| number(index) * 0.03).collect();
    let labels = (0..clients).map(|client| (client % CLASSES) as u8).collect();
    let shape = TensorShape::vector(FEATURES);
    let examples = Examples::from_floats(shape, CLASSES, floats, labels)?;
    let model = AnyModel::new(ModelConfig::Linear { bias: false }.architecture(shape, CLASSES)?);
    let weights: Vec<f32> = (0..model.parameters()).map(|index| number(index + 1)).collect();
    let clients: Vec<u64> = (0..clients as u64).collect();
    let clipping = Clipping::To { norm: Norm::L2, bound: CLIP };
    let (mut best, mut rounds) = (f64::INFINITY, 0);
    let started = Instant::now();
    // The best round: other programs only ever slow one down.
    loop {
        let start = Instant::now();
        std::hint::black_box(model.sum_of_clipped_gradients(&weights, &examples, &clients, clipping)?);
        best = best.min(start.elapsed().as_secs_f64());
        rounds += 1;
        if started.elapsed().as_secs_f64() > seconds {
            break;
        }
    }
    let parameters = weights.len();
    println!(
        "{{\"threads\": {threads}, \"parameters\": {parameters}, \"rounds\": {rounds}, \
         \"seconds_per_round\": {best:.5}}}"
    );
    Ok(())
}
