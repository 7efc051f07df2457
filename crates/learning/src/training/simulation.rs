//! A run in memory: who participates → gradient → clip → randomize → shuffle → aggregate →
//! step → account.

use super::algorithm::Reporting;
use super::blocks::Blocks;
use super::checkpoint::{LastRound, Snapshot};
use super::{Metrics, TrainingConfig};
use crate::collect::{Collector, Summing};
use crate::data::{Clients, Examples};
use crate::ledger::{Cost, Ledger};
use crate::models::{AnyModel, ClippedSum, Model, initial_weights};
use crate::monitor::CheckInMonitor;
use crate::participation::{CLIENT, SUMMED_NOISE, participants, public_seed};
use crate::step::ServerState;
use crate::{LearningError, Result};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::{Participation, Scheme};
use shuffledp_randomizers::SimulationRng;

/// All clients, the shuffler and the server of a run. It owns all that it needs; `P` may be clients
/// of its own, or a reference to somebody else's.
pub struct Simulation<P, M = AnyModel> {
    config: TrainingConfig,
    model: M,
    population: P,
    scheme: Scheme,
    blocks: Option<Blocks>,
    /// The cost of a round, or `None` without privacy.
    cost: Option<Cost>,
    reporting: Reporting,
    state: ServerState,
    ledger: Ledger,
    monitor: CheckInMonitor,
    last: LastRound,
    is_sketch: bool,
}

/// The data that a thread collects in a round.
struct Gathered<C: Collector> {
    loss: f64,
    report: C::Report,
    batch: C::Batch,
}

impl<P: Clients> Simulation<P> {
    /// Before the first round, with the configuration's model. What is wrong with the
    /// configuration is said here, before any work.
    pub fn new(config: &TrainingConfig, population: P) -> Result<Self> {
        config.check()?;
        let architecture = config.model.architecture(population.shape(), population.classes())?;
        Self::with_model(config, population, AnyModel::new(architecture))
    }
}

impl<P: Clients, M: Model> Simulation<P, M> {
    /// The same with another model than the configuration's.
    pub fn with_model(config: &TrainingConfig, population: P, model: M) -> Result<Self> {
        config.check()?;
        config.step.check_layers(model.architecture())?;
        let state = ServerState::started(initial_weights(model.architecture(), config.seed), &config.step);
        let scheme = config.algorithm.scheme(population.count())?;
        require_patience(&scheme)?;
        let blocks = config.algorithm.blocks(population.count(), config.seed)?;
        let dimension = model.architecture().dimension()?;
        let cost = config.algorithm.cost(population.count(), dimension, config.rounds, config.delta)?;
        let reporting = config.algorithm.reporting(population.count(), dimension, false)?;
        if cost.is_none() && config.target_epsilon.is_some() {
            let requirement = "left out where nothing is private";
            return Err(LearningError::out_of_range("target_epsilon", requirement, "given"));
        }
        let ledger = Ledger::new(config.delta, config.target_epsilon)?;
        if let Some(cost) = cost {
            require_accountable(&ledger, cost, config)?;
        }
        let (monitor, last) = (CheckInMonitor::default(), LastRound::default());
        let config = config.clone();
        Ok(Self {
            config,
            model,
            population,
            scheme,
            blocks,
            cost,
            reporting,
            state,
            ledger,
            monitor,
            last,
            is_sketch: false,
        })
    }

    /// The same as a sketch, to tune schedules with: the noise of every batch is drawn from its
    /// Gaussian limit ([`Sketch`](crate::collect::Sketch)). Its metrics are marked, and it leaves
    /// no run folder.
    pub fn into_sketch(mut self) -> Result<Self> {
        let (clients, dimension) = (self.population.count(), self.model.architecture().dimension()?);
        self.reporting = self.config.algorithm.reporting(clients, dimension, true)?;
        self.is_sketch = true;
        Ok(self)
    }

    /// Whether it is a sketch: then it has no results.
    pub fn is_sketch(&self) -> bool {
        self.is_sketch
    }

    /// The configuration.
    pub fn config(&self) -> &TrainingConfig {
        &self.config
    }

    /// How many rounds will be run, and at least ε after them; `None` without privacy.
    pub fn plan(&self) -> Result<(u64, Option<f64>)> {
        let rounds = self.config.rounds;
        let Some(cost) = self.cost else { return Ok((rounds, None)) };
        let (charged, at_once) = (self.charges(self.state.round), self.config.algorithm.rounds_per_charge());
        let (more, epsilon) = self.ledger.forecast(cost, self.charges(rounds) - charged)?;
        Ok((rounds.min((charged + more).saturating_mul(at_once)), Some(epsilon)))
    }

