//! R_2: a direction in the half-space of a vector in the ℓ2 ball (Duchi, Jordan and Wainwright
//! 2018, "Minimax Optimal Procedures for Locally Private Estimation", section 4.2.3); the same is
//! the client of LDP-SGD.
//!
//! On paper: x is rounded to ±a·x/‖x‖, + with probability ½ + ‖x‖/(2a); v is uniform on the
//! half-sphere of the rounded vector with probability e^ε0/(e^ε0+1), else on the opposite one; the
//! report decodes to B·v, B = a·c·√π·Γ((d+1)/2)/Γ(d/2), `c = (e^ε0+1)/(e^ε0−1)`: unbiased, with
//! squared length B².
//!
//! Here: v is drawn from the whole sphere, *without looking at x*, as a 63-bit seed that
//! [`direction`] expands, and the report is ±v. The two coins above are then one,
//! `P(+) = ½ + sign⟨v,x⟩·(‖x‖/a)·h/2`, `h = tanh(ε0/2)`, and a fair one if ⟨v,x⟩ = 0. Given the
//! seed this is an ε0-LDP sign, whatever the seed expands to: so is the pair.
//!
//! A report is seed and sign: 64 bits. A longer seed would buy nothing: two equal ones among n
//! clients (chance n²/2^64) are two equal directions, which costs no privacy and no bias.

use crate::clip;
use crate::coin::{Coin, PrivateCoin};
use crate::direction;
use crate::error::{Result, require};
use crate::estimate::mean::BoundedReports;
use crate::likelihood::Likelihood;
use crate::norms;
use crate::randomizer::{Aggregator, Randomizer};
use crate::randomness::Randomness;
use crate::running_sums;
use crate::saved_sums;
use crate::word_code::WordCode;
use pulp::Arch;
use shuffledp_accounting::numerics::gamma::stirling_error;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// Duchi's mechanism over vectors of one dimension and bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duchi {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    coin: PrivateCoin,
}

/// A direction by its seed, and whether it is sent as it is or reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedSeed {
    /// Below 2^63.
    pub seed: u64,
    /// Was it +?
    pub is_positive: bool,
}

impl Duchi {
    /// For vectors of `dimension` coordinates, scaled down to a Euclidean length of at most
    /// `bound`.
    pub fn new(local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        Self::of(Mechanism::R2 { local_epsilon }, local_epsilon, dimension, bound)
    }

    /// The same under the name it has in LDP-SGD.
    pub fn ldp_sgd(local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        Self::of(Mechanism::LdpSgd { local_epsilon }, local_epsilon, dimension, bound)
    }

    fn of(mechanism: Mechanism, local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        let spec = RandomizerSpec::new(mechanism)?;
        require(dimension > 0, "dimension", "at least 1", dimension)?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        Ok(Self { spec, dimension, bound, coin: PrivateCoin::new(local_epsilon)? })
    }

    /// B: the length of every decoded report.
    pub fn magnitude(&self) -> f64 {
        f64::from(self.bound) * self.coin.debias() * inverse_mean_cosine(self.dimension)
    }

    /// The coin that decides the sign of the direction of `seed`: what an auditor needs to know
    /// exactly.
    pub fn sign_coin(&self, input: &[f32], seed: u64) -> Coin {
        // Clipping is what the coin does to a lean above 1.
        let lean = norms::l2_norm(input) / f64::from(self.bound);
        let cosine = direction::with_normals(seed, input.len(), |normals| norms::dot(normals, input));
        self.coin.leaning(if cosine > 0.0 {
            lean
        } else if cosine < 0.0 {
            -lean
        } else {
            0.0
        })
    }
}

/// 1/E|v_1| for v uniform on the sphere: √π·Γ((d+1)/2)/Γ(d/2).
///
/// Through Stirling errors S, with x = d/2: ln of the ratio is ½ ln
/// x + ½ + x·ln(1 − 1/d) + S(x−½) − S(x). Nothing of the size of x ln x is subtracted, so it is
/// good to a few units in the last place at every d.
fn inverse_mean_cosine(dimension: u32) -> f64 {
    if dimension == 1 {
        return 1.0;
    }
    let x = f64::from(dimension) / 2.0;
    let ln_ratio = 0.5 + x * (-0.5 / x).ln_1p() + stirling_error(x - 0.5) - stirling_error(x);
    (std::f64::consts::PI * x).sqrt() * ln_ratio.exp()
}

