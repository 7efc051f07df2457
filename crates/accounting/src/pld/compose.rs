//! Many rounds: convolution powers by FFT, in stages.
//!
//! A lattice fine enough for one round (a fraction of its deviation s) is too fine for T of them
//! (deviation s√T). So T rounds are composed as [`BLOCKS`] blocks of T/[`BLOCKS`] rounds, each
//! block composed the same way and then moved to a coarser lattice, in the direction that is safe.
//! Each stage adds about `1/(6·resolution²)` to the relative variance, and every FFT stays small
//! whatever T is.

use super::tilted::Tilted;
use super::{Direction, LossLattice, Rounding, Up};
use crate::numerics::convolution::{Factor, fast_length, product_of_powers};
use crate::numerics::elementary::{exp, exp_m1, exp2, ln_1p, log2, powi};
use crate::numerics::horner::trimmed;
use std::sync::Arc;

/// The rounds that are composed: loss lattices, all rounded the same way, and how often each
/// occurs.
///
/// Lattices that were rounded down do not go into an upper bound:
///
/// ```compile_fail
/// use shuffledp_accounting::pld::{Down, LossLattice, Rounds, Up};
///
/// fn upper_bound(lattice: std::sync::Arc<LossLattice<Down>>) -> Rounds<Up> {
///     Rounds::new(vec![(lattice, 1)])
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Rounds<D: Rounding = Up> {
    pub(super) parts: Vec<(Arc<LossLattice<D>>, u64)>,
}

/// More repetitions than twice this are composed in so many blocks.
const BLOCKS: u64 = 256;

/// Lattice points to a standard deviation of a block.
const PER_DEVIATION: f64 = 64.0;

/// No FFT is longer; lattices become coarser instead.
const MAX_LENGTH: usize = 1 << 20;

/// No index is larger; lattices become coarser instead. All indices up to it are exact as floats.
const MAX_INDEX: f64 = (1_u64 << 52) as f64;

/// Tails outside of a window are bounded more carefully if the first attempt does not show them
/// below `e^` this.
const NEGLIGIBLE_TAIL: f64 = -35.0;

/// Windows that miss too much are widened up to this factor.
const MAX_STRETCH: f64 = 16.0;

/// The masses of all rounds together may exceed 1 by a factor of up to e^ this before that is
/// charged where mass was cut off: until then the allowance for reading covers it.
pub(super) const NEGLIGIBLE_GROWTH: f64 = 1.0;

/// Supports up to this many points are not cut.
const ALWAYS_COMPLETE: f64 = 16_384.0;

impl<D: Rounding> Rounds<D> {
    /// Each lattice so many times, at least once.
    pub fn new(parts: Vec<(Arc<LossLattice<D>>, u64)>) -> Self {
        debug_assert!(parts.iter().all(|(_, count)| *count > 0));
        Self { parts }
    }

    /// One of `divisor` repetitions of every lattice; `None` if some lattice occurs less often.
    pub(crate) fn fewer(&self, divisor: u64) -> Option<Self> {
        let fewer = |(lattice, count): &(Arc<LossLattice<D>>, u64)| (Arc::clone(lattice), count / divisor);
        let parts: Vec<_> = self.parts.iter().map(fewer).collect();
        parts.iter().all(|(_, count)| *count > 0).then_some(Self { parts })
    }

    /// Composes, tilted by θ. Windows reach `deviations` standard deviations to either side.
    pub(super) fn composed(&self, theta: f64, deviations: f64) -> Tilted {
        let parts = self.parts.iter().map(|(lattice, count)| (Tilted::new(lattice, theta), *count)).collect();
        let mut composed = compose(parts, deviations, D::DIRECTION);
        // What one block puts at infinity is multiplied by the masses of all others.
        let growth: f64 = self.parts.iter().map(|(lattice, count)| lattice.relative_error * *count as f64).sum();
        if growth > NEGLIGIBLE_GROWTH {
            composed.infinity *= exp(growth);
        }
        composed
    }

    /// The largest shift of a loss over all rounds together.
    pub(super) fn loss_error(&self) -> f64 {
        self.parts.iter().map(|(lattice, count)| lattice.loss_error * *count as f64).sum()
    }
}

