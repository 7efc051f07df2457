//! Whole runs on few generated digits: they learn, are charged, stop at the budget, and do not
//! depend on the number of threads.
#![allow(clippy::unwrap_used)]
#![allow(clippy::float_cmp, reason = "the same run gives the same bits")]

mod common;

use common::mean_gradient;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::{Output, Question, Release};
use shuffledp_learning::data::{Clients, Dataset, Examples, digits};
use shuffledp_learning::models::{Architecture, Judgement, Model, TensorShape, load_weights};
use shuffledp_learning::random;
use shuffledp_learning::schedule::{Schedule, Stage};
use shuffledp_learning::training::{Metrics, Population, Progress, Run, RunFolder, Simulation, TrainingConfig};
use std::path::Path;
use std::sync::Arc;

const CLDP: &str = "kind = 'cldp-sgd'\nsampled = 500\nclip = 0.01\nrandomizer = { name = 'r-inf', local_epsilon = 2 }";
const LDP_SGD: &str =
    "kind = 'check-in'\nrate = 0.25\ndrop_out = 0.1\nclip = 1\nrandomizer = { name = 'ldp-sgd', local_epsilon = 2 }";
const GAUSSIAN: &str = "kind = 'check-in'\nrate = 0.25\nclip = 1\nrandomizer = { name = 'gaussian', sigma = 2 }";
/// Its dimension is the model's.
const TOP_SET: &str =
    "kind = 'check-in'\nrate = 0.25\nclip = 1\nrandomizer = { name = 'top-set', local_epsilon = 2, share = 0.2 }";
const ROUNDED: &str = "kind = 'check-in'\nrate = 0.25\nclip = 1\nrandomizer = { name = 'rounded-gaussian', sigma = 2 }";
const BLOCKS: &str = "kind = 'shuffled-noisy-sgd'\nblocks = 10\nclip = 1\nlocal_epsilon = 1";
const PLAIN: &str = "kind = 'no-privacy'\nsampled = 500";

fn config(rounds: u64, rate: f64, algorithm: &str, more: &str) -> TrainingConfig {
    let text = format!(
        "name = 'test'\nseed = 5\nrounds = {rounds}\ndelta = 1e-5\nevaluate_every = 10\n{more}\n\
         [data]\nkind = 'digits'\ntrain = 2000\ntest = 500\n[model]\nkind = 'linear'\n\
         [algorithm]\n{algorithm}\n[step.schedule]\nkind = 'constant'\nrate = {rate:?}\n"
    );
    TrainingConfig::parse(&text, Path::new("test.toml")).unwrap()
}

fn data() -> Dataset {
    digits::dataset(2000, 500, 1).unwrap()
}

fn finish<P: Clients>(config: &TrainingConfig, population: P) -> Simulation<P> {
    let mut simulation = Simulation::new(config, population).unwrap();
    while simulation.step().unwrap() {}
    simulation
}

/// Two classes a line apart, in two dimensions: six weights, so that few clients are enough
/// whatever the noise.
fn easy(seed: u64) -> Examples {
    let mut random = random::stream(seed, "easy", &[]);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for index in 0..2000 {
        let label = index % 2;
        let centre = if label == 0 { -1.0 } else { 1.0 };
        values.extend([centre + random::between(&mut random, -0.8, 0.8), random::between(&mut random, -1.0, 1.0)]);
        labels.push(label as u8);
    }
    Examples::from_floats(TensorShape::vector(2), 2, values, labels).unwrap()
}

