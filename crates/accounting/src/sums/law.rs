//! One draw on a lattice.

use crate::numerics::directed::{add_up, mul_up, sum_down};
use crate::numerics::elementary::{ln, powf};
use crate::numerics::horner::trimmed;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// Probabilities at the points `(first + i)·spacing`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Law {
    pub(crate) spacing: f64,
    pub(crate) first: i64,
    pub(crate) masses: Vec<f64>,
    /// The call of the law that this one stands for is at most this much above its own.
    pub(crate) excess: f64,
}

/// The part of a law above a threshold: (size, mass), the size increasing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Jumps {
    pub(crate) atoms: Vec<(f64, f64)>,
    /// As [`Law::excess`].
    pub(crate) excess: f64,
}

impl Law {
    /// A law whose call is at least that of X, a variable of mean 0 (but for
    /// [`excess`](Self::excess)).
    ///
    /// `calls[j] ≥ E(X − jh)₊` and `puts[j] ≥ E(−jh − X)₊`, h the spacing; `calls[0]` and `puts[0]`
    /// must be the same number. Between lattice points a call is below its chord, so the law whose
    /// call connects the dots is above X in convex order. Beyond the last dots the law has no mass:
    /// at the top, what is cut off becomes the excess, the last call; at the bottom, mass is moved
    /// up to the last point, which only raises the call.
    ///
    /// Where rounding made the dots not convex, their greatest convex minorant is still above the
    /// call of X. Masses are its changes of slope, off by a share [`error`] at the most: those
    /// above 0 are rounded up by three times that, those below 0 rounded down by it, and the mass
    /// at 0 is what is left. So the mass is 1, rounded up; the mean is at least twice the share of
    /// the call at 0, which pays for the puts that became smaller; and it all costs a share of the
    /// *variance*, however many draws are added up.
    pub(crate) fn from_potential(spacing: f64, calls: &[f64], puts: &[f64]) -> Self {
        debug_assert!(calls.first().map(|call| call.to_bits()) == puts.first().map(|put| put.to_bits()));
        let error = error(calls.len().max(puts.len()));
        let centre = centre(spacing, calls, puts);
        let from_centre =
            |dots: &[f64]| -> Vec<f64> { std::iter::once(centre).chain(dots[1..].iter().copied()).collect() };
        let right = kinks(|_| spacing, &from_centre(calls), 1.0 + 3.0 * error);
        let left = kinks(|_| spacing, &from_centre(puts), 1.0 - error);
        let first = -(left.len() as i64);
        let mut masses: Vec<f64> = left.iter().rev().copied().collect();
        masses.push(0.0);
        masses.extend(&right);
        let centre = add_up(1.0, -sum_down(masses.iter().copied()));
        masses[left.len()] = centre.max(0.0);
        let excess = mul_up(calls.iter().copied().fold(f64::INFINITY, f64::min), 1.0 + error);
        let (first, masses) = trimmed(first, masses);
        Self { spacing, first, masses, excess }
    }

    /// [`from_potential`](Self::from_potential) of functions: upper bounds on the call and the put
    /// at a distance c ≥ 0 from the mean, which do not increase with c. So many points up and down.
    pub(crate) fn from_functions(
        spacing: f64,
        [up, down]: [usize; 2],
        call: impl Fn(f64) -> f64,
        put: impl Fn(f64) -> f64,
    ) -> Self {
        let centre = call(0.0).max(put(0.0));
        // Lattice points are rounded: a little nearer to the mean both are larger.
        let dots = |value: &dyn Fn(f64) -> f64, points: usize| -> Vec<f64> {
            let others = (1..=points).map(|j| value((j as f64 * spacing).next_down()));
            std::iter::once(centre).chain(others).collect()
        };
        Self::from_potential(spacing, &dots(&call, up), &dots(&put, down))
    }