    /// Returns an accountant that is charged with the first `rounds` rounds.
    pub fn account_of(&self, rounds: u64) -> Result<Accountant> {
        let mut accountant = Accountant::new();
        if let Some(cost) = self.cost {
            cost.compose(&mut accountant, self.charges(rounds))?;
        }
        Ok(accountant)
    }

    /// How often something was charged until after `round`.
    fn charges(&self, round: u64) -> u64 {
        round.div_ceil(self.config.algorithm.rounds_per_charge())
    }

    /// The clients.
    pub fn population(&self) -> &P {
        &self.population
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The server's state.
    pub fn state(&self) -> &ServerState {
        &self.state
    }

    /// The ledger: the privacy spent so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Of a check-in: the rate that is accounted for, and the one at which clients were heard so
    /// far, as an interval of confidence 99 %.
    pub fn check_in_rates(&self) -> Option<(f64, (f64, f64))> {
        Some((self.scheme.check_in_rate()?, self.monitor.interval()?))
    }

    /// A sentence of warning if more clients come than were accounted for.
    pub fn warning(&self) -> Option<String> {
        self.monitor.warning(&self.scheme)
    }

    /// Runs a round. False, and nothing happened, if all rounds are done or the next one would
    /// exceed the budget.
    pub fn step(&mut self) -> Result<bool> {
        if self.state.round >= self.config.rounds {
            return Ok(false);
        }
        let round = self.state.round + 1;
        if let Some(cost) = self.cost
            && self.charges(round) > self.charges(self.state.round)
            && !self.ledger.charge(cost)?
        {
            return Ok(false);
        }
        let speakers = match &mut self.blocks {
            Some(blocks) => blocks.visited(round),
            None => participants(&self.scheme, self.config.seed, round),
        };
        let (loss, estimate) = match &self.reporting {
            Reporting::Frames(frames) => {
                self.hear(&frames.in_round(public_seed(self.config.seed, round)), &speakers, round)?
            }
            Reporting::Sketch(sketch) => self.hear_sum(sketch, &speakers, round)?,
            Reporting::Summed(summed) => self.hear_sum(summed, &speakers, round)?,
            Reporting::Blocks(block) => self.hear_sum(block, &speakers, round)?,
            Reporting::Plain(plain) => self.hear_sum(plain, &speakers, round)?,
        };
        let heard = speakers.len() as u64;
        self.monitor.add(heard, self.scheme.clients());
        // Nobody participated: the loss that was heard of last stands.
        let loss = if heard > 0 { loss / heard as f64 } else { self.last.loss };
        self.last = LastRound { participants: heard, loss };
        self.state.advance(estimate.as_deref(), &self.config.step, self.model.architecture())?;
        Ok(true)
    }

    /// All that changes from round to round.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let accountant = self.ledger.accountant().clone();
        Snapshot { state: self.state.clone(), accountant, monitor: self.monitor, last: self.last }
    }

    /// Goes on from a snapshot of the same configuration.
    pub(crate) fn restore(&mut self, snapshot: Snapshot) -> Result<()> {
        let Snapshot { state, accountant, monitor, last } = snapshot;
        let expected = self.account_of(state.round)?;
        let weights = self.model.parameters();
        let averaged = self.config.step.average_from.map_or(0, |from| (state.round + 1).saturating_sub(from.max(1)));
        let shapes = [state.weights.len(), state.velocity.len(), state.average.len()];
        let fits = shapes == [weights, weights, if averaged > 0 { weights } else { 0 }]
            && state.averaged == averaged
            && state.round <= self.config.rounds
            && accountant == expected;
        if !fits {
            return Err(LearningError::Data(
                "the checkpoint is not of this run: its numbers contradict the configuration".into(),
            ));
        }
        self.ledger = Ledger::resume(accountant, self.config.delta, self.config.target_epsilon)?;
        (self.state, self.monitor, self.last) = (state, monitor, last);
        Ok(())
    }

