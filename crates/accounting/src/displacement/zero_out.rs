//! The law of one slot where the victim's record is replaced by the zero vector: section 8 of
//! `docs/theory/displacement.md`.
//!
//! Of two neighbours one has a record in a ball and the other has the ball's centre, so two
//! profiles count: the *near* one, of any record against zero, and the *far* one, of any two
//! records. The two orders of the neighbours differ, and each has a curve of its own.

use super::curve::{Fineness, Group, Way};
use super::slot::SlotSum;
use super::terms::{Term, Terms};
use crate::numerics::directed::inflate;
use crate::profile::LocalProfile;

/// Which of two neighbours comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The one that has the record. Where neighbours may be exchanged, both orders are this one.
    RecordFirst,
    /// The one whose record is zero.
    ZeroFirst,
}

/// The profiles of zero-out neighbours. `near` is at most `far`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Profiles {
    /// Of any record against zero, in both orders.
    pub(crate) near: LocalProfile,
    /// Of any two records.
    pub(crate) far: LocalProfile,
}

/// Slots of which nothing is known but the two profiles.
pub(super) struct ZeroOutSlots {
    pub(super) profiles: Profiles,
    pub(super) order: Order,
    pub(super) terms: Terms,
    pub(super) fineness: Fineness,
    /// A divergence that does not matter.
    pub(super) floor: f64,
}

impl Way for ZeroOutSlots {
    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn calls(&self, term: &Term, group: &Group, points: &[f64]) -> Option<Vec<f64>> {
        let Profiles { near, far } = &self.profiles;
        let sum = SlotSum::new(far, term, self.fineness, self.floor).with_deviation_of(near);
        let slot = Slot { profiles: &self.profiles, order: self.order };
        let Group { excess_low: low, excess_high: high } = *group;
        // At a fixed c the call falls with t until t = 1 + c (record first) and does not fall after
        // that, so it is the largest at one of the two ends. Puts do not fall.
        let call = |c: f64| slot.call(low, c).max(slot.call(high, c));
        sum.calls(1.0 + high, (call, |c: f64| slot.put(high, c)), points)
    }
}

/// The slot of one order: calls and puts at t = 1 + `excess` that are at least those of every slot,
/// centred. **Direction: up.** Arguments of profiles, which do not increase, are rounded down; the
/// share of the near profile, which is the smaller one, is too.
struct Slot<'a> {
    profiles: &'a Profiles,
    order: Order,
}

/// Covers the roundings of a share, of a product and of a sum.
const SLACK: f64 = 16.0 * f64::EPSILON;

impl Slot<'_> {
    /// At least `E(c° − c)₊`, c° the centred slot, for c ≥ 0.
    fn call(&self, excess: f64, c: f64) -> f64 {
        // t − c = 1 + a where κ = −a ≤ 0.
        let left = 1.0 + (excess - c);
        match self.order {
            // κ = c − (t − 1) ≥ 0: shares t/(t + κ) and κ/(t + κ), t + κ = 1 + c.
            Order::RecordFirst if c >= excess => self.mixed((1.0 + excess) / (1.0 + c), c),
            Order::RecordFirst => inflate(left * self.near(c / left), SLACK),
            Order::ZeroFirst if c >= excess => self.near(c),
            // Shares 1/(1 + a) and a/(1 + a).
            Order::ZeroFirst => inflate(left * self.mixed(1.0 / left, c / left), SLACK),
        }
    }

    /// At least `E(−c − c°)₊`, for c ≥ 0: a = t − 1 + c.
    fn put(&self, excess: f64, c: f64) -> f64 {
        let t = 1.0 + excess;
        let delta = match self.order {
            Order::RecordFirst => self.near(c / t),
            Order::ZeroFirst => self.mixed(1.0 / (t + c), c / t),
        };
        inflate(t * delta, SLACK)
    }

    fn near(&self, excess: f64) -> f64 {
        self.profiles.near.delta_upper((excess * (1.0 - 4.0 * f64::EPSILON)).max(0.0))
    }

    /// At least `share·near + (1 − share)·far`.
    fn mixed(&self, share: f64, excess: f64) -> f64 {
        mixed(self.profiles, share, excess)
    }
}

