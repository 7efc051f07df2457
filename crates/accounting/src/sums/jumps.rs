//! Sums with heavy tails: a few draws jump, and all others are light.
//!
//! Where a single draw may be larger than all others together, no tilt brings the tail up without
//! bringing up what is beyond it still more, and an FFT cannot tell the tail from its own rounding.
//! So draws above a threshold, *jumps*, are kept apart. With L the light part of a draw's law and H
//! its jumps, k draws have the measure `Σ_j (k choose j)·L^(k−j)·H^j`. Two bounds make one sum of
//! it:
//!
//! - a light draw has a mean −m ≤ 0, so by Jensen's inequality the call of k − j of them at y is at
//!   most that of k at `y − jm`, times the mass of a light draw to the power −j: every jump reaches
//!   m further;
//! - sums of several jumps are spread over the points of one lattice with their mean kept, which
//!   raises every call.
//!
//! The rest is `Σ_h M(h)·C(x − h)`, C the call of the light draws, which tilts bring up, and M
//! the measure of all jumps: sums of products of positive numbers, which keep their relative
//! accuracy, however small they are.

use super::{Draws, Jumps, Law, Number, calls_upper};
use crate::numerics::directed::{add_up, mul_up, sum_up};
use crate::numerics::elementary::{exp, exp_m1, ln_1p};

/// Covers the roundings of sums and products of positive numbers.
const ROUNDING: f64 = 1e-9;

/// The light draws' call is computed at so many points to a standard deviation,
const PER_DEVIATION: f64 = 64.0;

/// from so many standard deviations below the mean on,
const LOWEST: f64 = -4.0;

/// up to so many above it; beyond, each point is further out by a share.
const DENSE: f64 = 12.0;
const GROWTH: f64 = 1.1;

/// Sums of several jumps are listed up to so many times the last point, or the deviation,
const FURTHEST: f64 = 8.0;

/// at so many points;
const SEVERAL: usize = 1_024;

/// sums of more jumps than this are not.
const MOST_JUMPS: u32 = 64;

/// The cost of sums of more jumps, as a share of what is negligible.
const LEFT_OUT: f64 = 1e-3;

/// At least `E(S − x)₊` at every x of `points`, which increase; S is the sum of draws that are
/// light or jump. `deviation`, about that of the light draws together, chooses where they are
/// looked at; what costs less than `negligible` need not be resolved.
pub(crate) fn calls_with_jumps(
    (light, jumps): &(Law, Jumps),
    number: Number<'_>,
    (deviation, negligible): (f64, f64),
    points: &[f64],
) -> Vec<f64> {
    let (Number::Fixed(_) | Number::Thinned { .. }, Some(last)) = (number, points.last()) else {
        // Not needed: numbers of participants are mixed for laws that are bounded.
        return vec![f64::INFINITY; points.len()];
    };
    let (draws, rate) = (number.most(), number.rate());
    // No more than the mass of a draw that does not jump: what is divided by it only grows.
    let jumping = jumps.atoms.iter().map(|(_, mass)| mass).sum::<f64>();
    let stays = (1.0 - rate * (1.0 + ROUNDING) * jumping) * (1.0 - ROUNDING);
    if stays < 0.5 {
        return vec![f64::INFINITY; points.len()];
    }
    let shift = rate * shortfall(light) / stays * (1.0 + ROUNDING);
    let often = draws * rate / stays * (1.0 + ROUNDING);
    let calls = LightCalls::new(light, number, deviation, *last);
    let together = Together::new(jumps, (draws, often), shift, (last.max(deviation), negligible), calls.at_mean());
    let excess = add_up(mul_up(number.mean_upper(), jumps.excess), together.excess);
    points.iter().map(|x| add_up(together.call(&calls, *x) + f64::MIN_POSITIVE, excess)).collect()
}

/// At least minus the sum of a law's values times their masses; not below 0.
fn shortfall(law: &Law) -> f64 {
    let value = |(i, mass): (usize, &f64)| (law.first + i as i64) as f64 * law.spacing * mass;
    let (below, above) = law.masses.iter().enumerate().map(value).partition::<Vec<f64>, _>(|value| *value < 0.0);
    (-below.iter().sum::<f64>() * (1.0 + ROUNDING) - above.iter().sum::<f64>() * (1.0 - ROUNDING)).max(0.0)
}

/// Upper bounds on the call of the light draws at many points, which increase.
struct LightCalls {
    points: Vec<f64>,
    calls: Vec<f64>,
    /// At least the mass of all draws together.
    mass: f64,
}

