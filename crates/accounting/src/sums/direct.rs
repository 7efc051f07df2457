//! Sums with heavy tails, convolved one by one.
//!
//! Where single draws are larger than all others together, no tilt brings the tail up without bringing up what is
//! beyond it still more, and an FFT cannot tell the tail from its own rounding. Products of positive masses can: they
//! keep their relative accuracy, however small they are. Lattices are coarse here, for the tail is what counts.

use super::{Draws, Number};
use crate::numerics::directed::{add_up, mul_up};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// At least `E(S − x)₊` at every x of `points`, which increase; S is the sum of the draws. Values beyond `top` are cut off
/// there, and what that costs is charged.
pub(crate) fn calls_direct(draws: &Draws<'_>, top: f64, points: &[f64]) -> Vec<f64> {
    let law = draws.law;
    let (mut one, count) = match draws.number {
        Number::Fixed(count) => (Masses { first: law.first, masses: law.masses.clone(), excess: law.excess }, count),
        Number::Thinned { draws, rate } => (Masses::thinned(law, rate), draws),
        // Not needed: numbers of speakers are mixed for laws that are bounded.
        Number::Mixed(_) => return vec![f64::INFINITY; points.len()],
    };
    let limits = Limits { spacing: law.spacing, lowest: -one.reach(), highest: (top / law.spacing).ceil() as i64 };
    one.cut(&limits);
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
    // A mass of the sum is a product of `count` masses, and every convolution adds up to `length` of them.
    let length = (limits.highest - limits.lowest) as f64;
    let error = (count as f64 * 2.0 * U * (length + 8.0)).exp() * (1.0 + 1e-10);
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

    /// The sum of one draw of either.
    fn convolved(&self, other: &Self, limits: &Limits) -> Self {
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        for (i, mass) in self.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            let sums = &mut masses[i..i + other.masses.len()];
            sums.iter_mut().zip(&other.masses).for_each(|(sum, other)| *sum += mass * other);
        }
        let excess = add_up(self.excess, other.excess);
        let mut sum = Self { first: self.first + other.first, masses, excess };
        sum.cut(limits);
        sum
    }

    /// Moves what lies beyond the limits to them: at the top what that costs is charged, at the bottom it costs nothing.
    fn cut(&mut self, limits: &Limits) {
        let below = (limits.lowest - self.first).max(0) as usize;
        if below > 0 && below < self.masses.len() {
            let moved: f64 = self.masses.drain(..below).sum();
            self.masses[0] += moved;
            self.first = limits.lowest;
        }
        let kept = (limits.highest - self.first + 1).max(1) as usize;
        if kept < self.masses.len() {
            let beyond = self.masses.split_off(kept);
            let distance = |(i, mass): (usize, &f64)| (i + 1) as f64 * mass;
            let cut = beyond.iter().enumerate().map(distance).sum::<f64>() * limits.spacing * (1.0 + 1e-9);
            self.excess = add_up(self.excess, cut);
            self.masses[kept - 1] += beyond.iter().sum::<f64>();
        }
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
}
