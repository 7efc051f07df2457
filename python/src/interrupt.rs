//! Long work, with the interpreter released and Ctrl-C heard.

use crate::errors::ShuffledpError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPool;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long Ctrl-C may go unheard.
const POLL: Duration = Duration::from_millis(50);

/// Says whether somebody still waits for the result.
#[derive(Clone, Default)]
pub(crate) struct Waiting(Arc<AtomicBool>);

impl Waiting {
    /// Has the caller been interrupted? Work that goes on and on looks from time to time, and ends.
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work`. If it panics, which is a defect of ours, that is a `ShuffledpError`: the
/// `PanicException` of PyO3 is a `BaseException`, which `except Exception` does not catch.
///
/// All work goes through here. What `work` was changing when it panicked must not be used again.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let why = said(panic.as_ref());
        ShuffledpError::new_err(format!(
            "the computation failed ({why}); nothing was answered or recorded. This is a defect of shuffledp: please report it"
        ))
    })
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("no reason given")
}

/// Panics, for the tests.
#[pyfunction]
fn _panic(py: Python<'_>) -> PyResult<()> {
    interruptible(py, || panic!("a test asked for it"))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_panic, module)?)
}

/// [`interruptible_steps`] of a single step: it is left to end by itself.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    interruptible_steps(py, |_| work())
}

/// Runs `work` on a thread of its own. If Python's signal handlers raise meanwhile
/// (`KeyboardInterrupt`), that is returned at once, and the work, which only computes, is told that
/// nobody waits any more.
pub(crate) fn interruptible_steps<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Waiting) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let waiting = Waiting::default();
    let told = waiting.clone();
    let (send, mut receive) = sync_channel(1);
    std::thread::Builder::new().name("shuffledp".to_owned()).spawn(move || {
        // Nobody listens after an interrupt; then there is nothing to say.
        let _ = send.send(guarded(|| pool.install(|| work(&told))));
    })?;
    loop {
        let (receiver, received) = py.detach(move || {
            let received = receive.recv_timeout(POLL);
            (receive, received)
        });
        receive = receiver;
        match received {
            Ok(value) => return value,
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| waiting.0.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the computation ended without a result"));
            }
        }
    }
}

/// The threads that parallel sums run on. A process made by `fork` has none of its parent's threads
/// and would wait for them forever, so it gets its own.
pub(crate) fn pool() -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let process = std::process::id();
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = slot.as_ref()
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?;
    let pool = Arc::new(pool);
    // The parent's pool must not be dropped here: that would wait for threads that do not exist.
    if let Some(parent) = slot.replace((process, Arc::clone(&pool))) {
        std::mem::forget(parent);
    }
    Ok(pool)
}
