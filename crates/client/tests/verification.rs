//! Messages and tasks that a client refuses.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Parties, architecture, config, model, round, task};
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_client::{Assignment, ClientConfig, ClientError, verify};
use shuffledp_wire::{SigningKey, Task, WireError};
use std::path::Path;

const URL: &str = "https://shuffler.example";

/// A task with `change` applied, and a client that pins just this one.
fn changed(change: impl FnOnce(&mut Task)) -> (Task, ClientConfig) {
    let parties = Parties::new();
    let mut task = task(&parties, URL);
    change(&mut task);
    let config = config(&parties, &task, "https://server.example", Path::new("state"));
    (task, config)
}

fn verified(change: impl FnOnce(&mut Task), floors: impl FnOnce(&mut ClientConfig)) -> Result<Assignment, ClientError> {
    let (task, mut config) = changed(change);
    floors(&mut config);
    Assignment::verify(&Parties::new().sign(&task), &config)
}

fn refusal(change: impl FnOnce(&mut Task), floors: impl FnOnce(&mut ClientConfig)) -> String {
    verified(change, floors).err().expect("must be refused").to_string()
}

fn toml_of(mechanism: Mechanism) -> Vec<u8> {
    toml::to_string(&RandomizerSpec::new(mechanism).unwrap()).unwrap().into_bytes()
}

#[test]
fn a_task_at_the_floors_is_accepted() {
    let assignment = verified(|_| {}, |_| {}).unwrap();
    assert_eq!(assignment.cost().scheme.clients(), 10_000);
    assert_eq!(assignment.task().name, "digits");
}

#[test]
fn each_floor_refuses_by_name() {
    let text = refusal(|_| {}, |config| config.floors.clients = 10_001);
    assert!(text.contains("`floors.clients` asks for at least 10001") && text.contains("is 10000"), "{text}");
    let text = refusal(|_| {}, |config| config.floors.local_epsilon = 0.999);
    assert!(text.contains("`floors.local_epsilon` asks for at most 0.999") && text.contains("local ε is 1,"), "{text}");
    let text = refusal(|_| {}, |config| config.floors.local_epsilon = f64::NAN);
    assert!(text.contains("`floors.local_epsilon`"), "{text}");
    let text = refusal(|_| {}, |config| config.floors.model_bytes = 31_399);
    assert!(text.contains("`floors.model_bytes` asks for at most 31399"), "{text}");
    // A mechanism without a local ε has an infinite one.
    let gaussian = |task: &mut Task| task.randomizer = toml_of(Mechanism::DiscreteGaussian { sigma: 100.0 });
    assert!(refusal(gaussian, |_| {}).contains("local ε is inf"));
}

/// Whoever signs it: such a task only makes its clients work.
#[test]
fn a_task_that_cannot_learn_is_refused() {
    for local_epsilon in [0.0, 1e-300, 1e-20, 1e-10, 9e-7] {
        let sgd = |task: &mut Task| task.randomizer = toml_of(Mechanism::LdpSgd { local_epsilon });
        assert!(refusal(sgd, |_| {}).contains("its local ε is"), "{local_epsilon}");
    }
    for rate in [1e-300, 1e-12, 9e-10] {
        assert!(refusal(|task| task.check_in_rate = rate, |_| {}).contains("its check-in rate is"), "{rate}");
    }
    assert!(verified(|task| task.check_in_rate = 1e-9, |_| {}).is_ok());
}

#[test]
fn another_key_signs_in_vain() {
    let (task, config) = changed(|_| {});
    let mallory = Parties { server: SigningKey::from_seed(&[9; 32]), ..Parties::new() };
    let refused = Assignment::verify(&mallory.sign(&task), &config).err().unwrap();
    assert!(matches!(refused, ClientError::Wire { problem: WireError::Signature { .. }, .. }), "{refused}");
}

#[test]
fn another_task_of_the_same_server_is_not_the_pinned_one() {
    let (mut task, config) = changed(|_| {});
    task.check_in_rate = 0.5;
    let refused = Assignment::verify(&Parties::new().sign(&task), &config).err().unwrap();
    assert!(matches!(refused, ClientError::OtherTask { .. }), "{refused}");
    assert!(!refused.is_temporary());
}

#[test]
fn every_flipped_bit_of_a_signed_message_is_refused() {
    let parties = Parties::new();
    let (task, config) = changed(|_| {});
    let assignment = Assignment::verify(&parties.sign(&task), &config).unwrap();
    let round = parties.sign(&round(&parties, &task, 1, model(1).0));
    let keys = parties.shuffler_keys(20);
    let signed_task = parties.sign(&task);
    for bit in 0..8 * round.len() {
        assert!(verify::round(&flipped(&round, bit), &config.server_key, &assignment).is_err(), "bit {bit} of a round");
    }
    for bit in 0..8 * keys.len() {
        assert!(verify::shuffler_keys(&flipped(&keys, bit), &assignment, &config.floors).is_err(), "bit {bit} of keys");
    }
    for bit in 0..8 * signed_task.len() {
        assert!(Assignment::verify(&flipped(&signed_task, bit), &config).is_err(), "bit {bit} of a task");
    }
    for end in 0..round.len() {
        assert!(verify::round(&round[..end], &config.server_key, &assignment).is_err());
    }
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    flipped[bit / 8] ^= 1 << (bit % 8);
    flipped
}

