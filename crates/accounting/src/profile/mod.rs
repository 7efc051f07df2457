//! Local privacy profiles: all that a shuffled bound needs to know of a randomizer.
//!
//! The profile of a randomizer R is `δ(s) = sup over ordered pairs of inputs of ∫(R_x − s·R_x')₊`,
//! for s ≥ 1: at s = e^ε it is the δ with which one report is (ε, δ)-private. It is convex, does
//! not increase, and for s < 1 follows by `δ(s) = 1 − s + s·δ(1/s)`.
//!
//! Functions take `excess = s − 1`, so that nothing is lost next to s = 1, and round up.

mod concentrated;
mod gaussian;
mod points;

pub use points::{MAX_POINTS, ProfilePoints};

use crate::numerics::directed::inflate;
use crate::numerics::elementary::{exp, exp_m1, exp_m1_up, ln_1p};

/// Covers the roundings of the closed forms below.
const SLACK: f64 = 16.0 * f64::EPSILON;

/// The proven privacy of one report of a randomizer, for any two inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LocalProfile {
    /// ε0-LDP, and no more is known: that of binary randomized response, `(E − s)₊/(E + 1)`.
    Pure {
        /// ε0.
        epsilon: f64,
    },
    /// Two densities of ratio E = e^ε0, the higher on a set of measure q for every input:
    /// `q(E − s)₊/(1 + (E−1)q)` for s ≥ 1.
    TwoLevel {
        /// ε0.
        epsilon: f64,
        /// q, at most 1/2.
        high_mass: f64,
    },
    /// (ε0, δ0)-LDP: `δ0 + (1 − δ0)(E − s)₊/(E + 1)`.
    Approximate {
        /// ε0.
        epsilon: f64,
        /// δ0.
        delta: f64,
    },
    /// Two unit Gaussians a distance μ apart: Balle and Wang 2018, Theorem 8.
    Gaussian {
        /// μ: sensitivity over the standard deviation of the noise.
        mu: f64,
    },
    /// Laplace noise, in any dimension: `1 − √(s/E)` up to s = E (`docs/theory/releases.md`).
    Laplace {
        /// ε0: sensitivity in ℓ1 over the scale of the noise.
        epsilon: f64,
    },
    /// Discrete Laplace noise, two inputs at most `distance` steps of the grid apart: that of
    /// Laplace noise at `s = E·e^{−2iε0/distance}`, connected by chords.
    DiscreteLaplace {
        /// ε0: the distance in steps over the scale of the noise in steps.
        epsilon: f64,
        /// The largest distance of two inputs, in steps.
        distance: u64,
    },
    /// Rényi divergence at most `μ²λ/2` at every order λ, converted to (ε, δ) at the best order.
    Concentrated {
        /// μ.
        mu: f64,
    },
    /// Points of a profile, connected by chords.
    Points(ProfilePoints),
}

impl LocalProfile {
    /// At least δ(1 + `excess`), for `excess` ≥ 0. **Direction: up.** Every value is between 0 and
    /// 1.
    pub fn delta_upper(&self, excess: f64) -> f64 {
        // Exactly: what is rounded up below must not become a δ0.
        if self.pure_epsilon().is_some() && excess >= self.end() {
            return 0.0;
        }
        let delta = match *self {
            Self::Pure { epsilon } => inflate(ramp(epsilon, excess) / (1.0 + exp(epsilon)), SLACK),
            Self::TwoLevel { epsilon, high_mass } => {
                let q = high_mass;
                inflate(q * ramp(epsilon, excess) / (1.0 + q * exp_m1(epsilon)), SLACK)
            }
            Self::Approximate { epsilon, delta } => {
                inflate(delta + (1.0 - delta) * ramp(epsilon, excess) / (1.0 + exp(epsilon)), SLACK)
            }
            Self::Gaussian { mu } => gaussian::delta_upper(mu, excess),
            Self::Laplace { epsilon } => inflate(laplace(missing(epsilon, excess)), SLACK),
            Self::DiscreteLaplace { epsilon, distance } => discrete_laplace(epsilon, distance, excess),
            Self::Concentrated { mu } => concentrated::delta_upper(mu, excess),
            Self::Points(points) => points.delta_upper(excess),
        };
        delta.min(1.0)
    }

