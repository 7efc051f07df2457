//! Loss lattices that were computed before: sweeps, accountants and neighbouring bounds ask for the same few again and again.

use super::{Direction, LossLattice};
use crate::displacement::{Fineness, Known, Order};
use crate::gaussian::Way;
use crate::pair::{LinearPair, Resolution};
use crate::scheme::{Release, Scheme};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

/// What decides a lattice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// A linear pair, in a direction, with so many points to a deviation, and its outcomes resolved like this.
    Linear(LinearPair, Direction, f64, Resolution),
    /// The envelope of binary randomized response with this ε0, and so many outcomes looked at.
    Envelope(Scheme, f64, f64),
    /// An output that is not shuffled, with so many points to a deviation.
    Release(Release, f64),
    /// A round, what is used of its randomizer (for zero-out neighbours that is told apart), which
    /// neighbour comes first, how finely it is resolved, and what need not be.
    Displacement(Scheme, Known, Order, Fineness, f64),
    /// A round of the shuffle Gaussian pair with this μ, which way round, how finely it is
    /// resolved, and what need not be.
    GaussianPair(Scheme, f64, Way, Fineness, f64),
}

/// The latest lattices, newest first. A lattice has up to a quarter of a million points (2 MB), mostly some thousands.
static LATEST: Mutex<VecDeque<(Key, Arc<LossLattice>)>> = Mutex::new(VecDeque::new());

const CAPACITY: usize = 128;

/// [`LossLattice::resolved`], remembered.
pub(crate) fn lattice(
    pair: &LinearPair,
    direction: Direction,
    per_deviation: f64,
    resolution: Resolution,
) -> Arc<LossLattice> {
    remembered_always(Key::Linear(*pair, direction, per_deviation, resolution), || {
        LossLattice::resolved(pair, direction, per_deviation, resolution)
    })
}

/// [`LossLattice::of_release`], remembered.
pub(crate) fn release(release: &Release, per_deviation: f64) -> Arc<LossLattice> {
    remembered_always(Key::Release(*release, per_deviation), || LossLattice::of_release(release, per_deviation))
}

/// [`remembered`], of what cannot fail.
pub(crate) fn remembered_always(key: Key, compute: impl FnOnce() -> LossLattice) -> Arc<LossLattice> {
    match remembered(key, || Ok::<_, Infallible>(compute())) {
        Ok(lattice) => lattice,
        Err(never) => match never {},
    }
}

/// What `compute` gave for the same key before, or gives now.
pub(crate) fn remembered<E>(key: Key, compute: impl FnOnce() -> Result<LossLattice, E>) -> Result<Arc<LossLattice>, E> {
    let find = || {
        let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
        let at = latest.iter().position(|(known, _)| *known == key)?;
        let found = latest.remove(at)?;
        latest.push_front(found.clone());
        Some(found.1)
    };
    if let Some(found) = find() {
        return Ok(found);
    }
    // Not under the lock: two threads may compute the same lattice, but none waits for another's.
    let computed = Arc::new(compute()?);
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    latest.push_front((key, Arc::clone(&computed)));
    latest.truncate(CAPACITY);
    Ok(computed)
}
