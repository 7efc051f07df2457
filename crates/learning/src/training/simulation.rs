//! A run in memory: who speaks → gradient → clip → randomize → shuffle → aggregate → step → account.

use super::algorithm::Protection;
use super::{Metrics, TrainingConfig};
use crate::data::{Clients, Examples};
use crate::ledger::Ledger;
use crate::models::{Model, initial_weights};
use crate::participation::{CLIENT, CheckInMonitor, SUMMED_NOISE, participants};
use crate::round::{charge, client_report, server_step};
use crate::step::ServerState;
use crate::{LearningError, Result};
use shuffledp_accounting::scheme::{Mechanism, Scheme};
use shuffledp_randomizers::dispatch::Shape;
use shuffledp_randomizers::erased::{FrameAggregator, VectorRandomizer, vector_randomizer};
use shuffledp_randomizers::{Gaussian, Randomizer, RandomizerError, SimulationRng, clip};

/// All clients, the shuffler and the server of a run.
pub struct Simulation<'a, P> {
    config: &'a TrainingConfig,
    model: Model,
    population: &'a P,
    scheme: Scheme,
    protection: Option<Protection>,
    report: Report,
    state: ServerState,
    ledger: Ledger,
    monitor: CheckInMonitor,
    last: LastRound,
}

/// What a client's gradient becomes.
enum Report {
    /// A frame.
    Frame(Box<dyn VectorRandomizer>),
    /// Clipped and added up; the sum of everybody's Gaussian noise, of variance k·σ²C² as that of k independent ones, is drawn once. The same law as of
    /// k frames, without k vectors of noise.
    Summed { sigma: f64, clip: f32 },
    /// As it is.
    Plain,
}

/// What is remembered of a round for the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct LastRound {
    participants: u64,
    loss: f64,
}

/// What the threads gather of a round.
struct Gathered {
    loss: f64,
    frame: Vec<u8>,
    batch: Batch,
    error: Option<RandomizerError>,
}

enum Batch {
    Frames(Box<dyn FrameAggregator>),
    Sum(Vec<f64>),
}

impl<'a, P: Clients> Simulation<'a, P> {
    /// Before the first round. What is wrong with the configuration is said here, before any work.
    pub fn new(config: &'a TrainingConfig, population: &'a P) -> Result<Self> {
        config.check()?;
        let architecture = config.model.architecture(population.shape(), population.classes())?;
        let state = ServerState::new(initial_weights(&architecture, config.seed));
        let model = Model::new(architecture);
        let scheme = config.algorithm.scheme(population.count())?;
        let protection = config.algorithm.protection(population.count())?;
        let report = Report::new(protection.as_ref(), model.parameters())?;
        if protection.is_none() && config.target_epsilon.is_some() {
            let requirement = "left out where nothing is private";
            return Err(LearningError::out_of_range("target_epsilon", requirement, "given"));
        }
        let ledger = Ledger::new(config.delta, config.target_epsilon)?;
        // A round whose privacy cannot be accounted for is refused before the first one.
        if let Some(protection) = &protection {
            charge(&mut ledger.clone(), protection.round)?;
        }
        let (monitor, last) = (CheckInMonitor::default(), LastRound::default());
        Ok(Self { config, model, population, scheme, protection, report, state, ledger, monitor, last })
    }

    /// What was asked for.
    pub fn config(&self) -> &TrainingConfig {
        self.config
    }

