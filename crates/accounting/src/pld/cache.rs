//! Loss lattices that were computed before: sweeps, accountants and neighbouring bounds ask for the
//! same few again and again.

use super::{Down, LossLattice, Rounding, Up};
use crate::displacement::{Fineness, Known, Order};
use crate::gaussian::Way;
use crate::pair::{LinearPair, Resolution};
use crate::scheme::{Release, Scheme};
use lru::LruCache;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The key that identifies a lattice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// A linear pair, with so many points to a deviation, and its outcomes resolved like this.
    Linear(LinearPair, f64, Resolution),
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

// Parameters were checked before they come here: none of their numbers is NaN.
impl Eq for Key {}

impl Hash for Key {
    /// Of the kind, and of numbers that tell most keys apart; what is left is told apart by
    /// comparing.
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        let (first, second) = match self {
            Self::Linear(_, per_deviation, _) | Self::Release(_, per_deviation) => (*per_deviation, 0.0),
            Self::Envelope(_, local_epsilon, outcomes) => (*local_epsilon, *outcomes),
            Self::Displacement(_, _, _, _, floor) => (*floor, 0.0),
            Self::GaussianPair(_, mu, _, _, floor) => (*mu, *floor),
        };
        // −0 and 0 are equal.
        [first, second].map(|number| (number + 0.0).to_bits()).hash(state);
    }
}

const CAPACITY: NonZeroUsize = NonZeroUsize::new(128).expect("not 0");

/// The latest lattices. A lattice has up to a quarter of a million points (2 MB), mostly some
/// thousands.
type Latest<D> = LazyLock<Mutex<LruCache<Key, Arc<LossLattice<D>>>>>;

/// A direction whose lattices are remembered.
pub trait Remembered: Sized {
    /// The latest lattices that were rounded this way.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "no other crate implements or asks it")]
    fn latest() -> &'static Latest<Self>
    where
        Self: Rounding;
}

impl Remembered for Up {
    #[allow(private_interfaces, reason = "no other crate implements or asks it")]
    fn latest() -> &'static Latest<Self> {
        static LATEST: Latest<Up> = LazyLock::new(|| Mutex::new(LruCache::new(CAPACITY)));
        &LATEST
    }
}

impl Remembered for Down {
    #[allow(private_interfaces, reason = "no other crate implements or asks it")]
    fn latest() -> &'static Latest<Self> {
        static LATEST: Latest<Down> = LazyLock::new(|| Mutex::new(LruCache::new(CAPACITY)));
        &LATEST
    }
}

/// [`LossLattice::resolved`], remembered.
pub(crate) fn lattice<D: Rounding>(
    pair: &LinearPair,
    per_deviation: f64,
    resolution: Resolution,
) -> Arc<LossLattice<D>> {
    remembered_always(Key::Linear(*pair, per_deviation, resolution), || {
        LossLattice::resolved(pair, per_deviation, resolution)
    })
}

/// [`LossLattice::of_release`], remembered.
pub(crate) fn release(release: &Release, per_deviation: f64) -> Arc<LossLattice> {
    remembered_always(Key::Release(*release, per_deviation), || LossLattice::of_release(release, per_deviation))
}

/// [`remembered`], of what cannot fail.
pub(crate) fn remembered_always<D: Rounding>(
    key: Key,
    compute: impl FnOnce() -> LossLattice<D>,
) -> Arc<LossLattice<D>> {
    match remembered(key, || Ok::<_, Infallible>(compute())) {
        Ok(lattice) => lattice,
        Err(never) => match never {},
    }
}

/// Returns the cached result for the key, or computes it.
pub(crate) fn remembered<D: Rounding, E>(
    key: Key,
    compute: impl FnOnce() -> Result<LossLattice<D>, E>,
) -> Result<Arc<LossLattice<D>>, E> {
    let latest = || D::latest().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = latest().get(&key) {
        return Ok(Arc::clone(found));
    }
    // Not under the lock: two threads may compute the same lattice, but none waits for another's.
    let computed = Arc::new(compute()?);
    latest().put(key, Arc::clone(&computed));
    Ok(computed)
}
