//! The running accountant.

use crate::arguments::{Arguments, Takes};
use crate::errors::{ParameterError, StateError, out_of_range, raised, unlearned};
use crate::interrupt::{guarded, interruptible};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use shuffledp_accounting::accountant::{Accountant as Inner, Running};
use shuffledp_accounting::pld::LossDistribution;
use shuffledp_accounting::scheme::{Output, Release};
use shuffledp_learning::ledger::Ledger;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Accountant>()?;
    module.add_function(wrap_pyfunction!(loss_distribution, module)?)
}

/// Told of each round as it happens, asked for ε or δ at any time. Adjacency is replace-one.
///
/// What only the clients see of a round (the model a gradient is taken at) may depend on what
/// earlier rounds showed. What the accountant is told (how many clients, which ε0, whether there is
/// a next round) may not.
///
/// >>> import shuffledp
/// >>> accountant = shuffledp.Accountant()
/// >>> training = dict(clients=1_000_000, sampled=1000, randomizer="ldp-sgd", local_epsilon=2)
/// >>> round(accountant.compose(**training, count=100_000).epsilon(1e-8), 5)
/// 0.10951
/// >>> round(accountant.compose(clients=1_000_000, randomizer="krr", categories=16, local_epsilon=1).epsilon(1e-8), 5)
/// 0.10954
///
/// Methods that compose return the accountant itself. To keep within a budget, ask before each round:
///
/// >>> accountant.would_exceed(epsilon=0.11, delta=1e-8, **training)
/// False
#[pyclass(module = "shuffledp", frozen)]
pub(crate) struct Accountant {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    inner: Inner,
    /// Since something last happened: what was asked, and what was answered.
    answers: Vec<(Asked, f64)>,
    /// The composition that an incremental answer goes on from.
    running: Running,
}

#[derive(Clone, Copy, PartialEq)]
enum Asked {
    EpsilonAt(f64),
    DeltaAt(f64),
}

/// So many answers are remembered.
const CAPACITY: usize = 64;

/// So many rounds are looked for that still fit into a budget.
const MOST_ROUNDS: u64 = 1 << 20;

