//! Keyword arguments, turned into what is given of a question: the parameter table's names with `_`
//! for `-`.

use crate::errors::{ParameterError, out_of_range, raised, worded};
use crate::randomizers::Made;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use shuffledp_accounting::calibrate::{Goal, Unknown};
use shuffledp_accounting::catalogue::Target;
use shuffledp_accounting::profile::{MAX_POINTS, ProfilePoints};
use shuffledp_accounting::scheme::{MAX_COUNT, Question, RandomizerSpec, Round, Scheme};
use shuffledp_question::parameter::{Group, Kind};
use shuffledp_question::{Asked, Given, Parameter, Quantity, Spelling, Value};
use shuffledp_randomizers::dispatch::VectorShape;

/// Everything that describes a question, as it was given.
#[derive(Default)]
pub(crate) struct Arguments {
    given: Given,
    /// The shape of the vectors of a randomizer that was passed instead of a name.
    shape: Option<VectorShape>,
}

/// Which arguments a function takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Those of one round.
    Round,
    /// Also `rounds`.
    Rounds,
    /// Also `adjacency`, `standing` and `max_order`.
    Question,
}

impl Takes {
    fn includes(self, parameter: Parameter) -> bool {
        match parameter.row().group {
            Group::Scheme | Group::Randomizer => true,
            Group::Question if parameter == Parameter::Rounds => self != Self::Round,
            Group::Question | Group::Trust => self == Self::Question,
            Group::Target => false,
        }
    }
}

/// A vector's norm where nothing depends on it: a unit.
const CLIP: f32 = 1.0;

impl Arguments {
    /// Reads `**arguments` of the function `name`. `None` counts as not given.
    pub(crate) fn read(name: &str, takes: Takes, arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut read = Self::default();
        let Some(arguments) = arguments else { return Ok(read) };
        for (key, value) in arguments {
            let key = key.cast::<PyString>()?;
            let key = key.to_str()?;
            let known = Parameter::named(&key.replace('_', "-")).filter(|parameter| takes.includes(*parameter));
            let Some(parameter) = known else {
                let meant = Parameter::meant(key).filter(|parameter| takes.includes(*parameter));
                let meant = meant.map(|parameter| format!("; did you mean {}?", Spelling::Keywords.name(parameter)));
                return Err(PyTypeError::new_err(format!(
                    "{name}() got an unexpected keyword argument '{key}'{}",
                    meant.unwrap_or_default()
                )));
            };
            read.set(parameter, key, &value)?;
        }
        Ok(read)
    }

    fn set(&mut self, parameter: Parameter, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let (Parameter::Randomizer, Some(made)) = (parameter, Made::read(value)) {
            self.given.set(parameter, Value::Randomizer(made.spec));
            self.shape = made.shape;
            return Ok(());
        }
        let value = match parameter.row().kind {
            Kind::Count => count(key, value)?.map(Value::Count),
            Kind::Real => real(key, value)?.map(Value::Real),
            Kind::Word => word(key, value)?.map(Value::Word),
            Kind::Points => points(key, value)?.map(Value::Points),
        };
        if let Some(value) = value {
            self.given.set(parameter, value);
        }
        Ok(())
    }

    /// One round.
    pub(crate) fn round(&self) -> PyResult<Round> {
        self.given.round().map_err(worded)
    }

    /// The round, as often as `rounds` says.
    pub(crate) fn question(&self) -> PyResult<Question> {
        self.given.question().map_err(worded)
    }

    /// All that decides an answer.
    pub(crate) fn asked(&self, quantity: Quantity, at: f64) -> PyResult<Asked> {
        self.asked_at(quantity.at(at))
    }

    /// The same for a target.
    pub(crate) fn asked_at(&self, target: Target) -> PyResult<Asked> {
        let (options, widest) = (self.given.options().map_err(worded)?, self.given.standing().map_err(worded)?);
        let question = self.question()?;
        // Before the answers that are remembered are searched: NaN equals nothing, and would be
        // asked again each time.
        target.check().map_err(raised)?;
        Ok(Asked { question, target, options, widest })
    }

    /// Returns the goal of a calibration.
    pub(crate) fn calibration(&self, unknown: Unknown, target_epsilon: f64, delta: f64) -> PyResult<(Question, Goal)> {
        let options = self.given.options().map_err(worded)?;
        let goal = Goal { target_epsilon, delta, widest: self.given.standing().map_err(worded)?, options };
        Ok((self.given.question_without(unknown).map_err(worded)?, goal))
    }

