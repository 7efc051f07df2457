//! Aggregation of reports on the server.

use super::arrays::{HeldCategories, HeldFrames};
use super::running::{Aggregate, Rejected, Reports};
use super::steps::{Refusal, in_steps};
use crate::errors::{ParameterError, StateError, refused};
use crate::interrupt::pool;
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use shuffledp_randomizers::estimate::{Confidence, Coverage};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A running unbiased estimate of the mean of the inputs (of the share of every category), in
/// memory that does not grow with the number of reports. A randomizer's `aggregator()` makes one.
///
/// >>> import numpy
/// >>> from shuffledp.randomizers import RInf
/// >>> mechanism = RInf(local_epsilon=8.0, dimension=2, clip=1.0)
/// >>> clients = numpy.tile(numpy.float32([0.5, -0.25]), (10_000, 1))
/// >>> aggregator = mechanism.aggregator()
/// >>> aggregator.add_batch(mechanism.randomize_batch(clients))
/// 0
/// >>> aggregator.count, bool(abs(aggregator.mean() - [0.5, -0.25]).max() < 0.1)
/// (10000, True)
///
/// Copies and pickles carry the sums, so that many processes or machines can add up a share of the
/// reports each; `merge` joins what they send:
///
/// >>> import pickle
/// >>> elsewhere = pickle.loads(pickle.dumps(aggregator))
/// >>> aggregator.merge(elsewhere)
/// >>> aggregator.count
/// 20000
#[pyclass(module = "shuffledp.randomizers", frozen)]
pub(crate) struct Aggregator {
    sums: Mutex<Box<dyn Aggregate>>,
    /// The Python object whose reports are added up.
    randomizer: Py<PyAny>,
}

impl Aggregator {
    pub(super) fn new(aggregate: Box<dyn Aggregate>, randomizer: Py<PyAny>) -> Self {
        Self { sums: Mutex::new(aggregate), randomizer }
    }

    /// Never held while the interpreter is released, so nobody waits for both.
    fn state(&self) -> MutexGuard<'_, Box<dyn Aggregate>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Aggregator {
    /// Adds one report: what `randomize` returned, or a row of what `randomize_batch` did. What no
    /// client could have sent is refused, and changes nothing.
    fn add(&self, report: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(bytes) = report.cast::<PyBytes>() {
            return self.state().add_frame(bytes.as_bytes()).map_err(refused);
        }
        if let Some(held) = HeldFrames::read(report)
            && let Some(frame) = held.one()
        {
            return self.state().add_frame(&frame.to_vec()).map_err(refused);
        }
        match report.extract::<i64>() {
            Ok(category) => self.state().add_category(u64::try_from(category).unwrap_or(u64::MAX)).map_err(refused),
            Err(_) => Err(PyTypeError::new_err("report must be bytes, a row of uint8, or a category")),
        }
    }

    /// Adds a batch: an array of uint8 with one report in each row, or an array of categories. It
    /// is read where it lies.
    ///
    /// If a report is one that no client could have sent, the whole batch is refused and nothing
    /// changes; with `skip_rejected` such reports are left out instead. Returns how many were.
    #[pyo3(signature = (reports, *, skip_rejected=false))]
    fn add_batch(&self, py: Python<'_>, reports: &Bound<'_, PyAny>, skip_rejected: bool) -> PyResult<u64> {
        let rejected = if skip_rejected { Rejected::Skip } else { Rejected::Refuse };
        let frames = HeldFrames::read(reports);
        if let Some(rows) = frames.as_ref().and_then(HeldFrames::rows) {
            return self.add_all(py, &Reports::Frames(rows), rejected);
        }
        let held = HeldCategories::read("reports", reports)?;
        let values = held.values("reports").map_err(|_| {
            PyValueError::new_err(
                "reports must be an array of uint8 with one report in each row, or a list of categories",
            )
        })?;
        self.add_all(py, &Reports::Categories(values), rejected)
    }

    /// Adds all that `other` holds. Both must be of one mechanism, else nothing is changed.
    fn merge(&self, other: &Self) -> PyResult<()> {
        let other = other.state().copy();
        self.state().merge(other).map_err(refused)
    }

    /// Number of reports.
    #[getter]
    fn count(&self) -> u64 {
        self.state().count()
    }

    fn __len__(&self) -> usize {
        self.count() as usize
    }

