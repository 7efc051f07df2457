//! The running code, measured.

use crate::arguments::{Arguments, Takes};
use crate::errors::{NumericalError, refused};
use crate::interrupt::{Waiting, interruptible_steps};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::to_string;
use shuffledp_accounting::scheme::{Adjacency, RandomizerSpec, Scheme};
use shuffledp_randomizers::audit::{Audit, Finding, Generators, Options, RawInput, Released, Report, Simulated};
use shuffledp_randomizers::dispatch::{self, VectorShape, Visitor};
use shuffledp_randomizers::{Likelihood, RandomizerError, Randomness, Result as Randomized};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<AuditFinding>()?;
    module.add_class::<AuditReport>()?;
    module.add_function(wrap_pyfunction!(audit, module)?)
}

/// Runs a randomizer and the shuffle, attacks what comes out as well as anybody can, and bounds ε
/// from below beside what is claimed.
///
/// The randomizer is one of `shuffledp.randomizers`, or a name with its parameters, as for
/// `epsilon()`; with `clients` (and `sampled`, or `check_in` and `drop_out`) a round is audited as
/// well. `trials` measured rounds for each bound; all bounds hold together with probability
/// `confidence`; `delta` is that of a round, and of noise that is not pure. With a `seed` coins
/// come from a simulation's generator and the same audit can be run again; else from the one that
/// clients use.
///
/// `passed` says that nothing contradicts the claims. That proves nothing; a failure is evidence.
///
/// >>> import shuffledp
/// >>> found = shuffledp.audit(randomizer="rr", local_epsilon=1, trials=4000, seed=1)
/// >>> found.passed, found.claimed_local_epsilon, 0.8 < found.measured_epsilon_lower < 1
/// (True, 1.0, True)
#[pyfunction]
#[pyo3(signature = (*, trials=20_000, confidence=0.95, delta=1e-5, seed=None, **round))]
fn audit(
    py: Python<'_>,
    #[pyo3(from_py_with = trials_of)] trials: u64,
    confidence: f64,
    delta: f64,
    seed: Option<u64>,
    round: Option<&Bound<'_, PyDict>>,
) -> PyResult<AuditReport> {
    let arguments = Arguments::read("audit", Takes::Round, round)?;
    let (spec, shape) = arguments.runnable()?;
    let scheme = arguments.optional_scheme()?;
    let options = Options::new(trials, confidence, delta).map_err(refused)?;
    let report = interruptible_steps(py, move |waiting| match seed {
        Some(seed) => run(spec, shape, scheme, options, Until { waiting, generators: Simulated { seed } }),
        None => run(spec, shape, scheme, options, Until { waiting, generators: Released }),
    })?
    .map_err(refused)?;
    AuditReport::new(py, &report, shape.dimension, scheme, seed)
}

fn trials_of(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    // None is for arguments that may be left out; this may not.
    Ok(crate::arguments::count("trials", value)?.unwrap_or(0))
}

fn run<G: Generators>(
    spec: RandomizerSpec,
    shape: VectorShape,
    scheme: Option<Scheme>,
    options: Options,
    generators: G,
) -> Randomized<Report> {
    dispatch::visit(spec, shape, Auditor { scheme, options, generators })
}

/// Generators for as long as somebody waits for the audit.
struct Until<'a, G> {
    waiting: &'a Waiting,
    generators: G,
}

impl<G: Generators> Generators for Until<'_, G> {
    fn generator(&self, stream: u64) -> Randomized<Box<dyn Randomness>> {
        if self.waiting.is_over() {
            // Nobody reads this.
            return Err(RandomizerError::Aggregate { reason: "the audit was interrupted".to_owned() });
        }
        self.generators.generator(stream)
    }
}

/// Audits whatever mechanism it is handed.
struct Auditor<G> {
    scheme: Option<Scheme>,
    options: Options,
    generators: G,
}

impl<G: Generators> Auditor<G> {
    fn audit<M>(&self, mechanism: &M) -> Randomized<Report>
    where
        M: Likelihood + Sync,
        M::Input: RawInput + Sync,
    {
        Audit::new(mechanism, &self.generators, self.options).run(self.scheme.as_ref(), &|| ())
    }
}

impl<G: Generators> Visitor for Auditor<G> {
    type Output = Report;

    fn vector<M>(self, mechanism: M, _dimension: u32) -> Randomized<Report>
    where
        M: Likelihood<Input = [f32]> + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static,
    {
        self.audit(&mechanism)
    }

    fn category<M>(self, mechanism: M, _categories: u64) -> Randomized<Report>
    where
        M: Likelihood<Input = u64> + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static,
    {
        self.audit(&mechanism)
    }
}

/// A claim, and what was measured of it.
#[pyclass(module = "shuffledp", frozen, get_all)]
pub(crate) struct AuditFinding {
    /// The claimed ε.
    claimed_epsilon: f64,
    /// At this δ; 0 if the promise is pure.
    delta: f64,
    /// Which bound promises it.
    method: String,
    /// ε is at least this.
    measured_epsilon_lower: f64,
    /// Measured rounds on each of the two datasets.
    rounds_per_dataset: u64,
    /// How often the test was right about the dataset that it indicates.
    true_positives: u64,
    /// How often it indicated it although the other was real.
    false_positives: u64,
    /// Was it the order of the batch that gave most away?
    by_order: bool,
    /// The measurement does not contradict the claim.
    passed: bool,
}

impl From<&Finding> for AuditFinding {
    fn from(finding: &Finding) -> Self {
        let Finding { claim, measured } = finding;
        Self {
            claimed_epsilon: claim.epsilon,
            delta: claim.delta,
            method: claim.method.to_owned(),
            measured_epsilon_lower: measured.epsilon_lower,
            rounds_per_dataset: measured.rounds,
            true_positives: measured.true_positives,
            false_positives: measured.false_positives,
            by_order: measured.by_order,
            passed: finding.passed(),
        }
    }
}

