//! From bounds at single t to the loss of a round.

use super::slot::deviation;
use super::terms::{Term, Terms};
use crate::numerics::directed::{add_up, mul_up};
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
    /// Points of a slot's lattice to either side, in a heavy tail.
    pub(super) heavy: f64,
    /// One law serves values of e^ε that are this close to each other.
    pub(crate) close: f64,
    /// Slots to a block, for any ε0-LDP randomizer.
    pub(crate) block: u64,
    /// Lattice points to a step of a one-bit slot, at the most.
    pub(crate) parts: u32,
    /// How many numbers of slots of type A are looked at, for one-bit randomizers, as a share of those that
    /// are affordable.
    pub(crate) scans: f64,
}

impl Fineness {
    /// Costs about 1e-3 of ε.
    pub(crate) const FINE: Self = Self {
        losses: 64.0,
        slots: 32.0,
        window: 32_768.0,
        heavy: 1_024.0,
        close: 2e-3,
        block: 12,
        parts: 24,
        scans: 1.0,
    };

    /// Costs some 1e-3 of ε, and a fraction of the time.
    pub(crate) const ROUGH: Self =
        Self { losses: 16.0, slots: 12.0, window: 4_096.0, heavy: 128.0, close: 1e-2, block: 8, parts: 8, scans: 0.1 };

    /// The same where the law of a slot does not depend on e^ε: one serves all values. Few slots are resolved less finely, for it
    /// is the law's points that take time then.
    pub(crate) fn with_one_law(self) -> Self {
        Self { close: f64::INFINITY, window: self.window / 4.0, ..self }
    }

    /// Points of a slot's lattice to its standard deviation, where so many slots are added up: as many as a
    /// window affords.
    pub(crate) fn points_to_a_deviation(&self, present: f64) -> f64 {
        (self.window / (24.0 * present.sqrt())).clamp(self.slots, 16.0 * self.slots)
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

    /// At least `E(S − x)₊` for the sum of a term, at the `points` x = population·(t−1) for t of the group,
    /// which increase; `None` where this way has nothing to say.
    fn calls(&self, term: &Term, group: &Group, points: &[f64]) -> Option<Vec<f64>>;
}

/// What is known of the losses of a round before anything is computed.
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
    /// Of a round in which about `present` of `population` clients speak, whose reports have this profile. Divergences below
    /// `floor` do not matter.
    pub(crate) fn of(profile: &LocalProfile, present: f64, population: f64, floor: f64) -> Self {
        let largest = profile.end().ln_1p();
        let deviation = (deviation(profile, present.max(1.0)) / population).min(largest);
        // Losses of many slots together, and of a single one.
        let mut typical = deviation * ((-2.0 * floor.ln()).sqrt() + 4.0);
        while present / population * profile.delta_upper(population * typical.exp_m1()) > floor && typical < largest {
            typical *= 1.25;
        }
        Self { deviation, typical: typical.min(largest), largest }
    }
}

/// No curve has more dots.
const MOST_DOTS: usize = 16_384;

/// The lattice of losses reaches to at most this many spacings.
const REACH: f64 = 131_072.0;

/// Up to so many standard deviations every lattice point has a dot; beyond, dots are apart by one part in
/// `SPARSE` of their loss.
const DENSE: f64 = 16.0;
const SPARSE: i64 = 512;

/// A group of t ends when t − 1 has doubled, from this many standard deviations on.
const BULK: f64 = 8.0;

/// Up to t = 2 it also ends when t − 1 has grown by this share, and what `Fineness::close` allows.
const GROWN: f64 = 0.1;

/// A group has at least so many dots.
const FEWEST: usize = 4;

