//! A client of a real deployment: the program of `shuffledp client`, with Python's own vectors if
//! it has any.

use crate::errors::{ParameterError, ShuffledpError, unlearned};
use crate::interrupt::guarded;
use crate::json::object;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::create_exception;
use pyo3::exceptions::{PyConnectionError, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use shuffledp_client::{Assignment, ClientConfig, ClientError, Ended, Status, Vectors, run_with};
use shuffledp_transport::Shutdown;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

create_exception!(
    shuffledp,
    ClientRefusal,
    ShuffledpError,
    "A client does not take part: a task below its floors, a damaged or used state folder, a server that equivocates."
);

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ClientRefusal", module.py().get_type::<ClientRefusal>())?;
    module.add_function(wrap_pyfunction!(participate, module)?)?;
    module.add_function(wrap_pyfunction!(status, module)?)
}

/// How long Ctrl-C may go unheard.
const POLL: Duration = Duration::from_millis(50);

/// Takes part in the task of a configuration file until it is over ("finished"), the budget is
/// spent ("budget-spent") or it is told to stop.
#[pyfunction]
#[pyo3(name = "_participate", signature = (path, vector=None))]
fn participate(py: Python<'_>, path: PathBuf, vector: Option<Py<PyAny>>) -> PyResult<&'static str> {
    let config = ClientConfig::read(&path).map_err(refusal)?;
    let vectors = vector.map(|call| Arc::new(Called(call)) as Arc<dyn Vectors>);
    let (trigger, shutdown) = Shutdown::new();
    let (send, mut receive) = sync_channel(1);
    std::thread::Builder::new().name("shuffledp-client".to_owned()).spawn(move || {
        // Nobody listens only if the interpreter is gone.
        let _ = send.send(guarded(|| run(&config, vectors, shutdown)));
    })?;
    let mut interrupted = None;
    loop {
        let (receiver, received) = py.detach(move || {
            let received = receive.recv_timeout(POLL);
            (receive, received)
        });
        receive = receiver;
        match received {
            Ok(ended) => return interrupted.map_or_else(|| ended?, Err),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    trigger.stop();
                    interrupted = Some(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the client ended without a word"));
            }
        }
    }
}

fn run(config: &ClientConfig, vectors: Option<Arc<dyn Vectors>>, shutdown: Shutdown) -> PyResult<&'static str> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(run_with(config, vectors, shutdown)).map_err(refusal)?;
    Ok(match ended {
        Ended::Finished => "finished",
        Ended::BudgetSpent => "budget-spent",
        Ended::Stopped => "stopped",
    })
}

/// Returns the spent budget of a client as `shuffledp client --status --json` prints it; also while
/// it runs.
#[pyfunction]
#[pyo3(name = "_client_status")]
fn status(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let status = ClientConfig::read(&path).and_then(|config| Status::read(&config)).map_err(refusal)?;
    object(py, &serde_json::to_value(&status).map_err(|error| ShuffledpError::new_err(error.to_string()))?)
}

/// A Python function of the round's number and weights.
struct Called(Py<PyAny>);

impl Vectors for Called {
    fn vector(&self, _assignment: &Assignment, round: u64, weights: &[f32]) -> Result<Vec<f32>, ClientError> {
        Python::attach(|py| {
            let called = || -> PyResult<Vec<f32>> {
                let answer = self.0.bind(py).call1((PyArray1::from_slice(py, weights), round))?;
                let array = py.import("numpy")?.call_method1("ascontiguousarray", (answer, "float32"))?;
                let flat = array.call_method1("reshape", (-1,))?;
                Ok(flat.extract::<PyReadonlyArray1<'_, f32>>()?.as_slice()?.to_vec())
            };
            called().map_err(|error| {
                // Said on this machine alone, and the client goes on: who stops asking the server
                // after a coin has told how it fell.
                error.write_unraisable(py, Some(self.0.bind(py)));
                ClientError::Vector("its function raised an exception".to_owned())
            })
        })
    }
}

fn refusal(error: ClientError) -> PyErr {
    match error {
        ClientError::Config(text) => ParameterError::new_err(text),
        ClientError::File { ref source, .. } => PyOSError::new_err(format!("{error}: {source}")),
        ClientError::Learning(error) => unlearned(error),
        ClientError::Transport(error) => PyConnectionError::new_err(error.to_string()),
        other => ClientRefusal::new_err(other.to_string()),
    }
}
