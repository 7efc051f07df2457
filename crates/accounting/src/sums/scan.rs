//! The largest call over how many draws are of one kind and how many of another.

use super::calls::{Reading, SUMMING_ERROR, tilt, tilt_by_tilt};
use super::power::{Outside, Part, Window, moments};
use super::{Draws, Law, Number};
use crate::numerics::convolution::{Product, each_product};
use crate::numerics::elementary::{exp, exp_m1, ln_1p};

/// So many draws of one kind, the others of another, and perhaps one draw of a law that all choices
/// have in common.
pub(crate) struct Scan<'a> {
    /// The two kinds.
    pub(crate) kinds: [&'a Law; 2],
    pub(crate) common: Option<&'a Law>,
    /// The probability that a draw of either kind happens; else it is 0.
    pub(crate) rate: f64,
    /// The first kind is drawn k·`step` times and the second (`choices` − k)·`step` times, k =
    /// 0..=`choices`.
    pub(crate) step: u64,
    pub(crate) choices: u64,
}

impl Scan<'_> {
    /// At least the largest over k of `E(S + offset − x)₊` at every x of `points`, which increase.
    /// The offset depends on how often either kind is drawn.
    pub(crate) fn largest_calls_upper(&self, offset: impl Fn(u64, u64) -> f64, points: &[f64]) -> Vec<f64> {
        let offset = |k: u64| offset(k * self.step, (self.choices - k) * self.step);
        // All choices have about the same spread: any of them may lead.
        let lead = self.choices / 2;
        tilt_by_tilt(points, |point, ahead, points| {
            let theta = tilt(&self.draws(lead), point - offset(lead), ahead);
            Tilt::new(self, theta).largest_calls(&offset, points)
        })
    }

    /// The draws of a choice.
    fn draws(&self, k: u64) -> Vec<Draws<'_>> {
        let kinds = [(self.kinds[0], k * self.step), (self.kinds[1], (self.choices - k) * self.step)];
        let number = |draws: u64| Number::Thinned { draws, rate: self.rate };
        let drawn = kinds.into_iter().filter(|(_, count)| *count > 0);
        drawn
            .map(|(law, count)| Draws::new(law, number(count)))
            .chain(self.common.map(|law| Draws::fixed(law, 1)))
            .collect()
    }
}

/// All choices at one tilt, on windows of one length.
struct Tilt<'a> {
    scan: &'a Scan<'a>,
    theta: f64,
    spacing: f64,
    /// One draw of the first kind, one of the second, and what is common.
    parts: [Option<Part>; 3],
    length: usize,
    /// How far below the mean of its sum a window begins, in spacings; `None` where every window
    /// holds all there is.
    lead: Option<f64>,
    /// Some φ of Chernoff's bounds below and above, and the cumulants of the three parts there: one
    /// or another of them suits every choice.
    below: Vec<(f64, [f64; 3])>,
    above: Vec<(f64, [f64; 3])>,
}

impl<'a> Tilt<'a> {
    fn new(scan: &'a Scan<'a>, theta: f64) -> Self {
        let one = |law: &'a Law, rate: f64| Part::new(&Draws::new(law, Number::Thinned { draws: 1, rate }), theta);
        let [first, second] = scan.kinds.map(|law| Some(one(law, scan.rate)));
        let parts = [first, second, scan.common.map(|law| one(law, 1.0))];
        // Windows of some choices serve for all: what lies outside is bounded choice by choice.
        let some = [0, scan.choices / 2, scan.choices].map(|k| {
            let parts: Vec<Part> = scan.draws(k).iter().map(|draws| Part::new(draws, theta)).collect();
            (Window::of(&parts), moments(&parts))
        });
        let spacing = scan.kinds[0].spacing;
        let is_complete = some.iter().all(|(window, _)| window.below.is_none() && window.above.is_none());
        let lead = |(window, (mean, _)): &(Window, (f64, f64))| (mean / spacing).floor() - window.first as f64;
        let cumulants =
            |phi: f64| parts.each_ref().map(|part| part.as_ref().map_or(0.0, |part| part.cumulant_upper(phi)));
        let bounds = |side: fn(&Window) -> Option<(f64, f64)>, sign: f64| {
            let gaussian = 9.0 / some[1].1.1;
            let phis = some.iter().filter_map(|(window, _)| side(window)).map(|(_, phi)| phi);
            phis.chain([gaussian]).map(|phi| (phi, cumulants(sign * phi))).collect()
        };
        let (below, above) = (bounds(|window| window.below, -1.0), bounds(|window| window.above, 1.0));
        Self {
            scan,
            theta,
            spacing,
            length: some.iter().map(|(window, _)| window.length).max().unwrap_or(1),
            lead: if is_complete { None } else { Some(some.iter().map(lead).fold(0.0, f64::max)) },
            below,
            above,
            parts,
        }
    }