/// Upper bounds on the divergence of a round at t = 1 + `excess` ≥ 1, as a function that is evaluated at a
/// group's values together: the smallest of all `ways` and of `cap`.
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
        let mut deltas = self.caps(&[excess]);
        let ways = self.ways.iter().map(AsRef::as_ref);
        self.lower(&mut deltas, &[excess], ways.filter(|way| self.charge(way.terms(), excess) <= most));
        deltas[0]
    }

    fn caps(&self, excesses: &[f64]) -> Vec<f64> {
        excesses.iter().map(|excess| (self.cap)(*excess)).collect()
    }

    /// Lowers bounds to those of these ways, and says whether that made any difference.
    fn lower<'a>(&self, deltas: &mut [f64], excesses: &[f64], ways: impl Iterator<Item = &'a dyn Way>) -> bool {
        let group = Group { excess_low: excesses[0], excess_high: excesses[excesses.len() - 1] };
        let mut is_lower = false;
        for way in ways {
            let bounds = self.of_way(way, &group, excesses);
            for (delta, bound) in deltas.iter_mut().zip(bounds.into_iter().flatten()) {
                is_lower |= bound < *delta;
                *delta = delta.min(bound);
            }
        }
        is_lower
    }

    fn of_way(&self, way: &dyn Way, group: &Group, excesses: &[f64]) -> Option<Vec<f64>> {
        let terms = way.terms();
        let mut deltas: Vec<f64> = excesses.iter().map(|excess| self.charge(terms, *excess)).collect();
        for term in &terms.terms {
            let population = term.population as f64;
            // Rounded down: the call only grows.
            let point = |excess: &f64| population * excess * (1.0 - 4.0 * f64::EPSILON);
            let points: Vec<f64> = excesses.iter().map(point).collect();
            let share = term.weight / population * (1.0 + 4.0 * f64::EPSILON);
            for (delta, call) in deltas.iter_mut().zip(way.calls(term, group, &points)?) {
                *delta = add_up(*delta, mul_up(share, call));
            }
        }
        Some(deltas)
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
        // Where shuffling hides nothing the ways are not asked again before the cap has halved.
        let mut hopeless = f64::INFINITY;
        loop {
            let indices = group_of(index, last, spacing, extent, fineness);
            let excesses: Vec<f64> = indices.iter().map(|i| (*i as f64 * spacing).exp_m1()).collect();
            let mut deltas = self.caps(&excesses);
            let cap = deltas[0];
            let is_hopeless = hopeless.is_finite() && cap > 0.5 * hopeless;
            if !is_hopeless {
                hopeless = if self.lower(&mut deltas, &excesses, self.ways.iter().map(AsRef::as_ref)) {
                    f64::INFINITY
                } else {
                    cap
                };
            }
            indices.iter().zip(&deltas).for_each(|(i, delta)| curve.push(*i, *delta));
            let (end, first_delta, last_delta) = (indices[indices.len() - 1], deltas[0], deltas[deltas.len() - 1]);
            // What is charged besides sums may keep the curve above the floor for ever.
            let excess = excesses[excesses.len() - 1];
            let for_ever =
                |terms: &Terms| terms.local * (self.local)((last as f64 * spacing).exp_m1()) + terms.linear * excess;
            let charged = self.ways.iter().map(|way| for_ever(way.terms())).fold(f64::INFINITY, f64::min);
            let is_stuck = last_delta > 0.99 * first_delta && last_delta < 2.0 * charged;
            if last_delta <= floor || is_stuck || end >= last || curve.len() >= MOST_DOTS {
                return curve;
            }
            index = end + 1;
        }
    }
}

/// The indices of the dots of one group, from `first` on.
fn group_of(first: i64, last: i64, spacing: f64, extent: &Extent, fineness: Fineness) -> Vec<i64> {
    let excess = |i: i64| (i as f64 * spacing).exp_m1();
    let dense = (DENSE * extent.deviation / spacing) as i64;
    let bulk = (BULK * extent.deviation).exp_m1();
    let from = excess(first);
    let grown = if from < 1.0 { fineness.close + GROWN * from } else { from };
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