impl LightCalls {
    fn new(light: &Law, number: Number<'_>, deviation: f64, last: f64) -> Self {
        let mut points: Vec<f64> = Vec::new();
        let mut point = LOWEST * deviation;
        let most = last.min(1e3 * deviation);
        while point < most {
            points.push(point);
            let dense = point + deviation / PER_DEVIATION;
            point = if point < DENSE * deviation { dense } else { point * GROWTH };
        }
        points.push(most);
        let mut calls = calls_upper(&[Draws::new(light, number)], &points);
        // A call does not increase.
        for i in 1..calls.len() {
            calls[i] = calls[i].min(calls[i - 1]);
        }
        // Of one draw it is 1, less what jumps.
        let one = number.rate() * add_up(sum_up(light.masses.iter().copied()), -1.0);
        let mass = exp(number.most() * ln_1p(one)) * (1.0 + ROUNDING);
        Self { points, calls, mass }
    }

    /// At least the call at `x`, which lies before the point of this index, if there is one, and
    /// not before the point before it.
    fn before(&self, next: usize, x: f64) -> f64 {
        let (points, calls) = (&self.points, &self.calls);
        let bound = if next == 0 {
            // With every step down the call grows by at most the mass.
            calls[0] + (points[0] - x) * self.mass
        } else if next == points.len() {
            calls[next - 1]
        } else {
            let share = (x - points[next - 1]) / (points[next] - points[next - 1]);
            calls[next - 1] * (1.0 - share) + calls[next] * share
        };
        bound * (1.0 + ROUNDING)
    }

    /// At least `Σ mass·C(x − size)`, sizes increasing.
    fn after(&self, atoms: impl Iterator<Item = (f64, f64)>, x: f64) -> f64 {
        let mut next = self.points.len();
        let mut sum = 0.0;
        for (size, mass) in atoms.filter(|(_, mass)| *mass > 0.0) {
            let rest = x - size;
            while next > 0 && self.points[next - 1] > rest {
                next -= 1;
            }
            sum += mass * self.before(next, rest);
        }
        sum
    }

    /// At least the call at 0.
    fn at_mean(&self) -> f64 {
        self.before(self.points.partition_point(|point| *point <= 0.0), 0.0)
    }
}

/// The measure of all jumps together, but for none at all.
struct Together {
    /// Of a single jump: (size, mass), the size increasing.
    single: Vec<(f64, f64)>,
    /// Of several: `several[i]` at `i·step`.
    several: Vec<f64>,
    step: f64,
    /// All that was left out may add so much to any call.
    excess: f64,
}

impl Together {
    /// Jumps of so many `draws` that happen so `often`, each of which reaches `shift` further.
    /// Their sums are looked at up to `reached`.
    fn new(
        jumps: &Jumps,
        (draws, often): (f64, f64),
        shift: f64,
        (reached, negligible): (f64, f64),
        at_mean: f64,
    ) -> Self {
        let further = |(size, mass): &(f64, f64)| ((size + shift) * (1.0 + 1e-12), often * mass);
        let single: Vec<(f64, f64)> = jumps.atoms.iter().map(further).collect();
        let rate = single.iter().map(|(_, mass)| mass).sum::<f64>() * (1.0 + ROUNDING) + f64::MIN_POSITIVE;
        let reach = single.iter().map(|(size, mass)| size * mass).sum::<f64>() * (1.0 + ROUNDING);
        let end = FURTHEST * reached;
        let step = end / SEVERAL as f64;
        let (mut one, mut beyond_end) = (vec![0.0; SEVERAL + 2], 0.0);
        for (size, mass) in &single {
            let place = (size / step).min(SEVERAL as f64);
            let (cell, share) = (place as usize, place.fract());
            one[cell] += mass * (1.0 - share);
            one[cell + 1] += mass * share;
            beyond_end += (size - end).max(0.0) * mass;
        }
        let mut sums = one.clone();
        let mut several = vec![0.0; sums.len()];
        let (mut cut, mut left) = (0.0, f64::INFINITY);
        for count in 2..=MOST_JUMPS {
            // Σ λ^j/j! over j from `count` on, and from the one before on: the first, and no more
            // than a geometric series.
            let first: f64 = (1..=count).map(|j| rate / f64::from(j)).product();
            let ratio = rate / f64::from(count);
            let more = if ratio < 0.5 { first / (1.0 - ratio) } else { f64::INFINITY };
            // What those sums may add, at most Σ λ^j/j!·(C(0) + j·mean), with λ·mean the reach of
            // one.
            left = (more * at_mean + more / ratio * reach) * (1.0 + ROUNDING);
            if left <= LEFT_OUT * negligible {
                break;
            }
            let beyond;
            // From (k choose j − 1) to (k choose j).
            let fewer = (1.0 - f64::from(count - 1) / draws).max(0.0);
            (sums, beyond) = convolved(&sums, &one, fewer / f64::from(count));
            cut += beyond * step;
            several.iter_mut().zip(&sums).for_each(|(all, sum)| *all += sum);
        }
        // What was cut off one jump, or off a sum of them, is missing in all that follow from it.
        let excess = (beyond_end * exp_m1(rate) + cut * exp(rate)).mul_add(1.0 + ROUNDING, left);
        Self { single, several, step, excess }
    }