impl Accountant {
    pub(crate) fn holding(inner: Inner) -> Self {
        Self { state: Mutex::new(State { inner, ..State::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inner(&self) -> Inner {
        self.state().inner.clone()
    }

    /// Changes what happened, and returns the accountant. All or nothing, and what was answered
    /// before is forgotten.
    fn change<'py>(
        slf: &Bound<'py, Self>,
        change: impl FnOnce(&mut Inner) -> shuffledp_accounting::Result<()>,
    ) -> PyResult<Bound<'py, Self>> {
        let mut state = slf.get().state();
        let mut changed = state.inner.clone();
        guarded(|| change(&mut changed))?.map_err(raised)?;
        state.inner = changed;
        state.answers.clear();
        drop(state);
        Ok(slf.clone())
    }

    /// Composes what happened since the last such question, and keeps it.
    fn running_epsilon(&self, py: Python<'_>, delta: f64) -> PyResult<f64> {
        let (inner, mut running) = {
            let mut state = self.state();
            // Another thread that asks meanwhile composes from the beginning.
            (state.inner.clone(), std::mem::take(&mut state.running))
        };
        let (answer, running) = interruptible(py, move || (running.epsilon(&inner, delta), running))?;
        self.state().running = running;
        answer.map_err(raised)
    }

    fn ask(&self, py: Python<'_>, asked: Asked) -> PyResult<f64> {
        let inner = {
            let state = self.state();
            if let Some((_, answer)) = state.answers.iter().find(|(known, _)| *known == asked) {
                return Ok(*answer);
            }
            state.inner.clone()
        };
        let before = inner.clone();
        let answer = interruptible(py, move || match asked {
            Asked::EpsilonAt(delta) => inner.epsilon(delta),
            Asked::DeltaAt(epsilon) => inner.delta(epsilon),
        })?
        .map_err(raised)?;
        let mut state = self.state();
        // Another thread may have composed something meanwhile: then it is the answer to what was
        // asked, and not to what comes.
        if state.inner == before {
            state.answers.truncate(CAPACITY - 1);
            state.answers.insert(0, (asked, answer));
        }
        Ok(answer)
    }
}

#[pymethods]
impl Accountant {
    #[new]
    fn new() -> Self {
        Self::holding(Inner::new())
    }

    /// A round happened `count` times. Its arguments are those of `shuffledp.epsilon`, but for
    /// `rounds`, `standing` and `max_order`.
    ///
    /// Nothing is recorded if the round cannot be accounted for.
    #[pyo3(
        signature = (*, count=1, **round),
        text_signature = "($self, *, clients, sampled=None, check_in=None, drop_out=None, randomizer=None, local_epsilon=None, local_delta=None, sigma=None, sensitivity=None, categories=None, dimension=None, share=None, profile=None, count=1)"
    )]
    fn compose<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = count_of)] count: u64,
        round: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let round = Arguments::read("compose", Takes::Round, round)?.round()?;
        Self::change(slf, |inner| inner.compose(round, count))
    }

    /// Whether ε at `delta` would be above `epsilon` if such a round happened `count` times more.
    /// Nothing is recorded.
    ///
    /// The arguments are those of `compose`. The answer is exact: after the last round of which
    /// this says False, `epsilon(delta)` is at most `epsilon`.
    #[pyo3(
        signature = (*, epsilon, delta, count=1, **round),
        text_signature = "($self, *, epsilon, delta, clients, sampled=None, check_in=None, drop_out=None, randomizer=None, local_epsilon=None, local_delta=None, sigma=None, sensitivity=None, categories=None, dimension=None, share=None, profile=None, count=1)"
    )]
    fn would_exceed(
        &self,
        py: Python<'_>,
        epsilon: f64,
        delta: f64,
        #[pyo3(from_py_with = count_of)] count: u64,
        round: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let round = Arguments::read("would_exceed", Takes::Round, round)?.round()?;
        let mut after = self.inner();
        let fits = interruptible(py, move || {
            Ledger::resume(Inner::new(), delta, Some(epsilon))?;
            after.compose(round, count)?;
            Ok(after.is_within(epsilon, delta)?)
        })?;
        Ok(!fits.map_err(unlearned)?)
    }

    /// How many more such rounds fit, so that ε at `delta` stays at most `epsilon`: the next one
    /// would exceed it. No more than 2^20 are looked for.
    ///
    /// >>> import shuffledp
    /// >>> shuffledp.Accountant().rounds_left(epsilon=0.5, delta=1e-6, clients=60_000, sampled=600, local_epsilon=1)
    /// 73048
    #[pyo3(
        signature = (*, epsilon, delta, **round),
        text_signature = "($self, *, epsilon, delta, clients, sampled=None, check_in=None, drop_out=None, randomizer=None, local_epsilon=None, local_delta=None, sigma=None, sensitivity=None, categories=None, dimension=None, share=None, profile=None)"
    )]
    fn rounds_left(
        &self,
        py: Python<'_>,
        epsilon: f64,
        delta: f64,
        round: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<u64> {
        let round = Arguments::read("rounds_left", Takes::Round, round)?.round()?;
        let inner = self.inner();
        let left = interruptible(py, move || {
            let (left, _) = Ledger::resume(inner, delta, Some(epsilon))?.forecast(round, MOST_ROUNDS)?;
            Ok(left)
        })?;
        left.map_err(unlearned)
    }

    /// An output with Gaussian noise, not shuffled, happened `count` times. `noise_multiplier` is
    /// the noise's standard deviation over the clipping norm C; replacing a record moves a sum by
    /// up to 2C.
    ///
    /// >>> import shuffledp
    /// >>> round(shuffledp.Accountant().compose_gaussian(noise_multiplier=20).epsilon(1e-6), 3)
    /// 0.397
    ///
    /// With `sampling_probability` it is a sum over a Poisson sample, in which every record is with
    /// that probability on its own, as in DP-SGD.
    #[pyo3(signature = (*, noise_multiplier, sampling_probability=None, count=1))]
    fn compose_gaussian<'py>(
        slf: &Bound<'py, Self>,
        noise_multiplier: f64,
        sampling_probability: Option<f64>,
        #[pyo3(from_py_with = count_of)] count: u64,
    ) -> PyResult<Bound<'py, Self>> {
        let mu = shift(noise_multiplier)?;
        let output = match sampling_probability {
            None | Some(1.0) => Output::Gaussian { mu },
            // Half of a sum's shift, exactly: that is what one record adds.
            Some(_) if 0.5 * mu > Release::MAX_SAMPLED_MU => {
                let requirement = "at least 0.05 with a sampling_probability";
                let shown = noise_multiplier.to_string();
                return Err(ParameterError::new_err(out_of_range("noise_multiplier", requirement, &shown)));
            }
            Some(rate) => Output::SampledGaussian { rate, mu: 0.5 * mu },
        };
        let release = Release::new(output).map_err(raised)?;
        Self::change(slf, |inner| inner.compose_release(release, count))
    }

    /// An output with Laplace noise, not shuffled, happened `count` times. `noise_multiplier` is
    /// the noise's scale over the ℓ1 clipping norm C; replacing a record moves a sum by up to 2C.
    #[pyo3(signature = (*, noise_multiplier, count=1))]
    fn compose_laplace<'py>(
        slf: &Bound<'py, Self>,
        noise_multiplier: f64,
        #[pyo3(from_py_with = count_of)] count: u64,
    ) -> PyResult<Bound<'py, Self>> {
        let epsilon = shift(noise_multiplier)?;
        let release = Release::new(Output::Laplace { epsilon }).map_err(raised)?;
        Self::change(slf, |inner| inner.compose_release(release, count))
    }

    /// An answer by randomized response, not shuffled, happened `count` times: with probability
    /// `noise_parameter` one of `num_buckets` values at random, else the true one.
    #[pyo3(signature = (*, noise_parameter, num_buckets, count=1))]
    fn compose_randomized_response<'py>(
        slf: &Bound<'py, Self>,
        noise_parameter: f64,
        #[pyo3(from_py_with = buckets_of)] num_buckets: u64,
        #[pyo3(from_py_with = count_of)] count: u64,
    ) -> PyResult<Bound<'py, Self>> {
        let output = Output::RandomizedResponse { noise: noise_parameter, buckets: num_buckets };
        let release = Release::new(output).map_err(raised)?;
        Self::change(slf, |inner| inner.compose_release(release, count))
    }

    /// Everything that `other` was told happened as well. All or nothing.
    fn merge<'py>(slf: &Bound<'py, Self>, other: &Self) -> PyResult<Bound<'py, Self>> {
        let other = other.inner();
        Self::change(slf, |inner| inner.merge(&other))
    }

    /// At least the ε of everything so far at `delta`; 0 if nothing happened.
    ///
    /// Rounds of many different kinds are composed anew whenever this is asked. With `incremental`
    /// the composition is kept, and asking after one more round takes the same time however many
    /// there were. That is an upper bound too, at most about 0.1 % larger; it is not the number
    /// that `would_exceed` goes by.
    #[pyo3(signature = (delta, *, incremental=false))]
    fn epsilon(&self, py: Python<'_>, delta: f64, incremental: bool) -> PyResult<f64> {
        if incremental { self.running_epsilon(py, delta) } else { self.ask(py, Asked::EpsilonAt(delta)) }
    }

    /// At least the δ of everything so far at `epsilon`; 0 if nothing happened.
    fn delta(&self, py: Python<'_>, epsilon: f64) -> PyResult<f64> {
        self.ask(py, Asked::DeltaAt(epsilon))
    }

    /// Returns ε if the shuffler colludes with the server: the local ε of every round, and the ε of
    /// every other output, added up. Also ε at δ = 0. Infinite if something has no ε without a δ.
    fn local_epsilon(&self) -> f64 {
        self.state().inner.local_epsilon()
    }

    /// The privacy loss of everything so far, rounded up: losses, their probabilities, and the
    /// probability that counts as an infinite loss. See `shuffledp.loss_distribution`.
    #[pyo3(name = "_loss_distribution")]
    fn loss_distribution<'py>(&self, py: Python<'py>) -> PyResult<Exported<'py>> {
        let inner = self.inner();
        exported(py, inner)
    }

    /// How many rounds and other outputs there were so far.
    fn __len__(&self) -> PyResult<usize> {
        let state = self.state();
        let rounds = state.inner.ledger().iter().map(|entry| entry.count);
        let total: u64 = rounds.chain(state.inner.releases().iter().map(|entry| entry.count)).sum();
        Ok(total as usize)
    }

    /// The state as JSON text.
    fn to_json(&self) -> PyResult<String> {
        self.state().inner.save().map_err(raised)
    }

    /// Reads what `to_json` wrote. Truncated or altered text is an error.
    ///
    /// >>> import shuffledp
    /// >>> accountant = shuffledp.Accountant().compose(clients=1000, local_epsilon=1, count=3)
    /// >>> shuffledp.Accountant.from_json(accountant.to_json()) == accountant
    /// True
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        Ok(Self::holding(guarded(|| Inner::load(text))?.map_err(raised)?))
    }

    /// Writes the state to a file: beside it first, then in its place, so that a crash leaves the
    /// old or the new one.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let text = self.to_json()?;
        let mut beside = path.clone().into_os_string();
        beside.push(".new");
        std::fs::write(&beside, text)?;
        Ok(std::fs::rename(&beside, &path)?)
    }

    /// Reads what `save` wrote.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: PathBuf) -> PyResult<Self> {
        let bytes = std::fs::read(&path)?;
        let text = String::from_utf8(bytes).map_err(|_| StateError::new_err("saved state rejected: it is not text"))?;
        Self::from_json(class, &text)
    }

    fn __eq__(&self, other: &Self) -> bool {
        let other = other.inner();
        self.state().inner == other
    }

    fn __copy__(&self) -> Self {
        Self::holding(self.inner())
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json()?,)))
    }

    fn __repr__(&self) -> PyResult<String> {
        let state = self.state();
        let (rounds, releases) = (state.inner.ledger().len(), state.inner.releases().len());
        Ok(format!("<shuffledp.Accountant: {rounds} kinds of rounds, {releases} kinds of other outputs>"))
    }
}

