//! Few draws with a heavy tail, convolved one by one.
//!
//! As in [`super::jumps`], no tilt brings such a tail up, and an FFT cannot tell it from its own
//! rounding. Sums of products of positive masses keep their relative accuracy, however small they
//! are. Lattices are coarse here, for the tail is what counts; among many draws they would be too
//! coarse for what is not the tail.

use super::{Draws, Number};
use crate::numerics::directed::{add_up, mul_up};
use crate::numerics::elementary::exp;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// At least `E(S − x)₊` at every x of `points`, which increase; S is the sum of the draws. Values
/// beyond `top` are cut off there, and what that costs is charged.
pub(crate) fn calls_direct(draws: &Draws<'_>, top: f64, points: &[f64]) -> Vec<f64> {
    let law = draws.law;
    let (one, count) = match draws.number {
        Number::Fixed(count) => (Masses { first: law.first, masses: law.masses.clone(), excess: law.excess }, count),
        Number::Thinned { draws, rate } => (Masses::thinned(law, rate), draws),
        // Not needed: numbers of participants are mixed for laws that are bounded.
        Number::Mixed(_) => return vec![f64::INFINITY; points.len()],
    };
    let limits = Limits { spacing: law.spacing, lowest: -one.reach(), highest: (top / law.spacing).ceil() as i64 };
    let mut one = one.cut(&limits);
    let mut sum = Masses { first: 0, masses: vec![1.0], excess: 0.0 };
    let mut left = count;
    while left > 0 {
        if left & 1 == 1 {
            sum = sum.convolved(&one, &limits);
        }
        left >>= 1;
        if left > 0 {
            one = one.convolved(&one, &limits);
        }
    }
    // A mass of the sum is a product of `count` masses, and every convolution adds up to `length`
    // of them.
    let length = (limits.highest - limits.lowest) as f64;
    let error = exp(count as f64 * 2.0 * U * (length + 8.0)) * (1.0 + 1e-10);
    sum.calls(&limits, error, points)
}

/// The lattice points that are kept.
struct Limits {
    spacing: f64,
    lowest: i64,
    highest: i64,
}

/// Masses at the lattice points from `first` on.
#[derive(Debug, Clone)]
struct Masses {
    first: i64,
    masses: Vec<f64>,
    /// The call of the true law is at most this much above that of the masses.
    excess: f64,
}

impl Masses {
    /// A draw that happens with this probability, and else is 0.
    fn thinned(law: &super::Law, rate: f64) -> Self {
        let last = law.first + law.masses.len() as i64 - 1;
        let (first, last) = (law.first.min(0), last.max(0));
        let mut masses = vec![0.0; (last - first + 1) as usize];
        for (i, mass) in law.masses.iter().enumerate() {
            masses[(law.first - first) as usize + i] += rate * mass;
        }
        // Rounded up.
        masses[-first as usize] += (1.0 - rate) * (1.0 + 4.0 * U);
        Self { first, masses, excess: mul_up(law.excess, rate) }
    }

    /// At least the size of every value, in spacings.
    fn reach(&self) -> i64 {
        self.first.abs().max((self.first + self.masses.len() as i64 - 1).abs())
    }

