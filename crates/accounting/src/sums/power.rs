//! The law of a sum, seen from where it is asked about.
//!
//! FFTs err by a share of the *largest* mass, while small divergences live in a tail. So every mass
//! is multiplied by `e^{θ·value}` (*tilted*), which commutes with convolution and is undone when
//! the sum is read: as for loss distributions (`docs/theory/composition.md`), but here values are
//! added and read linearly.

use super::{Draws, Law, Number};
use crate::numerics::convolution::{Product, Spectrum, fast_length};
use crate::numerics::directed::{mul_up, sum_up};
use crate::numerics::elementary::{exp, exp_m1, exp2, ln, ln_1p, log2, powi};
use crate::numerics::horner::{horner, horner_reversed, trimmed};
use crate::numerics::log_sum::{log_add, log_sum_exp};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// The tilted mass outside of a window, on either side, has at most this logarithm.
const LN_CUT: f64 = -40.0;

/// Where a window would be longer, draws are added up in stages, each on a coarser lattice.
const LONG: usize = 1 << 14;

/// Supports up to this many points are not cut.
const SHORT: f64 = 512.0;

/// No window is longer: what does not fit is charged.
const LONGEST: usize = 1 << 19;

/// Fewer draws than this are not added up in stages.
const STAGED: f64 = 64.0;

/// Draws that are added up in stages are put into at most so many groups.
const MOST_GROUPS: u64 = 256;

/// A random number of draws is put into about so many groups: fewer would cost more than a
/// thousandth.
const MIXED_GROUPS: u64 = 1_024;

/// Lattice points to a standard deviation of a group.
const PER_DEVIATION: f64 = 48.0;

/// Masses `exp(ln_scale − θ·value)·masses[i]` at `value = (first + i)·spacing`; `masses` sum to 1.
#[derive(Debug, Clone)]
pub(super) struct Tilted {
    pub(super) theta: f64,
    pub(super) spacing: f64,
    pub(super) first: i64,
    pub(super) masses: Vec<f64>,
    pub(super) ln_scale: f64,
    /// For what was cut off at the top, the call may be this much larger.
    pub(super) excess: f64,
    /// Tilted mass that is not among `masses` any more, for it lay below a window.
    pub(super) lost: f64,
    /// The amount that every tilted mass was raised by, for the error of the transform.
    pub(super) noise: f64,
}

/// A tilted law, and how often it is drawn, tilted likewise.
#[derive(Debug, Clone)]
pub(super) struct Part {
    law: Tilted,
    times: Times,
    /// The logarithm by which all draws together are scaled.
    pub(super) ln_scale: f64,
    /// By how much the call of all draws together may be larger.
    pub(super) excess: f64,
}

/// A tilted number of draws.
#[derive(Debug, Clone)]
enum Times {
    /// Each of `draws` happens with probability `rate`.
    Thinned { draws: u64, rate: f64 },
    /// (number, probability).
    Mixed(Vec<(u64, f64)>),
}

impl Part {
    /// Tilts draws. Rounding goes into the scale, upward.
    pub(super) fn new(draws: &Draws<'_>, theta: f64) -> Self {
        let law = Tilted::new(draws.law, theta);
        let excess = mul_up(law.excess, draws.number.mean_upper());
        match draws.number {
            Number::Fixed(draws) => Self::thinned(law, draws, 1.0, excess),
            Number::Thinned { draws, rate } => Self::thinned(law, draws, rate, excess),
            Number::Mixed(numbers) => {
                let ln_weight = |(number, weight): &(u64, f64)| ln(*weight) + law.ln_scale * *number as f64;
                let ln_scale = log_sum_exp(numbers.iter().map(ln_weight));
                let tilted = |number: &(u64, f64)| (number.0, exp(ln_weight(number) - ln_scale));
                let most = draws.number.most();
                let rounding = 16.0 * U * (numbers.len() as f64 + law.ln_scale.abs() * most);
                let times = Times::Mixed(numbers.iter().map(tilted).collect());
                Self { law, times, ln_scale: ln_scale + rounding, excess }
            }
        }
    }

    fn thinned(law: Tilted, draws: u64, rate: f64, excess: f64) -> Self {
        // (1 − ρ) + ρe^K, of which ρe^K belongs to a draw that happens.
        let ln_one = if rate < 1.0 { ln_1p(rate * exp_m1(law.ln_scale)) + 16.0 * U } else { law.ln_scale };
        let rate = if rate < 1.0 { (rate * exp(law.ln_scale - ln_one)).min(1.0) } else { 1.0 };
        Self { law, times: Times::Thinned { draws, rate }, ln_scale: ln_one * draws as f64, excess }
    }

