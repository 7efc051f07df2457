//! The law of one slot, from the local profile alone: Theorem 3 of `docs/theory/displacement.md`.

use super::curve::{Fineness, Group, Way};
use super::terms::{Term, Terms};
use crate::numerics::directed::inflate;
use crate::numerics::elementary::exp;
use crate::profile::LocalProfile;
use crate::sums::{Draws, Law, Number, calls_direct, calls_upper, calls_with_jumps};

/// Slots of which nothing is known but the local profile.
pub(super) struct ProfileSlots {
    pub(super) profile: LocalProfile,
    pub(super) terms: Terms,
    pub(super) fineness: Fineness,
    /// A divergence that does not matter.
    pub(super) floor: f64,
}

/// Cutting a slot's law at the top may cost this share of the divergence.
pub(crate) const CUT_SHARE: f64 = 1e-4;

/// Cutting a heavy tail may cost this share.
const HEAVY_CUT: f64 = 1e-3;

/// Cutting a law at the bottom may raise the mean of a sum with a heavy tail by the first share
/// of its deviation; or by the second, if it is so many deviations away.
const BOTTOM_CUT: [f64; 2] = [3e-4, 1e-2];
const FAR_DOWN: f64 = 16.0;

/// The lattice of what is left may add this share to the variance.
const ADDED: f64 = 5e-4;

/// A slot of which more is above this share of the sum's deviation jumps,
const JUMP: f64 = 0.5;

/// unless more than so many would.
const MOST_JUMPS: f64 = 1.0;

/// From so many standard deviations on the tail of few slots is that of a single one.
const HEAVY: f64 = 6.0;

/// Of fewer slots none is kept apart: keeping them apart loses a share of one slot for each of
/// them.
const FEW: f64 = 200.0;

