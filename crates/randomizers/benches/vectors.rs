//! Whole-vector reports, with the released generator.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shuffledp_randomizers::{
    Aggregator, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, PrivUnit, Randomizer, ReleaseRng,
    RoundedGaussian, TopSet, hadamard,
};
use std::hint::black_box;

fn reports<M: Randomizer<Input = [f32]>>(c: &mut Criterion, name: &str, dimension: u32, mechanism: M) {
    let input: Vec<f32> = (0..dimension).map(|j| (j as f32).sin() * 0.01).collect();
    let mut rng = ReleaseRng::from_operating_system().unwrap();
    let mut group = c.benchmark_group(name);
    group.sample_size(20).throughput(Throughput::Elements(u64::from(dimension)));
    group.bench_function(format!("randomize, d = {dimension}"), |b| {
        b.iter(|| mechanism.randomize(black_box(&input), &mut rng).unwrap())
    });
    let report = mechanism.randomize(&input, &mut rng).unwrap();
    let mut frame = vec![0; mechanism.frame_len()];
    mechanism.encode(&report, &mut frame);
    group.bench_function(format!("decode and add, d = {dimension}"), |b| {
        let mut aggregator = mechanism.aggregator();
        b.iter(|| aggregator.add(&mechanism.decode(black_box(&frame)).unwrap()))
    });
}

fn transforms(c: &mut Criterion) {
    let mut group = c.benchmark_group("hadamard");
    for size in [16_384_u32, 65_536] {
        let x: Vec<f32> = (0..size).map(|i| (i as f32).sin()).collect();
        let mut y = x.clone();
        group.sample_size(20).throughput(Throughput::Elements(u64::from(size)));
        group.bench_function(format!("transform, D = {size}"), |b| {
            b.iter(|| {
                y.copy_from_slice(black_box(&x));
                hadamard::transform(&mut y);
            })
        });
    }
}

fn vectors(c: &mut Criterion) {
    reports(c, "priv-unit", 1_000, PrivUnit::new(8.0, 1_000, 1.0).unwrap());
    reports(c, "priv-unit", 100_000, PrivUnit::new(8.0, 100_000, 1.0).unwrap());
    // The dimensions of the scattering features with ten classes: D = 16,384 and 65,536.
    reports(c, "top-set", 9_760, TopSet::new(2.0, 9_760, 1.0, 1.0 / 6.0).unwrap());
    reports(c, "top-set", 34_720, TopSet::new(2.0, 34_720, 1.0, 1.0 / 6.0).unwrap());
    reports(c, "gaussian", 100_000, Gaussian::new(1.0, 100_000, 1.0).unwrap());
    reports(c, "laplace", 100_000, Laplace::new(1.0, 100_000, 1.0).unwrap());
    reports(c, "discrete-gaussian", 100_000, DiscreteGaussian::new(1.0, 100_000, 1.0).unwrap());
    reports(c, "rounded-gaussian", 34_720, RoundedGaussian::new(5.0, 34_720, 1.0).unwrap());
    reports(c, "discrete-laplace", 100_000, DiscreteLaplace::new(1.0, 100_000, 1.0).unwrap());
}

criterion_group!(benches, transforms, vectors);
criterion_main!(benches);
