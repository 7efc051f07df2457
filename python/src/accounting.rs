//! One question at a time: ε, δ, every bound, Rényi divergences.

use crate::answers::{outcome, warn};
use crate::arguments::{Arguments, Takes};
use crate::errors::{NumericalError, ParameterError, raised};
use crate::interrupt::interruptible_steps;
use crate::json::object;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::bound::{Bound as Found, Kind};
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::Question;
use shuffledp_question::json::{Document, side, warnings};
use shuffledp_question::statement::Statement;
use shuffledp_question::{Asked, Outcome, Quantity, words};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PrivacyBound>()?;
    module.add_class::<Answer>()?;
    module.add_function(wrap_pyfunction!(epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(delta, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(rdp, module)?)
}

/// The ε that belongs to a δ: the tightest upper bound of sufficient standing.
///
/// Arguments other than `delta` describe the question, in the words of the command line: `clients`;
/// `sampled`, or `check_in` and `drop_out`; `randomizer` with its parameters (`local_epsilon`,
/// `local_delta`, `sigma`, `sensitivity`, `categories`, `dimension`, `profile`); `rounds`;
/// `adjacency`; `standing` and `max_order`.
///
/// A thousand of a million clients participate in each of 100,000 rounds, with any randomizer with
/// local ε = 2:
///
/// >>> import shuffledp
/// >>> round(shuffledp.epsilon(clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, delta=1e-8), 5)
/// 0.13755
///
/// Of a randomizer that has no name here its local privacy profile is enough: points (ε, δ) that no
/// two of its inputs exceed, from ε = 0 on.
///
/// >>> profile = [(0, 0.3), (0.5, 0.1), (1, 0.02), (2, 0)]
/// >>> round(shuffledp.epsilon(clients=10_000, randomizer="profile", profile=profile, delta=1e-6), 5)
/// 0.03303
///
/// Where nothing bounds it, it is infinite or an error, never a smaller number:
///
/// >>> shuffledp.epsilon(clients=10, local_epsilon=-1, delta=1e-6)
/// Traceback (most recent call last):
///     ...
/// shuffledp.ParameterError: local_epsilon must be a finite number of at least 0, but is -1
#[pyfunction]
#[pyo3(signature = (*, delta, **question))]
fn epsilon(py: Python<'_>, delta: f64, question: Option<&Bound<'_, PyDict>>) -> PyResult<f64> {
    let arguments = Arguments::read("epsilon", Takes::Question, question)?;
    answer(py, arguments.asked(Quantity::Epsilon, delta)?)
}

/// The δ that belongs to an ε: the tightest upper bound of sufficient standing.
///
/// Arguments other than `epsilon` describe the question, as for `epsilon()`.
///
/// >>> import shuffledp
/// >>> shuffledp.delta(clients=10_000, local_epsilon=1, rounds=10, epsilon=0.25) < 1e-6
/// True
#[pyfunction]
#[pyo3(signature = (*, epsilon, **question))]
fn delta(py: Python<'_>, epsilon: f64, question: Option<&Bound<'_, PyDict>>) -> PyResult<f64> {
    let arguments = Arguments::read("delta", Takes::Question, question)?;
    answer(py, arguments.asked(Quantity::Delta, epsilon)?)
}

fn answer(py: Python<'_>, asked: Asked) -> PyResult<f64> {
    let outcome = outcome(py, asked)?;
    warn(py, &outcome)?;
    Ok(outcome.best.value)
}

/// The answers of all methods to a question, and the chosen one.
///
/// Exactly one of `delta`, `epsilon` and `order` is given: then ε, δ or the Rényi divergence is
/// asked for. The other arguments describe the question, as for `epsilon()`.
///
/// >>> import shuffledp
/// >>> answer = shuffledp.explain(clients=10_000, randomizer="rr", local_epsilon=1, delta=1e-6)
/// >>> answer.method, answer.standing, answer.lower <= answer.value
/// ('rr-envelope-pld', 'rigorous', True)
/// >>> [bound.id for bound in answer.bounds if bound.standing == "asymptotic"]
/// ['enhanced-corollary-2', 'enhanced-theorem-2']
/// >>> answer.not_applicable["check-in-theorem-2"]
/// 'the bound is for shuffled check-in'
#[pyfunction]
#[pyo3(signature = (*, delta=None, epsilon=None, order=None, **question))]
fn explain(
    py: Python<'_>,
    delta: Option<f64>,
    epsilon: Option<f64>,
    order: Option<f64>,
    question: Option<&Bound<'_, PyDict>>,
) -> PyResult<Answer> {
    let arguments = Arguments::read("explain", Takes::Question, question)?;
    let target = match (delta, epsilon, order) {
        (Some(delta), None, None) => Target::EpsilonAt { delta },
        (None, Some(epsilon), None) => Target::DeltaAt { epsilon },
        (None, None, Some(order)) => Target::RenyiAt { order },
        _ => return Err(ParameterError::new_err("give exactly one of delta, epsilon and order")),
    };
    Answer::new(py, outcome(py, arguments.asked_at(target)?)?)
}

/// Upper bounds on the Rényi divergence of all rounds together, one for each order: the smallest of
/// sufficient standing, infinite where none applies.
#[pyfunction]
#[pyo3(name = "_rdp", signature = (orders, **question))]
fn rdp<'py>(
    py: Python<'py>,
    orders: PyReadonlyArray1<'py, f64>,
    question: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let arguments = Arguments::read("rdp_curve", Takes::Question, question)?;
    let Asked { options, widest, question, .. } = arguments.asked(Quantity::Rdp, 2.0)?;
    let orders: Vec<f64> = orders.as_array().to_vec();
    let curve = interruptible_steps(py, move |waiting| {
        let may_answer = |method: &&'static dyn catalogue::Method| {
            let about = catalogue::about(*method, Target::RenyiAt { order: 2.0 });
            about.kind == Kind::Upper && about.standing <= widest
        };
        let methods: Vec<_> = catalogue::methods().filter(may_answer).collect();
        let until_interrupted = orders.iter().take_while(|_| !waiting.is_over());
        until_interrupted
            .map(|order| divergence(&methods, &question, *order, &options))
            .collect::<Result<Vec<f64>, _>>()
    })?
    .map_err(raised)?;
    Ok(PyArray1::from_vec(py, curve))
}