/// Before a tail is heavy, jumps are kept apart where those that matter are larger than so many
/// deviations.
const LARGE: f64 = 8.0;

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
        sum.calls(t, potential(&self.profile, group.excess_high), points)
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
    /// The part of a call that cutting laws may cost, wherever it is read.
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

    /// The same, of slots that spread about as those of this profile do.
    pub(super) fn with_deviation_of(self, profile: &LocalProfile) -> Self {
        Self { deviation: deviation(profile, self.present), ..self }
    }

    /// At least `E(S − x)₊` at the `points` x, which increase, where one slot has this call and
    /// this put; puts reach `down` times as far as calls.
    pub(crate) fn calls(
        &self,
        down: f64,
        (call, put): (impl Fn(f64) -> f64, impl Fn(f64) -> f64),
        points: &[f64],
    ) -> Option<Vec<f64>> {
        let last = *points.last()?;
        let single = self.present * self.profile.delta_upper(last);
        // Beyond the end no single slot is that large, though a δ0 may stay.
        let is_heavy = last < self.profile.end() && single > 100.0 * self.normal_call(last);
        let share = if is_heavy { HEAVY_CUT * single } else { CUT_SHARE * self.normal_call(last) };
        let top = self.top(self.negligible.max(share));
        let is_few = self.number.most() < FEW;
        if is_few && is_heavy && points[0] > HEAVY * self.deviation {
            return Some(self.few_calls(top, down, (call, put), points));
        }
        let is_needed = is_heavy || top > LARGE * self.deviation;
        if is_needed && !is_few && self.threshold() < 0.25 * top {
            return Some(self.calls_with_jumps(top, down, (call, put), points));
        }
        let mut spacing = self.finest().max(top * down / self.most_points());
        if top >= self.profile.end() {
            // The end of the profile is where the law has an atom: a lattice point.
            spacing = top / (top / spacing).ceil();
        }
        let points_up = (top / spacing).ceil();
        // What is cut off at the bottom costs nothing but tightness.
        let points_down = (down * points_up).ceil().min(self.most_points());
        let law = Law::from_functions(spacing, [points_up as usize, points_down as usize], call, put);
        Some(calls_upper(&[Draws::new(&law, self.number)], points))
    }

    /// The same where few slots have a heavy tail, which ends at `top`.
    fn few_calls(
        &self,
        top: f64,
        down: f64,
        (call, put): (impl Fn(f64) -> f64, impl Fn(f64) -> f64),
        points: &[f64],
    ) -> Vec<f64> {
        // A single draw is what counts: the lattice is as fine as that needs.
        let heavy = 2.0 * self.fineness.heavy as f64;
        let spacing = (top / heavy).max(self.deviation / self.present.sqrt() / self.fineness.slots);
        let points_up = (top / spacing).ceil();
        let points_down = (down * points_up).min(2.0 * heavy);
        let law = Law::from_functions(spacing, [points_up as usize, points_down as usize], call, put);
        calls_direct(&Draws::new(&law, self.number), top, points)
    }

    /// The same where many slots have a heavy tail.
    fn calls_with_jumps(
        &self,
        top: f64,
        down: f64,
        (call, put): (impl Fn(f64) -> f64, impl Fn(f64) -> f64),
        points: &[f64],
    ) -> Vec<f64> {
        let threshold = self.threshold();
        let [near, far] = BOTTOM_CUT.map(|share| self.top(share * self.deviation));
        let bottom = down * near.min(far.max(FAR_DOWN * self.deviation));
        // A lattice adds about 2hδ to the variance of a slot most of whose values are smaller than
        // its spacing h.
        let variance = self.deviation * self.deviation / self.present;
        let enough = ADDED * variance / (2.0 * self.profile.delta_upper(0.0));
        let spacing = self.finest().max(enough).max(threshold.max(bottom) / self.most_points());
        let ends = [threshold, bottom].map(|reach| (reach / spacing).ceil() as usize);
        let parts = Law::split(spacing, ends, (top, self.fineness.heavy), call, put);
        calls_with_jumps(&parts, self.number, (self.deviation, self.negligible), points)
    }

    /// The size above which a slot is a jump, in a heavy tail: so large that few are.
    fn threshold(&self) -> f64 {
        let mut threshold = JUMP * self.deviation;
        while self.present * self.profile.delta_upper(threshold) > MOST_JUMPS * threshold {
            threshold *= 2.0;
        }
        threshold
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
        normal_call(self.deviation, x)
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

/// About `E(S − x)₊` if the sum S were normal.
fn normal_call(deviation: f64, x: f64) -> f64 {
    let z = x / deviation;
    0.4 * deviation * exp(-0.5 * z * z) / (1.0 + z * z)
}

/// Call and put of the law that is above every possible slot at t = 1 + `excess` in convex order,
/// centred: its call at c is at least that of `G − (1 − t)`. It serves every smaller t ≥ 1 as well.
///
/// With d(c) the profile at s = 1 + c: the call is d(c) from c = t − 1 on and `(t − c)·d(c/(t −
/// c))` before, the put at c is `t·d(c/t)`. **Direction: up.** Arguments of d, which does not
/// increase, are rounded down.
fn potential(profile: &LocalProfile, excess: f64) -> (impl Fn(f64) -> f64, impl Fn(f64) -> f64) {
    let t = 1.0 + excess;
    let scaled = move |scale: f64, c: f64| {
        inflate(scale * profile.delta_upper((c / scale).next_down().max(0.0)), 8.0 * f64::EPSILON)
    };
    let call = move |c: f64| if c >= excess { profile.delta_upper(c) } else { scaled(t - c, c) };
    (call, move |c: f64| scaled(t, c))
}

/// About the standard deviation of the sum of so many slots, leaving aside jumps that are much
/// larger than that. Chooses lattices; nothing rests on it.
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

    /// The corollary: ±(E − 1) and ±t(E − 1) with probability 1/(E+1) each, and 0, which no lattice
    /// here holds.
    #[test]
    fn the_law_of_a_pure_slot() {
        let (epsilon, excess) = (1.2_f64, 0.3);
        let profile = LocalProfile::Pure { epsilon };
        let (gap, p) = (epsilon.exp_m1(), 1.0 / (1.0 + epsilon.exp()));
        let t = 1.0 + excess;
        let atoms = |t: f64| [(gap, p), (-t * gap, p), (t - 1.0, 1.0 - 2.0 * p)];
        for spacing in [gap / 7.0, gap / 40.0] {
            let (call, put) = potential(&profile, excess);
            let law = Law::from_functions(spacing, [41, 60], call, put);
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
        let (call, put) = potential(&profile, 0.2);
        let law = Law::from_functions(end / 20.0, [20, 24], call, put);
        assert!(law.excess >= 0.01 && law.excess < 0.0101, "{}", law.excess);
    }
}
