//! Reports per second and core.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shuffledp_randomizers::{Aggregator, RInf, Randomizer, ReleaseRng, SimulationRng};
use std::hint::black_box;

const DIMENSION: u32 = 13_706;

fn r_inf(c: &mut Criterion) {
    let mechanism = RInf::new(2.0, DIMENSION, 0.01).unwrap();
    let gradient: Vec<f32> = (0..DIMENSION).map(|j| (j as f32).sin() * 0.01).collect();
    let mut release = ReleaseRng::from_operating_system().unwrap();
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
    group.bench_function("aggregate a million", |b| {
        b.iter(|| {
            let mut aggregator = mechanism.aggregator();
            reports.iter().for_each(|report| aggregator.add(report));
            aggregator.mean().unwrap()
        })
    });
}

criterion_group!(benches, r_inf);
criterion_main!(benches);