    /// The same, with the values above the threshold `up·spacing` apart, at so many sizes up to
    /// `top`, each of which is larger than the one before by the same share.
    ///
    /// Connecting the dots of the call at all points is convex as well. The light law's mass at the
    /// threshold is the slope before it, that of all jumps together the slope after it; so much
    /// less is left there.
    pub(crate) fn split(
        spacing: f64,
        ends: [usize; 2],
        (top, count): (f64, usize),
        call: impl Fn(f64) -> f64,
        put: impl Fn(f64) -> f64,
    ) -> (Self, Jumps) {
        let threshold = ends[0] as f64 * spacing;
        let share = |i: usize| i as f64 / count as f64;
        let size = |i: usize| threshold * powf(top / threshold, share(i));
        let sizes: Vec<f64> = std::iter::once(threshold).chain((1..=count).map(size)).collect();
        let dots: Vec<f64> = sizes.iter().map(|size| call(size.next_down())).collect();
        // Sizes are rounded, and so are their differences.
        let error = error(dots.len()) + 4.0 * U * threshold.max(1.0) * count as f64 / ln(top / threshold);
        let masses = kinks(|i| sizes[i + 1] - sizes[i], &dots, 1.0 + 3.0 * error);
        let excess = mul_up(dots.iter().copied().fold(f64::INFINITY, f64::min), 1.0 + error);
        let mut light = Self::from_functions(spacing, ends, call, put);
        light.excess = 0.0;
        if light.first + light.masses.len() as i64 - 1 == ends[0] as i64
            && let Some(last) = light.masses.last_mut()
        {
            // Less than what was taken, for that was rounded up.
            *last = (*last - masses.iter().sum::<f64>() * (1.0 - 6.0 * error)).max(0.0);
        }
        (light, Jumps { atoms: sizes[1..].iter().copied().zip(masses).collect(), excess })
    }

    /// The law of these (value, probability), each spread to the two lattice points next to it with
    /// its mean kept: above the true one in convex order. Callers pay for the rounding of
    /// positions.
    pub(crate) fn from_atoms(spacing: f64, atoms: &[(f64, f64)]) -> Self {
        let place = |value: f64| (value / spacing).floor();
        let first = atoms.iter().map(|(value, _)| place(*value)).fold(f64::INFINITY, f64::min) as i64;
        let last = atoms.iter().map(|(value, _)| place(*value)).fold(f64::NEG_INFINITY, f64::max) as i64;
        let mut masses = vec![0.0; (last - first + 2) as usize];
        for (value, mass) in atoms {
            let share = value / spacing - place(*value);
            let cell = (place(*value) as i64 - first) as usize;
            masses[cell] += mass * (1.0 - share);
            masses[cell + 1] += mass * share;
        }
        let (first, masses) = trimmed(first, masses);
        Self { spacing, first, masses, excess: 0.0 }
    }

    /// The law of −X, of a law of which nothing was cut off: the top of the one is the bottom of
    /// the other.
    pub(crate) fn mirrored(&self) -> Self {
        debug_assert!(self.excess <= 0.0);
        let first = -(self.first + self.masses.len() as i64 - 1);
        Self { first, masses: self.masses.iter().rev().copied().collect(), ..*self }
    }

    /// The largest value.
    pub(crate) fn top(&self) -> f64 {
        (self.first + self.masses.len() as i64 - 1) as f64 * self.spacing
    }

    /// At least the absolute value of every value.
    pub(crate) fn reach(&self) -> f64 {
        self.top().abs().max(-(self.first as f64 * self.spacing))
    }
}

/// At least the call at 0: the dot there, or a chord across it. The dots of a loose bound need not
/// be convex there, and more than all of the mass would be needed to connect them.
fn centre(spacing: f64, calls: &[f64], puts: &[f64]) -> f64 {
    // E(X − x)₊ at x = −jh is jh plus the put; the chord from there to x = ih is this at 0.
    let chord = |i: usize, j: usize| {
        let (up, down) = (i as f64, j as f64);
        (up * (down * spacing + puts[j]) + down * calls[i]) / (up + down) * (1.0 + 8.0 * U)
    };
    let lowest = |ends: usize, chord: &dyn Fn(usize) -> f64| (1..ends).min_by(|a, b| chord(*a).total_cmp(&chord(*b)));
    let mut value = calls[0];
    let (mut i, mut j) = (1, 1);
    if calls.len() < 2 || puts.len() < 2 || chord(i, j) >= value {
        return value;
    }
    // Either end in turn moves to where the chord is lowest.
    loop {
        i = lowest(calls.len(), &|i| chord(i, j)).unwrap_or(i);
        j = lowest(puts.len(), &|j| chord(i, j)).unwrap_or(j);
        if chord(i, j) >= value {
            return value;
        }
        value = chord(i, j);
    }
}