    /// Adds up what is known of one draw of each part over all draws of a choice.
    fn of_choice(&self, k: u64, values: &[f64; 3]) -> f64 {
        let step = self.scan.step as f64;
        k as f64 * step * values[0] + (self.scan.choices - k) as f64 * step * values[1] + values[2]
    }

    /// The largest calls of all choices, and the largest of what each of them charges.
    fn largest_calls(&self, offset: &impl Fn(u64) -> f64, points: &[f64]) -> Vec<Reading> {
        let mut largest = vec![Reading { call: 0.0, charged: 0.0 }; points.len()];
        let [Some(first), Some(second), common] = &self.parts else {
            largest.fill(Reading { call: f64::INFINITY, charged: 0.0 });
            return largest;
        };
        let of = |value: fn(&Part) -> f64| self.parts.each_ref().map(|part| part.as_ref().map_or(0.0, value));
        let (ln_scales, excesses, means) =
            (of(|part| part.ln_scale), of(|part| part.excess), of(|part| part.moments().0));
        let (lowest, ln_kept) = (of(|part| part.ends().0), of(|part| ln_1p(part.lost())));
        let together = match common {
            Some(part) => part.spectrum(self.length).raised(1),
            None => Product::one(self.length),
        };
        let mut reader = Reader::new(self.theta, self.spacing, self.length, points);
        let kinds = (&first.spectrum(self.length), &second.spectrum(self.length));
        // Both kinds happen with the same probability, but tilted they may not.
        let rates = (first.rate(), second.rate());
        let (step, choices) = (self.scan.step, self.scan.choices as usize);
        each_product(kinds, rates, &together, step, choices, |k, cycle, noise| {
            let k = k as u64;
            let ln_scale = self.of_choice(k, &ln_scales);
            let window = self.window(k, self.of_choice(k, &means), self.of_choice(k, &lowest));
            let outside = Outside::new(&window, (self.theta, self.spacing), ln_scale);
            let sum = Windowed {
                ln_scale,
                first: window.first,
                noise,
                at_end: outside.at_end,
                excess: (self.of_choice(k, &excesses) + outside.excess) * (1.0 + 1e-9),
                lost: exp_m1(self.of_choice(k, &ln_kept)) + outside.lost,
            };
            reader.raise(&mut largest, &sum, cycle, offset(k));
        });
        largest
    }

    /// The window of a choice whose sum has this mean and this smallest value, the latter in
    /// spacings.
    fn window(&self, k: u64, mean: f64, lowest: f64) -> Window {
        let Some(lead) = self.lead else {
            return Window { first: lowest as i64, length: self.length, below: None, above: None };
        };
        let first = ((mean / self.spacing).floor() - lead) as i64;
        let (bottom, end) = (first as f64 * self.spacing, (first + self.length as i64 - 1) as f64 * self.spacing);
        let best = |bounds: &[(f64, [f64; 3])], sign: f64, end: f64| {
            let bound = |(phi, cumulants): &(f64, [f64; 3])| (self.of_choice(k, cumulants) - sign * phi * end, *phi);
            let best = bounds.iter().map(bound).min_by(|a, b| a.0.total_cmp(&b.0));
            best.map(|(ln_mass, phi)| (ln_mass.min(0.0), phi))
        };
        let (below, above) = (best(&self.below, -1.0, bottom), best(&self.above, 1.0, end));
        Window { first, length: self.length, below, above }
    }
}

/// All that is known of a sum on a window besides its masses: as in [`super::power::Tilted`].
struct Windowed {
    ln_scale: f64,
    first: i64,
    noise: f64,
    /// Tilted mass that is added to the last point.
    at_end: f64,
    excess: f64,
    lost: f64,
}

