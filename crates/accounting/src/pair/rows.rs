//! The outcomes of a pair, level by level, and what was cut off.
//!
//! A *row* is a number of signals M with a level L (kept as its floor L − uM): its outcomes are the
//! walks D of M steps. Three facts keep the number of rows small without giving up the direction.
//! All rest on one remark: for every ε the hockey-stick integrand `[(L+uD) − e^ε(L−uD)]₊` is convex
//! in D for fixed L, and convex in L for fixed D.
//!
//! 1. *Neutral counts*: for fixed M, spreading the law of L to the ends of intervals (keeping its
//!    mean) only increases every hockey-stick divergence; merging an interval at its mean only
//!    decreases it. Both cost the square of the interval.
//! 2. *Blocks of M*: a walk of more steps is a mean-preserving spread of a shorter one, so a block
//!    of M, levels kept, is bounded above by its longest walk and below by its shortest. A block of
//!    width w costs w/(2M) in the scale of D.
//! 3. *Windows*: what lies outside is the [`Remainder`].

use super::remainder::{Cut, Remainder};
use super::window::Binomial;
use super::{Direction, LinearPair};
use crate::numerics::elementary::ln;

/// Outcomes with the same M and L.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// Probability under W.
    pub(crate) weight: f64,
    /// M, the number of steps of the walk D.
    pub(crate) signals: u64,
    /// L − u·M: the density of the less likely hypothesis at the longest walk.
    pub(crate) floor: f64,
}

/// The outcomes of a pair.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    /// Grouped by M.
    pub(crate) rows: Vec<Row>,
    /// The mass outside; empty for [`Direction::Down`], where it may be dropped.
    pub(crate) remainder: Remainder,
    /// Walks are kept up to |D| ≤ `deviations`·√M.
    pub(crate) deviations: f64,
}

/// Lattices reach to at most this many points on either side.
pub(crate) const POINTS: f64 = 131_072.0;

/// How finely rows are resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Resolution {
    /// Logarithm of the mass that each window may cut off.
    pub(crate) ln_cut: f64,
    /// Blocks of M are this wide, relative to M.
    pub(crate) block: f64,
    /// Levels of one M are spread to, or merged over, intervals this wide, relative to L.
    pub(crate) level: f64,
    /// Lattices of the losses reach to at most this many points on either side.
    pub(crate) points: f64,
}

impl Resolution {
    /// Every outcome on its own: for pairs small enough to be summed exactly.
    pub(crate) const EXACT: Self = Self { ln_cut: f64::NEG_INFINITY, block: 0.0, level: 0.0, points: POINTS };

    /// Costs a few 1e-5 of ε, and cuts off 1e-30.
    pub(crate) const FINE: Self = Self { ln_cut: -69.0, block: 6e-5, level: 0.01, points: POINTS };

    /// Costs some 1e-3 of ε, and a tenth of the time where many participate.
    pub(crate) const ROUGH: Self = Self { ln_cut: -69.0, block: 2e-3, level: 0.1, points: POINTS / 8.0 };

    /// The same with windows so wide that what they cut off is little next to `mass`, the share of
    /// δ that one round has. There are few widths, so that neighbouring questions share them; the
    /// widest is what floats can hold.
    pub(crate) fn for_mass(self, mass: f64) -> Self {
        let enough = CUTS.into_iter().find(|ln_cut| ln(mass) - ROOM >= *ln_cut);
        let ln_cut = enough.unwrap_or(CUTS[CUTS.len() - 1]);
        Self { ln_cut: ln_cut.min(self.ln_cut), ..self }
    }

    /// The next wider windows, if there are any.
    pub(crate) fn wider(self) -> Option<Self> {
        let ln_cut = CUTS.into_iter().find(|ln_cut| *ln_cut < self.ln_cut)?;
        Some(Self { ln_cut, ..self })
    }