/// At least `share·near(1 + excess) + (1 − share)·far(1 + excess)`.
pub(super) fn mixed(profiles: &Profiles, share: f64, excess: f64) -> f64 {
    let excess = (excess * (1.0 - 4.0 * f64::EPSILON)).max(0.0);
    // No share is above 1 but for rounding.
    let share = (share * (1.0 - 8.0 * f64::EPSILON)).min(1.0);
    let (near, far) = (profiles.near.delta_upper(excess), profiles.far.delta_upper(excess));
    inflate(share * near + (1.0 - share) * far, SLACK).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfilePoints;

    /// The laws of reports of −1, 0 and 1: weights of five outputs that fall with the distance, by
    /// rates that differ from case to case, so that nothing is symmetric.
    fn channel(case: u32) -> [Vec<f64>; 3] {
        let rate = 0.2 + 0.25 * f64::from(case);
        [-1.0, 0.0, 1.0].map(|x: f64| {
            let weight = |y: i32| {
                let away = (f64::from(y) - 1.6 * x).abs();
                (-rate * away.powf(1.0 + 0.3 * f64::from(case % 3))).exp() * (1.0 + 0.1 * f64::from(y * y))
            };
            let weights: Vec<f64> = (-2..=2).map(weight).collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / total).collect()
        })
    }

    fn divergence(p: &[f64], s: f64, q: &[f64]) -> f64 {
        p.iter().zip(q).map(|(p, q)| (p - s * q).max(0.0)).sum()
    }

    /// The profile of these pairs, at every ratio of two probabilities.
    fn profile(pairs: &[(&[f64], &[f64])]) -> LocalProfile {
        let largest = |s: f64| pairs.iter().map(|(p, q)| divergence(p, s, q)).fold(0.0, f64::max);
        let mut ratios: Vec<f64> = pairs
            .iter()
            .flat_map(|(p, q)| p.iter().zip(*q).map(|(p, q)| p / q))
            .filter(|ratio| *ratio > 1.01)
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios.dedup_by(|next, kept| *next - *kept < 1e-3);
        let last = ratios.last().copied().unwrap_or(1.0) * (1.0 + 1e-3);
        let points: Vec<(f64, f64)> = std::iter::once(1.0)
            .chain(ratios)
            .chain([last])
            .map(|s: f64| (s.ln(), largest(s) + if s < last { 1e-15 } else { 0.0 }))
            .collect();
        LocalProfile::Points(ProfilePoints::new(&points).unwrap())
    }

    /// Every slot of every channel, in both orders, at t and c on a grid: never above, and
    /// somewhere close.
    #[test]
    fn no_slot_is_above_the_calls_and_puts() {
        let mut closest: f64 = 0.0;
        for case in 0..7 {
            let rows = channel(case);
            let rows: [&[f64]; 3] = [&rows[0], &rows[1], &rows[2]];
            let (zero, all) = (rows[1], [0, 1, 2].map(|i| rows[i]));
            let near = all.iter().flat_map(|row| [(*row, zero), (zero, *row)]).collect::<Vec<_>>();
            let far = all.iter().flat_map(|p| all.map(|q| (*p, q))).collect::<Vec<_>>();
            let profiles = Profiles { near: profile(&near), far: profile(&far) };
            for order in [Order::RecordFirst, Order::ZeroFirst] {
                let slot = Slot { profiles: &profiles, order };
                for record in [rows[0], rows[2]] {
                    let (first, second) = if order == Order::RecordFirst { (record, zero) } else { (zero, record) };
                    for other in rows {
                        for excess in [0.0, 0.02, 0.3, 1.0, 2.5] {
                            let t = 1.0 + excess;
                            // The centred slot, and its probability.
                            let values: Vec<(f64, f64)> = (0..other.len())
                                .map(|y| ((first[y] - t * second[y]) / other[y] + excess, other[y]))
                                .collect();
                            for i in 0..60 {
                                let c = 0.1 * f64::from(i);
                                let call: f64 = values.iter().map(|(v, p)| p * (v - c).max(0.0)).sum();
                                let put: f64 = values.iter().map(|(v, p)| p * (-c - v).max(0.0)).sum();
                                let bounds = (slot.call(excess, c), slot.put(excess, c));
                                assert!(call <= bounds.0 + 1e-14, "{case} {order:?} {t} {c}: {call} {}", bounds.0);
                                assert!(put <= bounds.1 + 1e-14, "{case} {order:?} {t} {c}: {put} {}", bounds.1);
                                if call > 1e-3 {
                                    closest = closest.max(call / bounds.0);
                                }
                            }
                        }
                    }
                }
            }
        }
        assert!(closest > 0.99, "{closest}");
    }

    /// Where near and far are the same, it is Theorem D3 again: the call does not depend on the
    /// order.
    #[test]
    fn equal_profiles_have_one_order() {
        let profile = LocalProfile::Gaussian { mu: 0.8 };
        let profiles = Profiles { near: profile, far: profile };
        let [record, zero] = [Order::RecordFirst, Order::ZeroFirst].map(|order| Slot { profiles: &profiles, order });
        for excess in [0.0, 0.1, 1.0] {
            for i in 0..50 {
                let c = 0.07 * f64::from(i);
                for (a, b) in
                    [(record.call(excess, c), zero.call(excess, c)), (record.put(excess, c), zero.put(excess, c))]
                {
                    assert!((a / b - 1.0).abs() < 1e-12, "{excess} {c}: {a} {b}");
                }
            }
        }
    }
}
