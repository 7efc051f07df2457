//! From bounds at single t to the loss of a round.

use super::slot::deviation;
use super::terms::{Term, Terms};
use crate::numerics::directed::{add_up, mul_up};
use crate::numerics::elementary::{exp_m1, ln, ln_1p};
use crate::pld::{HalfCurve, power_of_two};
use crate::profile::LocalProfile;

/// How finely a round is resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fineness {
    /// Values of ε to a standard deviation of the loss of a round.
    pub(crate) losses: f64,
    /// Points of a slot's lattice to its standard deviation, at the least.
    pub(crate) slots: f64,
    /// Windows of sums have about so many points.
    pub(crate) window: f64,
    /// Sizes of jumps, in a heavy tail.
    pub(super) heavy: usize,
    /// One law serves values of t − 1 = e^ε − 1 that are this close to each other,
    pub(crate) close: f64,
    /// or that differ by this share.
    pub(crate) grown: f64,
    /// Slots to a block, for any ε0-LDP randomizer.
    pub(crate) block: u64,
    /// Lattice points to a step of a one-bit slot, at the most.
    pub(crate) parts: u32,
    /// ε of a single round is found to this relative accuracy.
    pub(super) tolerance: f64,
    /// How many numbers of slots of type A are looked at, for one-bit randomizers, as a share of
    /// those that are affordable.
    pub(crate) scans: f64,
}

impl Fineness {
    /// Costs about 1e-3 of ε.
    pub(crate) const FINE: Self = Self {
        losses: 64.0,
        slots: 32.0,
        window: 32_768.0,
        heavy: 512,
        close: 2e-3,
        grown: 0.1,
        block: 12,
        parts: 24,
        tolerance: 1e-7,
        scans: 1.0,
    };

    /// Costs some 1e-3 of ε, and a fraction of the time.
    pub(crate) const ROUGH: Self = Self {
        losses: 16.0,
        slots: 12.0,
        window: 4_096.0,
        heavy: 128,
        close: 1e-2,
        grown: 0.25,
        block: 8,
        parts: 8,
        tolerance: 1e-4,
        scans: 1.0,
    };

    /// The same where the law of a slot does not depend on e^ε: one serves all values. Few slots
    /// are resolved less finely, for it is the law's points that take time then.
    pub(crate) fn with_one_law(self) -> Self {
        Self { close: f64::INFINITY, window: self.window / 2.0, ..self }
    }

    /// Points of a slot's lattice to its standard deviation, where so many slots are added up: as
    /// many as a window affords.
    pub(crate) fn points_to_a_deviation(&self, present: f64) -> f64 {
        (self.window / (24.0 * present.sqrt())).clamp(self.slots, 8.0 * self.slots)
    }
}

/// Values of t = 1 + excess that are bounded together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Group {
    pub(crate) excess_low: f64,
    pub(crate) excess_high: f64,
}

/// A way to bound the divergence of a round from its slots.
pub(crate) trait Way {
    /// The sums that it takes.
    fn terms(&self) -> &Terms;

    /// At least `E(S − x)₊` for the sum of a term, at the `points` x = population·(t−1) for t of
    /// the group, which increase; `None` where this way has nothing to say.
    fn calls(&self, term: &Term, group: &Group, points: &[f64]) -> Option<Vec<f64>>;
}

/// The losses of a round, as far as they are known before anything is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// About their standard deviation.
    pub(crate) deviation: f64,
    /// About the largest that matters.
    pub(crate) typical: f64,
    /// The largest; may be infinite.
    pub(crate) largest: f64,
}

impl Extent {
    /// Of a round in which about `present` of `population` clients participate, where the victim's
    /// two records and any two records have these profiles. Divergences below `floor` do not
    /// matter.
    pub(crate) fn of(
        of_victim: &LocalProfile,
        profile: &LocalProfile,
        present: f64,
        population: f64,
        floor: f64,
    ) -> Self {
        let largest = ln_1p(of_victim.end());
        let deviation = (deviation(of_victim, present.max(1.0)) / population).min(largest);
        // Losses of many slots together, and of a single one.
        let mut typical = deviation * ((-2.0 * ln(floor)).sqrt() + 4.0);
        while present / population * profile.delta_upper(population * exp_m1(typical)) > floor && typical < largest {
            typical *= 1.25;
        }
        Self { deviation, typical: typical.min(largest), largest }
    }
}

/// No curve has more dots.
const MOST_DOTS: usize = 16_384;

/// The lattice of losses reaches to at most this many spacings.
const REACH: f64 = 131_072.0;

/// Up to so many standard deviations every lattice point has a dot; beyond, dots are apart by one
/// part in `SPARSE` of their loss.
const DENSE: f64 = 16.0;
const SPARSE: i64 = 512;

/// From this many standard deviations on, or from t = 2, a group of t ends when t − 1 has doubled:
/// what single slots lose depends little on t. Before, it ends as `Fineness` says.
const BULK: f64 = 8.0;

/// A group has at least so many dots.
const FEWEST: usize = 4;

/// Upper bounds on the divergence of a round at t = 1 + `excess` ≥ 1, as a function that is
/// evaluated at a group's values together: the smallest of all `ways` and of `cap`.
pub(crate) struct Bounds<'a> {
    pub(crate) ways: &'a [Box<dyn Way>],
    /// At least the local profile.
    pub(crate) local: &'a dyn Fn(f64) -> f64,
    /// At least the divergence, from the local profile and the sampling alone.
    pub(crate) cap: &'a dyn Fn(f64) -> f64,
}

