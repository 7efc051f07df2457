//! CPU time of a million categories or some thousand vectors, randomized and encoded by one thread:
//! what bench/python/batches.py compares with.
//!
//! `cargo run --release -p shuffledp-randomizers --example batch_times`

use shuffledp_randomizers::{DiscreteGaussian, Duchi, Krr, R1, RInf, Randomizer, ReleaseRng, Result};
use std::hint::black_box;
use std::time::Instant;

const DIMENSION: u32 = 13_706;
const ROWS: usize = 1000;

fn main() -> Result<()> {
    let vectors: Vec<f32> = (0..ROWS * DIMENSION as usize).map(|i| (i as f32).sin() * 0.01).collect();
    let rows: Vec<&[f32]> = vectors.chunks_exact(DIMENSION as usize).collect();
    let categories: Vec<u64> = (0..1_000_000).map(|i| i % 1000).collect();
    let categories: Vec<&u64> = categories.iter().collect();
    time("krr", &Krr::new(2.0, 1000)?, &categories, 1)?;
    time("r-inf", &RInf::new(2.0, DIMENSION, 0.01)?, &rows, 20)?;
    time("r-1", &R1::new(2.0, DIMENSION, 0.01)?, &rows, 20)?;
    time("r-2", &Duchi::new(2.0, DIMENSION, 1.0)?, &rows, 1)?;
    time("discrete-gaussian", &DiscreteGaussian::new(1.0, DIMENSION, 1.0)?, &rows[..100], 1)
}

/// The best of seven, in nanoseconds per report; the batch is done `times` times in each.
fn time<M: Randomizer>(name: &str, mechanism: &M, inputs: &[&M::Input], times: usize) -> Result<()> {
    let mut frames = vec![0; inputs.len() * mechanism.frame_len()];
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let started = cpu_time();
        for _ in 0..times {
            let mut rng = ReleaseRng::from_operating_system()?;
            for (input, frame) in inputs.iter().zip(frames.chunks_exact_mut(mechanism.frame_len())) {
                mechanism.encode(&mechanism.randomize(input, &mut rng)?, frame);
            }
            black_box(&frames);
        }
        best = best.min((cpu_time() - started) / (times * inputs.len()) as f64);
    }
    println!("{name} {best:.1}");
    Ok(())
}

/// Returns the processor time of this thread so far, in nanoseconds; the clock's time where the
/// system does not report it.
fn cpu_time() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.unwrap_or_else(|| START.get_or_init(Instant::now).elapsed().as_nanos() as f64)
}