    /// Mean and variance of all draws together. Leads searches; nothing rests on it.
    pub(super) fn moments(&self) -> (f64, f64) {
        let (mean, variance) = self.law.moments();
        match &self.times {
            Times::Thinned { draws, rate } => {
                let draws = *draws as f64;
                (draws * rate * mean, draws * rate * (variance + (1.0 - rate) * mean * mean))
            }
            Times::Mixed(numbers) => {
                let number: f64 = numbers.iter().map(|(n, w)| *n as f64 * w).sum();
                let spread: f64 = numbers.iter().map(|(n, w)| powi(*n as f64 - number, 2) * w).sum();
                (number * mean, number * variance + spread * mean * mean)
            }
        }
    }

    /// At least the logarithm of the mean of `e^{φ·sum}` over all draws.
    pub(super) fn cumulant_upper(&self, phi: f64) -> f64 {
        let one = self.law.cumulant_upper(phi);
        match &self.times {
            Times::Thinned { draws, rate } => {
                // Far out e^K overflows, and the 1 − ρ beside it is nothing.
                let thinned = ln_1p(rate * exp_m1(one));
                let each = if *rate < 1.0 && thinned.is_finite() { thinned } else { one };
                *draws as f64 * (each + 8.0 * U * (1.0 + one.abs()))
            }
            Times::Mixed(numbers) => {
                let most = numbers.last().map_or(0.0, |(number, _)| *number as f64);
                let sum = log_sum_exp(numbers.iter().map(|(n, w)| ln(*w) + *n as f64 * one));
                sum + 8.0 * U * (numbers.len() as f64 + most * one.abs())
            }
        }
    }

    /// The smallest and the largest sum, in spacings.
    pub(super) fn ends(&self) -> (f64, f64) {
        let first = self.law.first as f64;
        let last = first + self.law.masses.len() as f64 - 1.0;
        let (fewest, most) = match &self.times {
            Times::Thinned { draws, rate } if *rate >= 1.0 => (*draws as f64, *draws as f64),
            Times::Thinned { draws, .. } => (0.0, *draws as f64),
            Times::Mixed(numbers) => {
                let end = |number: Option<&(u64, f64)>| number.map_or(0.0, |(number, _)| *number as f64);
                (end(numbers.first()), end(numbers.last()))
            }
        };
        ((first * fewest).min(first * most), (last * fewest).max(last * most))
    }

    /// At least the tilted mass of sums with a draw that is lost: `Π(1 + lost) − 1`.
    pub(super) fn lost(&self) -> f64 {
        let most = match &self.times {
            Times::Thinned { draws, .. } => *draws as f64,
            Times::Mixed(numbers) => numbers.last().map_or(0.0, |(number, _)| *number as f64),
        };
        exp_m1(ln_1p(self.law.lost) * most)
    }

    /// The transform of one draw.
    pub(super) fn spectrum(&self, length: usize) -> Spectrum {
        Spectrum::new(self.law.first, 1, &self.law.masses, length)
    }

    /// The transform of all draws together.
    fn product(&self, length: usize) -> Product {
        match &self.times {
            Times::Thinned { draws, rate } => self.spectrum(length).thinned(*rate, *draws),
            Times::Mixed(numbers) => self.spectrum(length).mixed(numbers),
        }
    }

    /// The tilted probability that a draw happens.
    pub(super) fn rate(&self) -> f64 {
        match &self.times {
            Times::Thinned { rate, .. } => *rate,
            Times::Mixed(_) => 1.0,
        }
    }
}

impl Tilted {
    fn new(law: &Law, theta: f64) -> Self {
        let last = law.first + law.masses.len() as i64 - 1;
        // Relative to the end that the tilt prefers nothing overflows.
        let end = if theta >= 0.0 { last } else { law.first } as f64 * law.spacing;
        let tilted = |(i, mass): (usize, &f64)| mass * exp(theta * ((law.first + i as i64) as f64 * law.spacing - end));
        let rounding = 8.0 * U * (1.0 + theta.abs() * law.reach());
        let mut tilted = Self {
            theta,
            spacing: law.spacing,
            first: law.first,
            masses: law.masses.iter().enumerate().map(tilted).collect(),
            ln_scale: theta * end + rounding,
            excess: law.excess,
            // Masses that underflow are not there any more.
            lost: law.masses.len() as f64 * f64::MIN_POSITIVE,
            noise: 0.0,
        };
        tilted.normalise();
        tilted
    }