/// Reads calls off tilted masses on a window, for many windows: what they have in common is
/// computed once.
struct Reader {
    theta: f64,
    spacing: f64,
    /// e^{−θ·(i − middle)·spacing}: relative to the middle of the window neither end overflows.
    weights: Vec<f64>,
    middle: i64,
    /// (mass at and above, call) at every lattice point if every tilted mass were 1, in units of
    /// the middle's weight.
    unit: Vec<(f64, f64)>,
    /// The same for the masses that are read.
    sums: Vec<(f64, f64)>,
    points: Vec<f64>,
    /// e^{−θ·x}/(eθ) at every point: what a unit of lost mass may contribute.
    reserves: Vec<f64>,
}

impl Reader {
    fn new(theta: f64, spacing: f64, length: usize, points: &[f64]) -> Self {
        let middle = length as i64 / 2;
        let weights: Vec<f64> = (0..length as i64).map(|i| exp(-theta * (i - middle) as f64 * spacing)).collect();
        let mut unit = vec![(0.0, 0.0); length + 1];
        descend(&mut unit, &weights, spacing, |_| 1.0);
        let reserve = |x: &f64| if theta > 0.0 { exp(-theta * x - 1.0) / theta * (1.0 + 1e-9) } else { 0.0 };
        let reserves = points.iter().map(reserve).collect();
        Self { theta, spacing, weights, middle, sums: unit.clone(), unit, points: points.to_vec(), reserves }
    }

    /// Raises `largest` to the calls of this sum plus `offset`.
    fn raise(&mut self, largest: &mut [Reading], sum: &Windowed, cycle: &[f64], offset: f64) {
        let length = cycle.len();
        let start = sum.first.rem_euclid(length as i64) as usize;
        let (late, early) = cycle.split_at(start);
        let mass = |i: usize| {
            let mass = if i < early.len() { early[i] } else { late[i - early.len()] };
            // NaN, of a transform that failed, stays NaN.
            let mass = if mass < 0.0 { sum.noise } else { mass + sum.noise };
            if i + 1 == length { mass + sum.at_end } else { mass }
        };
        descend(&mut self.sums, &self.weights, self.spacing, mass);
        let unit = exp(sum.ln_scale - self.theta * (sum.first + self.middle) as f64 * self.spacing);
        let reach = (sum.first.unsigned_abs() as f64 + length as f64) * self.spacing;
        let error = 1.0 + SUMMING_ERROR + 4.0 * f64::EPSILON * (sum.ln_scale.abs() + self.theta * reach);
        let reserve = sum.lost * exp(sum.ln_scale + self.theta * offset) * error;
        // In spacings from the first lattice point.
        let (shift, per_spacing) = (offset / self.spacing + sum.first as f64, 1.0 / self.spacing);
        for ((point, reserved), reading) in self.points.iter().zip(&self.reserves).zip(largest) {
            let place = point * per_spacing - shift;
            // The lowest lattice point above x; below the window that is its first point.
            let above = (place.floor() + 1.0).clamp(0.0, length as f64);
            let distance = (above - place).max(0.0) * self.spacing;
            let at = |sums: &[(f64, f64)]| {
                let (mass, call) = sums[above as usize];
                call + distance * mass
            };
            let lost = reserve * reserved;
            let call = at(&self.sums) * unit * error + lost + sum.excess + f64::MIN_POSITIVE;
            // NaN is no bound.
            reading.call = reading.call.max(if call >= 0.0 { call } else { f64::INFINITY });
            reading.charged = reading.charged.max(at(&self.unit) * unit * sum.noise + lost);
        }
    }
}

/// Fills `sums` with (mass at and above, call) at every lattice point, of `mass(i)·weights[i]`; the
/// last entry is beyond the last point.
fn descend(sums: &mut [(f64, f64)], weights: &[f64], spacing: f64, mass: impl Fn(usize) -> f64) {
    let (mut above, mut call) = (0.0, 0.0);
    sums[weights.len()] = (0.0, 0.0);
    for (i, weight) in weights.iter().enumerate().rev() {
        call += spacing * above;
        above += mass(i) * weight;
        sums[i] = (above, call);
    }
}