    /// ε0, if the randomizer is ε0-LDP with no δ0.
    pub fn pure_epsilon(&self) -> Option<f64> {
        match *self {
            Self::Pure { epsilon }
            | Self::TwoLevel { epsilon, .. }
            | Self::Laplace { epsilon }
            | Self::DiscreteLaplace { epsilon, .. } => Some(epsilon),
            Self::Approximate { epsilon, delta } => (delta <= 0.0).then_some(epsilon),
            Self::Gaussian { .. } | Self::Concentrated { .. } => None,
            Self::Points(points) => points.pure_epsilon(),
        }
    }

    /// The profile of two inputs half as far apart, where the profile is one of noise: of a vector
    /// in a ball against its centre.
    ///
    /// Gaussian and Laplace noise, and Rényi divergences that grow with the square of the distance,
    /// depend on the distance over the scale of the noise alone. Discrete Laplace noise half of
    /// `distance` steps apart has the profile of as many steps; of all numbers of steps 1 is the
    /// worst, for it connects the two dots at the ends only.
    pub fn at_half_distance(&self) -> Option<Self> {
        match *self {
            Self::Gaussian { mu } => Some(Self::Gaussian { mu: 0.5 * mu }),
            Self::Concentrated { mu } => Some(Self::Concentrated { mu: 0.5 * mu }),
            Self::Laplace { epsilon } => Some(Self::Laplace { epsilon: 0.5 * epsilon }),
            Self::DiscreteLaplace { epsilon, .. } => {
                Some(Self::DiscreteLaplace { epsilon: 0.5 * epsilon, distance: 1 })
            }
            Self::Pure { .. } | Self::TwoLevel { .. } | Self::Approximate { .. } | Self::Points(_) => None,
        }
    }

    /// The excess from which on the profile is constant; infinite if there is none.
    pub fn end(&self) -> f64 {
        match *self {
            Self::Pure { epsilon }
            | Self::TwoLevel { epsilon, .. }
            | Self::Approximate { epsilon, .. }
            | Self::Laplace { epsilon }
            | Self::DiscreteLaplace { epsilon, .. } => largest_excess(epsilon),
            Self::Gaussian { .. } | Self::Concentrated { .. } => f64::INFINITY,
            Self::Points(points) => points.end(),
        }
    }
}

/// At least e^ε0 − 1.
fn largest_excess(epsilon: f64) -> f64 {
    exp_m1_up(epsilon)
}

/// At least `(E − s)₊`: the difference may be small next to the rounding of E.
fn ramp(epsilon: f64, excess: f64) -> f64 {
    (largest_excess(epsilon) - excess).max(0.0)
}

/// At least ε0 − ε: both may be rounded, and their difference may be small.
fn missing(epsilon: f64, excess: f64) -> f64 {
    epsilon - ln_1p(excess) + 4.0 * f64::EPSILON * epsilon
}

/// `1 − e^{−x/2}` for x = ε0 − ε, the loss that is missing to the largest.
fn laplace(missing: f64) -> f64 {
    -exp_m1(-0.5 * missing.max(0.0))
}

/// The chord of Laplace noise's profile over the grid `E·e^{−2iε0/m}` that the losses of discrete
/// noise lie on.
///
/// With `a = e^{−ε0/m}` the noise has mass proportional to `a^{|x|}`, a shift by m steps has the
/// likelihood ratios `E·a^{2i}`, i = 0..m, and `H_s = 1 − a^i` at `s = E·a^{2i}`; between them no
/// outcome changes sign, so H is linear. Smaller shifts, and those that are spread over several
/// coordinates, are dominated as for Laplace noise.
fn discrete_laplace(epsilon: f64, distance: u64, excess: f64) -> f64 {
    let step = 2.0 * epsilon / distance as f64;
    let place = ((epsilon - ln_1p(excess)) / step).floor().max(0.0);
    // From the upper to the lower end of the chord, E·e^{−i·step} to E·e^{−(i+1)·step}; losses
    // above ε0 are none.
    let (upper, lower) = (largest_excess(epsilon - place * step), exp_m1(epsilon - (place + 1.0) * step));
    let share = ((upper - excess) / (upper - lower)).clamp(0.0, 1.0);
    let (least, most) = (laplace(place * step), laplace((place + 1.0) * step));
    inflate(least + share * (most - least), 64.0 * f64::EPSILON * (1.0 + epsilon) * distance as f64)
}