    /// The sum of one draw of either, with what lies beyond the limits moved to them: at the top
    /// what that costs is charged, at the bottom it costs nothing.
    fn convolved(&self, other: &Self, limits: &Limits) -> Self {
        let first = self.first + other.first;
        let last = first + (self.masses.len() + other.masses.len()) as i64 - 2;
        let lowest = first.max(limits.lowest.min(last));
        let highest = last.min(limits.highest.max(first));
        let reversed: Vec<f64> = other.masses.iter().rev().copied().collect();
        let is_square = std::ptr::eq(self, other);
        let mass_at = |value: i64| {
            let place = (value - first) as usize;
            if is_square { self.square_at(&reversed, place) } else { self.product_at(&reversed, place) }
        };
        let mut masses: Vec<f64> = (lowest..=highest).map(mass_at).collect();
        let (mut above, mut distance) = (0.0, 0.0);
        if highest < last {
            // Σ of the other's masses from a place on, and of them times how far they lie beyond
            // it, and one more.
            let mut tails = vec![(0.0, 0.0); other.masses.len() + 1];
            for (i, mass) in other.masses.iter().enumerate().rev() {
                let beyond = tails[i + 1].0 + mass;
                tails[i] = (beyond, tails[i + 1].1 + beyond);
            }
            for (i, mass) in self.masses.iter().enumerate() {
                let from = (highest - first + 1 - i as i64).max(0) as usize;
                // All of the other's masses lie beyond, by so much more.
                let more = (i as i64 - (highest - first + 1)).max(0) as f64;
                if let Some((beyond, further)) = tails.get(from) {
                    above += mass * beyond;
                    distance += mass * (further + more * beyond);
                }
            }
        }
        if let Some(end) = masses.last_mut() {
            *end += above;
        }
        if lowest > first {
            let heads: Vec<f64> = other
                .masses
                .iter()
                .scan(0.0, |sum, mass| {
                    *sum += mass;
                    Some(*sum)
                })
                .collect();
            let below = |(i, mass): (usize, &f64)| {
                let before = (lowest - first - i as i64).clamp(0, heads.len() as i64) as usize;
                if before == 0 { 0.0 } else { mass * heads[before - 1] }
            };
            masses[0] += self.masses.iter().enumerate().map(below).sum::<f64>();
        }
        let cut = distance * limits.spacing * (1.0 + 1e-9);
        Self { first: lowest, masses, excess: add_up(add_up(self.excess, other.excess), cut) }
    }

    /// The mass at one place of the sum of these and of others, which are given from the last to
    /// the first.
    fn product_at(&self, reversed: &[f64], place: usize) -> f64 {
        let from = (place + 1).saturating_sub(reversed.len());
        let to = place.min(self.masses.len() - 1);
        dot(&self.masses[from..=to], &reversed[reversed.len() - 1 - (place - from)..])
    }

    /// The same where the others are these: every product of two different masses occurs twice.
    fn square_at(&self, reversed: &[f64], place: usize) -> f64 {
        let from = (place + 1).saturating_sub(reversed.len());
        let half = place.div_ceil(2);
        let middle = if place.is_multiple_of(2) { self.masses[half] * self.masses[half] } else { 0.0 };
        2.0 * dot(&self.masses[from..half.max(from)], &reversed[reversed.len() - 1 - (place - from)..]) + middle
    }

    /// Moves what lies beyond the limits to them, as [`Masses::convolved`] does.
    fn cut(self, limits: &Limits) -> Self {
        Self { first: 0, masses: vec![1.0], excess: 0.0 }.convolved(&self, limits)
    }

    fn calls(&self, limits: &Limits, error: f64, points: &[f64]) -> Vec<f64> {
        let value = |i: usize| (self.first + i as i64) as f64 * limits.spacing;
        let (mut above, mut call, mut next) = (0.0, 0.0, self.masses.len());
        let mut calls: Vec<f64> = Vec::with_capacity(points.len());
        for point in points.iter().rev() {
            while next > 0 && value(next - 1) > *point {
                next -= 1;
                call += limits.spacing * above;
                above += self.masses[next];
            }
            let distance = if next < self.masses.len() { value(next) - point } else { 0.0 };
            let sum = (call + distance * above) * error + f64::MIN_POSITIVE;
            // What was cut off was read off masses, which may be too small.
            let cut = mul_up(self.excess, error);
            calls.push(if sum >= 0.0 { add_up(sum, cut) } else { f64::INFINITY });
        }
        calls.reverse();
        calls
    }
}