    fn normalise(&mut self) {
        let sum: f64 = self.masses.iter().sum();
        self.masses.iter_mut().for_each(|mass| *mass /= sum);
        self.lost /= sum;
        self.noise /= sum;
        self.ln_scale += ln(sum);
    }

    /// Mean and variance.
    fn moments(&self) -> (f64, f64) {
        let centre = self.first + self.masses.len() as i64 / 2;
        let (mut mean, mut squares) = (0.0, 0.0);
        for (i, mass) in self.masses.iter().enumerate() {
            let distance = (self.first + i as i64 - centre) as f64;
            mean += mass * distance;
            squares += mass * distance * distance;
        }
        let variance = (squares - mean * mean).max(0.0);
        ((centre as f64 + mean) * self.spacing, variance * self.spacing * self.spacing)
    }

    /// At least `ln Σ masses[i]·e^{φ·value}`.
    fn cumulant_upper(&self, phi: f64) -> f64 {
        let last = self.first + self.masses.len() as i64 - 1;
        let end = if phi >= 0.0 { last } else { self.first };
        let factor = exp(-phi.abs() * self.spacing);
        let sum = if phi >= 0.0 { horner(&self.masses, factor) } else { horner_reversed(&self.masses, factor) };
        ln(sum) + 8.0 * U * self.masses.len() as f64 + phi * end as f64 * self.spacing
    }

    /// Moves the masses to a lattice of [`PER_DEVIATION`] points to a standard deviation.
    fn coarsened_to_deviation(self) -> Self {
        let deviation = self.moments().1.sqrt();
        let ratio = exp2(log2((deviation / (PER_DEVIATION * self.spacing)).max(1.0)).floor());
        self.coarsened(ratio as i64)
    }

    /// Moves the masses to a lattice of `ratio` times the spacing, each to the two points next to
    /// it, with its mean kept before tilting: above it in convex order.
    fn coarsened(mut self, ratio: i64) -> Self {
        if ratio <= 1 {
            return self;
        }
        let last = self.first + self.masses.len() as i64 - 1;
        let from = self.first.div_euclid(ratio);
        let mut masses = vec![0.0; (last.div_euclid(ratio) - from + 2) as usize];
        // For a mass i steps above a coarse point: its share for the next one, and the tilts of
        // both.
        let shares: Vec<(f64, f64, f64)> = (0..ratio)
            .map(|i| {
                let (below, above) = (i as f64 * self.spacing, (ratio - i) as f64 * self.spacing);
                (i as f64 / ratio as f64, exp(self.theta * above), exp(-self.theta * below))
            })
            .collect();
        for (i, mass) in self.masses.iter().enumerate() {
            let index = self.first + i as i64;
            let (share, to_high, to_low) = shares[index.rem_euclid(ratio) as usize];
            let cell = (index.div_euclid(ratio) - from) as usize;
            masses[cell] += mass * (1.0 - share) * to_low;
            masses[cell + 1] += mass * share * to_high;
        }
        let width = ratio as f64 * self.spacing;
        // A handful of roundings for each mass, and no mass is a sum of more than 2·ratio terms.
        self.ln_scale += 16.0 * U * (ratio as f64 + self.theta.abs() * width);
        (self.first, self.masses) = trimmed(from, masses);
        self.spacing = width;
        self.normalise();
        self
    }
}

/// Mean and standard deviation of the sum. Leads searches; nothing rests on it.
pub(super) fn moments(parts: &[Part]) -> (f64, f64) {
    let (mean, variance) = parts.iter().map(Part::moments).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (mean, variance.sqrt())
}

/// The law of the sum, all parts tilted alike and on lattices of one spacing.
pub(super) fn power(parts: &[Part]) -> Tilted {
    let window = Window::of(parts);
    if let [part] = parts
        && window.length > LONG
        && let Some(parts) = part.staged()
    {
        return convolve(&parts, &Window::of(&parts));
    }
    convolve(parts, &window)
}

impl Part {
    /// The same draws in groups, each added up and moved to a coarser lattice, if there are enough
    /// of them.
    fn staged(&self) -> Option<Vec<Part>> {
        match &self.times {
            Times::Thinned { draws, rate } => {
                let present = *draws as f64 * rate;
                (present >= STAGED).then(|| self.grouped(*draws, *rate, (present.sqrt() as u64).clamp(2, MOST_GROUPS)))
            }
            Times::Mixed(numbers) => {
                let most = numbers.last().map_or(0, |(number, _)| *number);
                (most >= 2 * MIXED_GROUPS).then(|| vec![self.mixed_groups(numbers, most / MIXED_GROUPS)])
            }
        }
    }

