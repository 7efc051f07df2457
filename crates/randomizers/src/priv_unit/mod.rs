//! PrivUnit: a point of the sphere, more often near the input's direction (Bhowmick, Duchi,
//! Freudiger, Kapoor, Rogers 2018, "Protection against reconstruction", Algorithm 1; optimal among
//! mechanisms on the unit vectors, Asi, Feldman, Talwar 2022).
//!
//! With probability p a report V is uniform on the cap {v : ⟨v, u⟩ ≥ g} around the unit vector u,
//! else on the rest of the sphere; V/m is unbiased, `m = E⟨V, u⟩`, with squared length 1/m². The
//! cap is the one that accounting assumes
//! ([`optimal_cap`](shuffledp_accounting::scheme::priv_unit::optimal_cap)).
//!
//! **Inputs** are vectors of length at most C, longer ones scaled down to it. A shorter one, of
//! length r, is first rounded to C·u or −C·u, u its direction, the former with probability
//! ½ + r/(2C), so that the mean stays; zero takes a direction uniformly at random.
//!
//! **Reports** are rounded at random to a grid of 2^−15 per coordinate: two bytes, unbiased, which
//! adds at most d·2^−32 to the squared length 1 (and d·2^−30/6 if fractions are spread evenly).
//! Directions and heights are computed in floating point; rounding hides their low-order bits but
//! is no proof that their law is exact. See `docs/limitations.md`.

mod cap;
mod sphere_grid;

use crate::clip;
use crate::deviates;
use crate::error::{Result, require};
use crate::likelihood::Likelihood;
use crate::norms::l2_norm;
use crate::randomizer::Randomizer;
use crate::randomness::Randomness;
use crate::sums::CoordinateSums;
use cap::CapLaw;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use sphere_grid::STEPS;

/// PrivUnit over vectors of one dimension and length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivUnit {
    spec: RandomizerSpec,
    dimension: u32,
    bound: f32,
    law: CapLaw,
}

impl PrivUnit {
    /// For vectors of `dimension` ≥ 2 coordinates, clipped to length `bound`.
    pub fn new(local_epsilon: f64, dimension: u32, bound: f32) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::PrivUnit { local_epsilon, dimension: u64::from(dimension) })?;
        require(bound > 0.0 && bound.is_finite(), "clip", "a finite number above 0", bound)?;
        Ok(Self { spec, dimension, bound, law: CapLaw::new(local_epsilon, dimension)? })
    }

    /// C/m: the length of what a report decodes to. The squared error of one decoded report is
    /// C²/m² − ‖x‖², and what rounding to the grid adds.
    pub fn magnitude(&self) -> f64 {
        f64::from(self.bound) / self.law.mean_height()
    }

    /// d, the number of coordinates.
    pub fn dimension(&self) -> u32 {
        self.dimension
    }

    /// q: the share of the sphere that the cap has. Accounting is told the same.
    pub fn cap_mass(&self) -> f64 {
        self.law.mass()
    }

    /// p: the probability that a report, before rounding to the grid, lies in the cap.
    pub fn cap_probability(&self) -> f64 {
        self.law.coin().probability()
    }

    /// The density of an unrounded report at height t = ⟨v, u⟩ above the equator, relative to the
    /// uniform law: one of two values.
    pub fn density_at_height(&self, height: f64) -> f64 {
        self.law.density(height)
    }

    /// A report before it is rounded to the grid: `t·u + √(1−t²)·w`, u the extreme point that
    /// stands for `input`, w uniform on the unit vectors perpendicular to it. For tests of the law;
    /// what is released is [`randomize`](Randomizer::randomize)d.
    pub fn sample_unrounded<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<Vec<f64>> {
        clip::require_vector(input, self.dimension as usize)?;
        let norm = l2_norm(input);
        if norm == 0.0 {
            // The cap of a uniformly random direction: uniform itself.
            return Ok(uniform_direction(input.len(), rng));
        }
        // A signed 64-bit number is at least −lean·2^63 with probability ½ + lean/2; always, if
        // lean is 1.
        let is_same_way = rng.bits() as i64 as f64 >= -self.lean(norm) * 2.0_f64.powi(63);
        let u = Axis { vector: input, scale: if is_same_way { 1.0 / norm } else { -1.0 / norm } };
        let height = self.law.draw(rng)?;
        let (mut point, length) = perpendicular(u, rng);
        let aside = height.aside / length;
        point.iter_mut().zip(u.vector).for_each(|(w, &x)| *w = height.above * (f64::from(x) * u.scale) + aside * *w);
        Ok(point)
    }

    /// Length over the bound, at most 1.
    fn lean(&self, norm: f64) -> f64 {
        (norm / f64::from(self.bound)).min(1.0)
    }
}

