//! Inverse questions: which number of a question meets a target ε.

use crate::arguments::{Arguments, Takes};
use crate::errors::{NoAnswerError, ParameterError, raised};
use crate::interrupt::interruptible;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shuffledp_accounting::calibrate::{Calibrated, Calibration as Outcome, Goal, Unknown, calibrate as solve_for};
use shuffledp_question::{Spelling, parameter_of};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Calibration>()?;
    module.add_function(wrap_pyfunction!(calibrate, module)?)
}

/// The local ε, σ, number of rounds or clients, sample or check-in rate that meets a target ε.
///
/// `solve` names the argument that is looked for ("local_epsilon", "sigma", "rounds", "clients",
/// "sampled" or "check_in") and that is then left out; the others describe the question, as for
/// `epsilon()`. The answer meets the target when it is asked for its ε, and the next value beyond
/// it does not. A target that no value meets is an error, which says how near one can come.
///
/// How many rounds fit into ε = 0.2, if a thousand of a million clients participate in each?
///
/// >>> import shuffledp
/// >>> found = shuffledp.calibrate(
/// ...     solve="rounds", target_epsilon=0.2, delta=1e-8, clients=1_000_000, sampled=1000, local_epsilon=2
/// ... )
/// >>> found.value, found.next_value, found.epsilon <= 0.2 < found.next_epsilon
/// (204629, 204630, True)
///
/// >>> shuffledp.calibrate(solve="clients", target_epsilon=1e-9, delta=1e-8, local_epsilon=2, rounds=1000)  # doctest: +ELLIPSIS
/// Traceback (most recent call last):
///     ...
/// shuffledp.NoAnswerError: no clients meets ε ≤ 1e-9 at δ = 1e-8: the best is ε ≤ ...
#[pyfunction]
#[pyo3(signature = (*, solve, target_epsilon, delta, **question))]
fn calibrate(
    py: Python<'_>,
    solve: &str,
    target_epsilon: f64,
    delta: f64,
    question: Option<&Bound<'_, PyDict>>,
) -> PyResult<Calibration> {
    let unknown = unknown(solve)?;
    let arguments = Arguments::read("calibrate", Takes::Question, question)?;
    let (question, goal) = arguments.calibration(unknown, target_epsilon, delta)?;
    match interruptible(py, move || solve_for(&question, unknown, &goal))?.map_err(raised)? {
        Outcome::Solved(solved) => Ok(Calibration { unknown, goal, solved: *solved }),
        Outcome::Impossible { best_epsilon, at } => {
            let name = name(unknown);
            let best = if best_epsilon.is_finite() {
                format!("the best is ε ≤ {best_epsilon:?}, at {name} {at:?}")
            } else {
                "no bound says anything at any value".to_owned()
            };
            let text = format!("no {name} meets ε ≤ {target_epsilon:?} at δ = {delta:?}: {best}");
            Err(NoAnswerError::new_err(text))
        }
    }
}

/// The argument of that name.
fn unknown(solve: &str) -> PyResult<Unknown> {
    Unknown::ALL.into_iter().find(|unknown| name(*unknown) == solve).ok_or_else(|| {
        let known = Unknown::ALL.map(name).join(", ");
        ParameterError::new_err(format!("'{solve}' cannot be solved for; use one of {known}"))
    })
}

fn name(unknown: Unknown) -> String {
    Spelling::Keywords.name(parameter_of(unknown))
}

/// A value that meets a target, and the next one, which does not.
#[pyclass(module = "shuffledp", frozen)]
pub(crate) struct Calibration {
    unknown: Unknown,
    goal: Goal,
    solved: Calibrated,
}

impl Calibration {
    /// Counts are whole.
    fn number<'py>(&self, py: Python<'py>, value: f64) -> PyResult<Bound<'py, PyAny>> {
        if self.unknown.is_count() { (value as u64).into_bound_py_any(py) } else { value.into_bound_py_any(py) }
    }
}

#[pymethods]
impl Calibration {
    /// The parameter that was solved for.
    #[getter]
    fn solved(&self) -> String {
        name(self.unknown)
    }

    /// The answer: the largest value that meets the target, or for σ and clients the smallest.
    /// Whole for counts, else of five significant digits.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.number(py, self.solved.value)
    }

    /// Its ε, at most the target.
    #[getter]
    fn epsilon(&self) -> f64 {
        self.solved.bound.value
    }

    /// The target.
    #[getter]
    fn target_epsilon(&self) -> f64 {
        self.goal.target_epsilon
    }

    /// The δ of both.
    #[getter]
    fn delta(&self) -> f64 {
        self.goal.delta
    }

    /// The step from the value to the next one.
    #[getter]
    fn tolerance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.number(py, self.solved.tolerance)
    }

    /// The next value beyond; None if there is none, and as far as one can go the target is met.
    #[getter]
    fn next_value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.solved.next.map(|(next, _)| self.number(py, next)).transpose()
    }

    /// Its ε, above the target.
    #[getter]
    fn next_epsilon(&self) -> Option<f64> {
        self.solved.next.map(|(_, epsilon)| epsilon)
    }

    /// Which method bounds ε.
    #[getter]
    fn method(&self) -> &str {
        self.solved.bound.id
    }

    /// The status of that ε.
    #[getter]
    fn standing(&self) -> &str {
        self.solved.bound.standing.word(self.solved.bound.kind)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = self.value(py)?.repr()?;
        Ok(format!("Calibration({}={value}, epsilon={:?}, method={:?})", self.solved(), self.epsilon(), self.method()))
    }
}