    /// So many groups of draws, and those that are left over, each moved to the coarser lattice by
    /// itself.
    fn grouped(&self, draws: u64, rate: f64, groups: u64) -> Vec<Part> {
        let (ln_one, excess) = (self.ln_scale / draws as f64, self.excess / draws as f64);
        let part = |law: Tilted, draws: u64, rate: f64, ln_one: f64, excess: f64| {
            let count = draws as f64;
            Part { law, times: Times::Thinned { draws, rate }, ln_scale: ln_one * count, excess: mul_up(excess, count) }
        };
        let groups = groups.min(draws);
        let group = power(&[part(self.law.clone(), draws / groups, rate, ln_one, excess)]).coarsened_to_deviation();
        let ratio = (group.spacing / self.law.spacing).round() as i64;
        let (ln_group, excess_of_group) = (group.ln_scale, group.excess);
        let mut parts = vec![part(group, groups, 1.0, ln_group, excess_of_group)];
        if !draws.is_multiple_of(groups) {
            let law = self.law.clone().coarsened(ratio);
            // Coarsening changes the scale of a draw that happens, and not of one that does not.
            let grown = law.ln_scale - self.law.ln_scale;
            let ln_grown = if rate < 1.0 { ln_1p(rate * exp_m1(grown)) + 16.0 * U } else { grown };
            let rate = if rate < 1.0 { (rate * exp(grown - ln_grown)).min(1.0) } else { 1.0 };
            parts.push(part(law, draws % groups, rate, ln_one + ln_grown, excess));
        }
        parts
    }

    /// A random number of groups of `size` draws: as many as hold all draws. The few draws that are
    /// added have a mean of 0 or more, and do not lower a call.
    fn mixed_groups(&self, numbers: &[(u64, f64)], size: u64) -> Part {
        // Weights are tilted as draws are; a group is tilted as `size` draws are, and drawn a whole
        // number of times.
        let one = Part { times: Times::Thinned { draws: size, rate: 1.0 }, ..self.clone() };
        let one =
            Part { ln_scale: self.law.ln_scale * size as f64, excess: mul_up(self.law.excess, size as f64), ..one };
        let group = power(&[one]).coarsened_to_deviation();
        let ln_weight = |(number, weight): &(u64, f64)| {
            let groups = number.div_ceil(size);
            (groups, ln(*weight) - self.law.ln_scale * *number as f64 + group.ln_scale * groups as f64)
        };
        let mut merged: Vec<(u64, f64)> = Vec::new();
        for (groups, ln_weight) in numbers.iter().map(ln_weight) {
            match merged.last_mut() {
                Some((last, sum)) if *last == groups => *sum = log_add(*sum, ln_weight),
                _ => merged.push((groups, ln_weight)),
            }
        }
        let ln_grown = log_sum_exp(merged.iter().map(|(_, ln_weight)| *ln_weight));
        let most = numbers.last().map_or(0.0, |(number, _)| *number as f64);
        let rounding = 16.0 * U * (numbers.len() as f64 + self.law.ln_scale.abs() * most);
        let groups = merged.last().map_or(0.0, |(groups, _)| *groups as f64);
        Part {
            times: Times::Mixed(merged.into_iter().map(|(groups, w)| (groups, exp(w - ln_grown))).collect()),
            ln_scale: self.ln_scale + ln_grown + rounding,
            excess: mul_up(group.excess, groups),
            law: group,
        }
    }
}

/// The lattice points `first .. first + length` on which a sum is computed.
pub(super) struct Window {
    pub(super) first: i64,
    pub(super) length: usize,
    /// Chernoff's bounds on the tilted mass below and above: (its logarithm, φ). None if all is
    /// inside.
    pub(super) below: Option<(f64, f64)>,
    pub(super) above: Option<(f64, f64)>,
}