/// The smallest bound of these methods; +∞ if none says anything.
fn divergence(
    methods: &[&'static dyn catalogue::Method],
    question: &Question,
    order: f64,
    options: &Options,
) -> Result<f64, AccountingError> {
    let target = Target::RenyiAt { order };
    target.check()?;
    let bounds = methods.iter().filter_map(|method| catalogue::ask(*method, question, target, options).ok());
    Ok(bounds.map(|bound| bound.value).fold(f64::INFINITY, f64::min))
}

/// One bound: a number, which side of the truth it is on, its status, and where it comes from.
#[pyclass(name = "Bound", module = "shuffledp", frozen, get_all)]
pub(crate) struct PrivacyBound {
    /// The method's identifier.
    id: String,
    /// A name for people.
    name: String,
    /// "upper" or "lower".
    kind: String,
    /// "rigorous", "conjectured", "asymptotic", "flawed"; a rigorous lower bound is "lower".
    standing: String,
    /// ε, δ or Rényi divergence, whichever was asked for.
    value: f64,
    /// The Rényi order that gave it, where one did.
    order: Option<f64>,
    /// Paper, theorem, version.
    citation: String,
    /// A note for the reader.
    note: String,
}

impl From<&Found> for PrivacyBound {
    fn from(bound: &Found) -> Self {
        Self {
            id: bound.id.to_owned(),
            name: bound.name.to_owned(),
            kind: side(bound.kind).to_owned(),
            standing: bound.standing.word(bound.kind).to_owned(),
            value: bound.value,
            order: bound.order,
            citation: bound.citation.to_owned(),
            note: bound.note.clone(),
        }
    }
}

#[pymethods]
impl PrivacyBound {
    fn __repr__(&self) -> String {
        format!("Bound(id={:?}, kind={:?}, standing={:?}, value={:?})", self.id, self.kind, self.standing, self.value)
    }
}

/// An answer with everything beside it.
#[pyclass(module = "shuffledp", frozen)]
pub(crate) struct Answer {
    outcome: Outcome,
    bounds: Vec<Py<PrivacyBound>>,
}

impl Answer {
    fn new(py: Python<'_>, outcome: Outcome) -> PyResult<Self> {
        let bounds = outcome.survey.bounds.iter().map(|bound| Py::new(py, PrivacyBound::from(bound)));
        let bounds = bounds.collect::<PyResult<_>>()?;
        Ok(Self { outcome, bounds })
    }
}

#[pymethods]
impl Answer {
    /// "epsilon", "delta" or "rdp": what was asked for.
    #[getter]
    fn quantity(&self) -> &'static str {
        self.outcome.quantity().word()
    }

    /// The δ, ε or order that it was asked at.
    #[getter]
    fn given(&self) -> f64 {
        self.outcome.given()
    }

    /// Which datasets are neighbours: "replace-one" or "zero-out".
    #[getter]
    fn adjacency(&self) -> &'static str {
        self.outcome.question().adjacency().word()
    }

    /// How many rounds.
    #[getter]
    fn rounds(&self) -> u64 {
        self.outcome.question().rounds()
    }

    /// The answer: the smallest upper bound of sufficient standing.
    #[getter]
    fn value(&self) -> f64 {
        self.outcome.best.value
    }

    /// Which method gave it.
    #[getter]
    fn method(&self) -> &'static str {
        self.outcome.best.id
    }

    /// Its status: rigorous, conjectured, asymptotic or flawed.
    #[getter]
    fn standing(&self) -> &'static str {
        self.outcome.best.standing.word(self.outcome.best.kind)
    }

    /// No analysis can go below this, where that is known.
    #[getter]
    fn lower(&self) -> Option<f64> {
        self.outcome.lower.as_ref().map(|bound| bound.value)
    }

    /// Which method gave that.
    #[getter]
    fn lower_method(&self) -> Option<&'static str> {
        self.outcome.lower.as_ref().map(|bound| bound.id)
    }

    /// Everything that was said.
    #[getter]
    fn bounds(&self, py: Python<'_>) -> Vec<Py<PrivacyBound>> {
        self.bounds.iter().map(|bound| bound.clone_ref(py)).collect()
    }

    /// Warnings for the reader of the number.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        warnings(&self.outcome)
    }

    /// The assumptions of the number.
    #[getter]
    fn assumptions(&self) -> Vec<String> {
        words::assumptions(self.outcome.question(), None)
    }

    /// The methods that have nothing to say, and why.
    #[getter]
    fn not_applicable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reasons = PyDict::new(py);
        for silent in &self.outcome.survey.not_applicable {
            reasons.set_item(silent.id, &silent.reason)?;
        }
        Ok(reasons)
    }

    /// A paragraph for a privacy review or a paper, in Markdown.
    ///
    /// >>> import shuffledp
    /// >>> answer = shuffledp.explain(clients=10_000, local_epsilon=1, rounds=10, delta=1e-6)
    /// >>> answer.statement().startswith("**Privacy.** The protocol has 10 rounds, in each of which all 10,000 clients participate")
    /// True
    fn statement(&self) -> String {
        Statement::of(&self.outcome).markdown()
    }

    /// The same as the command line's `--json --all`, an unbounded number as a float.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let document = Document { outcome: &self.outcome, all: true };
        let written = serde_json::to_value(&document).map_err(|error| NumericalError::new_err(error.to_string()))?;
        object(py, &written)
    }

    /// A card for notebooks: both sides, how certain they are, and what they take for granted.
    #[pyo3(name = "_repr_html_")]
    fn html<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("shuffledp._html")?.call_method1("answer", (slf,))
    }

    fn __repr__(&self) -> String {
        let lower = self.lower().map_or("None".to_owned(), |lower| format!("{lower:?}"));
        format!(
            "Answer({}={:?}, method={:?}, standing={:?}, lower={lower})",
            self.quantity(),
            self.value(),
            self.method(),
            self.standing()
        )
    }
}
