//! Whole runs on few generated digits: they learn, are charged, stop at the budget, and do not depend on the number of threads.
#![allow(clippy::unwrap_used)]
#![allow(clippy::float_cmp, reason = "the same run gives the same bits")]

use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::Question;
use shuffledp_learning::data::{Clients, Dataset, digits};
use shuffledp_learning::models::load_weights;
use shuffledp_learning::reference::mean_gradient;
use shuffledp_learning::training::{Metrics, Population, RunFolder, Simulation, TrainingConfig};
use std::path::Path;

const CLDP: &str = "kind = 'cldp-sgd'\nsampled = 500\nclip = 0.01\nrandomizer = { name = 'r-inf', local_epsilon = 2 }";
const LDP_SGD: &str =
    "kind = 'check-in'\nrate = 0.25\ndrop_out = 0.1\nclip = 1\nrandomizer = { name = 'ldp-sgd', local_epsilon = 2 }";
const GAUSSIAN: &str = "kind = 'check-in'\nrate = 0.25\nclip = 1\nrandomizer = { name = 'gaussian', sigma = 2 }";
const PLAIN: &str = "kind = 'no-privacy'\nsampled = 500";

fn config(rounds: u64, rate: f64, algorithm: &str, more: &str) -> TrainingConfig {
    let text = format!(
        "name = 'test'\nseed = 5\nrounds = {rounds}\ndelta = 1e-5\nevaluate_every = 10\n{more}\n\
         [data]\nkind = 'digits'\ntrain = 2000\ntest = 500\n[model]\nkind = 'linear'\n\
         [algorithm]\n{algorithm}\n[step.schedule]\nkind = 'constant'\nrate = {rate}\n"
    );
    TrainingConfig::parse(&text, Path::new("test.toml")).unwrap()
}

fn data() -> Dataset {
    digits::dataset(2000, 500, 1).unwrap()
}

fn finish<'a, P: Clients>(config: &'a TrainingConfig, population: &'a P) -> Simulation<'a, P> {
    let mut simulation = Simulation::new(config, population).unwrap();
    while simulation.step().unwrap() {}
    simulation
}

#[test]
fn private_runs_learn_and_are_charged() {
    let data = data();
    let cldp = CLDP.replace("500", "2000").replace("local_epsilon = 2", "local_epsilon = 4");
    let runs = [(cldp.as_str(), 0.3, 100, 2000..2001), (LDP_SGD, 0.05, 60, 350..550), (GAUSSIAN, 0.05, 60, 400..600)];
    for (algorithm, rate, rounds, heard) in runs {
        let config = config(rounds, rate, algorithm, "");
        let simulation = finish(&config, &data.train);
        let metrics = simulation.evaluate(&data.test, 0.0).unwrap();
        assert_eq!((metrics.round, simulation.ledger().accountant().ledger()[0].count), (rounds, rounds));
        // Ten classes: guessing is right one time in ten, give or take 1.3 % on 500 examples.
        assert!(metrics.test_accuracy > 0.2, "{algorithm}: {metrics:?}");
        assert!(0.0 <= metrics.epsilon_lower && metrics.epsilon_lower <= metrics.epsilon, "{algorithm}: {metrics:?}");
        // The ledger is the whole truth: who asks about the same rounds gets the same ε.
        let round = simulation.ledger().accountant().ledger()[0].round;
        let question = Question::new(round, rounds).unwrap();
        let survey = catalogue::survey(&question, Target::EpsilonAt { delta: 1e-5 }, &Options::default()).unwrap();
        let asked = survey.best_upper(Standing::Rigorous).unwrap().value;
        assert!((metrics.epsilon / asked - 1.0).abs() < 1e-3, "{algorithm}: {} {asked}", metrics.epsilon);
        assert!(heard.contains(&metrics.participants), "{metrics:?}");
        assert_eq!(simulation.warning(), None);
    }
}