    /// At least the sum's call at x: no jump, one, or several.
    fn call(&self, calls: &LightCalls, x: f64) -> f64 {
        let several = self.several.iter().enumerate().map(|(i, mass)| (i as f64 * self.step, *mass));
        let none = calls.after(std::iter::once((0.0, 1.0)), x);
        let one = calls.after(self.single.iter().copied(), x);
        (none + one + calls.after(several, x)) * (1.0 + ROUNDING)
    }
}

/// The convolution of two measures on the same lattice, times a factor, on as many points as the
/// first has. What lies beyond the last is moved to it; the second value is the sum of how far, in
/// steps.
fn convolved(a: &[f64], b: &[f64], factor: f64) -> (Vec<f64>, f64) {
    let length = a.len();
    let mut masses = vec![0.0; length];
    // Σ of the masses of b from a place on, and of them times how far they lie beyond it, and one
    // more.
    let mut tails = vec![(0.0, 0.0); b.len() + 1];
    for (i, mass) in b.iter().enumerate().rev() {
        let beyond = tails[i + 1].0 + mass;
        tails[i] = (beyond, tails[i + 1].1 + beyond);
    }
    let (mut moved, mut distance) = (0.0, 0.0);
    for (i, mass) in a.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        let scaled = mass * factor;
        masses[i..].iter_mut().zip(b).for_each(|(sum, other)| *sum += scaled * other);
        if let Some((beyond, further)) = tails.get(length - i) {
            moved += scaled * beyond;
            distance += scaled * further;
        }
    }
    masses[length - 1] += moved;
    (masses, distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of −1, 0, 3 or 9 with probabilities 0.6, 0.3, 0.09, 0.01, less their mean.
    const ATOMS: [(f64, f64); 4] = [(-1.0, 0.6), (0.0, 0.3), (3.0, 0.09), (9.0, 0.01)];

    fn centred() -> Vec<(f64, f64)> {
        let mean: f64 = ATOMS.iter().map(|(value, mass)| value * mass).sum();
        ATOMS.iter().map(|(value, mass)| (value - mean, *mass)).collect()
    }

    /// All sums of so many draws, each of which happens with this probability.
    fn sums(draws: u64, rate: f64) -> Vec<(f64, f64)> {
        let mut sums = vec![(0.0, 1.0)];
        for _ in 0..draws {
            let one: Vec<(f64, f64)> =
                centred().iter().map(|(value, mass)| (*value, rate * mass)).chain([(0.0, 1.0 - rate)]).collect();
            sums = sums.iter().flat_map(|(a, p)| one.iter().map(move |(b, q)| (a + b, p * q))).collect();
        }
        sums
    }

    fn call(atoms: &[(f64, f64)], x: f64) -> f64 {
        atoms.iter().map(|(value, mass)| mass * (value - x).max(0.0)).sum()
    }

    fn split(threshold: f64, count: usize, top: f64) -> (Law, Jumps) {
        let atoms = centred();
        let mirrored: Vec<(f64, f64)> = atoms.iter().map(|(value, mass)| (-value, *mass)).collect();
        let spacing = 0.01;
        let ends = [(threshold / spacing) as usize, 300];
        Law::split(spacing, ends, (top, count), |c| call(&atoms, c), |c| call(&mirrored, c))
    }

    /// Threshold and steps anywhere, also where the jumps end before the law does.
    #[test]
    fn sums_are_bounded_wherever_the_threshold_is() {
        let points: Vec<f64> = (-4..30).map(f64::from).collect();
        for (draws, rate) in [(1, 1.0), (3, 1.0), (5, 1.0), (5, 0.3)] {
            let all = sums(draws, rate);
            let number = if rate < 1.0 { Number::Thinned { draws, rate } } else { Number::Fixed(draws) };
            for (threshold, count, top) in [(1.0, 80, 9.0), (1.0, 800, 9.5), (4.0, 40, 9.0), (2.0, 10, 7.0)] {
                let parts = split(threshold, count, top);
                let values = calls_with_jumps(&parts, number, (2.0, 1e-12), &points);
                for (x, value) in points.iter().zip(values) {
                    let truth = call(&all, *x);
                    assert!(value >= truth, "{draws}, {rate}, {threshold}, {count}, {x}: {value} below {truth}");
                    let is_fine = count == 800 && draws == 1;
                    assert!(!is_fine || value <= truth + 0.03, "{x}: {value} far above {truth}");
                }
            }
        }
    }

    /// Sums of several jumps that are not listed, or end before the jumps do, are charged.
    #[test]
    fn sums_that_are_left_out_are_charged() {
        let all = sums(5, 1.0);
        let parts = split(1.0, 200, 9.5);
        let bound = |sizes: (f64, f64), points: &[f64]| calls_with_jumps(&parts, Number::Fixed(5), sizes, points);
        let resolved = bound((2.0, 1e-12), &[0.0, 0.25, 16.0]);
        for points in [&[0.0, 0.25][..], &[0.0, 0.25, 2.0][..]] {
            for sizes in [(2.0, 1e9), (0.05, 1e-12), (0.5, 1e-12)] {
                for (x, value) in points.iter().zip(bound(sizes, points)) {
                    let truth = call(&all, *x);
                    assert!(value >= truth, "{sizes:?}, {x}: {value} below {truth}");
                }
                let value = bound(sizes, points)[0];
                assert!(value > 1.001 * resolved[0], "{sizes:?}: {value} is resolved, and tests nothing");
            }
        }
    }

    /// On average several jumps reach as far as they do, whatever of them lies beyond the lattice.
    #[test]
    fn jumps_beyond_the_lattice_are_charged() {
        let (draws, often) = (6.0, 0.5);
        // The lattice ends at 8: inside, with sums beyond it, and outside.
        for size in [1.0, 3.0, 20.0] {
            let jumps = Jumps { atoms: vec![(size, 1.0)], excess: 0.0 };
            let together = Together::new(&jumps, (draws, often), 0.0, (1.0, 1e-12), 1.0);
            let listed: f64 =
                together.several.iter().enumerate().map(|(i, mass)| i as f64 * together.step * mass).sum();
            let (mut truth, mut mass) = (0.0, 1.0);
            for count in 1..=6 {
                // (k choose j)·(often/k)^j
                mass *= (draws - f64::from(count - 1)) / f64::from(count) * often / draws;
                truth += if count > 1 { mass * f64::from(count) * size } else { 0.0 };
            }
            let value = listed + together.excess;
            assert!(value >= truth && value <= 2.0 * truth, "{size}: {value} {truth}");
        }
    }

    /// The light part and the jumps have the call of the law.
    #[test]
    fn both_parts_together_are_the_law() {
        let (light, jumps) = split(1.0, 800, 9.5);
        let value = |i: usize| (light.first + i as i64) as f64 * light.spacing;
        let mut atoms: Vec<(f64, f64)> = light.masses.iter().enumerate().map(|(i, mass)| (value(i), *mass)).collect();
        atoms.extend(&jumps.atoms);
        for i in -300..1000 {
            let x = 0.01 * f64::from(i);
            let (value, truth) = (call(&atoms, x) + jumps.excess, call(&centred(), x));
            assert!(value >= truth - 1e-14 && value <= truth + 0.01, "{x}: {value} {truth}");
        }
    }

    #[test]
    fn what_a_convolution_cuts_off_is_told() {
        let (a, b) = ([0.5, 0.25, 0.0, 0.125], [0.0, 0.5, 0.25, 1.0]);
        let (masses, distance) = convolved(&a, &b, 2.0);
        let mut truth = [0.0; 4];
        let mut beyond = 0.0;
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                truth[(i + j).min(3)] += 2.0 * x * y;
                beyond += 2.0 * x * y * (i + j).saturating_sub(3) as f64;
            }
        }
        assert!(masses.iter().zip(truth).all(|(mass, truth)| (mass - truth).abs() < 1e-15), "{masses:?} {truth:?}");
        assert!((distance - beyond).abs() < 1e-15, "{distance} {beyond}");
    }
}
