//! R_inf: one signed coordinate of a vector in the ℓ∞ ball (Girgis et al. 2021, "Shuffled Model of
//! Differential Privacy in Federated Learning", Algorithm 3).
//!
//! j is uniform over the d coordinates, the sign is + with probability ½ + x_j/(2ac), and (j, ±)
//! decodes to ±a·d·c·e_j, `c = (e^ε0+1)/(e^ε0−1)`: unbiased, with squared length a²d²c². A report
//! takes ⌈log2 d⌉ + 1 bits.

use crate::clip::{self, LinfClip};
use crate::coin::{Coin, PrivateCoin};
use crate::error::{Result, require};
use crate::estimate::mean::BoundedReports;
use crate::likelihood::Likelihood;
use crate::randomizer::Randomizer;
use crate::randomness::Randomness;
use crate::signed_counts::SignedCounts;
use crate::signed_index::{SignedIndex, SignedIndexCode};
use crate::uniform;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// R_inf over vectors of one dimension and bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RInf {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    clip: LinfClip,
    coin: PrivateCoin,
}

impl RInf {
    /// For vectors of `dimension` coordinates, each clamped to [−`bound`, `bound`].
    pub fn new(local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::RInf { local_epsilon })?;
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        Ok(Self { spec, dimension, bound, clip: LinfClip::Clamp, coin: PrivateCoin::new(local_epsilon)? })
    }

    /// The same with another way of clipping.
    pub fn with_clip(self, clip: LinfClip) -> Self {
        Self { clip, ..self }
    }

    /// Draws the coordinate that is to be sent. For callers that compute one coordinate alone: hand
    /// it to [`randomize_coordinate`](Self::randomize_coordinate).
    #[inline]
    pub fn draw_index<R: Randomness + ?Sized>(&self, rng: &mut R) -> u32 {
        // Below the dimension, so it fits.
        uniform::below(u64::from(self.dimension), rng) as u32
    }

    /// The report of coordinate `index`, from [`draw_index`](Self::draw_index), with value `x`:
    /// clamped, whatever the way of clipping, for the others are not known.
    #[inline]
    pub fn randomize_coordinate<R: Randomness + ?Sized>(&self, index: u32, x: f32, rng: &mut R) -> Result<SignedIndex> {
        clip::require_finite(x)?;
        Ok(SignedIndex { index, is_positive: self.coin.leaning(f64::from(x) / f64::from(self.bound)).flip(rng) })
    }

    /// Coordinate `index` as clipped, over the bound: in [−1, 1] up to rounding, and the coin
    /// clamps it.
    fn lean(&self, input: &[f32], index: u32) -> f64 {
        let shrink = match self.clip {
            LinfClip::Clamp => 1.0,
            // In f64: the quotient of two f32 may overflow f32, and would leave nothing of the
            // vector.
            LinfClip::Scale => (f64::from(clip::linf_norm(input)) / f64::from(self.bound)).max(1.0),
        };
        f64::from(input[index as usize]) / f64::from(self.bound) / shrink
    }

    /// The coin that decides the sign of coordinate `index`: what an auditor needs to know exactly.
    pub fn sign_coin(&self, input: &[f32], index: u32) -> Coin {
        self.coin.leaning(self.lean(input, index))
    }

    /// a: what every coordinate is clamped to, up to its sign.
    pub fn bound(&self) -> f32 {
        self.bound
    }

    /// a·d·c: what a + decodes to.
    pub fn magnitude(&self) -> f64 {
        f64::from(self.bound) * f64::from(self.dimension) * self.coin.debias()
    }
}

impl Randomizer for RInf {
    type Input = [f32];
    type Report = SignedIndex;
    type Aggregator = SignedCounts;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<SignedIndex> {
        clip::require_vector(input, self.dimension as usize)?;
        let index = self.draw_index(rng);
        Ok(SignedIndex { index, is_positive: self.sign_coin(input, index).flip(rng) })
    }

    fn frame_len(&self) -> usize {
        SignedIndexCode::new(self.dimension).frame_len()
    }

    fn encode(&self, report: &SignedIndex, frame: &mut [u8]) {
        SignedIndexCode::new(self.dimension).encode(*report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<SignedIndex> {
        SignedIndexCode::new(self.dimension).decode(frame)
    }

    fn aggregator(&self) -> SignedCounts {
        SignedCounts::new(self.dimension as usize, self.magnitude())
    }
}

impl Likelihood for RInf {
    fn ln_likelihood(&self, report: &SignedIndex, input: &[f32]) -> f64 {
        self.sign_coin(input, report.index).probability_of(report.is_positive).ln()
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        [self.bound, -self.bound].map(|x| vec![x; self.dimension as usize].into())
    }
}

impl BoundedReports for RInf {
    /// ±a·d·c with probability 1/d, else 0.
    fn second_moment(&self) -> f64 {
        self.magnitude().powi(2) / f64::from(self.dimension)
    }

    fn largest_deviation(&self) -> f64 {
        self.magnitude() + f64::from(self.bound)
    }
}
