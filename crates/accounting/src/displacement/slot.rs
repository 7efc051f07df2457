//! The law of one slot, from the local profile alone: Theorem 3 of `docs/theory/displacement.md`.

use super::curve::{Fineness, Group, Way};
use super::terms::{Term, Terms};
use crate::numerics::directed::inflate;
use crate::profile::LocalProfile;
use crate::sums::{Draws, Law, Number, calls_direct, calls_of_heavy_tail, calls_upper};

/// Slots of which nothing is known but the local profile.
pub(super) struct ProfileSlots {
    pub(super) profile: LocalProfile,
    pub(super) terms: Terms,
    pub(super) fineness: Fineness,
    /// A divergence that does not matter.
    pub(super) floor: f64,
}

/// What is cut off a slot's law at the top may cost this share of the divergence.
pub(crate) const CUT_SHARE: f64 = 1e-4;

/// From this many standard deviations on a tail may be that of a single slot: heavy.
const HEAVY: f64 = 6.0;

/// Before a heavy tail the cut may cost this share.
const BULK_CUT: f64 = 5e-3;

/// In a heavy tail the cut may cost this share.
const HEAVY_CUT: f64 = 1e-3;

/// The same, as a share of a divergence that does not matter.
const CUT_OF_FLOOR: f64 = 1e-2;

impl Way for ProfileSlots {
    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn calls(&self, term: &Term, group: &Group, points: &[f64]) -> Option<Vec<f64>> {
        let sum = SlotSum::new(&self.profile, term, self.fineness, self.floor);
        // The put reaches t times as far as the call.
        let t = 1.0 + group.excess_high;
        sum.calls(t, |spacing, ends| law(&self.profile, group.excess_high, spacing, ends), points)
    }
}

/// A sum of slots whose upper tails are about those of a profile.
pub(crate) struct SlotSum<'a> {
    profile: &'a LocalProfile,
    number: Number<'a>,
    fineness: Fineness,
    /// The mean number of slots that are there.
    pub(crate) present: f64,
    /// About the standard deviation of the sum.
    pub(crate) deviation: f64,
    /// What cutting laws may cost of the call wherever it is read.
    pub(crate) negligible: f64,
}

impl<'a> SlotSum<'a> {
    /// The sum of a term. Divergences below `floor` do not matter.
    pub(crate) fn new(profile: &'a LocalProfile, term: &'a Term, fineness: Fineness, floor: f64) -> Self {
        let present = term.slots.present();
        let negligible = CUT_OF_FLOOR * floor * term.population as f64 / term.weight;
        let deviation = deviation(profile, present);
        Self { profile, number: term.slots.number(), fineness, present, deviation, negligible }
    }

    /// At least `E(S − x)₊` at the `points` x, which increase. `law` is the law of a slot on a lattice with this spacing and so
    /// many points up and down; puts reach `down` times as far as calls.
    pub(crate) fn calls(&self, down: f64, law: impl Fn(f64, [usize; 2]) -> Law, points: &[f64]) -> Option<Vec<f64>> {
        let (first, last) = (*points.first()?, *points.last()?);
        let single = |x: f64| self.present * self.profile.delta_upper(x);
        let is_heavy = |x: f64| single(x) > 100.0 * self.normal_call(x);
        if first > HEAVY * self.deviation && is_heavy(last) {
            let top = self.top(self.negligible.max(HEAVY_CUT * single(last)));
            // A single draw is what counts: the lattice is as fine as that needs.
            let spacing = (top / self.fineness.heavy).max(self.deviation / self.present.sqrt() / self.fineness.slots);
            let points_up = (top / spacing).ceil();
            let points_down = (down * points_up).min(2.0 * self.fineness.heavy);
            let law = law(spacing, [points_up as usize, points_down as usize]);
            return Some(calls_direct(&Draws::new(&law, self.number), top, points));
        }
        let cut = if is_heavy(last) { BULK_CUT * single(last) } else { CUT_SHARE * self.normal_call(last) };
        let top = self.top(self.negligible.max(cut));
        let mut spacing = self.finest().max(top * down / self.most_points());
        if top >= self.profile.end() {
            // The end of the profile is where the law has an atom: a lattice point.
            spacing = top / (top / spacing).ceil();
        }
        let points_up = (top / spacing).ceil();
        // What is cut off at the bottom costs nothing but tightness.
        let points_down = (down * points_up).ceil().min(self.most_points());
        let law = law(spacing, [points_up as usize, points_down as usize]);
        let draws = [Draws::new(&law, self.number)];
        Some(if is_heavy(last) { calls_of_heavy_tail(&draws, points) } else { calls_upper(&draws, points) })
    }

    /// The largest number of points of a slot's lattice.
    pub(crate) fn most_points(&self) -> f64 {
        self.fineness.window
    }

    /// As fine a lattice for one slot as the sum needs.
    pub(crate) fn finest(&self) -> f64 {
        self.deviation / self.present.sqrt() / self.fineness.points_to_a_deviation(self.present)
    }

