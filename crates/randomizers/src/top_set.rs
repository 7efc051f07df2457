//! top-set: one of the largest signed coordinates of a vector in the ℓ2 ball, after a public
//! rotation. The reports are tiny: ⌈log2 2D⌉ bits, 15 for vectors of up to 16,384 coordinates.
//!
//! D is the dimension filled up to a power of 2, and y = H·diag(s)·x/√D with the signs of a [public
//! seed](crate::rotation), a new one each round. The 2D candidates are (j, +) and (j, −), with the
//! values y_j and −y_j. A client's own set S holds the M candidates with the largest values. For M
//! ≤ D these are the M largest |y_j|, each with its sign: of equal ones those with the lower j, and
//! a zero counts as +. With probability t·min(1, ‖x‖/C) the report is uniform in S, else uniform
//! over all 2D candidates.
//!
//! **Privacy.** For ‖x‖ ≥ C a report's probability is (1−t)/2D, and t/M more for candidates in S:
//! two values, the higher on exactly M of 2D candidates, of ratio 1 + t·2D/((1−t)·M). For t =
//! (e^ε0−1)/(e^ε0−1+2D/M) that is e^ε0; t is a whole multiple of 2^−64 below it. This is all that
//! privacy rests on: *any* set of M candidates is as private as any other, so floating point, ties
//! and the quality of the rotation cannot hurt. For ‖x‖ < C the law is a mixture of that one and of
//! the uniform one, which is the law of a uniformly random S.
//!
//! **Estimate.** A report's mean, as a signed unit vector, is (t/M)·min(1, ‖x‖/C)·c, where c_j is
//! 1, −1 or 0: whether (j, +), (j, −) or neither is in S. Of y from a unit vector, c is the
//! thresholded sign: c = β·y + a residual that is orthogonal to y, where β = 2√D·φ(z_q) if the
//! coordinates of y are like normals, φ the normal density and z_q the upper quantile of q = M/2D.
//! So C·q/(t·φ(z_q))·diag(s)·H·(signed counts/n) estimates the mean of the clipped vectors.
//!
//! **The estimate is biased.** Under one rotation the expected report of one client points a little
//! away from x: the cosine is 2φ(z_q)/√(2q) for a dense vector, 0.87 at q = 1/6 and 0.80 at q =
//! 1/2. This error changes from rotation to rotation, and for dense vectors it vanishes in the mean
//! over rotations. Vectors with fewer than about ten coordinates that are not 0 have a y that is
//! not like normals. Their direction and their length stay biased, whatever the number of
//! rotations: a vector with three such coordinates has a cosine of 0.89 in the mean at q = 1/6, and
//! one along an axis comes out with a length of q/φ(z_q), 0.67 at q = 1/6. `tests/top_set.rs`
//! measures all of this. So there are no confidence intervals for this mechanism, and the error of
//! one round does not vanish with the number of its reports.

use crate::clip;
use crate::coin::Coin;
use crate::error::{RandomizerError, Result, require};
use crate::likelihood::Likelihood;
use crate::norms;
use crate::randomizer::{Aggregator, PublicSeed, Randomizer};
use crate::randomness::Randomness;
use crate::rotation::Rotation;
use crate::signed_counts::SignedCounts;
use crate::signed_index::{SignedIndex, SignedIndexCode};
use crate::uniform;
use pulp::Arch;
use shuffledp_accounting::numerics::normal;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec, TopSetSize};
use std::cell::RefCell;
use std::f64::consts::TAU;

/// top-set over vectors of one dimension and bound, in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct TopSet {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    size: TopSetSize,
    truth: Coin,
    rotation: Rotation,
}

