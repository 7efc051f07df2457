//! The setting of the demonstration: one task that runs in about a minute, written as the roles'
//! own configuration files.

use crate::failure::Failure;
use shuffledp_accounting::catalogue::Target;
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme, TopSetSize};
use shuffledp_client::ClientConfig;
use shuffledp_learning::LearningError;
use shuffledp_learning::collect::Frames;
use shuffledp_learning::data::digits::CLASSES;
use shuffledp_learning::training::DataConfig;
use shuffledp_question::{Asked, Outcome};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_report::number::round_up_significant;
use shuffledp_server::ServerConfig;
use std::path::Path;

const SERVER: &str = include_str!("server.toml");
const CLIENT: &str = include_str!("client.toml");

/// These values fill the placeholders of both files; some are used elsewhere in this module too.
const CHECK_IN_RATE: f64 = 0.125;
const LOCAL_EPSILON: f64 = 4.0;
const SHARE: f64 = 0.0625;
const CLIP: f32 = 0.3;
const DELTA: f64 = 1e-6;
/// Public features of a picture, after whitening.
const COMPONENTS: usize = 100;
/// The model has a weight for each of them and each class, and no biases.
const WEIGHTS: u32 = (COMPONENTS * CLASSES) as u32;
/// Digits that the model is tested on.
const TEST: usize = 2000;

/// The accepted populations. Fewer clients would make batches of a handful of reports; more would
/// take an hour instead of a minute.
const POPULATIONS: std::ops::RangeInclusive<u64> = 200..=1_000_000;

/// A population, its rounds, and what follows from them.
pub(crate) struct Setting {
    pub(crate) clients: u64,
    pub(crate) rounds: u64,
    /// All rounds, asked of every bound.
    pub(crate) outcome: Outcome,
    /// The shuffler releases no fewer reports: two fifths of what is expected, which chance alone
    /// does not miss.
    pub(crate) min_batch: u64,
    /// Bytes of a report before it is sealed.
    payload: usize,
}

impl Setting {
    pub(super) fn new(clients: u64, rounds: u64) -> Result<Self, Failure> {
        if !POPULATIONS.contains(&clients) {
            let (least, most) = (POPULATIONS.start(), POPULATIONS.end());
            return Err(Failure::Usage(format!("--clients must be from {least} to {most}, but is {clients}")));
        }
        let outcome = Asked::rigorous(question(clients, rounds)?, target()).answer()?;
        let min_batch = (0.4 * CHECK_IN_RATE * clients as f64) as u64;
        let payload = payload().map_err(anyhow::Error::from)?;
        Ok(Self { clients, rounds, outcome, min_batch, payload })
    }

    /// The same task with another number of rounds.
    pub(super) fn question(&self, rounds: u64) -> Result<Question, Failure> {
        question(self.clients, rounds)
    }

    /// How many are expected to participate in a round.
    pub(super) fn speakers(&self) -> f64 {
        CHECK_IN_RATE * self.clients as f64
    }

    /// The bytes of a report, with both layers of encryption.
    pub(crate) fn report_bytes(&self) -> usize {
        shuffledp_wire::report_len(self.payload as u32)
    }

    /// The bytes of a report before it is sealed.
    pub(crate) fn payload(&self) -> usize {
        self.payload
    }

    /// The number of weights of the model.
    pub(crate) fn weights(&self) -> u64 {
        u64::from(WEIGHTS)
    }

    /// The number of components that a picture becomes.
    pub(crate) fn components(&self) -> usize {
        COMPONENTS
    }

    /// The number of candidates that a report chooses one of.
    pub(crate) fn candidates(&self) -> u64 {
        TopSetSize::new(u64::from(WEIGHTS), SHARE).candidates
    }

    /// The accuracy of whoever guesses.
    pub(crate) fn chance(&self) -> f64 {
        1.0 / CLASSES as f64
    }

    /// The clients' digits and the server's test digits.
    pub(super) fn digits(&self) -> DataConfig {
        DataConfig::Digits { train: self.clients as usize, test: TEST }
    }

    /// ε0.
    pub(crate) fn local_epsilon(&self) -> f64 {
        LOCAL_EPSILON
    }

    /// A little more than all rounds cost, so that the last one is not refused by a digit; two
    /// digits, for people.
    fn budget(&self) -> String {
        round_up_significant(1.02 * self.outcome.best.value, 2)
    }

    /// Returns the server's configuration.
    pub(super) fn server(&self, folder: &Path, shuffler: (&str, String), window: f64) -> anyhow::Result<ServerConfig> {
        let text = self.fill(SERVER);
        let text = text.replace("{window}", &window.to_string());
        let text = text.replace("{shuffler_url}", shuffler.0).replace("{shuffler_key}", &shuffler.1);
        Ok(ServerConfig::parse(&text, &folder.join("server.toml"))?)
    }