pub(super) fn compose(parts: Vec<(Tilted, u64)>, deviations: f64, direction: Direction) -> Tilted {
    if let [(only, 1)] = parts.as_slice() {
        return only.clone();
    }
    let variance: f64 = parts.iter().map(|(t, count)| *count as f64 * t.moments().1 * t.spacing * t.spacing).sum();
    let spacing = power_of_two(variance.sqrt() / (PER_DEVIATION * (BLOCKS as f64).sqrt()));
    let mut staged = Vec::new();
    for (tilted, count) in parts {
        if count > 2 * BLOCKS {
            let rest = count % BLOCKS;
            if rest > 0 {
                staged.push((tilted.clone(), rest));
            }
            staged.push((compose(vec![(tilted, count / BLOCKS)], deviations, direction), BLOCKS));
        } else {
            staged.push((tilted, count));
        }
    }
    let finest = staged.iter().map(|(t, _)| t.spacing).fold(f64::INFINITY, f64::min);
    // No part alone may be longer than a window.
    let widest = staged.iter().map(|(t, _)| (t.masses.len() - 1) as f64 * t.spacing).fold(0.0, f64::max);
    let mut spacing = spacing.max(finest).max(power_of_two(widest / MAX_LENGTH as f64));
    let mut stretch = 1.0;
    loop {
        for (tilted, _) in &mut staged {
            let ratio = spacing / tilted.spacing;
            if ratio > 1.0 {
                *tilted = tilted.coarsened(ratio, direction);
            }
        }
        let window = Window::new(&staged, spacing, stretch * deviations);
        if window.length > MAX_LENGTH || window.is_far {
            spacing *= 2.0;
            continue;
        }
        let tails = if window.complete { None } else { Some(outside(&staged, spacing, &window)) };
        // Rare large losses have heavier tails than a Gaussian of their variance. What a window
        // cuts off is charged, so a wider one costs time only.
        let enough = tails.is_none_or(|(below, above)| below.max(above) <= -0.375 * deviations * deviations);
        if enough || stretch >= MAX_STRETCH {
            return convolve(&staged, spacing, &window, tails, direction);
        }
        stretch *= 2.0;
    }
}

/// The largest power of two that is at most `x`: all lattices have such spacings, so that each
/// contains the coarser ones.
pub(crate) fn power_of_two(x: f64) -> f64 {
    exp2(log2(x).floor())
}

/// The lattice points `first .. first + length` on which a composition is computed.
struct Window {
    first: i64,
    length: usize,
    /// Nothing lies outside.
    complete: bool,
    /// Some index is beyond [`MAX_INDEX`].
    is_far: bool,
}

impl Window {
    fn new(parts: &[(Tilted, u64)], spacing: f64, deviations: f64) -> Self {
        let (mut mean, mut variance, mut low, mut high, mut widest) = (0.0, 0.0, 0.0, 0.0, 0.0_f64);
        for (tilted, count) in parts {
            let (stride, count) = (tilted.spacing / spacing, *count as f64);
            let (m, v) = tilted.moments();
            let extent = (tilted.masses.len() - 1) as f64 * stride;
            mean += count * m * stride;
            variance += count * v * stride * stride;
            low += count * tilted.first as f64 * stride;
            high += count * (tilted.first as f64 * stride + extent);
            widest = widest.max(extent);
        }
        let is_far = f64::max(low.abs(), high.abs()) > MAX_INDEX;
        let half = deviations * variance.sqrt() + widest / 2.0 + 2.0;
        let length = fast_length(((2.0 * half) as usize).min(4 * MAX_LENGTH) + 1);
        // Also where the window is as long as the support only because lengths are rounded up to
        // fast ones.
        if high - low < f64::max(length as f64, ALWAYS_COMPLETE) {
            let length = fast_length((high - low) as usize + 1);
            return Self { first: low as i64, length, complete: true, is_far };
        }
        Self { first: (mean - half).floor() as i64, length, complete: false, is_far }
    }
}