impl TopSet {
    /// For vectors of `dimension` ≥ 2 coordinates, scaled down to a Euclidean length of at most
    /// `bound`; with the rotation of the seed 0 until [`in_round`](Randomizer::in_round) gives it
    /// another.
    pub fn new(local_epsilon: f64, dimension: u32, bound: f32, share: f64) -> Result<Self> {
        let mechanism = Mechanism::TopSet { local_epsilon, dimension: u64::from(dimension), share };
        let spec = RandomizerSpec::new(mechanism)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        let size = TopSetSize::new(u64::from(dimension), share);
        // t = 1/(1 + (2D/M)/(e^ε0−1)), rounded down as for randomized response: 2D/M is one more
        // operation, and five units pay for five.
        let odds = size.candidates as f64 / size.chosen as f64 / libm::expm1(local_epsilon);
        let truth = Coin::at_most((1.0 / (1.0 + odds) * (1.0 - 3.0 * f64::EPSILON)).min(1.0 - f64::EPSILON / 2.0));
        require(
            truth.threshold() >= 1,
            "local-epsilon",
            "above 1e-19 divided by the share (below that no report says anything)",
            local_epsilon,
        )?;
        let rotation = Rotation::new(PublicSeed::default(), dimension);
        Ok(Self { spec, dimension, bound, size, truth, rotation })
    }

    /// 2D and M.
    pub fn size(&self) -> TopSetSize {
        self.size
    }

    /// t: the coin that says whether the report of a vector of length C or more comes from its own
    /// set whatever else is drawn.
    pub fn truth_coin(&self) -> Coin {
        self.truth
    }

    /// The same for `input`: an auditor needs to know it exactly.
    pub fn coin_of(&self, input: &[f32]) -> Coin {
        let lean = (norms::l2_norm(input) / f64::from(self.bound)).min(1.0);
        // Thresholds have at most 53 digits, so that a product with at most 1 is at most the
        // threshold.
        Coin::with_threshold((lean * self.truth.threshold() as f64) as u64)
    }

    /// C·q/(t·φ(z_q)): what each coordinate of a report decodes to, up to its sign.
    pub fn magnitude(&self) -> f64 {
        let (q, t) = (self.size.share(), self.truth.probability());
        let z = normal::upper_quantile(q);
        let density = (-z * z / 2.0).exp() / TAU.sqrt();
        f64::from(self.bound) * q / (t * density)
    }

    /// Is the candidate in the own set of `input`?
    pub fn is_chosen(&self, input: &[f32], candidate: SignedIndex) -> bool {
        self.with_rotated(input, |y| {
            let j = candidate.index as usize;
            candidate.is_positive == is_positive(y[j]) && rank(y, j) < self.size.chosen
        })
    }

    /// A candidate that is uniform in the own set of the vector that was rotated to `y`.
    ///
    /// Coordinates are drawn until one is among the M largest: M/D of them are. One that ranks
    /// below one that was refused is refused without counting again, so the number of counts stays
    /// small even for small sets.
    fn draw_chosen<R: Randomness + ?Sized>(&self, y: &[f32], rng: &mut R) -> SignedIndex {
        let mut refused: Option<usize> = None;
        loop {
            let j = uniform::below(y.len() as u64, rng) as usize;
            if refused.is_some_and(|refused| j == refused || is_before(y, refused, j)) {
                continue;
            }
            if rank(y, j) < self.size.chosen {
                return SignedIndex { index: j as u32, is_positive: is_positive(y[j]) };
            }
            refused = Some(j);
        }
    }

    fn draw_any<R: Randomness + ?Sized>(&self, rng: &mut R) -> SignedIndex {
        let word = uniform::below(self.size.candidates, rng);
        SignedIndex { index: (word / 2) as u32, is_positive: word % 2 == 1 }
    }

    /// Calls `consume` with `input`, rotated, in room that a thread keeps. Its scale does not
    /// matter: it is such that nothing overflows, and that something is left of the smallest
    /// numbers.
    fn with_rotated<T>(&self, input: &[f32], consume: impl FnOnce(&[f32]) -> T) -> T {
        thread_local! {
            static ROTATED: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
        }
        let scale = (1.0 / norms::l2_norm(input)).min(f64::from(f32::MAX)) as f32;
        ROTATED.with_borrow_mut(|rotated| {
            self.rotation.apply(input, scale, rotated);
            consume(rotated)
        })
    }
}

/// The sign of a coordinate: a zero of either sign counts as +.
fn is_positive(y: f32) -> bool {
    y >= 0.0
}

