//! A sketch's batches have the mean and the variance of the real ones.
#![allow(clippy::unwrap_used)]

use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_learning::collect::{Clipping, Collector, Frames, Sketch, Summing, VectorSum};
use shuffledp_learning::data::digits;
use shuffledp_learning::training::{Run, RunFolder, Simulation, TrainingConfig};
use shuffledp_randomizers::SimulationRng;
use shuffledp_randomizers::clip::Norm;
use shuffledp_randomizers::dispatch::VectorShape;
use std::path::Path;

const DIMENSION: usize = 64;
const CLIENTS: u64 = 300;
const BATCHES: u64 = 200;
const SHAPE: VectorShape = VectorShape { dimension: DIMENSION as u32, clip: 0.5 };

fn mechanisms() -> Vec<Mechanism> {
    let local_epsilon = 4.0;
    vec![
        Mechanism::RInf { local_epsilon },
        Mechanism::R1 { local_epsilon },
        Mechanism::R2 { local_epsilon },
        Mechanism::LdpSgd { local_epsilon },
        Mechanism::PrivUnit { local_epsilon, dimension: DIMENSION as u64 },
        Mechanism::Gaussian { sigma: 1.5 },
        Mechanism::DiscreteGaussian { sigma: 1.5 },
        Mechanism::Laplace { local_epsilon },
        Mechanism::DiscreteLaplace { local_epsilon },
    ]
}

/// A gradient that is clipped: long in every coordinate for ℓ∞, else mostly along one.
fn gradient(norm: Norm) -> Vec<f32> {
    (0..DIMENSION)
        .map(|j| match (norm, j) {
            (Norm::Linf, _) => {
                if j % 3 == 0 {
                    -2.0
                } else {
                    0.45
                }
            }
            (_, 5) => 3.0,
            _ => 0.01,
        })
        .collect()
}

/// How far the mean of `batches` is from `expected`, as χ² less its mean in its deviations; and the
/// variance of a batch's coordinate.
fn judged(batches: &[Vec<f64>], expected: &[f64]) -> (f64, f64) {
    let count = batches.len() as f64;
    let mean: Vec<f64> = (0..DIMENSION).map(|j| batches.iter().map(|batch| batch[j]).sum::<f64>() / count).collect();
    let squares = batches.iter().flat_map(|batch| batch.iter().zip(&mean).map(|(x, mean)| (x - mean).powi(2)));
    let variance = squares.sum::<f64>() / ((count - 1.0) * DIMENSION as f64);
    let off: f64 = mean.iter().zip(expected).map(|(mean, expected)| (mean - expected).powi(2)).sum();
    let freedom = DIMENSION as f64;
    ((off / (variance / count) - freedom) / (2.0 * freedom).sqrt(), variance)
}

#[test]
fn mean_and_variance_are_those_of_real_batches() {
    for (index, mechanism) in mechanisms().into_iter().enumerate() {
        let spec = RandomizerSpec::new(mechanism).unwrap();
        let (frames, sketch) = (Frames::new(spec, SHAPE).unwrap(), Sketch::new(spec, SHAPE).unwrap());
        let Clipping::To { norm, .. } = sketch.clipping() else { panic!("{mechanism:?} clips") };
        let gradient = gradient(norm);
        let mut clipped = vec![0.0; DIMENSION];
        sketch.clipping().clip_into(&gradient, &mut clipped);
        let (mut real, mut drawn) = (Vec::new(), Vec::new());
        for batch in 0..BATCHES {
            let mut rng = SimulationRng::named([11, index as u64, batch, 0]);
            let (mut reports, mut report) = (frames.empty(), frames.blank());
            let mut sum = VectorSum::new(DIMENSION);
            for _ in 0..CLIENTS {
                frames.report(&gradient, &mut rng, &mut report).unwrap();
                frames.add(&report, &mut reports).unwrap();
                sum.add(&clipped);
            }
            real.push(frames.mean(reports, &mut rng).unwrap().unwrap());
            drawn.push(sketch.mean_of(sum, &mut rng).unwrap().unwrap());
        }
        // 12,800 squares for each variance: its relative deviation is 1.3 %, that of a ratio 1.8 %.
        // What the sketch leaves out is below 2 %.
        let ((real_off, real_variance), (off, variance)) = (judged(&real, &clipped), judged(&drawn, &clipped));
        let is_right = |off: f64, variance: f64| off.abs() < 5.0 && (variance / real_variance).ln().abs() < 0.09;
        assert!(real_off.abs() < 5.0, "{mechanism:?}: the mechanism is off by {real_off}");
        assert!(is_right(off, variance), "{mechanism:?}: {off}, {}", variance / real_variance);
        // The test would notice a factor of 1.2 in either.
        for factor in [1.2_f64, 1.0 / 1.2] {
            assert!(!is_right(off, variance * factor));
            let wrong: Vec<Vec<f64>> = drawn.iter().map(|batch| shifted(batch, &clipped, factor - 1.0)).collect();
            let (off, variance) = judged(&wrong, &clipped);
            assert!(!is_right(off, variance), "{mechanism:?}: a mean of {factor} passes, {off}");
        }
    }
}

fn shifted(batch: &[f64], by: &[f64], times: f64) -> Vec<f64> {
    batch.iter().zip(by).map(|(x, by)| x + times * by).collect()
}

#[test]
fn nobody_spoke() {
    let spec = RandomizerSpec::new(Mechanism::R2 { local_epsilon: 1.0 }).unwrap();
    let sketch = Sketch::new(spec, SHAPE).unwrap();
    let mut rng = SimulationRng::named([1, 2, 3, 4]);
    assert!(sketch.mean_of(VectorSum::new(DIMENSION), &mut rng).unwrap().is_none());
}

#[test]
fn a_sketch_is_marked_and_leaves_no_folder() {
    let text = "name = 'test'\nseed = 5\nrounds = 3\ndelta = 1e-5\nevaluate_every = 1\n\
         [data]\nkind = 'digits'\ntrain = 200\ntest = 50\n[model]\nkind = 'linear'\nbias = false\n\
         [algorithm]\nkind = 'cldp-sgd'\nsampled = 40\nclip = 1\nrandomizer = { name = 'r-2', local_epsilon = 2 }\n\
         [step]\n[step.schedule]\nkind = 'cosine'\nrate = 0.1\nrounds = 3\n";
    let config = TrainingConfig::parse(text, Path::new("test.toml")).unwrap().with_rounds(5);
    let data = digits::dataset(200, 50, 1).unwrap();
    let simulation = || Simulation::new(&config, &data.train).unwrap();
    let mut sketch = simulation().into_sketch().unwrap();
    assert!(sketch.is_sketch() && !simulation().is_sketch());
    while sketch.step().unwrap() {}
    assert_eq!(sketch.state().round, 5);
    assert!(sketch.evaluate(&data.test, 0.0).unwrap().sketch);
    let scratch = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&scratch.path().join("run"), &config).unwrap();
    let refused = Run::start(simulation().into_sketch().unwrap(), &data.test, Some(folder)).err().unwrap();
    assert!(refused.to_string().contains("a sketch is not a result"), "{refused}");
    assert!(!scratch.path().join("run/run.json").exists());
    let folder = RunFolder::open(&scratch.path().join("run")).unwrap();
    assert!(Run::resume(simulation().into_sketch().unwrap(), &data.test, folder).is_err());
}