#[test]
fn a_round_belongs_to_its_task() {
    let parties = Parties::new();
    let (task, config) = changed(|_| {});
    let assignment = Assignment::verify(&parties.sign(&task), &config).unwrap();
    let good = round(&parties, &task, 1, model(1).0);
    let judge =
        |round: &shuffledp_wire::RoundOffer| verify::round(&parties.sign(round), &config.server_key, &assignment);
    assert_eq!(judge(&good).unwrap(), good);
    let (other_task, _) = changed(|task| task.clients += 1);
    let mut bad = good.clone();
    bad.task = other_task.hash().unwrap();
    assert!(judge(&bad).unwrap_err().to_string().contains("task is another one"));
    let bad = shuffledp_wire::RoundOffer { round: task.rounds + 1, ..good.clone() };
    assert!(judge(&bad).unwrap_err().to_string().contains("beyond the task's last"));
    let bad = shuffledp_wire::RoundOffer { payload_len: task.payload_len + 1, ..good };
    assert!(judge(&bad).unwrap_err().to_string().contains("payload_len"));
}

#[test]
fn the_shufflers_promise_has_its_signature_and_its_floor() {
    let parties = Parties::new();
    let (task, config) = changed(|_| {});
    let assignment = Assignment::verify(&parties.sign(&task), &config).unwrap();
    let judge = |signed: &[u8]| verify::shuffler_keys(signed, &assignment, &config.floors);
    assert_eq!(judge(&parties.shuffler_keys(20)).unwrap().min_batch, 20);
    let text = judge(&parties.shuffler_keys(19)).unwrap_err().to_string();
    assert!(
        text.contains("smallest batch is 19") && text.contains("`floors.min_batch` asks for at least 20"),
        "{text}"
    );
    // The server is not the shuffler.
    let server = Parties { shuffler: parties.server.clone(), ..Parties::new() };
    assert!(matches!(judge(&server.shuffler_keys(20)), Err(ClientError::Wire { .. })));
}

#[test]
fn a_model_has_the_signed_hash() {
    let parties = Parties::new();
    let (task, config) = changed(|_| {});
    let assignment = Assignment::verify(&parties.sign(&task), &config).unwrap();
    let (hash, bytes) = model(1);
    let good = round(&parties, &task, 1, hash);
    assert_eq!(verify::model(&bytes, &good, &assignment).unwrap().len(), architecture().parameters());
    assert!(matches!(verify::model(&model(2).1, &good, &assignment), Err(ClientError::OtherModel { .. })));
    for bit in [0, 8 * bytes.len() / 2, 8 * bytes.len() - 1] {
        assert!(matches!(
            verify::model(&flipped(&bytes, bit), &good, &assignment),
            Err(ClientError::OtherModel { .. })
        ));
    }
    // Signed nonsense is refused too.
    let nonsense = round(&parties, &task, 1, shuffledp_wire::ModelHash::of(b"nonsense"));
    assert!(matches!(verify::model(b"nonsense", &nonsense, &assignment), Err(ClientError::Learning(_))));
}

#[test]
fn a_task_that_cannot_be_done_is_refused() {
    assert!(refusal(|task| task.payload_len += 1, |_| {}).contains("bytes"));
    assert!(refusal(|task| task.architecture = b"input = 3".to_vec(), |_| {}).contains("architecture"));
    assert!(refusal(|task| task.randomizer = vec![0xff], |_| {}).contains("randomizer: not UTF-8"));
    assert!(refusal(|task| task.randomizer = toml_of(Mechanism::Any { local_epsilon: 1.0 }), |_| {}).contains("class"));
}

/// Whatever the floors allow.
#[test]
fn noise_in_floating_point_is_refused() {
    for (mechanism, instead) in [
        (Mechanism::Gaussian { sigma: 100.0 }, "rounded-gaussian"),
        (Mechanism::Laplace { local_epsilon: 0.5 }, "discrete-laplace"),
    ] {
        let text =
            refusal(|task| task.randomizer = toml_of(mechanism), |config| config.floors.local_epsilon = f64::INFINITY);
        assert!(text.contains(&format!("must be {instead}")), "{text}");
    }
}

#[test]
fn the_charge_believes_no_more_than_it_must() {
    // Drop-outs are the server's word, and would make the charge smaller.
    let assignment = verified(|task| (task.check_in_rate, task.drop_out) = (0.5, 0.9), |_| {}).unwrap();
    assert_eq!(assignment.cost().scheme.check_in_rate(), Some(0.5));
    // So is the number of clients: the floor is what is believed.
    let assignment = verified(|task| task.clients = 1 << 53, |_| {}).unwrap();
    assert_eq!(assignment.cost().scheme.clients(), 10_000);
    let assignment = verified(|_| {}, |config| config.budget.most_clients = Some(300)).unwrap();
    assert_eq!(assignment.cost().scheme.clients(), 300);
    let assignment = verified(|_| {}, |config| config.budget.most_clients = Some(1 << 40)).unwrap();
    assert_eq!(assignment.cost().scheme.clients(), 10_000);
}