    /// At least the mass that one of `outcomes` may have lost to underflow, on a lattice of this
    /// spacing, times their number. A mass is a product of a few factors, of which the smallest are
    /// two probabilities of about e^`ln_cut` and the largest is 4/spacing.
    pub(crate) fn underflow(self, outcomes: f64, spacing: f64) -> f64 {
        if 2.0 * self.ln_cut > LN_SAFE { 0.0 } else { outcomes * 16.0 * SMALLEST_FLOAT * (1.0 + 1.0 / spacing) }
    }
}

/// The logarithms of what windows may cut off.
const CUTS: [f64; 5] = [-69.0, -138.0, -276.0, -552.0, -670.0];

/// The mass that is cut off is at most about e^−`ROOM` of the mass that counts.
const ROOM: f64 = 14.0;

/// No product of two probabilities above e^ this, nor one of such a product and a spacing,
/// underflows.
const LN_SAFE: f64 = -600.0;

/// The smallest positive float: no rounding to a denormal number is off by more.
const SMALLEST_FLOAT: f64 = 5e-324;

impl Default for Resolution {
    fn default() -> Self {
        Self::FINE
    }
}

/// Windows of the shells beyond a cut: each reaches to this multiple of the exponent of the one
/// before.
const SHELL_GROWTH: f64 = 1.25;

impl LinearPair {
    /// The law of M.
    fn signals(&self) -> Binomial {
        Binomial { trials: self.trials, p: self.signal.0, q: self.signal.1 }
    }

    /// The law of c given M.
    fn neutrals(&self, signals: u64) -> Binomial {
        Binomial { trials: self.trials - signals, p: self.neutral.0, q: self.neutral.1 }
    }

    /// Lists the outcomes.
    pub(crate) fn rows(&self, direction: Direction, resolution: Resolution) -> Rows {
        let law = self.signals();
        let (low, high) = law.window(resolution.ln_cut);
        let masses = law.masses(low, high);
        let deviations = (-2.0 * resolution.ln_cut).sqrt();
        let mut rows = Vec::new();
        let mut cuts = Vec::new();
        let mut first = low;
        while first <= high {
            let width = ((first as f64 * resolution.block) as u64).max(1);
            let last = (first + width - 1).min(high);
            let block = &masses[(first - low) as usize..=(last - low) as usize];
            self.block_rows(direction, resolution, first, block, &mut rows);
            first = last + 1;
        }
        if direction == Direction::Up && resolution.ln_cut.is_finite() {
            self.signal_cuts(&law, low, high, resolution.ln_cut, &mut cuts);
            self.neutral_cuts(low, high, resolution.ln_cut, &mut cuts);
            self.walk_cuts(low, high, deviations, &mut cuts);
        }
        Rows { rows, remainder: Remainder::new(self, cuts), deviations }
    }

    /// The rows of one block of M, which starts at `first` and has these masses.
    fn block_rows(
        &self,
        direction: Direction,
        resolution: Resolution,
        first: u64,
        masses: &[f64],
        rows: &mut Vec<Row>,
    ) {
        let last = first + masses.len() as u64 - 1;
        let weight: f64 = masses.iter().sum();
        // The mean of M − first within the block.
        let excess = masses.iter().enumerate().map(|(i, m)| i as f64 * m).sum::<f64>() / weight;
        if weight == 0.0 {
            return;
        }
        // c given M is c₁ + extra with c₁ ~ Bin(k − last, ρ') common to the block and extra ~
        // Bin(last − M, ρ'). What is not common, (x+y)/2·M + z·extra, lies between `bottom` and
        // `top` and has mean `middle`.
        let width = (last - first) as f64;
        let bottom = self.offset + self.level_step * first as f64;
        let top = bottom + (self.level_step + self.neutral_step) * width;
        let middle = bottom + self.level_step * excess + self.neutral_step * self.neutral.0 * (width - excess);
        let share = if width > 0.0 { ((middle - bottom) / (top - bottom)).clamp(0.0, 1.0) } else { 0.0 };
        let common = self.common_levels(direction, resolution, last, middle);
        for (probability, level) in common {
            let weight = weight * probability;
            match direction {
                _ if width == 0.0 => {
                    rows.push(Row { weight, signals: last, floor: self.floor(last as f64, 0.0) + level });
                }
                Direction::Up => {
                    let walk = self.tilt_step * last as f64;
                    rows.push(Row { weight: weight * (1.0 - share), signals: last, floor: bottom + level - walk });
                    rows.push(Row { weight: weight * share, signals: last, floor: top + level - walk });
                }
                Direction::Down => {
                    let walk = self.tilt_step * first as f64;
                    rows.push(Row { weight, signals: first, floor: middle + level - walk });
                }
            }
        }
    }