/// Losses, probabilities, and what is at infinity.
type Exported<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

fn exported(py: Python<'_>, inner: Inner) -> PyResult<Exported<'_>> {
    let LossDistribution { losses, probabilities, infinity } =
        interruptible(py, move || inner.loss_distribution())?.map_err(raised)?;
    Ok((PyArray1::from_vec(py, losses), PyArray1::from_vec(py, probabilities), infinity))
}

/// The privacy loss of a question's rounds, as `(losses, probabilities, infinity)`.
#[pyfunction]
#[pyo3(name = "_loss_distribution", signature = (**rounds))]
fn loss_distribution<'py>(py: Python<'py>, rounds: Option<&Bound<'py, PyDict>>) -> PyResult<Exported<'py>> {
    let question = Arguments::read("loss_distribution", Takes::Rounds, rounds)?.question()?;
    let mut inner = Inner::new();
    inner.compose(*question.round(), question.rounds()).map_err(raised)?;
    exported(py, inner)
}

/// How far apart two neighbouring datasets' sums are, in units of the noise: 2C over it, rounded
/// up.
fn shift(noise_multiplier: f64) -> PyResult<f64> {
    let least = 2.0 / Release::MAX_PARAMETER;
    // NaN is not contained in any range.
    if (least..=f64::MAX).contains(&noise_multiplier) {
        Ok((2.0 / noise_multiplier).next_up().min(Release::MAX_PARAMETER))
    } else {
        let requirement = format!("a finite number of at least {least}");
        Err(ParameterError::new_err(out_of_range("noise_multiplier", &requirement, &noise_multiplier.to_string())))
    }
}

fn buckets_of(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(crate::arguments::count("num_buckets", value)?.unwrap_or(0))
}

fn count_of(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    // None is for arguments that may be left out; a count may not.
    Ok(crate::arguments::count("count", value)?.unwrap_or(0))
}