/// `Σ a·b` over the shorter of both, in eight sums side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..length].as_chunks::<8>(), b[..length].as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::Law;

    /// Masses may be too small by a factor, and so may what was cut off.
    #[test]
    fn the_cut_is_rounded_up_with_the_masses() {
        let masses = Masses { first: 0, masses: vec![1.0], excess: 0.5 };
        let limits = Limits { spacing: 1.0, lowest: 0, highest: 1 };
        assert!(masses.calls(&limits, 1.5, &[3.0])[0] >= 0.75);
    }

    /// Five draws by hand; the limit cuts most of the larger sums off, and that is charged.
    #[test]
    fn what_is_cut_off_at_the_top_is_charged() {
        let law = Law { spacing: 1.0, first: -1, masses: vec![0.75, 0.0, 0.125, 0.125], excess: 1e-4 };
        let mut sums = std::collections::BTreeMap::from([(0_i64, 1.0)]);
        for _ in 0..5 {
            let mut next = std::collections::BTreeMap::new();
            for (sum, mass) in &sums {
                for (i, one) in law.masses.iter().enumerate() {
                    *next.entry(sum + i as i64 - 1).or_insert(0.0) += mass * one;
                }
            }
            sums = next;
        }
        let points = [-2.0, 0.0, 1.5, 2.5];
        for top in [2.0, 3.0, 20.0] {
            for (x, call) in points.iter().zip(calls_direct(&Draws::fixed(&law, 5), top, &points)) {
                let truth: f64 = sums.iter().map(|(sum, mass)| mass * (*sum as f64 - x).max(0.0)).sum();
                let truth = truth + 5.0 * law.excess;
                assert!(call >= truth, "{top}, {x}: {call} below {truth}");
                // What is below the lowest value of a draw is moved up to it.
                assert!(top < 20.0 || call <= 1.2 * truth, "{x}: {call} far above {truth}");
            }
        }
    }

    /// Cell by cell, against all products one by one.
    #[test]
    fn a_convolution_is_all_products() {
        let masses = |count: u32| (0..count).map(|i| 1.0 / f64::from(i * i % 7 + i + 1)).collect::<Vec<f64>>();
        let of = |first: i64, count: u32| Masses { first, masses: masses(count), excess: 0.25 };
        for (a, b) in
            [(of(-3, 40), of(-9, 17)), (of(-9, 17), of(-3, 40)), (of(-20, 41), of(-20, 41)), (of(2, 1), of(0, 1))]
        {
            for (lowest, highest) in [(-100, 100), (-5, 9), (0, 3), (-30, -25), (60, 70)] {
                let limits = Limits { spacing: 0.5, lowest, highest };
                let (mut truth, mut cut) = (std::collections::BTreeMap::new(), 0.0);
                let (first, last) =
                    (a.first + b.first, a.first + b.first + (a.masses.len() + b.masses.len()) as i64 - 2);
                let (low, high) = (lowest.min(last).max(first), highest.max(first).min(last));
                for (i, x) in a.masses.iter().enumerate() {
                    for (j, y) in b.masses.iter().enumerate() {
                        let value = first + (i + j) as i64;
                        *truth.entry(value.clamp(low, high)).or_insert(0.0) += x * y;
                        cut += (value - high).max(0) as f64 * 0.5 * x * y;
                    }
                }
                let squared = a.convolved(&a, &limits);
                let again = a.convolved(&a.clone(), &limits);
                assert!(squared.masses.iter().zip(&again.masses).all(|(x, y)| (x / y - 1.0).abs() < 1e-12));
                let sum = a.convolved(&b, &limits);
                assert_eq!((sum.first, sum.masses.len()), (low, truth.len()));
                for (mass, (value, truth)) in sum.masses.iter().zip(&truth) {
                    assert!((mass / truth - 1.0).abs() < 1e-12, "{value}: {mass} {truth}");
                }
                assert!(
                    sum.excess >= 0.5 + cut && sum.excess <= 0.5 + cut * (1.0 + 1e-8) + 1e-15,
                    "{} {cut}",
                    sum.excess
                );
            }
        }
    }
}
