//! Loss lattices of outputs that are not shuffled: Gaussian noise, Laplace noise, randomized
//! response.
//!
//! Each is dominated by a pair on the line (`docs/theory/releases.md`), whose losses have a
//! density, atoms, or both. Every cell of the lattice splits its mass between its ends as
//! [`super::discretise`] does for outcomes. The integrands have one sign, so nothing cancels.

use super::compose::power_of_two;
use super::intervals::Intervals;
use super::{Direction, LossLattice};
use crate::numerics::elementary::{exp, exp_m1};
use crate::scheme::{Output, Release, response_loss};
use std::f64::consts::TAU;
use std::marker::PhantomData;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// A Gaussian loss is cut at so many deviations: beyond them lies less than [`GAUSSIAN_TAIL`], and
/// within them no density underflows.
const GAUSSIAN_REACH: f64 = 37.0;

/// At least the mass of a Gaussian above 37 deviations, which is 5.726e-300.
const GAUSSIAN_TAIL: f64 = 5.8e-300;

/// Smaller parameters are taken for this one, which dominates them: below it densities overflow.
const SMALLEST_PARAMETER: f64 = 1e-200;

/// Cells are at most so wide: then eight nodes integrate exponentials to well below the roundoff.
const WIDEST_CELL: f64 = 0.5;

/// Gauss–Legendre nodes on [0, 1] below 1/2, each with its weight; the others are their mirror
/// images.
const NODES: [(f64, f64); 4] = [
    (0.019_855_071_751_231_884, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_63, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_64),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
];

impl LossLattice {
    /// The loss of one output, dominating it, with `per_deviation` lattice points to about a
    /// standard deviation.
    pub fn of_release(release: &Release, per_deviation: f64) -> Self {
        match release.output() {
            Output::Gaussian { mu } => gaussian(mu.max(SMALLEST_PARAMETER), per_deviation),
            Output::Laplace { epsilon } => laplace(epsilon.max(SMALLEST_PARAMETER), per_deviation),
            Output::RandomizedResponse { noise, buckets } => randomized_response(noise, buckets, per_deviation),
        }
    }
}

/// N(0, 1) against N(μ, 1): under the first the loss is N(μ²/2, μ²).
fn gaussian(mu: f64, per_deviation: f64) -> LossLattice {
    let mean = 0.5 * mu * mu;
    let (from, to) = (mean - GAUSSIAN_REACH * mu, mean + GAUSSIAN_REACH * mu);
    let mut cells = Cells::new(power_of_two((mu / per_deviation).min(WIDEST_CELL)), from, to);
    cells.add_density(from, to, |loss| {
        let z = (loss - mean) / mu;
        exp(-0.5 * z * z) / (mu * TAU.sqrt())
    });
    // What lies below the cut moves up to it.
    cells.add_atom(from, GAUSSIAN_TAIL);
    // z is off by 2U(μ + 37), which moves its square by 37 times twice that.
    cells.into_lattice(GAUSSIAN_TAIL, 256.0 * U * (mu + GAUSSIAN_REACH), 0.0)
}

/// e^{−|x|}/2 against the same moved by ε: half of the mass has the loss ε, e^{−ε}/2 of it −ε, and
/// in between the loss has the density e^{(ℓ−ε)/2}/4.
fn laplace(epsilon: f64, per_deviation: f64) -> LossLattice {
    let spacing = power_of_two((epsilon.min(2.0) / per_deviation).max(epsilon / 65_536.0));
    let mut cells = Cells::new(spacing, -epsilon, epsilon);
    cells.add_density(-epsilon, epsilon, |loss| 0.25 * exp(0.5 * (loss - epsilon)));
    cells.add_atom(epsilon, 0.5);
    cells.add_atom(-epsilon, 0.5 * exp(-epsilon));
    // Beyond ε = 600 masses may underflow, each by less than the smallest float.
    let infinity = if epsilon > 600.0 { 1e-300 } else { 0.0 };
    cells.into_lattice(infinity, 32.0 * U * (8.0 + epsilon), 4.0 * U * epsilon)
}

/// The true value has probability 1 − p + p/k, every other p/k: the losses ±ln(1 + k(1−p)/p), and 0
/// at the values that neither dataset holds.
fn randomized_response(noise: f64, buckets: u64, per_deviation: f64) -> LossLattice {
    let loss = response_loss(noise, buckets);
    let (high, low) = response_masses(noise, buckets);
    // Three atoms cost the same on any lattice, and a fine one keeps them where they are: sums of
    // few of them are what δ is about.
    let spacing = power_of_two((loss / (32.0 * per_deviation)).max(loss / 16_384.0));
    let mut cells = Cells::new(spacing, -loss, loss);
    cells.add_atom(loss, high);
    cells.add_atom(-loss, low);
    cells.add_atom(0.0, low * (buckets - 2) as f64);
    cells.into_lattice(0.0, 64.0 * U, 32.0 * U * (1.0 + loss))
}

/// The probabilities of the true value, and of each other.
fn response_masses(noise: f64, buckets: u64) -> (f64, f64) {
    let low = noise / buckets as f64;
    (1.0 - noise + low, low)
}

/// The cells of a lattice that reach from one loss to another.
struct Cells {
    spacing: f64,
    intervals: Intervals,
}

impl Cells {
    fn new(spacing: f64, from: f64, to: f64) -> Self {
        let (first, last) = ((from / spacing).floor() as i64, (to / spacing).floor() as i64);
        Self { spacing, intervals: Intervals::new(first, (last - first + 1) as usize) }
    }

    /// Splits a mass that lies `above` the lower end of a cell and `below` its upper end:
    /// (1 − e^{−above})/(1 − e^{−h}) goes up, the rest, e^{−above}(1 − e^{−below})/(1 − e^{−h}),
    /// down.
    fn split(&mut self, cell: usize, above: f64, below: f64, mass: f64) {
        let whole = exp_m1(-self.spacing);
        self.intervals.high[cell] += mass * exp_m1(-above) / whole;
        self.intervals.low[cell] += mass * exp(-above) * exp_m1(-below) / whole;
    }

    fn add_atom(&mut self, loss: f64, mass: f64) {
        let index = (loss / self.spacing).floor();
        let above = loss - index * self.spacing;
        self.split((index as i64 - self.intervals.first) as usize, above, self.spacing - above, mass);
    }

    /// Adds the integral of `density` from one loss to another, cell by cell.
    fn add_density(&mut self, from: f64, to: f64, density: impl Fn(f64) -> f64) {
        for cell in 0..self.intervals.low.len() {
            let bottom = (self.intervals.first + cell as i64) as f64 * self.spacing;
            let start = (from - bottom).max(0.0);
            let width = (to - bottom).min(self.spacing) - start;
            if width <= 0.0 {
                continue;
            }
            // From the upper end of the cell: exactly 0 where the cell is full.
            let short = self.spacing - (start + width);
            for (node, weight) in NODES {
                for (near, far) in [(node, 1.0 - node), (1.0 - node, node)] {
                    let above = start + width * near;
                    self.split(cell, above, short + width * far, width * weight * density(bottom + above));
                }
            }
        }
    }

    fn into_lattice(self, infinity: f64, relative_error: f64, loss_error: f64) -> LossLattice {
        let (first, masses) = self.intervals.into_masses(Direction::Up, self.spacing, 0.0);
        LossLattice {
            rounding: PhantomData,
            spacing: self.spacing,
            first,
            masses,
            infinity,
            relative_error,
            loss_error,
            remainder: None,
        }
    }
}
