//! A deployment equals its simulation: the same frames in the same order give the same weights, bit
//! for bit.

use super::world::{World, id, put, weights};
use shuffledp_learning::collect::Collector;
use shuffledp_learning::data::Clients;
use shuffledp_learning::models::Model;
use shuffledp_learning::participation::participants;
use shuffledp_learning::training::{Algorithm, DataConfig, Population, Simulation, TrainingConfig};
use shuffledp_randomizers::norms::{dot, l2_norm};
use shuffledp_randomizers::{PublicSeed, SimulationRng};

/// The name of a simulated client's generator; see `learning::participation`.
const CLIENT: u64 = 2;

#[tokio::test]
async fn two_rounds_end_in_the_simulations_weights() {
    for randomizer in ["{ name = 'ldp-sgd', local_epsilon = 2.0 }", "{ name = 'rounded-gaussian', sigma = 5.0 }"] {
        two_rounds_through(randomizer).await;
    }
}

async fn two_rounds_through(randomizer: &str) {
    let world = World::with(&format!(
        "clients = 300\nseed = 9\nclip = 0.5\nrandomizer = {randomizer}\n\
         step = {{ schedule = {{ kind = 'cosine', rate = 0.5, rounds = 9 }}, momentum = 0.5, weight_decay = 0.1, projection = 3.0, average_from = 2 }}",
    ));
    let task = &world.config.task;
    let config = TrainingConfig {
        name: "same".to_owned(),
        seed: task.seed,
        rounds: 2,
        delta: task.delta,
        target_epsilon: Some(task.budget),
        evaluate_every: 1,
        clients: None,
        hold_out: None,
        data: DataConfig::Digits { train: 300, test: 20 },
        preparation: Default::default(),
        model: task.model.clone(),
        algorithm: Algorithm::CheckIn { rate: 0.5, drop_out: 0.0, randomizer: task.randomizer, clip: task.clip },
        step: task.step.clone(),
    };
    let dataset = config.data.load(None).unwrap();
    let population = Population::new(&dataset.train, None, config.seed).unwrap();
    assert_eq!(population.count(), task.clients);
    let mut simulation = Simulation::new(&config, &population).unwrap();

    let service = world.serve();
    for number in 1..=2 {
        service.tick().unwrap();
        let round = world.round(&service);
        let plan = service.plan();
        let speakers = participants(&config.algorithm.scheme(task.clients).unwrap(), config.seed, number);
        // Each client on its own: downloads the model, takes its gradient, randomizes, seals.
        let downloaded = weights(&service);
        assert_eq!(downloaded, simulation.state().weights);
        let frames = plan
            .model
            .fold_gradients(
                &downloaded,
                &population,
                &speakers,
                Vec::new,
                |frames: &mut Vec<Vec<u8>>, client| {
                    let mut rng = SimulationRng::named([config.seed, CLIENT, number, client.client]);
                    let mut frame = plan.frames.blank();
                    plan.frames.report(client.gradient, &mut rng, &mut frame)?;
                    frames.push(frame);
                    Ok(())
                },
                |all, mut more| {
                    all.append(&mut more);
                    Ok(())
                },
            )
            .unwrap();
        let records: Vec<_> = frames.iter().map(|frame| world.inner(frame, &round)).collect();
        let answer = put(&service, id(number as u8), world.batch(id(number as u8), round.context(), &records)).await;
        assert_eq!(answer.json()["accepted"].as_u64(), Some(speakers.len() as u64));
        assert!(simulation.step().unwrap());
    }
    let bits = |weights: &[f32]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&weights(&service)), bits(&simulation.state().weights));
    // The same charge, and the same judgement of the same answer.
    let status: serde_json::Value = serde_json::from_slice(&service.published().status).unwrap();
    let metrics = simulation.evaluate(&dataset.test, 0.0).unwrap();
    assert_eq!(status["privacy"]["epsilon"].as_f64(), Some(metrics.epsilon));
    assert_eq!(status["rounds"][1]["test_accuracy"].as_f64(), Some(metrics.test_accuracy));
}

/// Clients rotate by the seed of the round, and the server back: with any other seed nothing is
/// left of the direction.
#[tokio::test]
async fn reports_of_a_public_rotation_are_rotated_back() {
    let randomizer = "randomizer = { name = 'top-set', local_epsilon = 8.0, share = 0.17 }";
    let world = World::with(&format!("{randomizer}\nbudget = 1e6"));
    let service = world.serve();
    let mut seeds = Vec::new();
    for number in 1..=2 {
        service.tick().unwrap();
        let (round, before) = (world.round(&service), weights(&service));
        let gradient: Vec<f32> = (0..before.len()).map(|i| (i as f32).sin()).collect();
        let seed = PublicSeed(round.context().public_seed());
        let frames = service.plan().frames.in_round(seed);
        let records: Vec<_> = (0..300)
            .map(|client| {
                let mut frame = frames.blank();
                let mut rng = SimulationRng::named([1, CLIENT, number, client]);
                frames.report(&gradient, &mut rng, &mut frame).unwrap();
                world.inner(&frame, &round)
            })
            .collect();
        let answer = put(&service, id(number as u8), world.batch(id(number as u8), round.context(), &records)).await;
        assert_eq!(answer.json()["accepted"].as_u64(), Some(300));
        let step: Vec<f32> = before.iter().zip(weights(&service)).map(|(before, after)| before - after).collect();
        let cosine = dot(&step, &gradient) / (l2_norm(&step) * l2_norm(&gradient));
        // √300 reports of 1.5 deviations each, over √8,192: 0.29. By another rotation: 0, deviation
        // 0.011.
        assert!((0.2..0.4).contains(&cosine), "round {number}: {cosine}");
        seeds.push(seed);
    }
    // Another round has another rotation.
    assert_ne!(seeds[0], seeds[1]);
}