    /// The unbiased estimate of the mean of the inputs, or of the share of every category. It may
    /// lie outside of what is possible: cutting it off would be a bias.
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.state().mean().map_err(refused)?))
    }

    /// The estimate with intervals that hold at any number of reports, for the mean or the
    /// histogram of the clients in the batch.
    ///
    /// With coverage "all" all of them hold together with the asked confidence, with "each" every
    /// one by itself. For `Rr`, `Krr`, `RInf`, `R1`, `Duchi` and `LdpSgd`.
    #[pyo3(signature = (*, confidence=0.95, coverage="all"))]
    fn intervals(&self, py: Python<'_>, confidence: f64, coverage: &str) -> PyResult<Intervals> {
        let coverage = match coverage {
            "all" => Coverage::All,
            "each" => Coverage::Each,
            other => return Err(ParameterError::new_err(format!("coverage must be all or each, but is '{other}'"))),
        };
        let confidence = Confidence::new(confidence, coverage).map_err(refused)?;
        let found = self.state().intervals(confidence).map_err(refused)?;
        let column = |of: fn(&shuffledp_randomizers::estimate::Interval) -> f64| {
            PyArray1::from_iter(py, found.iter().map(of)).unbind()
        };
        Ok(Intervals {
            estimate: column(|interval| interval.estimate),
            lower: column(|interval| interval.lower),
            upper: column(|interval| interval.upper),
        })
    }

    /// The randomizer whose reports are added up.
    #[getter]
    fn randomizer(&self, py: Python<'_>) -> Py<PyAny> {
        self.randomizer.clone_ref(py)
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        Self::new(self.state().copy(), self.randomizer.clone_ref(py))
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, aggregator) = (slf.py(), slf.get());
        let saved = aggregator.state().save();
        let parts = (aggregator.randomizer.clone_ref(py), PyBytes::new(py, &saved));
        Ok((slf.get_type().getattr("_restored")?, parts))
    }

    /// The aggregator of a randomizer with the sums that a pickle carried.
    #[staticmethod]
    #[pyo3(name = "_restored")]
    fn restored(randomizer: &Bound<'_, PyAny>, saved: &[u8]) -> PyResult<Py<Self>> {
        let aggregator: Py<Self> = randomizer.call_method0("aggregator")?.extract()?;
        aggregator.get().state().load(saved).map_err(|error| StateError::new_err(error.to_string()))?;
        Ok(aggregator)
    }

    fn __repr__(&self) -> String {
        format!("<shuffledp.randomizers.Aggregator of {} reports>", self.count())
    }
}

/// The content of a pickle: the constructor and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Py<PyAny>, Bound<'py, PyBytes>));

/// A thread's share of a batch, and how many reports of it were skipped.
type Part = (Box<dyn Aggregate>, u64);

impl Aggregator {
    /// Into empty aggregates first, so that a refusal or Ctrl-C leaves everything as it was.
    fn add_all(&self, py: Python<'_>, reports: &Reports<'_>, rejected: Rejected) -> PyResult<u64> {
        let (mut parts, block) = {
            let state = self.state();
            let block = state.block();
            let threads = if reports.len() > block { pool()?.current_num_threads() } else { 1 };
            let parts: Vec<Part> = (0..state.parts(threads)).map(|_| (state.empty(), 0)).collect();
            (parts, block)
        };
        let add = |((part, skipped), share): (&mut Part, Range<usize>)| {
            part.add_rows(reports, share, rejected).map(|count| *skipped += count).err()
        };
        in_steps(py, reports.len(), block, |rows| {
            let refusal = match &mut parts[..] {
                // Also when no threads are there to share the work.
                [part] => add((part, rows)),
                parts => {
                    let shares = shares(rows, parts.len());
                    let refusals = parts.par_iter_mut().zip(shares).filter_map(add);
                    refusals.min_by_key(|refusal: &Refusal| refusal.row)
                }
            };
            refusal.map_or(Ok(()), Err)
        })?;
        let mut state = self.state();
        let mut skipped = 0;
        for (part, skipped_here) in parts {
            // Of one mechanism, so it is not refused half-way.
            state.merge(part).map_err(refused)?;
            skipped += skipped_here;
        }
        Ok(skipped)
    }
}

/// A range in so many nearly equal pieces.
fn shares(rows: Range<usize>, parts: usize) -> Vec<Range<usize>> {
    let cut = |part: usize| rows.start + rows.len() * part / parts;
    (0..parts).map(|part| cut(part)..cut(part + 1)).collect()
}

/// An unbiased estimate for every coordinate or category, and limits between which the truth lies
/// with the asked confidence.
#[pyclass(module = "shuffledp.randomizers", frozen, get_all)]
pub(crate) struct Intervals {
    /// The unbiased estimates. One may lie outside of what is possible, and then outside of its
    /// interval.
    estimate: Py<PyArray1<f64>>,
    /// The truth is at least this.
    lower: Py<PyArray1<f64>>,
    /// The truth is at most this.
    upper: Py<PyArray1<f64>>,
}

#[pymethods]
impl Intervals {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shown = |array: &Py<PyArray1<f64>>| array.bind(py).repr().map(|text| text.to_string());
        Ok(format!(
            "Intervals(estimate={}, lower={}, upper={})",
            shown(&self.estimate)?,
            shown(&self.lower)?,
            shown(&self.upper)?
        ))
    }
}
