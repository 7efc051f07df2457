//! Randomizers of categories.

use super::Made;
use super::aggregator::Aggregator;
use super::arrays::HeldCategories;
use super::coins::{Coins, SimulationRng};
use super::mechanism::CategoryMechanism;
use super::steps::{Refusal, in_steps};
use crate::arguments::{Arguments, Takes};
use crate::errors::{ParameterError, refused};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shuffledp_accounting::scheme::Mechanism;
use shuffledp_randomizers::Krr;

/// A mechanism over categories, by the command line's name, "rr" or "krr"; `Rr` and `Krr` are such.
///
/// >>> from shuffledp.randomizers import CategoryRandomizer
/// >>> CategoryRandomizer("krr", local_epsilon=1.0, categories=1000).frame_len
/// 2
#[pyclass(module = "shuffledp.randomizers", subclass, frozen)]
pub(crate) struct CategoryRandomizer {
    name: String,
    mechanism: Box<dyn CategoryMechanism>,
}

/// Values that are worth a thread of their own.
const BLOCK: usize = 1 << 14;

impl CategoryRandomizer {
    pub(super) fn made(&self) -> Made {
        Made { spec: self.mechanism.spec(), shape: None }
    }

    /// Returns its parameters.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parameters = PyDict::new(py);
        super::add_parameters(&parameters, &self.mechanism.spec())?;
        Ok(parameters)
    }
}

#[pymethods]
impl CategoryRandomizer {
    #[new]
    #[pyo3(signature = (name, **parameters))]
    fn new(name: &str, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let spec = Arguments::read("CategoryRandomizer", Takes::Round, parameters)?.named(name).randomizer()?;
        let mechanism = match spec.mechanism() {
            Mechanism::Rr { local_epsilon } => Krr::binary(local_epsilon),
            Mechanism::Krr { local_epsilon, categories } => Krr::new(local_epsilon, categories),
            other => return Err(ParameterError::new_err(format!("not a mechanism over categories: {other:?}"))),
        };
        Ok(Self { name: name.to_owned(), mechanism: Box::new(mechanism.map_err(refused)?) })
    }

    /// The command line's name of it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// How many categories there are.
    #[getter]
    fn categories(&self) -> u64 {
        match self.mechanism.spec().mechanism() {
            Mechanism::Krr { categories, .. } => categories,
            _ => 2,
        }
    }

    /// ε0.
    #[getter]
    fn local_epsilon<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        super::parameter(py, &self.mechanism.spec(), "local_epsilon")
    }

    /// The keyword arguments it was made with.
    #[getter]
    #[pyo3(name = "parameters")]
    fn all_parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.parameters(py)
    }

    /// Bytes of a report, as `encode` writes it.
    #[getter]
    fn frame_len(&self) -> usize {
        self.mechanism.frame_len()
    }

    /// The report of one client, which holds the category `x`: a category again.
    ///
    /// Its coins come from the operating system; with `rng`, a `SimulationRng`, it protects nobody.
    #[pyo3(signature = (x, *, rng=None))]
    fn randomize<'py>(&self, py: Python<'py>, x: i64, rng: Option<&Bound<'py, SimulationRng>>) -> PyResult<i64> {
        let one = [x];
        let values = super::arrays::Categories::I64((&one[..]).into());
        let coins = Coins::of(rng, 1);
        let mut report = [0];
        py.detach(|| self.mechanism.randomize(&values, 0..1, 1, coins, &mut report))
            .map_err(|refusal| refused(refusal.error))?;
        Ok(report[0])
    }

    /// The reports of many clients, one for each value of `x`, as an array of int64.
    ///
    /// Whole numbers of any type are read where they lie. One value that is no category, and
    /// nothing is returned.
    #[pyo3(signature = (x, *, rng=None))]
    fn randomize_batch<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        rng: Option<&Bound<'py, SimulationRng>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let held = HeldCategories::read("x", x)?;
        let values = held.values("x")?;
        let coins = Coins::of(rng, values.len());
        let reports = PyArray1::zeros(py, [values.len()], false);
        let mut written = reports.readwrite();
        let into = written.as_slice_mut()?;
        in_steps(py, values.len(), BLOCK, |rows| {
            let into = &mut into[rows.clone()];
            self.mechanism.randomize(&values, rows, BLOCK, coins, into)
        })?;
        drop(written);
        Ok(reports)
    }

    /// Reports as clients send them, in rows of `frame_len` bytes.
    fn encode<'py>(&self, py: Python<'py>, reports: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let held = HeldCategories::read("reports", reports)?;
        let values = held.values("reports")?;
        let length = self.mechanism.frame_len();
        let frames = PyArray2::zeros(py, [values.len(), length], false);
        let mut written = frames.readwrite();
        let into = written.as_slice_mut()?;
        in_steps(py, values.len(), usize::MAX, |rows| {
            for (row, frame) in rows.zip(into.chunks_exact_mut(length)) {
                self.mechanism.encode(values.at(row), frame).map_err(|error| Refusal { row, error })?;
            }
            Ok(())
        })?;
        drop(written);
        Ok(frames)
    }

    /// The category that one encoded report says, as `encode` wrote it.
    ///
    /// >>> import numpy
    /// >>> from shuffledp.randomizers import Krr
    /// >>> krr = Krr(local_epsilon=1.0, categories=1000)
    /// >>> krr.decode(krr.encode(numpy.array([271]))[0])
    /// 271
    fn decode(&self, report: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.mechanism.decode(&super::arrays::frame("report", report)?).map_err(refused)
    }

    /// Name and parameters as a dictionary that JSON can hold; `from_dict` reads it.
    ///
    /// >>> from shuffledp.randomizers import Krr, from_dict
    /// >>> Krr(local_epsilon=2.0, categories=10).to_dict()
    /// {'randomizer': 'krr', 'local_epsilon': 2.0, 'categories': 10}
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let written = PyDict::new(py);
        written.set_item("randomizer", &self.name)?;
        written.update(self.parameters(py)?.as_mapping())?;
        Ok(written)
    }

    /// An empty aggregate of this mechanism's reports.
    fn aggregator(slf: &Bound<'_, Self>) -> Aggregator {
        Aggregator::new(slf.get().mechanism.aggregate(), slf.clone().into_any().unbind())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        super::shown(slf.as_any(), slf.get().parameters(slf.py())?)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> bool {
        slf.get().mechanism.spec() == other.get().mechanism.spec()
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        Self::__repr__(slf)?.into_pyobject(slf.py())?.hash()
    }

    fn __getnewargs_ex__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let parameters = slf.get().parameters(slf.py())?;
        let is_named = !slf.get_type().is(slf.py().get_type::<Self>());
        super::arguments_of_new(parameters, is_named, &slf.get().name)
    }
}