    /// How good and how private the model is now.
    pub fn evaluate(&self, test: &Examples, seconds: f64) -> Result<Metrics> {
        let accuracy = |weights: &[f32]| Ok::<_, LearningError>(self.model.evaluate(weights, test)?.accuracy());
        // Where nothing is averaged the answer is the last weights.
        let test_accuracy_last = if self.state.averaged > 0 { Some(accuracy(&self.state.weights)?) } else { None };
        let (epsilon, epsilon_lower) = match self.cost {
            Some(_) => (self.ledger.epsilon()?, self.ledger.epsilon_lower()?),
            None => (f64::INFINITY, f64::INFINITY),
        };
        Ok(Metrics {
            round: self.state.round,
            test_accuracy: accuracy(&self.state.answer())?,
            test_accuracy_last,
            held_out: self.config.hold_out.map(|count| count as u64),
            train_loss: self.last.loss,
            epsilon,
            epsilon_lower,
            delta: self.ledger.delta(),
            participants: self.last.participants,
            seconds,
            sketch: self.is_sketch,
        })
    }

    /// Gradient, clip, randomize, and add up what the shuffler would hand over: the participants'
    /// summed loss, and the estimated mean of their gradients if anybody participated.
    fn hear<C: Collector>(&self, collector: &C, speakers: &[u64], round: u64) -> Result<(f64, Option<Vec<f64>>)> {
        let seed = self.config.seed;
        let gathered = self.model.fold_gradients(
            &self.state.weights,
            &self.population,
            speakers,
            || Gathered { loss: 0.0, report: collector.blank(), batch: collector.empty() },
            |gathered: &mut Gathered<C>, client| {
                gathered.loss += f64::from(client.loss);
                let mut rng = SimulationRng::named([seed, CLIENT, round, client.client]);
                collector.report(client.gradient, &mut rng, &mut gathered.report)?;
                collector.add(&gathered.report, &mut gathered.batch)
            },
            |all, more| {
                all.loss += more.loss;
                collector.merge(&mut all.batch, more.batch)
            },
        )?;
        let mut together = SimulationRng::named([seed, SUMMED_NOISE, round, 0]);
        Ok((gathered.loss, collector.mean(gathered.batch, &mut together)?))
    }

    /// The same where the sum of the clipped gradients is enough.
    fn hear_sum(&self, collector: &impl Summing, speakers: &[u64], round: u64) -> Result<(f64, Option<Vec<f64>>)> {
        let (weights, clipping) = (&self.state.weights, collector.clipping());
        let ClippedSum { sum, loss } =
            self.model.sum_of_clipped_gradients(weights, &self.population, speakers, clipping)?;
        let mut together = SimulationRng::named([self.config.seed, SUMMED_NOISE, round, 0]);
        Ok((loss, collector.mean_of(sum, &mut together)?))
    }
}

/// The largest expected number of participants in a round: they are listed and shuffled in memory.
const MOST_SPEAKERS: f64 = 1e8;

fn require_patience(scheme: &Scheme) -> Result<()> {
    let speakers = match scheme.participation() {
        Participation::Everyone => scheme.clients() as f64,
        Participation::FixedSize { sampled } => sampled as f64,
        Participation::CheckIn { rate, .. } => rate * scheme.clients() as f64,
    };
    if speakers > MOST_SPEAKERS {
        let requirement = format!("at most {MOST_SPEAKERS}, to be simulated");
        return Err(LearningError::out_of_range("the number of participants in a round", requirement, speakers));
    }
    Ok(())
}

/// A run whose ε is unbounded is refused before its first round. (One that stops at a budget never
/// gets there.)
fn require_accountable(ledger: &Ledger, cost: Cost, config: &TrainingConfig) -> Result<()> {
    // What cannot be charged at all is an error here.
    ledger.clone().charge(cost)?;
    let rounds = config.rounds;
    let (_, epsilon) = ledger.forecast(cost, rounds.div_ceil(config.algorithm.rounds_per_charge()))?;
    if epsilon.is_finite() {
        return Ok(());
    }
    let delta = config.delta;
    let randomizer = match cost {
        Cost::Round(round) => format!("{:?}", round.randomizer.mechanism()),
        Cost::Release(release) => format!("{:?}", release.output()),
    };
    let requirement = format!(
        "such that {rounds} rounds have a finite ε at delta = {delta:e}: more noise (a larger sigma, a smaller local_epsilon), fewer rounds, a larger delta, or a \
         target_epsilon to stop at"
    );
    Err(LearningError::out_of_range("randomizer", requirement, randomizer))
}
