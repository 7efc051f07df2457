//! A whole run: round after round, evaluated at intervals, with a folder that it can be taken up
//! from.

use super::checkpoint::{Checkpoint, Identity};
use super::folder::Left;
use super::{Metrics, RunFolder, Simulation};
use crate::data::{Clients, Examples};
use crate::models::{AnyModel, Model};
use crate::{LearningError, Result};
use std::borrow::Borrow;
use std::time::{Duration, Instant};

/// Seconds between two checkpoints, at most, of rounds that are shorter.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);

/// A simulation on its way to the end, evaluated on test examples that are borrowed, shared or
/// owned.
pub struct Run<P, E, M = AnyModel> {
    simulation: Simulation<P, M>,
    test: E,
    folder: Option<(RunFolder, Identity)>,
    checkpoint_every: Duration,
    last: Option<Metrics>,
    finished: Option<Metrics>,
    /// Seconds of work before this process.
    before: f64,
    started: Instant,
    kept: Instant,
}

/// The result of a call of [`Run::advance`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// A round.
    Round,
    /// A round, and an evaluation after it.
    Evaluated(Metrics),
    /// Nothing: all rounds are done or the next one would exceed the budget. This is how good and
    /// how private the model is; `fresh` if it was not evaluated before.
    Finished {
        /// The last evaluation.
        result: Metrics,
        /// It was made by this call.
        fresh: bool,
    },
}

impl<P: Clients, E: Borrow<Examples>, M: Model> Run<P, E, M> {
    /// From the first round on; with a `folder`, its metrics and checkpoints go there.
    pub fn start(simulation: Simulation<P, M>, test: E, folder: Option<RunFolder>) -> Result<Self> {
        let mut run = Self::new(simulation, test);
        if let Some(folder) = folder {
            run.require_results()?;
            run.folder = Some((folder, run.identity()?));
        }
        run.keep()?;
        Ok(run)
    }

    /// From the last checkpoint in `folder` on. `simulation` is of the folder's configuration and
    /// before its first round.
    pub fn resume(simulation: Simulation<P, M>, test: E, mut folder: RunFolder) -> Result<Self> {
        let mut run = Self::new(simulation, test);
        run.require_results()?;
        let identity = run.identity()?;
        match folder.left(&identity)? {
            Left::Nothing => return Self::start(run.simulation, run.test, Some(folder)),
            Left::Finished(result) => {
                folder.check_finished(&run.simulation, &result)?;
                run.finished = Some(result);
            }
            Left::Stopped(checkpoint) => {
                let Checkpoint { snapshot, metrics, seconds, .. } = *checkpoint;
                run.simulation.restore(snapshot)?;
                (run.last, run.before) = (metrics, seconds);
            }
        }
        run.folder = Some((folder, identity));
        Ok(run)
    }

    fn new(simulation: Simulation<P, M>, test: E) -> Self {
        let now = Instant::now();
        let checkpoint_every = CHECKPOINT_EVERY;
        Self {
            simulation,
            test,
            folder: None,
            checkpoint_every,
            last: None,
            finished: None,
            before: 0.0,
            started: now,
            kept: now,
        }
    }

    /// A sketch has none, and so no folder that could be taken for a run's.
    fn require_results(&self) -> Result<()> {
        match self.simulation.is_sketch() {
            true => Err(LearningError::Data("a sketch is not a result: it cannot be saved in a folder".to_owned())),
            false => Ok(()),
        }
    }

    fn identity(&self) -> Result<Identity> {
        Identity::new(self.simulation.config(), self.simulation.population(), self.test.borrow())
    }

    /// Other seconds between two checkpoints than 30. There is one after every evaluation anyway.
    #[must_use]
    pub fn checkpoint_every(self, checkpoint_every: Duration) -> Self {
        Self { checkpoint_every, ..self }
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation<P, M> {
        &self.simulation
    }

    /// Runs a round and evaluates it if it is its turn; at the end completes the folder.
    pub fn advance(&mut self) -> Result<Progress> {
        if let Some(result) = self.finished {
            return Ok(Progress::Finished { result, fresh: false });
        }
        if !self.simulation.step()? {
            return self.finish();
        }
        if self.simulation.state().round.is_multiple_of(self.simulation.config().evaluate_every) {
            let metrics = self.evaluate()?;
            self.keep()?;
            return Ok(Progress::Evaluated(metrics));
        }
        if self.kept.elapsed() >= self.checkpoint_every {
            self.keep()?;
        }
        Ok(Progress::Round)
    }

    fn finish(&mut self) -> Result<Progress> {
        let round = self.simulation.state().round;
        let (result, fresh) = match self.last.filter(|last| last.round == round) {
            Some(last) => (last, false),
            None => (self.evaluate()?, true),
        };
        if let Some((folder, identity)) = &self.folder {
            folder.finish(&self.simulation, &result, identity)?;
        }
        self.finished = Some(result);
        Ok(Progress::Finished { result, fresh })
    }

    fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    fn evaluate(&mut self) -> Result<Metrics> {
        let metrics = self.simulation.evaluate(self.test.borrow(), self.seconds())?;
        if let Some((folder, _)) = &mut self.folder {
            folder.add(&metrics)?;
        }
        self.last = Some(metrics);
        Ok(metrics)
    }

    /// Writes a checkpoint, if there is a folder for it.
    fn keep(&mut self) -> Result<()> {
        let Some((folder, identity)) = &self.folder else { return Ok(()) };
        let checkpoint = Checkpoint {
            snapshot: self.simulation.snapshot(),
            metrics: self.last,
            metrics_bytes: folder.metrics_bytes(),
            seconds: self.seconds(),
        };
        folder.keep(&checkpoint, identity)?;
        self.kept = Instant::now();
        Ok(())
    }
}