/// At least the relative error of the masses between `count` dots: a slope is a rounded difference
/// over a rounded quotient (2U), a pool of slopes has a rounded mean (2U for each of them), a mass
/// is a rounded difference (U), and each of these is a share of a positive quantity.
fn error(count: usize) -> f64 {
    U * (64.0 + 4.0 * count as f64)
}

/// The changes of slope of the greatest convex minorant of the dots, at the points after the first,
/// each times `rounding`. The minorant is constant from the last dot on. A dot is this far from the
/// next.
fn kinks(width: impl Fn(usize) -> f64, dots: &[f64], rounding: f64) -> Vec<f64> {
    // (mean of the slopes, their width, their number): convex means that slopes fall from pool to
    // pool.
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(dots.len());
    let mut before = f64::INFINITY;
    for (i, dot) in dots.iter().enumerate() {
        // A call does not increase: neither need its upper bounds.
        let dot = dot.min(before);
        if i > 0 {
            let width = width(i - 1);
            let mut pool = ((before - dot) / width, width, 1);
            while let Some(last) = pools.last().copied().filter(|last| last.0 < pool.0) {
                pools.pop();
                let total = last.1 + pool.1;
                pool = ((last.0 * last.1 + pool.0 * pool.1) / total, total, last.2 + pool.2);
            }
            pools.push(pool);
        }
        before = dot;
    }
    let mut masses = vec![0.0; dots.len().saturating_sub(1)];
    let mut place = 0;
    for (i, (slope, _, count)) in pools.iter().enumerate() {
        place += count;
        let next = pools.get(i + 1).map_or(0.0, |(slope, ..)| *slope);
        masses[place - 1] = (slope - next) * rounding;
    }
    masses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(law: &Law, x: f64) -> f64 {
        let value = |i: usize| (law.first + i as i64) as f64 * law.spacing;
        law.masses.iter().enumerate().map(|(i, mass)| mass * (value(i) - x).max(0.0)).sum()
    }

    /// The potential of ±1 with probability 1/2 each, at quarters: calls and puts (1 − x)/2.
    #[test]
    fn a_potential_becomes_its_law() {
        let dots: Vec<f64> = (0..=6).map(|j| (0.5 * (1.0 - 0.25 * f64::from(j))).max(0.0)).collect();
        let law = Law::from_potential(0.25, &dots, &dots);
        for x in [-2.0, -1.0, -0.3, 0.0, 0.3, 0.99, 1.0] {
            let truth = 0.5 * f64::max(1.0 - x, 0.0) + 0.5 * f64::max(-1.0 - x, 0.0);
            let value = call(&law, x) + law.excess;
            assert!(value >= truth * (1.0 - 1e-15) && value <= truth + 1e-12, "{x}: {value} {truth}");
        }
        // Cut off at 1/2: the call there is 1/4, and that is the excess.
        let law = Law::from_potential(0.25, &dots[..3], &dots);
        assert!(law.excess >= 0.25 && law.excess < 0.25 + 1e-12, "{}", law.excess);
        for x in [-2.0, -0.3, 0.0, 0.3, 0.9] {
            let truth = 0.5 * f64::max(1.0 - x, 0.0) + 0.5 * f64::max(-1.0 - x, 0.0);
            assert!(call(&law, x) + law.excess >= truth * (1.0 - 1e-15), "{x}");
        }
    }

    /// Dots that are not convex: no mass is negative, and the law is above every convex curve below
    /// the dots.
    #[test]
    fn dots_that_are_not_convex_have_a_minorant() {
        let convex = [0.5, 0.25, 0.125, 0.0625, 0.0];
        let raised = [0.5, 0.25, 0.2, 0.0625, 0.0];
        let law = Law::from_potential(1.0, &raised, &convex);
        assert!(law.masses.iter().all(|mass| *mass >= 0.0), "{:?}", law.masses);
        for (j, dot) in convex.iter().enumerate() {
            let value = call(&law, j as f64);
            assert!(value >= dot * (1.0 - 1e-15) && value <= raised[j] + 1e-12, "{j}: {value} {dot}");
        }
        assert!((law.masses.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