    /// About `E(S − x)₊` if the sum were normal.
    pub(crate) fn normal_call(&self, x: f64) -> f64 {
        let z = x / self.deviation;
        0.4 * self.deviation * (-0.5 * z * z).exp() / (1.0 + z * z)
    }

    /// Where the law of a slot may end, if that is to cost at most `most` of the call in all.
    pub(crate) fn top(&self, most: f64) -> f64 {
        let end = self.profile.end();
        let is_enough = |top: f64| self.present * self.profile.delta_upper(top) <= most;
        let mut high = 1.0;
        while !is_enough(high) && high < end.min(1e300) {
            high *= 4.0;
        }
        let mut low = 0.25 * high;
        for _ in 0..4 {
            let middle = (low * high).sqrt();
            if is_enough(middle) { high = middle } else { low = middle }
        }
        // Next to the end, the end: that is where the law may have an atom.
        if high < 0.5 * end { high } else { end }
    }
}

/// The law that is above every possible slot at t = 1 + `excess` in convex order, centred: its call at c is
/// at least that of `G − (1 − t)`. It serves every smaller t ≥ 1 as well.
///
/// With d(c) the profile at s = 1 + c: the call is d(c) from c = t − 1 on and `(t − c)·d(c/(t − c))` before,
/// the put at c is `t·d(c/t)`. **Direction: up.** Arguments of d, which does not increase, are rounded down. The law
/// has so many points up and down; where it ends before the profile does, it is cut.
fn law(profile: &LocalProfile, excess: f64, spacing: f64, ends: [usize; 2]) -> Law {
    let t = 1.0 + excess;
    let scaled =
        |scale: f64, c: f64| inflate(scale * profile.delta_upper((c / scale).next_down().max(0.0)), 8.0 * f64::EPSILON);
    let call = |c: f64| if c >= excess { profile.delta_upper(c) } else { scaled(t - c, c) };
    let put = |c: f64| scaled(t, c);
    Law::from_functions(spacing, ends, call, put)
}

/// About the standard deviation of the sum of so many slots, leaving aside jumps that are much larger than
/// that. Chooses lattices; nothing rests on it.
pub(crate) fn deviation(profile: &LocalProfile, present: f64) -> f64 {
    let mut limit = profile.end().min(1e12);
    let mut deviation = f64::INFINITY;
    for _ in 0..12 {
        let next = (4.0 * integral(profile, limit) * present).sqrt();
        if next > 0.9 * deviation {
            break;
        }
        deviation = next;
        limit = limit.min(32.0 * deviation);
    }
    deviation.max(1e-150)
}

/// `∫_0^limit δ(1 + c) dc`, roughly.
fn integral(profile: &LocalProfile, limit: f64) -> f64 {
    /// Geometric steps, from far below the smallest scale that matters.
    const RATIO: f64 = 1.25;
    let mut at = limit.min(1.0) * 1e-9;
    let mut value = profile.delta_upper(at);
    let mut sum = at * value;
    while at < limit && value > 1e-30 {
        let next = (at * RATIO).min(limit);
        let next_value = profile.delta_upper(next);
        sum += 0.5 * (value + next_value) * (next - at);
        (at, value) = (next, next_value);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corollary: ±(E − 1) and ±t(E − 1) with probability 1/(E+1) each, and 0, which no lattice here holds.
    #[test]
    fn the_law_of_a_pure_slot() {
        let (epsilon, excess) = (1.2_f64, 0.3);
        let profile = LocalProfile::Pure { epsilon };
        let (gap, p) = (epsilon.exp_m1(), 1.0 / (1.0 + epsilon.exp()));
        let t = 1.0 + excess;
        let atoms = |t: f64| [(gap, p), (-t * gap, p), (t - 1.0, 1.0 - 2.0 * p)];
        for spacing in [gap / 7.0, gap / 40.0] {
            let law = law(&profile, excess, spacing, [41, 60]);
            for i in -40..40 {
                let x = 0.1 * f64::from(i);
                // At its own t and at every smaller one.
                for t in [t, 1.0 + 0.5 * excess, 1.0] {
                    let truth: f64 = atoms(t).iter().map(|(value, mass)| mass * (value - x).max(0.0)).sum();
                    let value: f64 = (law.masses.iter().enumerate())
                        .map(|(i, mass)| mass * ((law.first + i as i64) as f64 * spacing - x).max(0.0))
                        .sum();
                    assert!(value + law.excess >= truth - 1e-14, "{t}, {x}: {value} below {truth}");
                    assert!(value <= truth + spacing / 4.0 + 0.5 * excess, "{t}, {x}: {value} far above {truth}");
                }
            }
        }
    }

    /// A profile that ends above 0: that much is the excess.
    #[test]
    fn a_delta_that_stays_is_charged() {
        let profile = LocalProfile::Approximate { epsilon: 1.0, delta: 0.01 };
        let end = profile.end();
        let law = law(&profile, 0.2, end / 20.0, [20, 24]);
        assert!(law.excess >= 0.01 && law.excess < 0.0101, "{}", law.excess);
    }
}