    /// The law of z·c₁, c₁ ~ Bin(k − `signals`, ρ'), spread to or merged over intervals of the
    /// level, as (probability, value).
    fn common_levels(&self, direction: Direction, resolution: Resolution, signals: u64, base: f64) -> Vec<(f64, f64)> {
        let law = self.neutrals(signals);
        if law.p == 0.0 || law.trials == 0 || self.neutral_step == 0.0 {
            return vec![(1.0, 0.0)];
        }
        let (low, high) = law.window(resolution.ln_cut);
        if resolution.level == 0.0 {
            let masses = law.masses(low, high);
            return (low..=high).zip(masses).map(|(c, mass)| (mass, self.neutral_step * c as f64)).collect();
        }
        let (from, to) = (self.neutral_step * low as f64, self.neutral_step * high as f64);
        let mean = self.neutral_step * law.mean();
        let intervals = (((to - from) / (resolution.level * (base + from).max(f64::MIN_POSITIVE))).ceil())
            .clamp(1.0, (high - low).max(1) as f64) as usize;
        if low == high {
            return vec![(1.0, from)];
        }
        if intervals == 1 {
            // Two points with the exact mean; what the window cuts off could shift it by no more
            // than this.
            const SHIFT: f64 = 1e-15;
            let share = ((mean - from) / (to - from)).clamp(0.0, 1.0);
            return match direction {
                Direction::Up => vec![(1.0 - share + SHIFT, from), (share + SHIFT, to)],
                Direction::Down => vec![(1.0 - SHIFT, mean * (1.0 + SHIFT))],
            };
        }
        let masses = law.masses(low, high);
        let scale = intervals as f64 / (high - low) as f64;
        let step = (to - from) / intervals as f64;
        let positions = (0..masses.len()).map(|offset| offset as f64 * scale);
        let cells = positions.map(|position| ((position as usize).min(intervals - 1), position)).zip(&masses);
        match direction {
            Direction::Up => {
                let mut ends = vec![0.0; intervals + 1];
                for ((cell, position), mass) in cells {
                    let share = position - cell as f64;
                    ends[cell] += mass * (1.0 - share);
                    ends[cell + 1] += mass * share;
                }
                ends.iter().enumerate().map(|(i, mass)| (*mass, from + i as f64 * step)).collect()
            }
            Direction::Down => {
                let mut merged = vec![(0.0, 0.0); intervals];
                for (offset, ((cell, _), mass)) in cells.enumerate() {
                    merged[cell].0 += mass;
                    merged[cell].1 += mass * (from + offset as f64 * self.neutral_step);
                }
                merged.iter().filter(|(mass, _)| *mass > 0.0).map(|(mass, sum)| (*mass, sum / mass)).collect()
            }
        }
    }