impl Bounds<'_> {
    /// At one value; ways whose charges alone are above `most` are not asked.
    pub(crate) fn at(&self, excess: f64, most: f64) -> f64 {
        let cap = (self.cap)(excess);
        let asked = self.ways.iter().filter(|way| self.charge(way.terms(), excess) <= most);
        asked.filter_map(|way| self.of_way(way.as_ref(), &[excess], &[cap])).map(|deltas| deltas[0]).fold(cap, f64::min)
    }

    /// By one way, at the values of a group; `None` where it has nothing to say that would be below
    /// the `caps`.
    fn of_way(&self, way: &dyn Way, excesses: &[f64], caps: &[f64]) -> Option<Vec<f64>> {
        let group = Group { excess_low: excesses[0], excess_high: excesses[excesses.len() - 1] };
        let terms = way.terms();
        let mut deltas: Vec<f64> = excesses.iter().map(|excess| self.charge(terms, *excess)).collect();
        if deltas.iter().zip(caps).all(|(charge, cap)| charge >= cap) {
            return None;
        }
        for term in &terms.terms {
            let population = term.population as f64;
            // Rounded down: the call only grows.
            let point = |excess: &f64| population * excess * (1.0 - 4.0 * f64::EPSILON);
            let points: Vec<f64> = excesses.iter().map(point).collect();
            let share = term.weight / population * (1.0 + 4.0 * f64::EPSILON);
            for (delta, call) in deltas.iter_mut().zip(way.calls(term, &group, &points)?) {
                *delta = add_up(*delta, mul_up(share, call));
            }
        }
        Some(deltas)
    }

    /// By all ways whose turn it is.
    fn of_ways(&self, excesses: &[f64], turns: &mut [Turn]) -> Vec<f64> {
        let caps: Vec<f64> = excesses.iter().map(|excess| (self.cap)(*excess)).collect();
        let mut deltas = caps.clone();
        let mut asked = Vec::new();
        for (way, turn) in self.ways.iter().zip(turns) {
            if !turn.has_come() {
                continue;
            }
            let bounds = self.of_way(way.as_ref(), excesses, &caps).unwrap_or_default();
            deltas.iter_mut().zip(&bounds).for_each(|(delta, bound)| *delta = delta.min(*bound));
            asked.push((turn, bounds));
        }
        for (turn, bounds) in asked {
            let is_smallest = |((bound, delta), cap): ((&f64, &f64), &f64)| bound <= delta && bound < cap;
            turn.made_a_difference(bounds.iter().zip(&deltas).zip(&caps).any(is_smallest));
        }
        deltas
    }

    /// `local·δ(t) + linear·(t−1)`.
    fn charge(&self, terms: &Terms, excess: f64) -> f64 {
        add_up(mul_up(terms.local, (self.local)(excess)), mul_up(terms.linear, excess.next_up()))
    }

    /// The curve of the round, from ε = 0 on until it is below `floor`.
    pub(crate) fn curve(&self, extent: &Extent, fineness: Fineness, floor: f64) -> HalfCurve {
        let finest = (extent.deviation / fineness.losses).min(extent.largest / 8.0).max(2.0 * extent.typical / REACH);
        let spacing = power_of_two(finest.max(1e-200));
        let mut curve = HalfCurve::new(spacing);
        let last = (extent.largest / spacing).ceil().min(REACH) as i64;
        let mut index = 0;
        let mut turns = vec![Turn::default(); self.ways.len()];
        loop {
            let indices = group_of(index, last, spacing, extent, fineness);
            let excesses: Vec<f64> = indices.iter().map(|i| exp_m1(*i as f64 * spacing)).collect();
            let deltas = self.of_ways(&excesses, &mut turns);
            indices.iter().zip(&deltas).for_each(|(i, delta)| curve.push(*i, *delta));
            let (end, first_delta, last_delta) = (indices[indices.len() - 1], deltas[0], deltas[deltas.len() - 1]);
            // What is charged besides sums may keep the curve above the floor for ever.
            let excess = excesses[excesses.len() - 1];
            let for_ever =
                |terms: &Terms| terms.local * (self.local)(exp_m1(last as f64 * spacing)) + terms.linear * excess;
            let charged = self.ways.iter().map(|way| for_ever(way.terms())).fold(f64::INFINITY, f64::min);
            let is_stuck = charged.is_finite() && last_delta > 0.99 * first_delta && last_delta < 2.0 * charged;
            if last_delta <= floor || is_stuck || end >= last || curve.len() >= MOST_DOTS {
                return curve;
            }
            index = end + 1;
        }
    }
}

/// When a way is asked next: one that made no difference rests for a while, and for longer the next
/// time.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    rests: u32,
    left: u32,
}

/// No way rests for longer, in groups.
const LONGEST_REST: u32 = 4;

impl Turn {
    fn has_come(&mut self) -> bool {
        let has_come = self.left == 0;
        self.left = self.left.saturating_sub(1);
        has_come
    }

    fn made_a_difference(&mut self, is_lower: bool) {
        self.rests = if is_lower { 0 } else { (2 * self.rests).clamp(1, LONGEST_REST) };
        self.left = self.rests;
    }
}

/// The indices of the dots of one group, from `first` on.
fn group_of(first: i64, last: i64, spacing: f64, extent: &Extent, fineness: Fineness) -> Vec<i64> {
    let excess = |i: i64| exp_m1(i as f64 * spacing);
    let dense = (DENSE * extent.deviation / spacing) as i64;
    let bulk = exp_m1(BULK * extent.deviation);
    let from = excess(first);
    let grown = if from < bulk.min(1.0) { fineness.close + fineness.grown * from } else { from };
    let most = (2.0 * from).max(bulk).min(from + grown);
    let mut indices = vec![first];
    let mut index = first;
    while index < last {
        index = (index + if index < dense { 1 } else { (index / SPARSE).max(1) }).min(last);
        if excess(index) > most && indices.len() >= FEWEST {
            break;
        }
        indices.push(index);
    }
    indices
}
