//! Which generator the coins of a batch come from.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use shuffledp_randomizers::{Randomness, ReleaseRng, Result, SimulationRng as Inner};
use std::sync::atomic::{AtomicU64, Ordering};

/// Coins for simulations and tests only: whoever knows the seed can undo every report. Without one,
/// reports take their coins from the operating system.
///
/// Every report takes the next of 2^64 independent streams, so a batch holds what as many single
/// calls would have given, on any number of threads.
///
/// >>> import numpy
/// >>> from shuffledp.randomizers import Krr, SimulationRng
/// >>> krr = Krr(local_epsilon=1.0, categories=8)
/// >>> one, two = SimulationRng(7), SimulationRng(7)
/// >>> krr.randomize_batch(numpy.arange(4), rng=one).tolist() == [krr.randomize(i, rng=two) for i in range(4)]
/// True
///
/// `position` is the number of reports that were drawn before. A pickle carries it, so a copy goes
/// on where the original was: processes that work side by side need a seed each, or they draw the
/// same coins.
///
/// >>> import pickle
/// >>> two.position, pickle.loads(pickle.dumps(two)) == two
/// (4, True)
#[pyclass(module = "shuffledp.randomizers", frozen)]
pub(crate) struct SimulationRng {
    seed: u64,
    next: AtomicU64,
}

#[pymethods]
impl SimulationRng {
    #[new]
    #[pyo3(signature = (seed, *, position=0))]
    fn new(seed: u64, position: u64) -> Self {
        Self { seed, next: AtomicU64::new(position) }
    }

    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// How many streams were taken.
    #[getter]
    fn position(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    fn __eq__(&self, other: &Self) -> bool {
        (self.seed, self.position()) == (other.seed, other.position())
    }

    // It changes whenever it is used.
    #[classattr]
    const __hash__: Option<Py<PyAny>> = None;

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((u64,), Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("position", self.position())?;
        Ok(((self.seed,), named))
    }

    fn __repr__(&self) -> String {
        match self.position() {
            0 => format!("SimulationRng(seed={})", self.seed),
            position => format!("SimulationRng(seed={}, position={position})", self.seed),
        }
    }
}

/// Where the coins of a call come from.
#[derive(Clone, Copy)]
pub(super) enum Coins {
    /// The operating system.
    Released,
    /// Row i takes stream `first` + i.
    Simulated { seed: u64, first: u64 },
}

impl Coins {
    /// For so many rows, which no later call gets again.
    pub(super) fn of(rng: Option<&Bound<'_, SimulationRng>>, rows: usize) -> Self {
        match rng.map(Bound::get) {
            None => Self::Released,
            Some(rng) => Self::Simulated { seed: rng.seed, first: rng.next.fetch_add(rows as u64, Ordering::Relaxed) },
        }
    }

    /// Hands the generator of row 0 to `use_it`.
    pub(super) fn once<T>(self, use_it: impl FnOnce(&mut dyn Randomness) -> T) -> Result<T> {
        match self {
            Self::Released => Ok(use_it(&mut ReleaseRng::from_operating_system()?)),
            Self::Simulated { seed, first } => Ok(use_it(&mut Inner::stream(seed, first))),
        }
    }
}

/// A generator for every row of a block.
pub(super) trait Source {
    type Rng: Randomness;

    fn of_row(&mut self, row: usize) -> &mut Self::Rng;
}

/// One generator for a whole block. It lives as long as the call: one that were kept would be the
/// same one in two processes after a `fork`.
pub(super) struct Released(ReleaseRng);

impl Released {
    pub(super) fn new() -> Result<Self> {
        ReleaseRng::from_operating_system().map(Self)
    }
}

impl Source for Released {
    type Rng = ReleaseRng;

    fn of_row(&mut self, _row: usize) -> &mut ReleaseRng {
        &mut self.0
    }
}

/// One stream for every row.
pub(super) struct Simulated {
    seed: u64,
    first: u64,
    current: Inner,
}

impl Simulated {
    pub(super) fn new(seed: u64, first: u64) -> Self {
        Self { seed, first, current: Inner::stream(seed, first) }
    }
}

impl Source for Simulated {
    type Rng = Inner;

    fn of_row(&mut self, row: usize) -> &mut Inner {
        self.current = Inner::stream(self.seed, self.first.wrapping_add(row as u64));
        &mut self.current
    }
}