#[test]
fn without_privacy_a_step_is_the_mean_gradient() {
    let data = data();
    let config = config(1, 0.5, PLAIN.replace("500", "2000").as_str(), "");
    let before = Simulation::new(&config, &data.train).unwrap().state().weights.clone();
    let simulation = finish(&config, &data.train);
    let everybody: Vec<u64> = (0..2000).collect();
    let gradient = mean_gradient(simulation.model(), &before, &data.train, &everybody).unwrap();
    for ((after, before), gradient) in simulation.state().weights.iter().zip(before).zip(gradient) {
        assert!((after - (before - 0.5 * gradient)).abs() < 1e-5);
    }
    let metrics = simulation.evaluate(&data.test, 0.0).unwrap();
    assert_eq!((metrics.epsilon, simulation.ledger().accountant().is_empty()), (f64::INFINITY, true));
}

/// One averaged run answers for the plain one as well: averaging changes nothing of the steps.
#[test]
fn averaged_runs_tell_the_accuracy_of_the_last_weights_too() {
    let data = data();
    let plain = config(30, 0.3, PLAIN, "");
    let mut averaged = plain.clone();
    averaged.step.average_from = Some(11);
    let before = {
        let mut simulation = Simulation::new(&averaged, &data.train).unwrap();
        simulation.step().unwrap();
        simulation.evaluate(&data.test, 0.0).unwrap()
    };
    assert_eq!(before.test_accuracy_last, None);
    let plain = finish(&plain, &data.train).evaluate(&data.test, 0.0).unwrap();
    let simulation = finish(&averaged, &data.train);
    let averaged = simulation.evaluate(&data.test, 0.0).unwrap();
    assert_eq!((plain.test_accuracy_last, averaged.test_accuracy_last), (None, Some(plain.test_accuracy)));
    let kept = simulation.model().evaluate(&simulation.state().answer(), &data.test).unwrap();
    assert_eq!(averaged.test_accuracy, kept.accuracy());
    assert_ne!(averaged.test_accuracy, plain.test_accuracy);
}

#[test]
fn the_round_that_would_exceed_the_budget_is_not_run() {
    let data = data();
    let free = config(200, 0.5, CLDP, "");
    let round = {
        let mut simulation = Simulation::new(&free, &data.train).unwrap();
        simulation.step().unwrap();
        simulation.ledger().accountant().ledger()[0].round
    };
    let epsilon = |rounds| {
        let mut accountant = Accountant::new();
        accountant.compose(round, rounds).unwrap();
        accountant.epsilon(1e-5).unwrap()
    };
    for rounds in [1, 7] {
        for (target, expected) in [(epsilon(rounds), rounds), (epsilon(rounds) * (1.0 - 1e-9), rounds - 1)] {
            let config = TrainingConfig { target_epsilon: Some(target), ..free.clone() };
            let simulation = finish(&config, &data.train);
            assert_eq!(simulation.state().round, expected);
            assert!(simulation.ledger().epsilon().unwrap() <= target);
        }
    }
}

#[test]
fn the_same_whatever_the_number_of_threads() {
    let data = data();
    let population = Population::new(&data.train, Some(2500), 9).unwrap();
    for algorithm in [CLDP, LDP_SGD, GAUSSIAN, PLAIN] {
        let config = config(3, 0.3, algorithm, "");
        let weights = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| finish(&config, &population).state().weights.clone())
        });
        assert_eq!(weights[0], weights[1], "{algorithm}");
        let other = TrainingConfig { seed: 6, ..config };
        assert_ne!(finish(&other, &population).state().weights, weights[0], "{algorithm}");
    }
}

