//! One question at a time: ε, δ, every bound, Rényi divergences.

use crate::answers::{best, survey};
use crate::arguments::{Arguments, Takes};
use crate::errors::{ParameterError, in_python, raised};
use crate::interrupt::interruptible_steps;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::bound::{Bound as Found, Kind};
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::Question;

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
/// Arguments other than `delta` describe the question, in the words of the command line: `clients`; `sampled`, or `check_in` and
/// `drop_out`; `randomizer` with its parameters (`local_epsilon`, `local_delta`, `sigma`, `categories`, `dimension`, `profile`); `rounds`;
/// `standing` and `max_order`.
///
/// A thousand of a million clients speak in each of 100,000 rounds, through any randomizer with local ε = 2:
///
/// >>> import shuffledp
/// >>> round(shuffledp.epsilon(clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, delta=1e-8), 5)
/// 0.13755
///
/// Of a randomizer that has no name here its local privacy profile is enough: points (ε, δ) that no two of its inputs exceed, from ε = 0 on.
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
    answer(py, &arguments, Target::EpsilonAt { delta })
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
    answer(py, &arguments, Target::DeltaAt { epsilon })
}

fn answer(py: Python<'_>, arguments: &Arguments, target: Target) -> PyResult<f64> {
    let (options, widest, question) = (arguments.options()?, arguments.standing()?, arguments.question()?);
    // Before the answers that are remembered are searched: NaN equals nothing, and would be asked again each time.
    target.check().map_err(raised)?;
    let survey = survey(py, question, target, options)?;
    match survey.best_upper(widest) {
        Some(bound) => Ok(bound.value),
        None => best(&survey, widest, quantity(target)).map(|bound| bound.value),
    }
}

/// What every method says to a question, and which of them answers it.
///
/// Exactly one of `delta`, `epsilon` and `order` is given: then ε, δ or the Rényi divergence is asked for. The other arguments describe the question, as
/// for `epsilon()`.
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
    let (options, widest, question) = (arguments.options()?, arguments.standing()?, arguments.question()?);
    target.check().map_err(raised)?;
    let survey = survey(py, question, target, options)?;
    let upper = best(&survey, widest, quantity(target))?;
    let lower = survey.best_lower();
    let bounds = survey.bounds.iter().map(|bound| Py::new(py, PrivacyBound::from(bound))).collect::<PyResult<_>>()?;
    let silent = survey.not_applicable.iter().map(|silent| (silent.id.to_owned(), in_python(&silent.reason)));
    Ok(Answer {
        quantity: quantity(target).to_owned(),
        given: match target {
            Target::EpsilonAt { delta } => delta,
            Target::DeltaAt { epsilon } => epsilon,
            Target::RenyiAt { order } => order,
        },
        rounds: question.rounds(),
        value: upper.value,
        method: upper.id.to_owned(),
        standing: upper.standing.word(upper.kind).to_owned(),
        lower: lower.map(|bound| bound.value),
        lower_method: lower.map(|bound| bound.id.to_owned()),
        bounds,
        silent: silent.collect(),
    })
}

/// What is asked for.
fn quantity(target: Target) -> &'static str {
    match target {
        Target::EpsilonAt { .. } => "epsilon",
        Target::DeltaAt { .. } => "delta",
        Target::RenyiAt { .. } => "rdp",
    }
}

/// Upper bounds on the Rényi divergence of all rounds together, one for each order: the smallest of sufficient standing, infinite where none applies.
#[pyfunction]
#[pyo3(name = "_rdp", signature = (orders, **question))]
fn rdp<'py>(
    py: Python<'py>,
    orders: PyReadonlyArray1<'py, f64>,
    question: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let arguments = Arguments::read("rdp_curve", Takes::Question, question)?;
    let (options, widest, question) = (arguments.options()?, arguments.standing()?, arguments.question()?);
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

/// One bound: a number, which side of the truth it is on, what it is worth, and where it comes from.
#[pyclass(name = "Bound", module = "shuffledp", frozen, get_all)]
pub(crate) struct PrivacyBound {
    /// The method's name.
    id: String,
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
    /// What a reader should know.
    note: String,
}

impl From<&Found> for PrivacyBound {
    fn from(bound: &Found) -> Self {
        Self {
            id: bound.id.to_owned(),
            kind: if bound.kind == Kind::Upper { "upper" } else { "lower" }.to_owned(),
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
#[pyclass(module = "shuffledp", frozen, get_all)]
pub(crate) struct Answer {
    /// "epsilon", "delta" or "rdp": what was asked for.
    quantity: String,
    /// The δ, ε or order that it was asked at.
    given: f64,
    /// How many rounds.
    rounds: u64,
    /// The answer: the smallest upper bound of sufficient standing.
    value: f64,
    /// Which method gave it.
    method: String,
    /// What it is worth.
    standing: String,
    /// No analysis can go below this, where that is known.
    lower: Option<f64>,
    /// Which method gave that.
    lower_method: Option<String>,
    /// Everything that was said.
    bounds: Vec<Py<PrivacyBound>>,
    #[pyo3(name = "_silent")]
    silent: Vec<(String, String)>,
}

#[pymethods]
impl Answer {
    /// The methods that have nothing to say, and why.
    #[getter]
    fn not_applicable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reasons = PyDict::new(py);
        for (id, reason) in &self.silent {
            reasons.set_item(id, reason)?;
        }
        Ok(reasons)
    }

    /// The same as the command line's `--json --all`, numbers as floats.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let given = match self.quantity.as_str() {
            "epsilon" => "delta",
            "delta" => "epsilon",
            _ => "order",
        };
        dict.set_item("adjacency", "replace-one")?;
        dict.set_item("rounds", self.rounds)?;
        dict.set_item(given, self.given)?;
        dict.set_item(&self.quantity, self.value)?;
        dict.set_item("method", &self.method)?;
        dict.set_item("standing", &self.standing)?;
        if let (Some(lower), Some(method)) = (self.lower, &self.lower_method) {
            dict.set_item(format!("{}_lower", self.quantity), lower)?;
            dict.set_item("lower_method", method)?;
        }
        let bounds = PyList::empty(py);
        for bound in &self.bounds {
            let bound = bound.get();
            let entry = PyDict::new(py);
            entry.set_item("id", &bound.id)?;
            entry.set_item("kind", &bound.kind)?;
            entry.set_item("standing", &bound.standing)?;
            entry.set_item(&self.quantity, bound.value)?;
            if let Some(order) = bound.order {
                entry.set_item("order", order)?;
            }
            entry.set_item("citation", &bound.citation)?;
            entry.set_item("note", &bound.note)?;
            bounds.append(entry)?;
        }
        dict.set_item("bounds", bounds)?;
        let silent = PyList::empty(py);
        for (id, reason) in &self.silent {
            let entry = PyDict::new(py);
            entry.set_item("id", id)?;
            entry.set_item("reason", reason)?;
            silent.append(entry)?;
        }
        dict.set_item("not_applicable", silent)?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let Self { quantity, value, method, standing, lower, .. } = self;
        let lower = lower.map_or("None".to_owned(), |lower| format!("{lower:?}"));
        format!("Answer({quantity}={value:?}, method={method:?}, standing={standing:?}, lower={lower})")
    }
}
