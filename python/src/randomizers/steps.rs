//! Long batches, in steps: each with the interpreter released and on all cores, and between two of
//! them Ctrl-C is heard.

use crate::errors::refused_at;
use crate::interrupt::{guarded, pool};
use pyo3::prelude::*;
use shuffledp_randomizers::RandomizerError;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A row that was refused, and why.
pub(super) struct Refusal {
    pub(super) row: usize,
    pub(super) error: RandomizerError,
}

/// The result of processing rows.
pub(super) type Rows<T> = Result<T, Refusal>;

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> Self {
        refused_at(refusal.row, refusal.error)
    }
}

/// Steps grow until they take this long: half of how long Ctrl-C may go unheard.
const LONG_ENOUGH: Duration = Duration::from_millis(25);

/// Does `work` for `rows` rows. If all fit into one `block`, threads would cost more than they
/// bring.
pub(super) fn in_steps(
    py: Python<'_>,
    rows: usize,
    block: usize,
    mut work: impl FnMut(Range<usize>) -> Rows<()> + Send,
) -> PyResult<()> {
    if rows <= block {
        return Ok(py.detach(|| guarded(|| work(0..rows)))??);
    }
    let pool = pool()?;
    let mut step = block.saturating_mul(4 * pool.current_num_threads());
    let mut next = 0;
    while next < rows {
        let end = rows.min(next.saturating_add(step));
        let started = Instant::now();
        py.detach(|| guarded(|| pool.install(|| work(next..end))))??;
        py.check_signals()?;
        if started.elapsed() < LONG_ENOUGH {
            step = step.saturating_mul(2);
        }
        next = end;
    }
    Ok(())
}
