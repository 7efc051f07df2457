//! From the outcomes of a pair to a lattice of losses.

use super::compose::power_of_two;
use super::intervals::Intervals;
use super::{Direction, LossLattice, Rounding};
use crate::numerics::elementary::{exp, exp_m1, ln, ln_1p, sinh, tanh};
use crate::pair::{LinearPair, Resolution, Row, Rows, Walks};
use std::marker::PhantomData;
use std::ops::Range;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// Losses up to this are placed by `v = (P−Q)/(P+Q)`, which is as accurate as the loss is small;
/// larger ones by `Q/P`, since v is then next to 1 and its rounding, times e^loss, would be mass
/// gained or lost.
const NARROW: f64 = 0.5;

/// Relative error of the outcomes' probabilities, see `docs/numerics.md`.
pub(super) const PROBABILITY_ERROR: f64 = 2e-12;

impl<D: Rounding> LossLattice<D> {
    /// Discretises one round, with `per_deviation` lattice points to a standard deviation of its
    /// loss (fewer if the lattice would not fit into memory: that costs tightness only).
    pub fn new(pair: &LinearPair, per_deviation: f64) -> Self {
        Self::resolved(pair, per_deviation, Resolution::FINE)
    }

    /// The same, with the outcomes of the pair resolved like this.
    pub(crate) fn resolved(pair: &LinearPair, per_deviation: f64, resolution: Resolution) -> Self {
        let direction = D::DIRECTION;
        let rows = pair.rows(direction, resolution);
        let greatest = greatest_loss(pair, &rows);
        let typical = pair.typical_loss();
        let finest = greatest / resolution.points;
        let spacing = power_of_two((typical / per_deviation).max(2.0 * finest).max(1e-200));
        let (intervals, terms) = fill(pair, &rows, direction, spacing, greatest);
        // `terms` is the number of rows and the length of the longest.
        let outcomes = terms * terms;
        let count = intervals.low.len() as f64;
        let (first, masses) = intervals.into_masses(direction, spacing, 0.0);
        Self {
            rounding: PhantomData,
            spacing,
            first,
            masses,
            infinity: rows.remainder.mass_upper() + resolution.underflow(outcomes, spacing),
            relative_error: PROBABILITY_ERROR + 16.0 * U * (count + terms),
            // Up to NARROW a relative error of v, beyond it one of Q/P.
            loss_error: 32.0 * U * sinh(greatest.min(1.0)),
            remainder: (direction == Direction::Up).then_some(rows.remainder),
        }
    }
}

/// The greatest loss among the outcomes that are kept.
fn greatest_loss(pair: &LinearPair, rows: &Rows) -> f64 {
    let u = pair.tilt_step();
    rows.rows
        .iter()
        .map(|row| {
            let (least, most) = rows.kept_steps(row.signals);
            let smaller = row.floor + 2.0 * u * least as f64;
            if smaller > 0.0 { ln_1p(2.0 * u * (most - least) as f64 / smaller) } else { 0.0 }
        })
        .fold(0.0, f64::max)
}

/// Puts every outcome into its interval; also counts how many roundings a sum has seen at the most.
///
/// With `v = U/L` and `τ_i = tanh(ih/2)`, an outcome of loss in `[ih, (i+1)h]` gives its upper end
/// the P-mass `(P − e^{ih}Q)/(1 − e^{−h}) = wL(v − τ_i)·(1+e^{ih})/(1 − e^{−h})` and its lower end
/// `wL(τ_{i+1} − v)·(1+e^{(i+1)h})/(e^h − 1)`: no exponential per outcome, and no cancellation
/// beyond that of v against τ. The outcome with D negated is its mirror image. From [`NARROW`] on,
/// with `x = Q/P`, the upper end has the share `(e^{−ih} − x)/(e^{−ih} − e^{−(i+1)h})` of the
/// P-mass, and the lower end the rest.
fn fill(pair: &LinearPair, rows: &Rows, direction: Direction, spacing: f64, greatest: f64) -> (Intervals, f64) {
    let u = pair.tilt_step();
    let count = (greatest / spacing) as usize + 2;
    let tau: Vec<f64> = (0..=count + 1).map(|i| tanh(i as f64 * spacing / 2.0)).collect();
    let edges: Vec<f64> = (0..=count + 1).map(|i| exp(-(i as f64) * spacing)).collect();
    let narrow = narrow_intervals(spacing).min(count + 1);
    let cells = Cells { tau, edges, per_half_loss: 2.0 / spacing, narrow };
    // Two halves side by side, each with every row in order: so the sums do not depend on where
    // they are parted. Cells beyond `narrow` stay together, for there an outcome may move to a
    // neighbour.
    let half = cells.interval_of(rows.rows.get(rows.rows.len() / 2).map_or(0.0, |row| middle(row, u, rows)));
    // Each outcome is on one side: the last interval, which has all that is left, belongs to the
    // upper one.
    let half = half.min(narrow).min(count);
    let sums_of = |range: Range<usize>| match direction {
        Direction::Up => cells.sums::<false>(rows, u, range),
        Direction::Down => cells.sums::<true>(rows, u, range),
    };
    let ((mut sums, longest), (upper, _)) = rayon::join(|| sums_of(0..half), || sums_of(half..count + 1));
    sums.extend(upper);
    (scaled(&sums, &cells, spacing), (rows.rows.len() + longest) as f64)
}

