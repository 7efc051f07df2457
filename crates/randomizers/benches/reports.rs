//! Reports per second and core.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shuffledp_randomizers::{Aggregator, Duchi, Krr, R1, RInf, Randomizer, ReleaseRng, SimulationRng, direction};
use std::hint::black_box;

const DIMENSION: u32 = 13_706;
const EPSILON: f64 = 2.0;

fn gradient() -> Vec<f32> {
    (0..DIMENSION).map(|j| (j as f32).sin() * 0.01).collect()
}

fn release() -> ReleaseRng {
    ReleaseRng::from_operating_system().unwrap()
}

/// `reports` into an aggregate and its mean.
fn aggregate<M: Randomizer>(mechanism: &M, reports: &[M::Report]) -> Vec<f64> {
    let mut aggregator = mechanism.aggregator();
    reports.iter().for_each(|report| aggregator.add(report));
    aggregator.mean().unwrap()
}

fn r_inf(c: &mut Criterion) {
    let mechanism = RInf::new(EPSILON, DIMENSION, 0.01).unwrap();
    let (gradient, mut release) = (gradient(), release());
    let mut group = c.benchmark_group("r-inf");
    group.throughput(Throughput::Elements(1));
    group.bench_function("whole vector", |b| {
        b.iter(|| mechanism.randomize(black_box(&gradient), &mut release).unwrap())
    });
    group.bench_function("one coordinate", |b| {
        b.iter(|| {
            let index = mechanism.draw_index(&mut release);
            mechanism.randomize_coordinate(index, black_box(0.005), &mut release).unwrap()
        })
    });
    let mut rng = SimulationRng::from_seed(1);
    let reports: Vec<_> = (0..1_000_000)
        .map(|_| mechanism.randomize_coordinate(mechanism.draw_index(&mut rng), 0.0, &mut rng).unwrap())
        .collect();
    group.throughput(Throughput::Elements(1_000_000));
    group.bench_function("aggregate a million", |b| b.iter(|| aggregate(&mechanism, &reports)));
}

fn r_1(c: &mut Criterion) {
    let mechanism = R1::new(EPSILON, DIMENSION, 0.01).unwrap();
    let (gradient, mut release) = (gradient(), release());
    let mut group = c.benchmark_group("r-1");
    group.throughput(Throughput::Elements(1));
    group.bench_function("whole vector", |b| {
        b.iter(|| mechanism.randomize(black_box(&gradient), &mut release).unwrap())
    });
    let reports: Vec<_> = (0..10_000).map(|_| mechanism.randomize(&gradient, &mut release).unwrap()).collect();
    group.throughput(Throughput::Elements(10_000));
    group.bench_function("aggregate ten thousand", |b| b.iter(|| aggregate(&mechanism, &reports)));
}

fn duchi(c: &mut Criterion) {
    let mechanism = Duchi::new(EPSILON, DIMENSION, 1.0).unwrap();
    let (gradient, mut release, mut simulation) = (gradient(), release(), SimulationRng::from_seed(1));
    let mut group = c.benchmark_group("r-2");
    group.throughput(Throughput::Elements(1));
    group.bench_function("released", |b| b.iter(|| mechanism.randomize(black_box(&gradient), &mut release).unwrap()));
    group.bench_function("simulated", |b| {
        b.iter(|| mechanism.randomize(black_box(&gradient), &mut simulation).unwrap())
    });
    let mut report = mechanism.randomize(&gradient, &mut simulation).unwrap();
    let mut aggregator = mechanism.aggregator();
    group.bench_function("aggregate", |b| {
        b.iter(|| {
            // Another seed each time: the last one's direction is remembered.
            report.seed ^= 1;
            aggregator.add(black_box(&report));
        })
    });
    group.bench_function("simulate and aggregate", |b| {
        b.iter(|| aggregator.add(&mechanism.randomize(black_box(&gradient), &mut simulation).unwrap()))
    });
    group.throughput(Throughput::Elements(u64::from(DIMENSION)));
    let mut normals = vec![0.0; DIMENSION as usize];
    group.bench_function("normals alone", |b| b.iter(|| direction::fill(black_box(1), black_box(&mut normals))));
}

fn krr(c: &mut Criterion) {
    let mechanism = Krr::new(EPSILON, 1000).unwrap();
    let mut release = release();
    let mut group = c.benchmark_group("krr");
    group.throughput(Throughput::Elements(1));
    group.bench_function("released", |b| b.iter(|| mechanism.randomize(black_box(&17), &mut release).unwrap()));
}

criterion_group!(benches, r_inf, r_1, duchi, krr);
criterion_main!(benches);