    /// Returns the clients' configuration.
    pub(super) fn client(
        &self,
        folder: &Path,
        server: &shuffledp_server::RunningServer,
    ) -> anyhow::Result<ClientConfig> {
        let text = self.fill(CLIENT).replace("{server_url}", &server.url());
        let text = text.replace("{server_key}", &server.verifying_key().to_string());
        let text = text.replace("{task}", &server.task().to_string());
        Ok(ClientConfig::parse(&text, &folder.join("client.toml"))?)
    }

    fn fill(&self, template: &str) -> String {
        [
            ("{clients}", self.clients.to_string()),
            ("{last}", (self.clients - 1).to_string()),
            ("{rounds}", self.rounds.to_string()),
            ("{budget}", self.budget()),
            ("{min_batch}", self.min_batch.to_string()),
            ("{check_in_rate}", CHECK_IN_RATE.to_string()),
            ("{local_epsilon}", format!("{LOCAL_EPSILON:?}")),
            ("{share}", SHARE.to_string()),
            ("{clip}", CLIP.to_string()),
            ("{components}", COMPONENTS.to_string()),
            ("{test}", TEST.to_string()),
            ("{delta}", format!("{DELTA:e}")),
        ]
        .iter()
        .fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// ε at the task's δ.
pub(super) fn target() -> Target {
    Target::EpsilonAt { delta: DELTA }
}

fn question(clients: u64, rounds: u64) -> Result<Question, Failure> {
    let scheme = Scheme::check_in(clients, CHECK_IN_RATE, 0.0)?;
    Ok(Question::new(Round { scheme, randomizer: randomizer()? }, rounds)?)
}

fn randomizer() -> Result<RandomizerSpec, shuffledp_accounting::AccountingError> {
    let dimension = u64::from(WEIGHTS);
    RandomizerSpec::new(Mechanism::TopSet { local_epsilon: LOCAL_EPSILON, dimension, share: SHARE })
}

fn payload() -> Result<usize, LearningError> {
    let shape = VectorShape { dimension: WEIGHTS, clip: CLIP };
    Ok(Frames::deployed(randomizer()?, shape)?.frame_len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_learning::data::scattering::quiet;
    use shuffledp_learning::training::{Algorithm, Simulation, TrainingConfig};

    fn served(setting: &Setting) -> ServerConfig {
        let key = "shuffledp-verifying-v1:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=".to_owned();
        setting.server(Path::new("folder"), ("http://127.0.0.1:1", key), 1.0).unwrap()
    }

    #[test]
    fn what_is_said_of_the_task_is_what_the_task_says() {
        let setting = Setting::new(20_000, 24).unwrap();
        let task = served(&setting).task;
        let whitening = task.preparation.whitening.unwrap();
        assert_eq!((whitening.components, setting.weights()), (setting.components(), 1000));
        let randomizer = task.randomizer.of_dimension(setting.weights()).unwrap();
        assert_eq!(randomizer, setting.question(1).unwrap().round().randomizer);
        let shape = VectorShape { dimension: 1000, clip: task.clip };
        assert_eq!(Frames::deployed(randomizer, shape).unwrap().frame_len(), setting.payload());
        // 2,048 candidates are 11 bits.
        assert_eq!((setting.candidates(), setting.payload(), setting.report_bytes()), (2048, 2, 224));
        assert!(setting.outcome.best.value <= 0.45, "{}", setting.outcome.best.value);
    }

    /// The same rounds without services and encryption, from a seed.
    #[test]
    fn the_demonstration_learns() {
        let setting = Setting::new(20_000, 24).unwrap();
        let task = served(&setting).task;
        let (data, folder) = (setting.digits(), tempfile::tempdir().unwrap());
        let digits = data.load(None).unwrap();
        let digits = task.preparation.apply(digits, Some(folder.path()), &quiet).unwrap();
        let (rate, randomizer, clip) = (task.check_in_rate, task.randomizer, task.clip);
        let config = TrainingConfig {
            name: task.name,
            seed: 1,
            rounds: task.rounds,
            delta: task.delta,
            target_epsilon: Some(task.budget),
            evaluate_every: task.rounds,
            clients: None,
            hold_out: None,
            data,
            preparation: task.preparation,
            model: task.model,
            algorithm: Algorithm::CheckIn { rate, drop_out: 0.0, randomizer, clip },
            step: task.step,
        };
        let mut simulation = Simulation::new(&config, &digits.train).unwrap();
        while simulation.step().unwrap() {}
        let metrics = simulation.evaluate(&digits.test, 0.0).unwrap();
        assert_eq!(metrics.round, 24);
        assert!(metrics.test_accuracy >= 0.9 && metrics.epsilon <= 0.45, "{metrics:?}");
    }
}