/// About the median of v over the upper half of a row's outcomes.
fn middle(row: &Row, u: f64, rows: &Rows) -> f64 {
    let (_, most) = rows.kept_steps(row.signals);
    let level = row.floor + u * row.signals as f64;
    if level > 0.0 { 0.5 * u * (2 * most - row.signals) as f64 / level } else { 0.0 }
}

/// The intervals of the lattice on the side of positive losses.
struct Cells {
    /// τ_i.
    tau: Vec<f64>,
    /// e^{−ih}.
    edges: Vec<f64>,
    /// Intervals to a unit of half a loss.
    per_half_loss: f64,
    /// From this interval on losses are above [`NARROW`].
    narrow: usize,
}

/// A row as it is put into intervals.
struct Shape {
    /// `v` of a step of the walk, and `w·L`.
    slope: f64,
    weight: f64,
    level: f64,
    floor: f64,
    u: f64,
    /// The number of down steps, and the walk, of the first outcome.
    downs: u64,
    walk: f64,
}

impl Cells {
    fn interval_of(&self, v: f64) -> usize {
        self.tau.partition_point(|tau| *tau <= v).saturating_sub(1)
    }

    /// Σ wL(v − τ_i), Σ wL(τ_{i+1} − v) and Σ wL(v − τ_i)(τ_{i+1} − v) up to `narrow`; from there
    /// on what the upper and the lower end get, and the spread: of the intervals of this range.
    /// Also the length of the longest row. The spread only if `SPREAD`: it is for
    /// [`Direction::Down`].
    fn sums<const SPREAD: bool>(&self, rows: &Rows, u: f64, range: Range<usize>) -> (Vec<[f64; 3]>, usize) {
        let tau = &self.tau;
        let mut sums = vec![[0.0_f64; 3]; range.len()];
        let mut walks = Walks::new(rows);
        let mut longest = 0;
        for row in &rows.rows {
            let level = row.floor + u * row.signals as f64;
            if level <= 0.0 {
                continue;
            }
            let (first, count) = rows.upper_half(row.signals);
            longest = longest.max(count);
            let slope = u / level;
            // The walk, exact: a count below 2^53.
            let walk_of = |k: usize| (2 * first - row.signals) as f64 + 2.0 * k as f64;
            // Of the outcomes, which grow, those that belong to these intervals; the last ones have
            // all that is left.
            let up_to = |i: usize| partition_point(count, |k| slope * walk_of(k) < tau[i]);
            let from = if range.start == 0 { 0 } else { up_to(range.start) };
            let to = if range.end + 1 == tau.len() { count } else { up_to(range.end) };
            let is_narrow = |k: usize| self.narrow + 1 >= tau.len() || slope * walk_of(k) < tau[self.narrow];
            let wide = if to == from || is_narrow(to - 1) { to } else { partition_point(to, is_narrow).max(from) };
            let masses = walks.masses(row.signals, from..to);
            let shape = |k: usize| Shape {
                slope,
                weight: row.weight * level,
                level,
                floor: row.floor,
                u,
                downs: row.signals - first - k as u64,
                walk: walk_of(k),
            };
            let (narrow_masses, wide_masses) = masses.split_at(wide - from);
            // One past the last outcome has no shape.
            if from < wide {
                self.add_narrow::<SPREAD>(&shape(from), narrow_masses, &mut sums, range.start);
            }
            if wide < to {
                self.add_wide(&shape(wide), wide_masses, &mut sums, range.start);
            }
        }
        (sums, longest)
    }