/// The convolution of all parts on the window. What lies outside of it reappears inside (the
/// cycle), which can only add to an upper bound and is subtracted from a lower one. For an upper
/// bound, what lies above is charged to infinity, and what lies below is remembered as lost:
/// tilted, its reappearance does not pay for it, because the cycle keeps *tilted* mass, and the
/// same tilted mass at a larger loss is less P-mass.
///
/// `tails` are the logarithms of what lies below and above, if anything does.
fn convolve(
    parts: &[(Tilted, u64)],
    spacing: f64,
    window: &Window,
    tails: Option<(f64, f64)>,
    direction: Direction,
) -> Tilted {
    let factors: Vec<Factor<'_>> = parts
        .iter()
        .map(|(tilted, power)| {
            let stride = (tilted.spacing / spacing).round() as i64;
            Factor { first: tilted.first * stride, stride, values: &tilted.masses, power: *power }
        })
        .collect();
    let (cycle, error) = product_of_powers(&factors, window.length);
    let start = window.first.rem_euclid(window.length as i64) as usize;
    let theta = parts[0].0.theta;
    let ln_scale: f64 = parts.iter().map(|(t, count)| t.ln_scale * *count as f64).sum();
    let mut infinity: f64 = parts.iter().map(|(t, count)| t.infinity * *count as f64).sum();
    // Paths with at least one lost part: Π(1 + lost)^count − 1.
    let mut lost = exp_m1(parts.iter().map(|(t, count)| ln_1p(t.lost) * *count as f64).sum::<f64>());
    let mut shift = error;
    if let Some((below, above)) = tails {
        let top = (window.first + window.length as i64) as f64 * spacing;
        match direction {
            Direction::Up => {
                infinity += exp(above + ln_scale - theta * top) * (1.0 + 1e-9);
                if theta > 0.0 {
                    lost += exp(below) * (1.0 + 1e-9);
                }
            }
            Direction::Down => shift += exp(below) + exp(above),
        }
    }
    let shift = direction.sign() * shift;
    let masses = cycle[start..].iter().chain(&cycle[..start]).map(|mass| (mass.max(0.0) + shift).max(0.0)).collect();
    let (first, masses) = trimmed(window.first, masses);
    let mut result = Tilted { theta, spacing, first, masses, ln_scale, infinity, lost };
    result.normalise();
    result
}

/// At least the logarithms of the tilted masses below and above the window (Chernoff).
fn outside(parts: &[(Tilted, u64)], spacing: f64, window: &Window) -> (f64, f64) {
    let half = window.length as f64 / 2.0 * spacing;
    let variance: f64 = parts.iter().map(|(t, c)| t.moments().1 * t.spacing * t.spacing * *c as f64).sum();
    let (bottom, top) = (window.first as f64 * spacing, (window.first + window.length as i64) as f64 * spacing);
    let bound = |phi: f64, edge: f64| {
        parts.iter().map(|(t, count)| t.cumulant_upper(phi) * *count as f64).sum::<f64>() - phi * edge
    };
    let smallest = |sign: f64, edge: f64| {
        let gaussian = sign * half / variance.max(spacing * spacing);
        let at = |share: f64| bound(share * gaussian, edge);
        let quarter = at(0.25);
        // The best φ for a Gaussian, and some to either side of it.
        let larger = while_falling(quarter, [0.5, 0.75, 1.0, 1.5].into_iter().map(at));
        if larger < quarter || larger <= NEGLIGIBLE_TAIL {
            return larger.min(0.0);
        }
        // Few atoms far apart have a heavier tail than their variance tells: a smaller φ.
        while_falling(quarter, (3..24).map(|halvings| at(powi(0.5_f64, halvings)))).min(0.0)
    };
    (smallest(-1.0, bottom), smallest(1.0, top))
}

/// The last of `first` and `values` before they rise. Along a convex function, as Chernoff's bound
/// is in φ, that is the smallest: what has begun to rise goes on rising.
fn while_falling(first: f64, values: impl Iterator<Item = f64>) -> f64 {
    let mut last = first;
    for value in values {
        if value >= last || value.is_nan() {
            break;
        }
        last = value;
    }
    last
}
