//! Randomizers over NumPy arrays, and what a server makes of their reports.
//!
//! Follow one batch: rows where they lie ([`arrays`]) → blocks of rows on all cores, the
//! interpreter released and Ctrl-C heard ([`steps`]), each with coins of its own ([`coins`]) →
//! frames, written into the array that is returned ([`vector`], [`category`]) → the server's
//! running estimate ([`aggregator`]). [`mechanism`] and [`running`] are where the type of the
//! mechanism is known.

mod aggregator;
mod arrays;
mod category;
mod coins;
mod mechanism;
mod native;
mod running;
mod steps;
mod vector;

use crate::errors::{ParameterError, out_of_range};
use coins::{Coins, SimulationRng};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shuffledp_accounting::scheme::RandomizerSpec;
use shuffledp_question::randomizers::RandomizerRow;
use shuffledp_question::{Spelling, Value};
use shuffledp_randomizers::coin::Coin;
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::shuffle;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SimulationRng>()?;
    module.add_class::<vector::VectorRandomizer>()?;
    module.add_class::<category::CategoryRandomizer>()?;
    module.add_class::<aggregator::Aggregator>()?;
    module.add_class::<aggregator::Intervals>()?;
    module.add_function(wrap_pyfunction!(permutation, module)?)?;
    module.add_function(wrap_pyfunction!(coins_of_check_in, module)?)
}

/// For each of `count` clients, whether a coin that shows heads with the largest multiple of 2^−64
/// that is at most `rate` does.
#[pyfunction]
#[pyo3(name = "_check_in", signature = (rate, count, rng=None))]
fn coins_of_check_in<'py>(
    py: Python<'py>,
    rate: f64,
    count: usize,
    rng: Option<&Bound<'py, SimulationRng>>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    if !(0.0..=1.0).contains(&rate) {
        return Err(ParameterError::new_err(out_of_range("rate", "between 0 and 1", &rate.to_string())));
    }
    let (coin, coins) = (Coin::at_most(rate), Coins::of(rng, 1));
    let shown = py
        .detach(|| coins.once(|rng| (0..count).map(|_| coin.flip(rng)).collect::<Vec<_>>()))
        .map_err(crate::errors::refused)?;
    Ok(PyArray1::from_vec(py, shown))
}

/// The numbers below `count` in an order of which every one is equally likely.
#[pyfunction]
#[pyo3(name = "_permutation", signature = (count, rng=None))]
fn permutation<'py>(
    py: Python<'py>,
    count: u32,
    rng: Option<&Bound<'py, SimulationRng>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let coins = Coins::of(rng, 1);
    let order = py
        .detach(|| {
            let mut order: Vec<i64> = (0..i64::from(count)).collect();
            coins.once(|rng| shuffle::permute(&mut order, rng)).map(|()| order)
        })
        .map_err(crate::errors::refused)?;
    Ok(PyArray1::from_vec(py, order))
}

/// The parameters of a randomizer, as keyword arguments.
fn add_parameters(into: &Bound<'_, PyDict>, spec: &RandomizerSpec) -> PyResult<()> {
    for (parameter, value) in RandomizerRow::of(spec).1 {
        let name = Spelling::Keywords.name(parameter);
        match value {
            Value::Count(count) => into.set_item(name, count)?,
            Value::Real(real) => into.set_item(name, real)?,
            // Of classes only.
            Value::Word(_) | Value::Points(_) | Value::Randomizer(_) => {}
        }
    }
    Ok(())
}

/// One parameter of a randomizer, if it has that one.
fn parameter<'py>(py: Python<'py>, spec: &RandomizerSpec, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let parameters = PyDict::new(py);
    add_parameters(&parameters, spec)?;
    parameters.get_item(name)
}

/// A randomizer that was handed over in place of a name.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    /// The description for accounting.
    pub(crate) spec: RandomizerSpec,
    /// The shape of its vectors; None for categories.
    pub(crate) shape: Option<VectorShape>,
}

impl Made {
    /// None if it is something else.
    pub(crate) fn read(value: &Bound<'_, PyAny>) -> Option<Self> {
        let vector = value.cast::<vector::VectorRandomizer>().map(|randomizer| randomizer.get().made());
        vector.or_else(|_| value.cast::<category::CategoryRandomizer>().map(|randomizer| randomizer.get().made())).ok()
    }
}

/// "RInf(local_epsilon=2.0, dimension=10, clip=1.0)"
fn shown(object: &Bound<'_, PyAny>, parameters: Bound<'_, PyDict>) -> PyResult<String> {
    let mut shown = Vec::new();
    for (name, value) in parameters {
        shown.push(format!("{}={}", name.str()?, value.repr()?));
    }
    Ok(format!("{}({})", object.get_type().name()?, shown.join(", ")))
}

/// Returns the arguments for a copy; classes of one mechanism know its name.
fn arguments_of_new<'py>(
    parameters: Bound<'py, PyDict>,
    is_named: bool,
    name: &str,
) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
    let py = parameters.py();
    let positional = if is_named { PyTuple::empty(py) } else { PyTuple::new(py, [name])? };
    Ok((positional, parameters))
}