impl Window {
    pub(super) fn of(parts: &[Part]) -> Self {
        let spacing = parts[0].law.spacing;
        let (bottom, top) = parts.iter().map(Part::ends).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let complete = |length: usize| Self { first: bottom as i64, length, below: None, above: None };
        if top - bottom < SHORT {
            return complete(fast_length((top - bottom) as usize + 1));
        }
        let (mean, deviation) = moments(parts);
        let bound = |phi: f64| parts.iter().map(|part| part.cumulant_upper(phi)).sum::<f64>();
        // The end beyond which there is at most e^LN_CUT, by the best φ: (end, φ).
        let end = |sign: f64| {
            let at = |phi: f64| ((bound(sign * phi) - LN_CUT) / phi, phi);
            let gaussian = (-2.0 * LN_CUT).sqrt() / deviation.max(spacing);
            let larger = descend(at(gaussian), (1..40).map(|i| at(gaussian * powi(1.5_f64, i))));
            descend(larger, (1..80).map(|i| at(gaussian * powi(1.5_f64, -i))))
        };
        let ((low, low_phi), (high, high_phi)) = (end(-1.0), end(1.0));
        let mut from = (-low / spacing).floor().max(bottom);
        let to = (high / spacing).ceil().min(top);
        let mut length = fast_length((to - from).clamp(1.0, 4.0 * LONGEST as f64) as usize + 2);
        if top - bottom < length as f64 {
            return complete(length);
        }
        if length > LONGEST {
            // As much on either side of the mean as fits.
            from = (mean / spacing - LONGEST as f64 / 2.0).max(from).floor();
            length = LONGEST;
        }
        let first = from as i64;
        let last = (first + length as i64 - 1) as f64 * spacing;
        let tail = |sign: f64, end: f64, phi: f64| Some(((bound(sign * phi) - sign * phi * end).min(0.0), phi));
        Self {
            first,
            length,
            below: if from > bottom { tail(-1.0, first as f64 * spacing, low_phi) } else { None },
            above: if last < top * spacing { tail(1.0, last, high_phi) } else { None },
        }
    }
}

/// The last of `start` and `next` before the first component rises.
fn descend(start: (f64, f64), next: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let mut last = start;
    for value in next {
        if value.0 >= last.0 || value.0.is_nan() {
            break;
        }
        last = value;
    }
    last
}

/// The amount that an upper bound owes to what lies outside of a window.
pub(super) struct Outside {
    /// Tilted mass that is added at the end of the window, for all that lies above.
    pub(super) at_end: f64,
    /// By how much the call is short then.
    pub(super) excess: f64,
    /// Tilted mass that lies below.
    pub(super) lost: f64,
}

impl Outside {
    /// The mass above the window is added at its end: the call is then short by at most `E(S −
    /// end)₊ ≤ e^{ln_scale − θ·end}·E_tilted[e^{φ(S − end)}]/(eφ)`. Mass below is lost: tilted, its
    /// reappearance inside does not pay for it.
    pub(super) fn new(window: &Window, (theta, spacing): (f64, f64), ln_scale: f64) -> Self {
        let (mut at_end, mut excess, mut lost) = (0.0, 0.0, 0.0);
        if let Some((ln_above, phi)) = window.above {
            let end = (window.first + window.length as i64 - 1) as f64 * spacing;
            at_end = exp(ln_above) * (1.0 + 1e-9);
            excess = exp(ln_above + ln_scale - theta * end - 1.0) / phi * (1.0 + 1e-9);
        }
        if let Some((ln_below, _)) = window.below {
            lost = exp(ln_below) * (1.0 + 1e-9);
        }
        Self { at_end, excess, lost }
    }
}