    /// Adds outcomes of losses below [`NARROW`] to the sums, the first of which is of interval
    /// `start`.
    fn add_narrow<const SPREAD: bool>(&self, row: &Shape, masses: &[f64], sums: &mut [[f64; 3]], start: usize) {
        let tau = self.tau.as_slice();
        let mut walk = row.walk;
        for mass in masses {
            let v = row.slope * walk;
            // D = 0 is its own mirror image.
            let mass = if walk == 0.0 { 0.5 * mass * row.weight } else { mass * row.weight };
            walk += 2.0;
            // Each outcome is located on its own: none waits for the one before.
            let guess = ((self.per_half_loss * rough_artanh(v)) as u32 as usize).min(tau.len() - 2);
            let is_right = tau[guess] <= v && v < tau[guess + 1];
            let i = if is_right { guess } else { locate(tau, guess, v) };
            let (above, below) = (v - tau[i], (tau[i + 1] - v).max(0.0));
            let cell = &mut sums[i - start];
            cell[0] += mass * above;
            cell[1] += mass * below;
            if SPREAD {
                cell[2] += mass * above * below;
            }
        }
    }

    /// The same for losses above [`NARROW`].
    fn add_wide(&self, row: &Shape, masses: &[f64], sums: &mut [[f64; 3]], start: usize) {
        let edges = self.edges.as_slice();
        for (k, mass) in masses.iter().enumerate() {
            let walk = row.walk + 2.0 * k as f64;
            let downs = row.downs - k as u64;
            let (p, q) = (row.level + row.u * walk, row.floor + 2.0 * row.u * downs as f64);
            let guess = ((0.5 * self.per_half_loss * ln(p / q)) as usize).min(edges.len() - 2);
            let i = refine(edges, guess, q / p).max(self.narrow);
            let share = ((edges[i] - q / p) / (edges[i] - edges[i + 1])).clamp(0.0, 1.0);
            let mass = mass * row.weight / row.level * p;
            let cell = &mut sums[i - start];
            cell[0] += mass * share;
            cell[1] += mass * (1.0 - share);
            cell[2] += mass * share * (1.0 - share);
        }
    }
}

/// About artanh v, half the privacy loss, up to [`NARROW`]: its series, right to two millionths
/// there. Leads a search; nothing rests on it.
#[inline(always)]
fn rough_artanh(v: f64) -> f64 {
    let square = v * v;
    v + v * square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0)))
}

/// How many of `0..length` hold, of a condition that holds up to some number and not from there on.
fn partition_point(length: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The i with `τ_i ≤ v < τ_{i+1}`, near `guess`.
fn locate(tau: &[f64], guess: usize, v: f64) -> usize {
    let mut i = guess.min(tau.len() - 2);
    while i > 0 && tau[i] > v {
        i -= 1;
    }
    while i + 2 < tau.len() && tau[i + 1] <= v {
        i += 1;
    }
    i
}

/// How many intervals have their lower end below [`NARROW`].
fn narrow_intervals(spacing: f64) -> usize {
    (NARROW / spacing).ceil() as usize
}

/// The i with `e^{−(i+1)h} < x ≤ e^{−ih}`, near `i`.
fn refine(edges: &[f64], mut i: usize, x: f64) -> usize {
    while i > 0 && x > edges[i] {
        i -= 1;
    }
    while i + 2 < edges.len() && x <= edges[i + 1] {
        i += 1;
    }
    i
}

/// Multiplies the sums by what is common to an interval, and mirrors them.
///
/// The spread Σ p·t(1−t) of an interval is `Σ wL(v−τ_i)(τ_{i+1}−v)/(1±v)` times both factors;
/// taking 1±v at its smallest only enlarges it.
fn scaled(sums: &[[f64; 3]], cells: &Cells, h: f64) -> Intervals {
    let Cells { tau, edges, narrow, .. } = cells;
    let count = sums.len();
    let mut intervals = Intervals::new(-(count as i64), 2 * count);
    let (up, down) = (-exp_m1(-h), exp_m1(h));
    for (i, [above, below, spread]) in sums.iter().enumerate() {
        let (at, mirrored) = (count + i, count - 1 - i);
        if i >= *narrow {
            (intervals.high[at], intervals.low[at], intervals.spread[at]) = (*above, *below, *spread);
            // The P-mass of the mirror image is the Q-mass.
            intervals.low[mirrored] = above * edges[i + 1];
            intervals.high[mirrored] = below * edges[i];
            intervals.spread[mirrored] = spread * edges[i];
            continue;
        }
        let (bottom, top) = (i as f64 * h, (i + 1) as f64 * h);
        let (to_high, to_low) = ((1.0 + exp(bottom)) / up, (1.0 + exp(top)) / down);
        intervals.high[at] = above * to_high;
        intervals.low[at] = below * to_low;
        intervals.spread[at] = spread / (1.0 + tau[i]) * to_high * to_low;
        let (to_high, to_low) = ((1.0 + exp(-top)) / up, (1.0 + exp(-bottom)) / down);
        intervals.high[mirrored] = below * to_high;
        intervals.low[mirrored] = above * to_low;
        intervals.spread[mirrored] = spread / (1.0 - tau[i + 1]) * to_high * to_low;
    }
    intervals
}