/// Does coordinate `i` come before `j` in the order of the own set?
fn is_before(y: &[f32], i: usize, j: usize) -> bool {
    let (left, right) = (y[i].abs(), y[j].abs());
    left > right || (left >= right && i < j)
}

/// How many coordinates come before `j`: the larger ones, and of equal ones those with a lower
/// index.
fn rank(y: &[f32], j: usize) -> u64 {
    let size = y[j].abs();
    let (before, from) = y.split_at(j);
    let mut rank = 0;
    Arch::new().dispatch(
        #[inline(always)]
        || {
            // At most 2^32 − 1 of each.
            let at_least: u32 = before.iter().map(|y| u32::from(y.abs() >= size)).sum();
            let above: u32 = from.iter().map(|y| u32::from(y.abs() > size)).sum();
            rank = u64::from(at_least) + u64::from(above);
        },
    );
    rank
}

impl Randomizer for TopSet {
    type Input = [f32];
    type Report = SignedIndex;
    type Aggregator = RotatedCounts;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn in_round(&self, seed: PublicSeed) -> Self {
        Self { rotation: Rotation::new(seed, self.dimension), ..self.clone() }
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<SignedIndex> {
        clip::require_vector(input, self.dimension as usize)?;
        let is_chosen = self.coin_of(input).flip(rng);
        // Of a released report nobody may learn from the time it took whether the coin said that it
        // comes from the own set.
        if is_chosen || rng.is_for_release() {
            let chosen = self.with_rotated(input, |y| self.draw_chosen(y, rng));
            if is_chosen {
                return Ok(chosen);
            }
        }
        Ok(self.draw_any(rng))
    }

    fn frame_len(&self) -> usize {
        self.code().frame_len()
    }

    fn encode(&self, report: &SignedIndex, frame: &mut [u8]) {
        self.code().encode(*report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<SignedIndex> {
        self.code().decode(frame)
    }

    fn aggregator(&self) -> RotatedCounts {
        RotatedCounts {
            counts: SignedCounts::new(self.rotation.padded_dimension(), self.magnitude()),
            rotation: self.rotation.clone(),
        }
    }
}

impl TopSet {
    fn code(&self) -> SignedIndexCode {
        // D is at most 2^30.
        SignedIndexCode::new((self.size.candidates / 2) as u32)
    }
}

impl Likelihood for TopSet {
    fn ln_likelihood(&self, report: &SignedIndex, input: &[f32]) -> f64 {
        // Relative to the uniform law over all candidates.
        let coin = self.coin_of(input);
        let low = coin.probability_of(false);
        let high = low + coin.probability() / self.size.share();
        if self.is_chosen(input, *report) { high.ln() } else { low.ln() }
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        // Every |y_j| is the same, so their sets have the same coordinates with opposite signs:
        // they are disjoint.
        clip::opposite_poles(self.bound, self.dimension)
    }
}

/// Per coordinate of the rotated vectors, + reports less − reports: exact, whatever the order. They
/// are rotated back once, by [`mean`](Aggregator::mean).
#[derive(Debug, Clone, PartialEq)]
pub struct RotatedCounts {
    counts: SignedCounts,
    rotation: Rotation,
}

impl Aggregator for RotatedCounts {
    type Report = SignedIndex;

    #[inline]
    fn add(&mut self, report: &SignedIndex) {
        self.counts.add(report);
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        if self.rotation != other.rotation {
            return Err(RandomizerError::aggregate("the two aggregates are of different rounds or dimensions"));
        }
        self.counts.merge(other.counts)
    }

    fn save(&self) -> Vec<u8> {
        self.counts.save()
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        self.counts.load(saved)
    }

    fn count(&self) -> u64 {
        self.counts.count()
    }

    /// An estimate of the mean of the clipped vectors, whose bias the [module](self) describes.
    fn mean(&self) -> Result<Vec<f64>> {
        let step = self.counts.step()?;
        let sums = self.rotation.undo(self.counts.sums().to_vec());
        Ok(sums.into_iter().map(|sum| sum as f64 * step).collect())
    }
}