impl Randomizer for Duchi {
    type Input = [f32];
    type Report = SignedSeed;
    type Aggregator = DirectionSum;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<SignedSeed> {
        clip::require_vector(input, self.dimension as usize)?;
        let seed = rng.bits() >> 1;
        Ok(SignedSeed { seed, is_positive: self.sign_coin(input, seed).flip(rng) })
    }

    fn frame_len(&self) -> usize {
        WordCode::up_to(u64::MAX).frame_len()
    }

    fn encode(&self, report: &SignedSeed, frame: &mut [u8]) {
        WordCode::up_to(u64::MAX).encode((report.seed << 1) | u64::from(report.is_positive), frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<SignedSeed> {
        // Every word is a report that some input makes.
        let word = WordCode::up_to(u64::MAX).decode(frame)?;
        Ok(SignedSeed { seed: word >> 1, is_positive: word % 2 == 1 })
    }

    fn aggregator(&self) -> DirectionSum {
        let dimension = self.dimension as usize;
        DirectionSum { sums: vec![0.0; dimension], count: 0, magnitude: self.magnitude() }
    }
}

impl Likelihood for Duchi {
    fn ln_likelihood(&self, report: &SignedSeed, input: &[f32]) -> f64 {
        self.sign_coin(input, report.seed).probability_of(report.is_positive).ln()
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        // Opposite and as long as allowed: every direction is in the half-space of one of them.
        [self.bound, -self.bound].map(|x| {
            let mut input = vec![0.0; self.dimension as usize];
            input[0] = x;
            input.into()
        })
    }
}

impl BoundedReports for Duchi {
    /// B²·E[v_j²], and a direction is uniform up to its sign, whatever the input: 1/d.
    fn second_moment(&self) -> f64 {
        self.magnitude().powi(2) / f64::from(self.dimension)
    }

    fn largest_deviation(&self) -> f64 {
        self.magnitude() + f64::from(self.bound)
    }
}

/// The sum of the directions, each coordinate rounded to a multiple of 2^−32 first: as long as no
/// sum exceeds 2^21 (2 million reports at the very worst, far more among honest ones), every
/// addition is exact, and the order and the merges leave no trace. Beyond, an addition errs by
/// 2^−53 of the sum.
#[derive(Debug, Clone)]
pub struct DirectionSum {
    sums: Vec<f64>,
    count: u64,
    magnitude: f64,
}

/// Adding and taking off 1.5·2^20 rounds to a multiple of 2^−32, halves to even.
const TO_GRID: f64 = 1_572_864.0;

impl Aggregator for DirectionSum {
    type Report = SignedSeed;

    fn add(&mut self, report: &SignedSeed) {
        let Self { sums, .. } = self;
        direction::with_normals(report.seed, sums.len(), |normals| {
            let norm = norms::l2_norm(normals);
            if norm > 0.0 {
                let scale = if report.is_positive { 1.0 / norm } else { -1.0 / norm };
                Arch::new().dispatch(|| {
                    for (sum, &z) in sums.iter_mut().zip(normals) {
                        *sum += (scale * f64::from(z) + TO_GRID) - TO_GRID;
                    }
                });
            } else {
                // All normals are 0, which one seed in 2^25 does at d = 1 and none in practice
                // above 3: its sign was a fair coin, any direction is as good.
                sums[0] += if report.is_positive { 1.0 } else { -1.0 };
            }
        });
        self.count += 1;
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let is_same_mechanism = self.magnitude.to_bits() == other.magnitude.to_bits();
        running_sums::merge(&mut self.sums, other.sums, is_same_mechanism)?;
        self.count += other.count;
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        saved_sums::save(self.count, &self.sums)
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        (self.count, self.sums) = saved_sums::load(saved, self.sums.len(), |count, sums: &[f64]| {
            sums.iter().all(|sum| sum.abs() <= 1.001 * count as f64)
        })?;
        Ok(())
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn mean(&self) -> Result<Vec<f64>> {
        let scale = self.magnitude / running_sums::divisor(self.count)?;
        Ok(self.sums.iter().map(|sum| sum * scale).collect())
    }
}