    /// How many rounds will be run, and at least ε after them; `None` without privacy.
    pub fn plan(&self) -> Result<(u64, Option<f64>)> {
        let rounds = self.config.rounds;
        let Some(protection) = &self.protection else { return Ok((rounds, None)) };
        let (rounds, epsilon) = self.ledger.forecast(protection.round, rounds - self.state.round)?;
        Ok((self.state.round + rounds, Some(epsilon)))
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What the server remembers.
    pub fn state(&self) -> &ServerState {
        &self.state
    }

    /// What has been spent.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// A sentence of warning if more clients come than were accounted for.
    pub fn warning(&self) -> Option<String> {
        self.monitor.warning(&self.scheme)
    }

    /// Runs a round. False, and nothing happened, if all rounds are done or the next one would exceed the budget.
    pub fn step(&mut self) -> Result<bool> {
        if self.state.round >= self.config.rounds {
            return Ok(false);
        }
        if let Some(protection) = &self.protection
            && !charge(&mut self.ledger, protection.round)?
        {
            return Ok(false);
        }
        let round = self.state.round + 1;
        let speakers = participants(&self.scheme, self.config.seed, round);
        let gathered = self.gather(&speakers, round)?;
        let heard = speakers.len() as u64;
        self.monitor.add(heard, self.scheme.clients());
        self.last = LastRound { participants: heard, loss: gathered.loss / heard.max(1) as f64 };
        let estimate = self.estimate(gathered, heard, round)?;
        server_step(estimate.as_deref(), &self.config.step, &mut self.state)?;
        Ok(true)
    }

    /// How good and how private the model is now.
    pub fn evaluate(&self, test: &Examples, seconds: f64) -> Result<Metrics> {
        let accuracy = |weights: &[f32]| Ok::<_, LearningError>(self.model.evaluate(weights, test)?.accuracy());
        // Where nothing is averaged the answer is the last weights.
        let test_accuracy_last = if self.state.averaged > 0 { Some(accuracy(&self.state.weights)?) } else { None };
        let (epsilon, epsilon_lower) = match self.protection {
            Some(_) => (self.ledger.epsilon()?, self.ledger.epsilon_lower()?),
            None => (f64::INFINITY, f64::INFINITY),
        };
        Ok(Metrics {
            round: self.state.round,
            test_accuracy: accuracy(&self.state.answer())?,
            test_accuracy_last,
            train_loss: self.last.loss,
            epsilon,
            epsilon_lower,
            delta: self.ledger.delta(),
            participants: self.last.participants,
            seconds,
        })
    }

    /// Gradient, clip, randomize, and add up what the shuffler would hand over.
    fn gather(&self, speakers: &[u64], round: u64) -> Result<Gathered> {
        let gathered = self.model.fold_gradients(
            &self.state.weights,
            self.population,
            speakers,
            || self.report.nothing(self.model.parameters()),
            |gathered, client| {
                gathered.loss += f64::from(client.loss);
                let mut rng = SimulationRng::named([self.config.seed, CLIENT, round, client.client]);
                self.report.add(gathered, client.gradient, &mut rng)
            },
            Gathered::merge,
        )?;
        match gathered.error {
            Some(error) => Err(error.into()),
            None => Ok(gathered),
        }
    }

    /// The estimated mean gradient, if anybody was heard.
    fn estimate(&self, gathered: Gathered, heard: u64, round: u64) -> Result<Option<Vec<f64>>> {
        if heard == 0 {
            return Ok(None);
        }
        let mut sum = match gathered.batch {
            Batch::Frames(frames) => return Ok(Some(frames.mean()?)),
            Batch::Sum(sum) => sum,
        };
        if let Report::Summed { sigma, clip } = self.report {
            let together = Gaussian::new(sigma * (heard as f64).sqrt(), sum.len() as u32, clip)?;
            let mut rng = SimulationRng::named([self.config.seed, SUMMED_NOISE, round, 0]);
            let noise = together.randomize(&vec![0.0; sum.len()], &mut rng)?;
            sum.iter_mut().zip(noise).for_each(|(sum, noise)| *sum += f64::from(noise));
        }
        sum.iter_mut().for_each(|sum| *sum /= heard as f64);
        Ok(Some(sum))
    }
}

impl Report {
    fn new(protection: Option<&Protection>, parameters: usize) -> Result<Self> {
        let Some(Protection { round, clip }) = protection else { return Ok(Self::Plain) };
        if let Mechanism::Gaussian { sigma } = round.randomizer.mechanism() {
            return Ok(Self::Summed { sigma, clip: *clip });
        }
        let dimension = u32::try_from(parameters)
            .map_err(|_| LearningError::out_of_range("the model's number of weights", "below 2^32", parameters))?;
        Ok(Self::Frame(vector_randomizer(round.randomizer, Shape { dimension, clip: *clip })?))
    }

    fn nothing(&self, parameters: usize) -> Gathered {
        let (frame, batch) = match self {
            Self::Frame(mechanism) => (vec![0; mechanism.frame_len()], Batch::Frames(mechanism.aggregator())),
            _ => (Vec::new(), Batch::Sum(vec![0.0; parameters])),
        };
        Gathered { loss: 0.0, frame, batch, error: None }
    }

    fn add(&self, gathered: &mut Gathered, gradient: &[f32], rng: &mut SimulationRng) -> Result<()> {
        match (self, &mut gathered.batch) {
            (Self::Frame(mechanism), Batch::Frames(frames)) => {
                client_report(&**mechanism, gradient, rng, &mut gathered.frame)?;
                frames.add_frame(&gathered.frame)?;
            }
            (Self::Summed { clip, .. }, Batch::Sum(sum)) => add(sum, gradient, clip::l2_factor(gradient, *clip)),
            (_, Batch::Sum(sum)) => add(sum, gradient, 1.0),
            (_, Batch::Frames(_)) => return Err(LearningError::Data("frames where there should be sums".to_owned())),
        }
        Ok(())
    }
}

impl Gathered {
    fn merge(&mut self, more: Self) {
        self.loss += more.loss;
        match (&mut self.batch, more.batch) {
            (Batch::Frames(all), Batch::Frames(more)) => {
                if let Err(error) = all.merge(more) {
                    self.error.get_or_insert(error);
                }
            }
            (Batch::Sum(all), Batch::Sum(more)) => all.iter_mut().zip(more).for_each(|(all, more)| *all += more),
            // One run has reports of one kind.
            _ => {}
        }
    }
}

fn add(sum: &mut [f64], gradient: &[f32], factor: f64) {
    sum.iter_mut().zip(gradient).for_each(|(sum, &gradient)| *sum += factor * f64::from(gradient));
}
