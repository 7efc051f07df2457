//! R_1: one signed Hadamard coordinate of a vector in the ℓ1 ball (Girgis et al. 2021, "Shuffled
//! Model of Differential Privacy in Federated Learning", the ℓ1 compressor).
//!
//! D = 2^⌈log2 d⌉, y = H·x with the ±1 matrix of [`hadamard`], so |y_j| ≤ ‖x‖_1 ≤ a. j is uniform
//! over the D coordinates, the sign is + with probability ½ + y_j/(2ac), and (j, ±) decodes to
//! ±a·c·H_j, `c = (e^ε0+1)/(e^ε0−1)`: unbiased, with squared length a²Dc² (a²dc² once the D − d
//! coordinates of the filling are cut off). A report takes log2 D + 1 bits.

use crate::clip;
use crate::coin::{Coin, PrivateCoin};
use crate::error::{RandomizerError, Result, require};
use crate::estimate::mean::BoundedReports;
use crate::hadamard;
use crate::likelihood::Likelihood;
use crate::norms;
use crate::randomizer::{Aggregator, Randomizer};
use crate::randomness::Randomness;
use crate::signed_counts::SignedCounts;
use crate::signed_index::{SignedIndex, SignedIndexCode};
use crate::uniform;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// R_1 over vectors of one dimension and bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct R1 {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    coin: PrivateCoin,
}

impl R1 {
    /// For vectors of `dimension` coordinates, scaled down to Σ|x_j| ≤ `bound`.
    pub fn new(local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::R1 { local_epsilon })?;
        require((1..=1 << 31).contains(&dimension), "dimension", "between 1 and 2^31", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        Ok(Self { spec, dimension, bound, coin: PrivateCoin::new(local_epsilon)? })
    }

    /// D: the dimension, filled up to a power of 2.
    pub fn padded_dimension(&self) -> u32 {
        self.dimension.next_power_of_two()
    }

    /// a·c: what each coordinate of a report decodes to, up to its sign.
    pub fn magnitude(&self) -> f64 {
        f64::from(self.bound) * self.coin.debias()
    }

    /// The coin that decides the sign of Hadamard coordinate `index`: what an auditor needs to know
    /// exactly.
    pub fn sign_coin(&self, input: &[f32], index: u32) -> Coin {
        // y_j of x·min(1, a/‖x‖_1), over a. In [−1, 1] up to rounding, and the coin clamps it: a
        // rounding error must not buy lean.
        let shrunk_bound = norms::l1_norm(input).max(f64::from(self.bound));
        self.coin.leaning(hadamard::coordinate(input, index as usize) / shrunk_bound)
    }
}

impl Randomizer for R1 {
    type Input = [f32];
    type Report = SignedIndex;
    type Aggregator = HadamardCounts;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<SignedIndex> {
        clip::require_vector(input, self.dimension as usize)?;
        // Below D ≤ 2^31, so it fits.
        let index = uniform::below(u64::from(self.padded_dimension()), rng) as u32;
        Ok(SignedIndex { index, is_positive: self.sign_coin(input, index).flip(rng) })
    }

    fn frame_len(&self) -> usize {
        SignedIndexCode::new(self.padded_dimension()).frame_len()
    }

    fn encode(&self, report: &SignedIndex, frame: &mut [u8]) {
        SignedIndexCode::new(self.padded_dimension()).encode(*report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<SignedIndex> {
        SignedIndexCode::new(self.padded_dimension()).decode(frame)
    }

    fn aggregator(&self) -> HadamardCounts {
        HadamardCounts {
            counts: SignedCounts::new(self.padded_dimension() as usize, self.magnitude()),
            dimension: self.dimension,
        }
    }
}

impl Likelihood for R1 {
    fn ln_likelihood(&self, report: &SignedIndex, input: &[f32]) -> f64 {
        self.sign_coin(input, report.index).probability_of(report.is_positive).ln()
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        // H_0j = 1, so y = ±a in every coordinate.
        [self.bound, -self.bound].map(|x| {
            let mut input = vec![0.0; self.dimension as usize];
            input[0] = x;
            input.into()
        })
    }
}

impl BoundedReports for R1 {
    /// ±a·c, always.
    fn second_moment(&self) -> f64 {
        self.magnitude().powi(2)
    }

    fn largest_deviation(&self) -> f64 {
        self.magnitude() + f64::from(self.bound)
    }
}

/// Per Hadamard coordinate, + reports less − reports: exact, whatever the order. The transform
/// waits for [`mean`](Aggregator::mean).
#[derive(Debug, Clone, PartialEq)]
pub struct HadamardCounts {
    counts: SignedCounts,
    dimension: u32,
}

impl Aggregator for HadamardCounts {
    type Report = SignedIndex;

    #[inline]
    fn add(&mut self, report: &SignedIndex) {
        self.counts.add(report);
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        if self.dimension != other.dimension {
            return Err(RandomizerError::aggregate("the two aggregates are of different dimensions"));
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

    fn mean(&self) -> Result<Vec<f64>> {
        let step = self.counts.step()?;
        let mut sums = self.counts.sums().to_vec();
        hadamard::transform(&mut sums);
        Ok(sums[..self.dimension as usize].iter().map(|&sum| sum as f64 * step).collect())
    }
}