#[pymethods]
impl AuditFinding {
    /// The same as in the command line's `--json`.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("claimed_epsilon", self.claimed_epsilon)?;
        dict.set_item("delta", self.delta)?;
        dict.set_item("method", &self.method)?;
        dict.set_item("measured_epsilon_lower", self.measured_epsilon_lower)?;
        dict.set_item("rounds_per_dataset", self.rounds_per_dataset)?;
        dict.set_item("true_positives", self.true_positives)?;
        dict.set_item("false_positives", self.false_positives)?;
        dict.set_item("by_order", self.by_order)?;
        dict.set_item("passed", self.passed)?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let Self { measured_epsilon_lower, claimed_epsilon, delta, passed, .. } = self;
        let passed = if *passed { "True" } else { "False" };
        format!(
            "AuditFinding(measured_epsilon_lower={measured_epsilon_lower:?}, claimed_epsilon={claimed_epsilon:?}, delta={delta:?}, passed={passed})"
        )
    }
}

/// The result of an audit: the fields of the command line's `--json`.
#[pyclass(module = "shuffledp", frozen, get_all)]
pub(crate) struct AuditReport {
    /// Name and parameters, as the mechanism itself says.
    randomizer: Py<PyDict>,
    /// Coordinates of a vector.
    dimension: u32,
    /// The participation in the round; None if no round was audited.
    scheme: Option<Py<PyDict>>,
    /// With this probability all bounds hold together.
    confidence: f64,
    /// Measured rounds for each bound.
    trials: u64,
    /// Nothing contradicts what is claimed.
    passed: bool,
    /// Of the simulation's generator; None if the released generator ran.
    seed: Option<u64>,
    /// One report.
    local: Py<AuditFinding>,
    /// Two reports of one client.
    two_reports: Py<AuditFinding>,
    /// One round.
    round: Option<Py<AuditFinding>>,
    /// Did the coins of one round come back in another?
    generator_repeats: bool,
    /// Were all reports of one input equal?
    report_never_changes: bool,
}

impl AuditReport {
    fn new(
        py: Python<'_>,
        report: &Report,
        dimension: u32,
        scheme: Option<Scheme>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let finding = |finding: &Finding| Py::new(py, AuditFinding::from(finding));
        Ok(Self {
            randomizer: dict_of(py, to_string(&report.spec))?,
            dimension,
            scheme: scheme.map(|scheme| dict_of(py, to_string(&scheme))).transpose()?,
            confidence: report.confidence,
            trials: report.trials,
            passed: report.passed(),
            seed,
            local: finding(&report.local)?,
            two_reports: finding(&report.freshness.two_reports)?,
            round: report.round.as_ref().map(finding).transpose()?,
            generator_repeats: report.freshness.generator_repeats,
            report_never_changes: report.freshness.report_never_changes,
        })
    }
}

/// Converts JSON to a Python dict.
fn dict_of(py: Python<'_>, text: serde_json::Result<String>) -> PyResult<Py<PyDict>> {
    let text = text.map_err(|error| NumericalError::new_err(error.to_string()))?;
    Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into::<PyDict>()?.unbind())
}

#[pymethods]
impl AuditReport {
    /// "replace-one".
    #[getter]
    fn adjacency(&self) -> &str {
        Adjacency::ReplaceOne.word()
    }

    /// "released", or "simulation" if there was a seed.
    #[getter]
    fn generator(&self) -> &str {
        if self.seed.is_some() { "simulation" } else { "released" }
    }

    /// The claimed ε of one report.
    #[getter]
    fn claimed_local_epsilon(&self) -> f64 {
        self.local.get().claimed_epsilon
    }

    /// At this δ.
    #[getter]
    fn local_delta(&self) -> f64 {
        self.local.get().delta
    }

    /// The measured lower bound on the ε of one report.
    #[getter]
    fn measured_epsilon_lower(&self) -> f64 {
        self.local.get().measured_epsilon_lower
    }

    /// The same as the command line's `--json`, numbers as floats.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("adjacency", self.adjacency())?;
        dict.set_item("randomizer", &self.randomizer)?;
        dict.set_item("dimension", self.dimension)?;
        dict.set_item("claimed_local_epsilon", self.claimed_local_epsilon())?;
        dict.set_item("local_delta", self.local_delta())?;
        dict.set_item("measured_epsilon_lower", self.measured_epsilon_lower())?;
        dict.set_item("confidence", self.confidence)?;
        dict.set_item("trials", self.trials)?;
        dict.set_item("passed", self.passed)?;
        dict.set_item("generator", self.generator())?;
        if let Some(seed) = self.seed {
            dict.set_item("seed", seed)?;
        }
        dict.set_item("local", self.local.get().as_dict(py)?)?;
        dict.set_item("two_reports", self.two_reports.get().as_dict(py)?)?;
        dict.set_item("generator_repeats", self.generator_repeats)?;
        dict.set_item("report_never_changes", self.report_never_changes)?;
        if let (Some(scheme), Some(round)) = (&self.scheme, &self.round) {
            dict.set_item("scheme", scheme)?;
            dict.set_item("round", round.get().as_dict(py)?)?;
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let passed = if self.passed { "True" } else { "False" };
        let mut text = format!(
            "AuditReport(passed={passed}, measured_epsilon_lower={:?}, claimed_local_epsilon={:?}",
            self.measured_epsilon_lower(),
            self.claimed_local_epsilon()
        );
        if let Some(round) = &self.round {
            text += &format!(", round={}", round.get().__repr__());
        }
        text + ")"
    }
}