    /// The randomizer and what it works on, for whoever runs it.
    pub(crate) fn runnable(&self) -> PyResult<(RandomizerSpec, VectorShape)> {
        let (spec, dimension) = self.given.runnable().map_err(worded)?;
        Ok((spec, self.shape.unwrap_or(VectorShape { dimension, clip: CLIP })))
    }

    /// The scheme, if there is one.
    pub(crate) fn optional_scheme(&self) -> PyResult<Option<Scheme>> {
        self.given.optional_scheme().map_err(worded)
    }

    /// Returns the randomizer as accounting describes it.
    pub(crate) fn randomizer(&self) -> PyResult<RandomizerSpec> {
        self.given.randomizer().map_err(worded)
    }

    /// Sets the dimension where accounting needs to know it.
    pub(crate) fn in_dimension(mut self, dimension: u32) -> PyResult<Self> {
        if self.given.row().map_err(worded)?.is_some_and(|row| row.parameters.contains(&Parameter::Dimension)) {
            self.given.set(Parameter::Dimension, Value::Count(u64::from(dimension)));
        }
        Ok(self)
    }

    /// Sets the randomizer's name, for its own constructor.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.given.set(Parameter::Randomizer, Value::Word(name.to_owned()));
        self
    }
}

/// The parameters of a question as `(name, kind, help, default)`, in the table's order.
#[pyfunction]
#[pyo3(name = "_parameters")]
fn parameters() -> Vec<(String, &'static str, &'static str, Option<&'static str>)> {
    let rows = shuffledp_question::parameter::PARAMETERS.iter().filter(|row| Takes::Question.includes(row.parameter));
    let kind = |kind| match kind {
        Kind::Count => "count",
        Kind::Real => "real",
        Kind::Word => "word",
        Kind::Points => "points",
    };
    rows.map(|row| (Spelling::Keywords.name(row.parameter), kind(row.kind), row.help, row.default)).collect()
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parameters, module)?)
}

/// A whole number: an `int` (NumPy's too), or a float such as `1e6` that is one.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(whole) = value.extract::<u64>() {
        return Ok(Some(whole));
    }
    let Ok(number) = value.extract::<f64>() else { return Err(wrong_type(name, "a whole number", value)) };
    // Above 2^53 not every integer is a float: it may not be the one that was meant.
    if number.fract() == 0.0 && (0.0..=MAX_COUNT as f64).contains(&number) {
        Ok(Some(number as u64))
    } else {
        let shown = value.str()?.to_string();
        Err(ParameterError::new_err(out_of_range(name, "a whole number between 1 and 2^53", &shown)))
    }
}

/// The points of a profile: pairs (ε, δ), as tuples, lists or rows of an array.
fn points(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<ProfilePoints>> {
    const EXPECTED: &str = "a list of pairs (epsilon, delta)";
    if value.is_none() {
        return Ok(None);
    }
    let rows = if value.is_instance_of::<PyString>() { None } else { value.try_iter().ok() };
    let Some(rows) = rows else { return Err(wrong_type(name, EXPECTED, value)) };
    let mut points = Vec::new();
    // One too many is refused as too many are, and an iterator need not end.
    for row in rows.take(MAX_POINTS + 1) {
        let Some(point) = pair(&row?) else {
            let place = points.len() + 1;
            return Err(PyTypeError::new_err(format!(
                "{name} must be {EXPECTED}, but point {place} is no pair of numbers"
            )));
        };
        points.push(point);
    }
    ProfilePoints::new(&points).map(Some).map_err(raised)
}

/// Two numbers.
fn pair(row: &Bound<'_, PyAny>) -> Option<(f64, f64)> {
    let mut numbers = row.try_iter().ok()?;
    let mut next = || numbers.next()?.ok()?.extract().ok();
    let point = (next()?, next()?);
    numbers.next().is_none().then_some(point)
}

/// A number.
pub(crate) fn real(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    if value.is_none() {
        return Ok(None);
    }
    value.extract().map(Some).map_err(|_| wrong_type(name, "a number", value))
}

fn word(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() {
        return Ok(None);
    }
    value.extract().map(Some).map_err(|_| wrong_type(name, "a string", value))
}

fn wrong_type(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let found = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{name} must be {expected}, not {found}"))
}