    /// Shells of M outside of `low..=high`, out to the ends.
    fn signal_cuts(&self, law: &Binomial, low: u64, high: u64, ln_cut: f64, cuts: &mut Vec<Cut>) {
        // Where the tail is exactly nothing there are no more shells.
        let possible = |signals: u64| law.ln_tail(signals as f64) > f64::NEG_INFINITY;
        let (mut edge, mut ln_edge) = (low, ln_cut);
        while edge > 0 && possible(edge - 1) {
            ln_edge *= SHELL_GROWTH;
            let next = law.window(ln_edge).0.min(edge - 1);
            // E[L; M < edge] ≤ the largest level there, times the tail.
            let largest = self.level(edge as f64, 0.0) + self.neutral_step * self.trials as f64;
            let ln_mass = law.ln_tail((edge - 1) as f64) + ln(largest);
            let level = self.level(next as f64, 0.0);
            cuts.push(Cut { ln_mass, signals: (edge - 1) as f64, level, deviations: 0.0 });
            edge = next;
        }
        let (mut edge, mut ln_edge) = (high, ln_cut);
        while edge < self.trials && possible(edge + 1) {
            ln_edge *= SHELL_GROWTH;
            let next = law.window(ln_edge).1.max(edge + 1);
            let largest = self.level(next as f64, 0.0) + self.neutral_step * self.trials as f64;
            let ln_mass = law.ln_tail((edge + 1) as f64) + ln(largest);
            cuts.push(Cut {
                ln_mass,
                signals: next as f64,
                level: self.level((edge + 1) as f64, 0.0),
                deviations: 0.0,
            });
            edge = next;
        }
    }

    /// Shells of c outside of its window, for the M that are kept.
    fn neutral_cuts(&self, low: u64, high: u64, ln_cut: f64, cuts: &mut Vec<Cut>) {
        if self.neutral.0 == 0.0 || self.neutral_step == 0.0 {
            return;
        }
        // c is stochastically largest at M = low and smallest at M = high.
        let (most, fewest) = (self.neutrals(low), self.neutrals(high));
        let largest = self.level(high as f64, most.trials as f64);
        let mut add = |ln_tail: f64, neutrals: f64| {
            let level = self.level(low as f64, neutrals);
            cuts.push(Cut { ln_mass: ln_tail + ln(largest), signals: high as f64, level, deviations: 0.0 });
        };
        let (above, below) = (most.window(ln_cut).1, fewest.window(ln_cut).0);
        if above < most.trials {
            add(ln_cut, below as f64);
        }
        if below == 0 && most.window(ln_cut).0 > 0 {
            // Kept entirely at M = high, but not where there are more trials.
            add(ln_cut, 0.0);
        }
        let (mut edge, mut ln_edge) = (below, ln_cut);
        while edge > 0 && fewest.ln_tail((edge - 1) as f64) > f64::NEG_INFINITY {
            let next = fewest.window(ln_edge * SHELL_GROWTH).0.min(edge - 1);
            // Every window cuts off at most exp(ln_cut), wherever it ends; further in, `fewest` has
            // the heaviest tail.
            add(
                fewest.ln_tail((edge - 1) as f64).max(if edge == below { ln_cut } else { f64::NEG_INFINITY }),
                next as f64,
            );
            (edge, ln_edge) = (next, ln_edge * SHELL_GROWTH);
        }
    }

    /// Walks longer than `deviations`·√M, for the M that are kept, in a few groups.
    fn walk_cuts(&self, low: u64, high: u64, deviations: f64, cuts: &mut Vec<Cut>) {
        let law = self.signals();
        let mut from = low;
        while from <= high {
            let to = (from + from / 8).min(high);
            // A walk cannot be longer than M.
            if (to as f64).sqrt() > deviations {
                // Hoeffding for both sides, a group's share of W, its largest level.
                let ln_share = if (from as f64) > law.mean() {
                    law.ln_tail(from as f64)
                } else if (to as f64) < law.mean() {
                    law.ln_tail(to as f64)
                } else {
                    0.0
                };
                let largest = self.level(to as f64, (self.trials - from) as f64);
                let ln_mass = ln_share + ln(2.0 * largest) - deviations * deviations / 2.0;
                let neutrals = self.neutrals(to).window(-deviations * deviations / 2.0).0;
                let level = self.level(from as f64, neutrals as f64);
                cuts.push(Cut { ln_mass, signals: to as f64, level, deviations });
            }
            from = to + 1;
        }
    }
}
