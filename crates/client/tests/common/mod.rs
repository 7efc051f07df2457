//! A server and a shuffler that do what a test tells them, with real keys, real signatures and real
//! sockets.

#![allow(clippy::unwrap_used, dead_code, unused_imports, unreachable_pub)] // clippy.toml lets tests unwrap, but not their helpers; and no test uses all of them.

mod world;

pub use world::World;

use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_client::{BudgetConfig, ClientConfig, Floors, Times};
use shuffledp_learning::data::Scattering;
use shuffledp_learning::models::{Architecture, ModelConfig, TensorShape, initial_weights, save_weights};
use shuffledp_learning::training::{DataConfig, ModelDescription, Preparation};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::vector_randomizer;
use shuffledp_transport::ClientConfig as ConnectionConfig;
use shuffledp_wire::{
    HpkeSecretKey, KeyId, Message, ModelHash, RoundOffer, SecretKeys, ServerSecretKeys, ShufflerKeys,
    ShufflerSecretKeys, Signed, SigningKey, Task,
};
use std::path::Path;

/// Everybody's secrets, the same in every test.
pub struct Parties {
    pub server: SigningKey,
    pub shuffler: SigningKey,
    pub server_keys: ServerSecretKeys,
    pub shuffler_keys: ShufflerSecretKeys,
}

impl Parties {
    pub fn new() -> Self {
        Self {
            server: SigningKey::from_seed(&[1; 32]),
            shuffler: SigningKey::from_seed(&[2; 32]),
            server_keys: SecretKeys::new(vec![(KeyId(3), HpkeSecretKey::derive(b"server"))]).unwrap(),
            shuffler_keys: SecretKeys::new(vec![(KeyId(7), HpkeSecretKey::derive(b"shuffler"))]).unwrap(),
        }
    }

    pub fn sign<T: Message>(&self, message: &T) -> Vec<u8> {
        Signed::sign(message, &self.server).unwrap().encode()
    }

    pub fn shuffler_keys(&self, min_batch: u64) -> Vec<u8> {
        let keys = ShufflerKeys { keys: self.shuffler_keys.public_keys(), min_batch };
        Signed::sign(&keys, &self.shuffler).unwrap().encode()
    }
}

pub fn architecture() -> Architecture {
    ModelConfig::Linear { bias: true }.architecture(TensorShape::new(1, 28, 28), 10).unwrap()
}

pub fn randomizer() -> RandomizerSpec {
    RandomizerSpec::new(Mechanism::LdpSgd { local_epsilon: 1.0 }).unwrap()
}

/// A task that every client of [`config`] accepts.
pub fn task(parties: &Parties, shuffler_url: &str) -> Task {
    let mechanism =
        vector_randomizer(randomizer(), VectorShape { dimension: architecture().parameters() as u32, clip: 0.5 });
    Task {
        name: "digits".to_owned(),
        architecture: toml::to_string(&architecture()).unwrap().into_bytes(),
        randomizer: toml::to_string(&randomizer()).unwrap().into_bytes(),
        clip: 0.5,
        clients: 10_000,
        check_in_rate: 1.0,
        drop_out: 0.0,
        rounds: 100,
        delta: 1e-6,
        budget: 10.0,
        step: Vec::new(),
        payload_len: mechanism.unwrap().frame_len() as u32,
        shuffler_url: shuffler_url.to_owned(),
        shuffler_key: parties.shuffler.verifying_key(),
    }
}

/// A client that accepts `task`, with floors just at what it offers.
pub fn config(parties: &Parties, task: &Task, server: &str, state: &Path) -> ClientConfig {
    ClientConfig {
        server: server.to_owned(),
        server_key: parties.server.verifying_key(),
        task: task.hash().unwrap(),
        state: state.to_owned(),
        example: 3,
        data: DataConfig::Digits { train: 50, test: 10 },
        data_directory: None,
        connection: ConnectionConfig::default(),
        floors: Floors { clients: 10_000, min_batch: 20, local_epsilon: 1.0, model_bytes: 31_400 },
        // A few dozen rounds: the ledger looks ahead, and a larger budget is a longer look.
        budget: BudgetConfig { epsilon: 0.5, delta: 1e-6, most_clients: None },
        times: Times { poll_seconds: 0.001, first_retry_seconds: 0.001, longest_retry_seconds: 0.004 },
    }
}

/// A model's file; another seed is another model.
pub fn model(seed: u64) -> (ModelHash, Vec<u8>) {
    let bytes = save_weights(&architecture(), &initial_weights(&architecture(), seed)).unwrap();
    (ModelHash::of(&bytes), bytes)
}

/// Changes the task to one whose clients compute scattering features of their pictures first; the
/// architecture takes `features` of them.
pub fn scattering(task: &mut Task, features: usize) -> Architecture {
    let scattering = Scattering { scales: 3, angles: 2, order: 1, groups: None };
    let architecture = ModelConfig::Linear { bias: true }.architecture(TensorShape::vector(features), 10).unwrap();
    let preparation = Preparation { scattering: Some(scattering), ..Preparation::default() };
    let description = ModelDescription { architecture: architecture.clone(), preparation };
    task.architecture = toml::to_string(&description).unwrap().into_bytes();
    let shape = VectorShape { dimension: architecture.parameters() as u32, clip: task.clip };
    task.payload_len = vector_randomizer(randomizer(), shape).unwrap().frame_len() as u32;
    architecture
}

/// A round that is open for a long time.
pub fn round(parties: &Parties, task: &Task, number: u64, model: ModelHash) -> RoundOffer {
    RoundOffer {
        task: task.hash().unwrap(),
        round: number,
        model,
        payload_len: task.payload_len,
        server_keys: parties.server_keys.public_keys(),
        opens: 1,
        closes: 1 << 50,
    }
}