/// The unit vector `scale·vector`.
#[derive(Clone, Copy)]
struct Axis<'a> {
    vector: &'a [f32],
    scale: f64,
}

/// Uniform on the unit sphere.
fn uniform_direction<R: Randomness + ?Sized>(dimension: usize, rng: &mut R) -> Vec<f64> {
    loop {
        let mut w: Vec<f64> = (0..dimension).map(|_| deviates::normal(rng)).collect();
        let norm = dot(&w, &w).sqrt();
        if norm > 0.0 {
            w.iter_mut().for_each(|w| *w /= norm);
            return w;
        }
    }
}

/// A vector perpendicular to `u` whose direction is uniform, and its length.
fn perpendicular<R: Randomness + ?Sized>(u: Axis<'_>, rng: &mut R) -> (Vec<f64>, f64) {
    loop {
        let mut w: Vec<f64> = u.vector.iter().map(|_| deviates::normal(rng)).collect();
        let before = dot(&w, &w);
        remove_component(&mut w, u);
        let mut after = dot(&w, &w);
        // What little is left after much was taken away is not perpendicular to full accuracy; a
        // second time it is (Kahan's "twice is enough").
        if after < before / 4.0 {
            remove_component(&mut w, u);
            after = dot(&w, &w);
        }
        if after > 1e-24 * before {
            return (w, after.sqrt());
        }
    }
}

/// w − ⟨w, u⟩u.
fn remove_component(w: &mut [f64], u: Axis<'_>) {
    let component = dot(w, u.vector) * u.scale * u.scale;
    w.iter_mut().zip(u.vector).for_each(|(w, &x)| *w -= component * f64::from(x));
}

/// Σ a_j·b_j, in lanes that the compiler turns into vector instructions.
fn dot<T: Copy + Into<f64>>(a: &[f64], b: &[T]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (whole_a, whole_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = whole_a.remainder().iter().zip(whole_b.remainder()).map(|(a, &b)| a * b.into()).sum();
    for (a, b) in whole_a.zip(whole_b) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i].into();
        }
    }
    lanes.iter().sum::<f64>() + rest
}

impl Randomizer for PrivUnit {
    type Input = [f32];
    type Report = Box<[i16]>;
    type Aggregator = CoordinateSums<i16>;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<Box<[i16]>> {
        let point = self.sample_unrounded(input, rng)?;
        Ok(point.iter().map(|&x| sphere_grid::round(x, rng)).collect())
    }

    fn frame_len(&self) -> usize {
        2 * self.dimension as usize
    }

    fn encode(&self, report: &Box<[i16]>, frame: &mut [u8]) {
        sphere_grid::encode(report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<Box<[i16]>> {
        sphere_grid::decode(frame, self.dimension as usize)
    }

    fn aggregator(&self) -> CoordinateSums<i16> {
        CoordinateSums::new(self.dimension, self.magnitude() / f64::from(STEPS))
    }
}

impl Likelihood for PrivUnit {
    /// The density of the point before rounding to the grid, taken at the report. Where rounding
    /// crossed the cap's edge it is the other side's: an auditor loses power by that, never
    /// validity.
    fn ln_likelihood(&self, report: &Box<[i16]>, input: &[f32]) -> f64 {
        let norm = l2_norm(input);
        if norm == 0.0 {
            return 0.0;
        }
        let point: Vec<f64> = report.iter().map(|&x| f64::from(x)).collect();
        let height = dot(&point, input) / norm / dot(&point, &point).sqrt();
        let same_way = 0.5 + 0.5 * self.lean(norm);
        (same_way * self.law.density(height) + (1.0 - same_way) * self.law.density(-height)).ln()
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        clip::opposite_poles(self.bound, self.dimension)
    }

    fn third_input(&self) -> Option<Box<[f32]>> {
        clip::third_pole(self.bound, self.dimension)
    }
}