/// Noise drawn once has the variance of everybody's noise: the step of a round with σ, less the one of a round almost without, is
/// N(0, σ²C²/k) on each of the 7,850 weights.
#[test]
fn summed_gaussian_noise_has_the_variance_of_all() {
    let data = data();
    let everybody = |sigma: &str| GAUSSIAN.replace("rate = 0.25", "rate = 1").replace("sigma = 2", sigma);
    let step = |algorithm: &str| {
        let config = config(1, 1.0, algorithm, "");
        finish(&config, &data.train).state().weights.clone()
    };
    let (noisy, quiet) = (step(&everybody("sigma = 20")), step(&everybody("sigma = 1e-3")));
    let weights = noisy.len() as f64;
    let variance = noisy.iter().zip(&quiet).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / weights;
    let expected = 20.0 * 20.0 / 2000.0;
    // The estimate's relative standard deviation is √(2/7850) = 1.6 %.
    assert!((variance / expected - 1.0).abs() < 0.08, "{variance} {expected}");
}

#[test]
fn bad_configurations_are_refused_before_any_work() {
    let data = data();
    let refused = |algorithm: &str, more: &str, rate: f64| {
        Simulation::new(&config(10, rate, algorithm, more), &data.train).err().unwrap().to_string()
    };
    assert!(refused(&CLDP.replace("500", "2001"), "", 1.0).contains("sampled must be at most the number of clients"));
    assert!(refused(&CLDP.replace("0.01", "0.0"), "", 1.0).contains("clip must be"));
    assert!(refused(&CLDP.replace("r-inf", "any"), "", 1.0).contains("a mechanism that can be run"));
    assert!(refused(CLDP, "", -1.0).contains("rate must be"));
    assert!(refused(PLAIN, "target_epsilon = 1.0", 1.0).contains("target_epsilon"));
    assert!(refused(CLDP, "target_epsilon = -1.0", 1.0).contains("epsilon"));
    // Noise so small that its square is 0: ε is unbounded, and no round is run.
    let unbounded = refused(&GAUSSIAN.replace("sigma = 2", "sigma = 1e-170"), "", 1.0);
    assert!(unbounded.contains("randomizer must be such that 10 rounds have a finite ε"), "{unbounded}");
    assert!(unbounded.contains("a larger sigma"), "{unbounded}");
    let text = "name = 'x'\nrounds = 'many'";
    let error = TrainingConfig::parse(text, Path::new("bad.toml")).unwrap_err().to_string();
    assert!(error.starts_with("bad.toml: ") && error.contains("rounds"), "{error}");
}

#[test]
fn a_run_leaves_a_folder_that_can_be_read_back() {
    let data = data();
    let config = config(4, 0.5, CLDP, "target_epsilon = 9.0");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = RunFolder::create(&path, &config).unwrap();
    let mut simulation = Simulation::new(&config, &data.train).unwrap();
    let plan = simulation.plan().unwrap();
    while simulation.step().unwrap() {
        run.add(&simulation.evaluate(&data.test, 1.0).unwrap()).unwrap();
    }
    let result = simulation.evaluate(&data.test, 1.0).unwrap();
    run.finish(&simulation, &result).unwrap();
    assert_eq!(plan, (4, Some(result.epsilon)));
    let read = |name: &str| std::fs::read(path.join(name)).unwrap();
    let text = |name: &str| String::from_utf8(read(name)).unwrap();
    assert_eq!(TrainingConfig::parse(&text("config.toml"), Path::new("config.toml")).unwrap(), config);
    let metrics: Vec<Metrics> = text("metrics.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(metrics.iter().map(|line| line.round).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(metrics[3], result);
    assert!(metrics.windows(2).all(|pair| pair[0].epsilon < pair[1].epsilon));
    assert_eq!(&Accountant::load(&text("ledger.json")).unwrap(), simulation.ledger().accountant());
    let weights = load_weights(simulation.model().architecture(), &read("weights.safetensors"), &path).unwrap();
    assert_eq!(weights, simulation.state().answer());
    assert!(text("run.json").contains("\"stopped_by_budget\": false"));
    // A run is not overwritten.
    assert!(RunFolder::create(&path, &config).unwrap_err().to_string().contains("is not empty"));
}