/// The sum on a window. What lies outside of it reappears inside (the cycle), which can only add to
/// it.
fn convolve(parts: &[Part], window: &Window) -> Tilted {
    let mut product = Product::one(window.length);
    parts.iter().for_each(|part| product.multiply(&part.product(window.length)));
    let (cycle, noise) = product.transformed_back();
    let (theta, spacing) = (parts[0].law.theta, parts[0].law.spacing);
    let ln_scale: f64 = parts.iter().map(|part| part.ln_scale).sum();
    let outside = Outside::new(window, (theta, spacing), ln_scale);
    let excess = sum_up(parts.iter().map(|part| part.excess).chain([outside.excess]));
    let lost = exp_m1(parts.iter().map(|part| ln_1p(part.lost())).sum::<f64>()) + outside.lost;
    let start = window.first.rem_euclid(window.length as i64) as usize;
    // NaN, of a transform that failed, stays NaN.
    let raised = |mass: &f64| if *mass < 0.0 { noise } else { mass + noise };
    let mut masses: Vec<f64> = cycle[start..].iter().chain(&cycle[..start]).map(raised).collect();
    masses[window.length - 1] += outside.at_end;
    let (first, masses) = trimmed(window.first, masses);
    let mut sum = Tilted { theta, spacing, first, masses, ln_scale, excess, lost, noise };
    sum.normalise();
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::calls_upper;

    /// A law of three values, with something cut off at its top.
    fn law() -> Law {
        Law { spacing: 0.5, first: -2, masses: vec![0.375, 0.0, 0.125, 0.5], excess: 1e-3 }
    }

    /// E(S − x)₊ of so many draws, each happening with probability `rate`, by listing all sums.
    fn exact(law: &Law, draws: u64, rate: f64, x: f64) -> f64 {
        let mut sums = std::collections::BTreeMap::from([(0_i64, 1.0)]);
        for _ in 0..draws {
            let mut next = std::collections::BTreeMap::new();
            for (sum, mass) in &sums {
                *next.entry(*sum).or_insert(0.0) += mass * (1.0 - rate);
                for (i, one) in law.masses.iter().enumerate() {
                    *next.entry(sum + law.first + i as i64).or_insert(0.0) += mass * rate * one;
                }
            }
            sums = next;
        }
        sums.iter().map(|(sum, mass)| mass * (*sum as f64 * law.spacing - x).max(0.0)).sum()
    }

    const POINTS: [f64; 6] = [-3.0, 0.0, 0.7, 2.0, 3.3, 5.9];

    #[test]
    fn calls_are_at_least_those_of_all_sums() {
        let law = law();
        for rate in [1.0, 0.3] {
            let calls = calls_upper(&[Draws::new(&law, Number::Thinned { draws: 12, rate })], &POINTS);
            for (x, call) in POINTS.into_iter().zip(calls) {
                // What is cut off each draw is charged for each that happens.
                let truth = exact(&law, 12, rate, x) + 12.0 * rate * law.excess;
                assert!(call >= truth && call <= truth * (1.0 + 1e-6), "{rate}, {x}: {call:e} {truth:e}");
            }
        }
        let calls = calls_upper(&[Draws::new(&law, Number::Mixed(&[(3, 0.25), (12, 0.75)]))], &POINTS);
        for (x, call) in POINTS.into_iter().zip(calls) {
            let truth = 0.25 * exact(&law, 3, 1.0, x) + 0.75 * exact(&law, 12, 1.0, x) + 9.75 * law.excess;
            assert!(call >= truth && call <= truth * (1.0 + 1e-6), "{x}: {call:e} {truth:e}");
        }
    }

    /// A window that is much too narrow: all that lies outside is paid for.
    #[test]
    fn what_lies_outside_of_a_window_is_charged() {
        let law = Law { excess: 0.0, ..law() };
        for theta in [0.0, 0.4, 1.5] {
            let parts = [Part::new(&Draws::fixed(&law, 12), theta)];
            for (first, length) in [(-6, 12), (0, 8), (-12, 16), (4, 6)] {
                let (low, high) = (first as f64 * 0.5, (first + length as i64 - 1) as f64 * 0.5);
                let tail = |sign: f64, end: f64| {
                    let phi = 0.5;
                    Some(((parts[0].cumulant_upper(sign * phi) - sign * phi * end).min(0.0), phi))
                };
                let window = Window { first, length, below: tail(-1.0, low), above: tail(1.0, high) };
                let sum = convolve(&parts, &window);
                for (x, reading) in POINTS.iter().zip(sum.calls(&POINTS, 0.0)) {
                    let truth = exact(&law, 12, 1.0, *x);
                    assert!(reading.call >= truth, "θ = {theta}, {first}, {x}: {:e} below {truth:e}", reading.call);
                }
            }
        }
    }

    /// A coarser lattice is above, and not by much.
    #[test]
    fn coarsening_goes_up() {
        let law = Law { excess: 0.0, ..law() };
        for theta in [0.0, 0.6] {
            let fine = power(&[Part::new(&Draws::fixed(&law, 8), theta)]);
            for ratio in [2, 3, 5] {
                let coarse = fine.clone().coarsened(ratio);
                for (x, reading) in POINTS.iter().zip(coarse.calls(&POINTS, 0.0)) {
                    let truth = exact(&law, 8, 1.0, *x);
                    assert!(reading.call >= truth, "{theta}, {ratio}, {x}: {:e} below {truth:e}", reading.call);
                    assert!(reading.call <= truth + 0.25 * ratio as f64 * 0.5, "{theta}, {ratio}, {x}");
                }
            }
        }
    }
}
