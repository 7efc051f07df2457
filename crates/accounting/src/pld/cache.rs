//! Loss lattices that were computed before: sweeps, accountants and neighbouring bounds ask for the same few again and again.

use super::{Direction, LossLattice};
use crate::pair::LinearPair;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A pair, a direction and a resolution decide the lattice.
type Key = (LinearPair, Direction, f64);

/// The latest lattices, newest first. A lattice has up to a quarter of a million points (2 MB), mostly some thousands.
static LATEST: Mutex<VecDeque<(Key, Arc<LossLattice>)>> = Mutex::new(VecDeque::new());

const CAPACITY: usize = 32;

/// [`LossLattice::new`], remembered.
pub(crate) fn lattice(pair: &LinearPair, direction: Direction, per_deviation: f64) -> Arc<LossLattice> {
    let key = (*pair, direction, per_deviation);
    let find = || {
        let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
        let at = latest.iter().position(|(known, _)| *known == key)?;
        let found = latest.remove(at)?;
        latest.push_front(found.clone());
        Some(found.1)
    };
    if let Some(found) = find() {
        return found;
    }
    // Not under the lock: two threads may compute the same lattice, but none waits for another's.
    let computed = Arc::new(LossLattice::new(pair, direction, per_deviation));
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    latest.push_front((key, Arc::clone(&computed)));
    latest.truncate(CAPACITY);
    computed
}