/// The noise of a round, of length below 1 against gradients of about 1, is small enough that forty
/// rounds cannot fail.
#[test]
fn private_runs_learn_and_are_charged() {
    let (train, test) = (easy(1), easy(2));
    let runs = [
        (CLDP.replace("0.01", "1"), 500..501),
        (LDP_SGD.to_owned(), 350..550),
        (GAUSSIAN.to_owned(), 400..600),
        (TOP_SET.to_owned(), 400..600),
        (ROUNDED.to_owned(), 400..600),
    ];
    for ((algorithm, heard), seed) in runs.iter().flat_map(|run| [1, 2].map(|seed| (run, seed))) {
        let rounds = 40;
        let config = TrainingConfig { seed, ..config(rounds, 0.3, algorithm, "") };
        let simulation = finish(&config, &train);
        let metrics = simulation.evaluate(&test, 0.0).unwrap();
        assert_eq!((metrics.round, simulation.ledger().accountant().ledger()[0].count), (rounds, rounds));
        assert!(metrics.test_accuracy > 0.9, "{algorithm}: {metrics:?}");
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
fn shuffled_noisy_sgd_learns_and_is_charged_by_the_epoch() {
    let (train, test) = (easy(1), easy(2));
    // Three epochs and a bit, of which the fourth is charged whole.
    let config = config(35, 0.3, BLOCKS, "");
    let mut simulation = Simulation::new(&config, &train).unwrap();
    let plan = simulation.plan().unwrap();
    let mut charged = Vec::new();
    while simulation.step().unwrap() {
        charged.push(simulation.ledger().accountant().releases()[0].count);
    }
    assert_eq!([0, 9, 10, 20, 34].map(|round| charged[round]), [1, 1, 2, 3, 4]);
    let metrics = simulation.evaluate(&test, 0.0).unwrap();
    assert!(metrics.test_accuracy > 0.9, "{metrics:?}");
    assert_eq!((metrics.participants, metrics.epsilon_lower), (200, 0.0));
    // The paper's noise hides a record of each epoch: four Laplace mechanisms of ε0 = 1, and no
    // gain from shuffling.
    let mut accountant = Accountant::new();
    accountant.compose_release(Release::new(Output::Laplace { epsilon: 1.0 }).unwrap(), 4).unwrap();
    let four = accountant.epsilon(1e-5).unwrap();
    assert!((metrics.epsilon / four - 1.0).abs() < 1e-6 && metrics.epsilon >= four, "{} {four}", metrics.epsilon);
    assert_eq!(plan, (35, Some(metrics.epsilon)));
    // The epoch that would exceed the budget is not begun, and the plan says so.
    let config = TrainingConfig { target_epsilon: Some(0.8 * four), ..config };
    let plan = Simulation::new(&config, &train).unwrap().plan().unwrap();
    let simulation = finish(&config, &train);
    assert_eq!((simulation.state().round, plan.0), (30, 30));
    assert!(simulation.ledger().epsilon().unwrap() <= 0.8 * four);
}

/// The noise on a block's mean of s records is Laplace of scale 2C/(s·ε0), and s times as large if
/// any two blocks are to be alike.
#[test]
fn the_noise_of_a_block_has_its_scale() {
    let data = data();
    let step = |algorithm: &str| {
        let config = config(1, 1.0, algorithm, "");
        finish(&config, &data.train).state().weights.clone()
    };
    for (hides, scale) in [("record", 2.0 / 200.0), ("block", 2.0)] {
        let noisy = format!("{BLOCKS}\nhides = '{hides}'");
        let quiet = noisy.replace("local_epsilon = 1", "local_epsilon = 1000");
        let moved = step(&noisy).iter().zip(step(&quiet)).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>() / 7850.0;
        // E|Laplace(b)| = b, its deviation over √7850 is 1.1 %; the quiet noise is a thousandth.
        assert!((moved / scale - 1.0).abs() < 0.06, "{hides}: {moved} {scale}");
    }
}

/// A simulation that owns its clients can go anywhere, and is the same as one that borrows them.
#[test]
fn a_simulation_may_own_its_clients() {
    let (config, data) = (config(3, 0.1, CLDP, ""), data());
    let borrowed = finish(&config, &data.train).state().clone();
    let population = Population::new(Arc::new(data.train), None, config.seed).unwrap();
    let owned = Simulation::new(&config, population).unwrap();
    let elsewhere = std::thread::spawn(move || {
        let mut run = Run::start(owned, Arc::new(data.test), None).unwrap();
        while !matches!(run.advance().unwrap(), Progress::Finished { .. }) {}
        run.simulation().state().clone()
    });
    assert_eq!(elsewhere.join().unwrap(), borrowed);
}

/// Softmax regression, written down once more: another kind of model than a network of the engine.
struct Regression(Architecture);

impl Regression {
    /// The probabilities of all classes for an example, and its label.
    fn look(&self, weights: &[f32], population: &impl Clients, client: u64, example: &mut [f32]) -> (Vec<f32>, usize) {
        let label = population.example(client, example);
        let (inputs, classes) = (example.len(), self.0.classes());
        let score = |class: usize| -> f32 {
            let row = &weights[class * inputs..(class + 1) * inputs];
            weights[classes * inputs + class] + row.iter().zip(&*example).map(|(weight, x)| weight * x).sum::<f32>()
        };
        let scores: Vec<f32> = (0..classes).map(score).collect();
        let sum: f32 = scores.iter().map(|score| score.exp()).sum();
        (scores.into_iter().map(|score| score.exp() / sum).collect(), label)
    }
}

impl Model for Regression {
    type Tools = Vec<f32>;

    fn architecture(&self) -> &Architecture {
        &self.0
    }

    fn group_len(&self) -> usize {
        3
    }

    fn tools(&self) -> Vec<f32> {
        vec![0.0; self.0.input().len()]
    }

    fn gradients(
        &self,
        example: &mut Vec<f32>,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        mut visit: impl FnMut(usize, f32, &mut [f32]) -> shuffledp_learning::Result<()>,
    ) -> shuffledp_learning::Result<()> {
        for (place, &client) in group.iter().enumerate() {
            let (mut deltas, label) = self.look(weights, population, client, example);
            let loss = -deltas[label].ln();
            deltas[label] -= 1.0;
            let rows = deltas.iter().flat_map(|delta| example.iter().map(move |x| delta * x));
            let mut gradient: Vec<f32> = rows.chain(deltas.iter().copied()).collect();
            visit(place, loss, &mut gradient)?;
        }
        Ok(())
    }

    fn judge(
        &self,
        example: &mut Vec<f32>,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        mut visit: impl FnMut(Judgement),
    ) {
        for &client in group {
            let (shares, label) = self.look(weights, population, client, example);
            let largest = (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap();
            visit(Judgement { loss: -shares[label].ln(), predicted: largest, correct: largest == label });
        }
    }
}

/// Reports of the same gradients, up to rounding, through the same loop.
#[test]
fn another_kind_of_model_trains_through_the_same_loop() {
    let (config, data) = (config(3, 0.5, PLAIN, ""), data());
    let network = finish(&config, &data.train);
    let regression = Regression(network.model().architecture().clone());
    let mut simulation = Simulation::with_model(&config, &data.train, regression).unwrap();
    while simulation.step().unwrap() {}
    assert_eq!(simulation.state().round, 3);
    for (ours, theirs) in simulation.state().weights.iter().zip(&network.state().weights) {
        // Sums of a hundred products, each rounded to 2⁻²⁴ of about 1.
        assert!((ours - theirs).abs() < 1e-4, "{ours} {theirs}");
    }
    assert_ne!(simulation.state().weights, Simulation::new(&config, &data.train).unwrap().state().weights);
    // At most a few of the 500 examples are so close to a tie that rounding decides.
    let accuracy = |metrics: Metrics| metrics.test_accuracy;
    let ours = accuracy(simulation.evaluate(&data.test, 0.0).unwrap());
    let theirs = accuracy(network.evaluate(&data.test, 0.0).unwrap());
    assert!((ours - theirs).abs() < 0.01, "{ours} {theirs}");
}

#[test]
fn without_privacy_a_step_is_the_mean_gradient() {
    let data = data();
    let config = config(1, 0.5, PLAIN.replace("500", "2000").as_str(), "");
    let before = Simulation::new(&config, &data.train).unwrap().state().weights.clone();
    let simulation = finish(&config, &data.train);
    let everybody: Vec<u64> = (0..2000).collect();
    let gradient = mean_gradient(simulation.model(), &before, &data.train, &everybody);
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
    for algorithm in [CLDP, LDP_SGD, GAUSSIAN, ROUNDED, TOP_SET, BLOCKS, PLAIN] {
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

/// Noise drawn once has the variance of everybody's noise: the step of a round with σ, less the one
/// of a round almost without, is N(0, σ²C²/k) on each of the 7,850 weights.
#[test]
fn summed_gaussian_noise_has_the_variance_of_all() {
    let data = data();
    let everybody = |sigma: &str| GAUSSIAN.replace("rate = 0.25", "rate = 1").replace("sigma = 2", sigma);
    let step = |algorithm: &str| {
        let config = config(1, 1.0, algorithm, "");
        finish(&config, &data.train).state().weights.clone()
    };
    let (noisy, quiet) = (step(&everybody("sigma = 20")), step(&everybody("sigma = 0.1")));
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
    assert!(refused(&BLOCKS.replace("10", "2001"), "", 1.0).contains("blocks must be"));
    assert!(refused(&BLOCKS.replace("clip = 1", "clip = -1"), "", 1.0).contains("clip must be"));
    assert!(refused(&BLOCKS.replace("local_epsilon = 1", "local_epsilon = 0"), "", 1.0).contains("local_epsilon must"));
    assert!(refused(CLDP, "", -1.0).contains("rate must be"));
    assert!(refused(PLAIN, "target_epsilon = 1.0", 1.0).contains("target_epsilon"));
    assert!(refused(&BLOCKS.replace("blocks = 10", "blocks = 0"), "", 1.0).contains("blocks must be"));
    assert!(refused(&BLOCKS.replace("clip = 1", "clip = 1e-44"), "", 1.0).contains("clip must be"));
    let more = |clients| Population::new(&data.train, Some(clients), 1).map_err(|error| error.to_string());
    assert!(more(1_000_000_001).unwrap_err().contains("clients must be at most 1000000000"));
    let (many, crowd) = (config(1, 1.0, &LDP_SGD.replace("0.25", "0.5"), ""), more(1_000_000_000).unwrap());
    assert!(Simulation::new(&many, &crowd).err().unwrap().to_string().contains("participants in a round"));
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
    let config = TrainingConfig { evaluate_every: 1, ..config(4, 0.5, CLDP, "target_epsilon = 9.0") };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let simulation = Simulation::new(&config, &data.train).unwrap();
    let plan = simulation.plan().unwrap();
    let mut run = Run::start(simulation, &data.test, Some(RunFolder::create(&path, &config).unwrap())).unwrap();
    let result = loop {
        if let Progress::Finished { result, .. } = run.advance().unwrap() {
            break result;
        }
    };
    let simulation = run.simulation();
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

/// A run that leaves the finite numbers stops with a sentence. Nothing wrong was written, and what
/// was charged stays charged.
#[test]
fn a_run_that_diverges_stops_and_leaves_no_wrong_files() {
    let data = data();
    // Three rounds that learn, and then a step that no f32 can hold.
    let mut config = config(10, 0.1, PLAIN, "");
    let stages = vec![Stage { from: 1, rate: 0.1 }, Stage { from: 4, rate: 1e45 }];
    config.step.schedule = Schedule::Stages { stages };
    config.evaluate_every = 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let simulation = Simulation::new(&config, &data.train).unwrap();
    let mut run = Run::start(simulation, &data.test, Some(RunFolder::create(&path, &config).unwrap())).unwrap();
    (0..3).for_each(|_| assert!(matches!(run.advance(), Ok(Progress::Evaluated(_)))));
    let error = run.advance().unwrap_err().to_string();
    assert!(error.contains("not finite") && error.contains("smaller steps"), "{error}");
    assert_eq!(run.simulation().state().round, 3);
    assert!(run.simulation().state().weights.iter().all(|weight| weight.is_finite()));
    let metrics = std::fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let metrics: Vec<Metrics> = metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(metrics.len(), 3);
    assert!(["run.json", "weights.safetensors", "ledger.json"].iter().all(|name| !path.join(name).exists()));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "here already").unwrap();
    let config = config(1, 0.5, CLDP, "");
    for path in [file.clone(), file.join("run")] {
        let error = RunFolder::create(&path, &config).unwrap_err().to_string();
        assert!(error.starts_with("cannot create ") && error.contains("file"), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "here already");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
