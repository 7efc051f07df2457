//! A simulated population, end to end: what a shuffler and a server of the test make of its
//! reports.
#![allow(clippy::unwrap_used)]

mod common;

use common::World;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_client::ClientError;
use shuffledp_client::crowd::{Crowd, CrowdRound, CrowdStep, run};
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_learning::models::{Model, Network, TensorShape, initial_weights};
use shuffledp_randomizers::PublicSeed;
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::vector_randomizer;
use shuffledp_randomizers::norms::{dot, l2_norm};
use shuffledp_transport::Shutdown;
use std::collections::BTreeSet;
use std::path::Path;

const CLIENTS: u64 = 2000;
const RATE: f64 = 0.3;

async fn world() -> World {
    World::new(|task| task.check_in_rate = RATE).await
}

async fn round_of(crowd: &mut Crowd) -> CrowdRound {
    match crowd.step(&Shutdown::new().1).await.unwrap() {
        CrowdStep::Done(round) => round,
        other => panic!("{other:?}"),
    }
}

/// Ids and payloads of what was sent, in order of payload.
fn opened(world: &World, round: u64) -> Vec<(Vec<u8>, shuffledp_wire::ReportId)> {
    let reports: BTreeSet<Vec<u8>> = world.take_reports().into_iter().collect();
    let mut opened: Vec<_> = reports
        .iter()
        .map(|report| {
            let (context, id, payload) = world.open_report(report);
            assert_eq!(context.round, round);
            (payload, id)
        })
        .collect();
    opened.sort();
    opened
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_prepares_its_pictures() {
    for (features, accepted) in [(7 * 16, true), (784, false)] {
        let world = World::new(|task| {
            common::scattering(task, features);
        })
        .await;
        let joined = Crowd::join(&world.config(Path::new("unused")), 60, Some(7)).await;
        assert_eq!(joined.is_ok(), accepted, "{features}: {:?}", joined.err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_takes_prepared_examples_as_they_are() {
    let world = World::new(|task| task.check_in_rate = 1.0).await;
    let config = world.config(Path::new("unused"));
    let digits = config.data.load(None).unwrap().train;
    world.open_round(1, 1);
    // The task prepares nothing: the configuration's own examples are prepared already.
    let mut payloads = Vec::new();
    let own = digits.len() as u64;
    for mut crowd in [
        Crowd::join(&config, own, Some(7)).await.unwrap(),
        Crowd::join_prepared(&config, digits.clone(), Some(7)).await.unwrap(),
        Crowd::join_prepared(&config, digits.truncated(30), Some(7)).await.unwrap(),
    ] {
        round_of(&mut crowd).await;
        payloads.push(opened(&world, 1).into_iter().map(|(payload, _)| payload).collect::<Vec<_>>());
    }
    assert_eq!(payloads[0], payloads[1]);
    assert_eq!((payloads[1].len(), payloads[2].len()), (own as usize, 30));
    // Examples of another shape are refused.
    let other = Examples::from_floats(TensorShape::vector(2), 10, vec![0.0; 4], vec![0, 1]).unwrap();
    let refused = Crowd::join_prepared(&config, other, None).await.err();
    assert!(matches!(refused, Some(ClientError::Config(_))), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_who_speaks_is_heard_once() {
    let world = world().await;
    let config = world.config(Path::new("unused"));
    let mut crowd = Crowd::join(&config, CLIENTS, Some(7)).await.unwrap();
    let shape = VectorShape { dimension: common::architecture().parameters() as u32, clip: world.task.clip };
    let mechanism = vector_randomizer(common::randomizer(), shape).unwrap();
    let mut ids = BTreeSet::new();
    let (mut spoke, rounds) = (0, 4);
    for number in 1..=rounds {
        world.open_round(number, number);
        // Some acknowledgements are lost; the same bytes come again, and count once.
        world.served().lose = 50;
        let done = round_of(&mut crowd).await;
        assert_eq!((done.round, done.clients, done.acknowledged), (number, CLIENTS, done.spoke));
        assert_eq!(world.served().reports.len() as u64, done.spoke + 50);
        let reports = opened(&world, number);
        assert_eq!(reports.len() as u64, done.spoke);
        let mut aggregator = mechanism.aggregator();
        for (payload, id) in &reports {
            aggregator.add_frame(payload).unwrap();
            assert!(ids.insert(*id), "an id twice");
        }
        assert_eq!(aggregator.count(), done.spoke);
        spoke += done.spoke;
        assert!((0.0..=config.budget.epsilon).contains(&done.epsilon));
        assert_eq!(crowd.step(&Shutdown::new().1).await.unwrap(), CrowdStep::Nothing);
    }
    // Each client's own coin: the total has its mean and deviation, and everybody's count is
    // possible.
    let expected = CLIENTS as f64 * rounds as f64 * RATE;
    let deviation = (expected * (1.0 - RATE)).sqrt();
    assert!((spoke as f64 - expected).abs() < 4.0 * deviation, "{spoke} for {expected} ± {deviation}");
    assert_eq!(crowd.spoken().iter().map(|&count| u64::from(count)).sum::<u64>(), spoke);
    for count in 0..=rounds as u32 {
        let share = crowd.spoken().iter().filter(|&&spoken| spoken == count).count() as f64 / CLIENTS as f64;
        let chance =
            choose(rounds as u32, count) * RATE.powi(count as i32) * (1.0 - RATE).powi((rounds as u32 - count) as i32);
        assert!(
            (share - chance).abs() < 5.0 * (chance * (1.0 - chance) / CLIENTS as f64).sqrt(),
            "{count}: {share} {chance}"
        );
    }
}

/// Clients rotate by the seed that everybody computes from the round's context.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_of_a_public_rotation_are_of_the_round() {
    let architecture = common::architecture();
    let dimension = architecture.parameters() as u32;
    let mechanism = Mechanism::TopSet { local_epsilon: 4.0, dimension: u64::from(dimension), share: 0.0625 };
    let randomizer = RandomizerSpec::new(mechanism).unwrap();
    let world = World::new(|task| {
        task.randomizer = toml::to_string(&randomizer).unwrap().into_bytes();
        task.payload_len = 2;
    })
    .await;
    let mut config = world.config(Path::new("unused"));
    (config.floors.local_epsilon, config.budget.epsilon) = (4.0, 5.0);
    let context = world.open_round(1, 1);
    round_of(&mut Crowd::join(&config, CLIENTS, Some(7)).await.unwrap()).await;
    let reports = opened(&world, 1);
    assert_eq!(reports.len() as u64, CLIENTS);
    let examples = config.data.load(None).unwrap().train;
    let everybody: Vec<u64> = (0..examples.count()).collect();
    let gradient = Network::new(architecture.clone())
        .fold_gradients(
            &initial_weights(&architecture, 1),
            &examples,
            &everybody,
            || vec![0.0; dimension as usize],
            |sum: &mut Vec<f32>, client| {
                sum.iter_mut().zip(client.gradient).for_each(|(sum, gradient)| *sum += *gradient);
                Ok(())
            },
            |all, more| {
                all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
                Ok(())
            },
        )
        .unwrap();
    let shape = VectorShape { dimension, clip: world.task.clip };
    let cosine = |seed: PublicSeed| {
        let mut aggregator = vector_randomizer(randomizer, shape).unwrap().in_round(seed).aggregator();
        reports.iter().for_each(|(payload, _)| aggregator.add_frame(payload).unwrap());
        let mean: Vec<f32> = aggregator.mean().unwrap().into_iter().map(|mean| mean as f32).collect();
        dot(&mean, &gradient) / (l2_norm(&mean) * l2_norm(&gradient))
    };
    // By another rotation the cosine is 0, with a deviation of 1/√7,850 = 0.011.
    let (right, wrong) = (cosine(PublicSeed(context.public_seed())), cosine(PublicSeed::default()));
    assert!(right > 0.06 && wrong.abs() < 0.055, "{right} {wrong}");
}

fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|index| f64::from(n - index) / f64::from(index + 1)).product()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_repeats_payloads_and_never_ciphertexts() {
    let world = world().await;
    let config = world.config(Path::new("unused"));
    world.open_round(1, 1);
    let mut sent = Vec::new();
    for seed in [Some(1), Some(1), Some(2), None, None] {
        let mut crowd = Crowd::join(&config, 300, seed).await.unwrap();
        round_of(&mut crowd).await;
        let (payloads, ids): (Vec<_>, BTreeSet<_>) = opened(&world, 1).into_iter().unzip();
        sent.push((payloads, ids));
    }
    assert_eq!(sent[0].0, sent[1].0);
    for (one, other) in [(0, 2), (0, 3), (3, 4)] {
        assert_ne!(sent[one].0, sent[other].0);
    }
    assert!(sent[0].1.is_disjoint(&sent[1].1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_refuses_what_a_client_refuses() {
    let world = world().await;
    let mut config = world.config(Path::new("unused"));
    config.budget.epsilon = 1e-3;
    let mut crowd = Crowd::join(&config, 10, Some(1)).await.unwrap();
    world.open_round(2, 2);
    let refused = crowd.step(&Shutdown::new().1).await;
    assert!(matches!(refused, Err(ClientError::BudgetSpent { .. })), "{refused:?}");
    config.budget.epsilon = 1.0;
    let mut crowd = Crowd::join(&config, 10, Some(1)).await.unwrap();
    round_of(&mut crowd).await;
    world.open_round(2, 3);
    assert!(matches!(crowd.step(&Shutdown::new().1).await, Err(ClientError::Equivocation(_))));
    world.open_round(1, 1);
    assert!(matches!(crowd.step(&Shutdown::new().1).await, Err(ClientError::WentBack { .. })));
    config.floors.clients += 1;
    assert!(matches!(Crowd::join(&config, 10, Some(1)).await.err(), Some(ClientError::BelowFloor { .. })));
    assert!(Crowd::join(&world.config(Path::new("unused")), 0, None).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_runs_until_the_task_is_over() {
    let world = World::new(|task| task.rounds = 1).await;
    world.open_round(1, 1);
    let mut rounds = Vec::new();
    let ended =
        run(&world.config(Path::new("unused")), 20, Some(1), Shutdown::new().1, |round| rounds.push(*round)).await;
    assert_eq!(ended.unwrap(), shuffledp_client::Ended::Finished);
    assert_eq!((rounds.len(), rounds[0].spoke), (1, 20));
}
