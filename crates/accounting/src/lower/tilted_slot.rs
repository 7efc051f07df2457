//! One slot of a round, tilted, and the sum of all slots from its transform.

use super::blocks::Kernel;
use super::sum::{Atom, Sum};
use crate::numerics::compensated::Accumulator;
use crate::numerics::convolution::{Spectrum, fast_length, power_of_one_plus, transform_back};
use crate::numerics::elementary::{acos, exp, exp_m1, from_polar, ln, ln_1p, log2, powi, sin_cos};
use num_complex::Complex64;
use std::f64::consts::{PI, TAU};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// Logarithm of what windows and frequencies leave out.
const LN_CUT: f64 = -46.0;

/// `1 − cos(π/4)`.
const OCTAVE: f64 = 0.292_893_218_813_452_4;

/// With more sines than this a transform of the whole cycle is faster.
const MANY_SINES: f64 = 2e6;

/// With more than this, on a cycle too long for a transform, nothing is computed.
const MOST_SINES: f64 = 1e7;

/// So many of the largest masses are not left to it.
const SUMMED_DIRECTLY: usize = 12;

/// No transform of a whole cycle is longer.
const LONGEST_CYCLE: usize = 1 << 22;

/// The law of a slot, tilted by e^{θj} and scaled to 1.
pub(super) struct TiltedSlot {
    theta: f64,
    slots: f64,
    /// `slots·ln Σ mass·e^{θj}`.
    ln_scale: f64,
    /// Relative error of `e^ln_scale`.
    scale_error: f64,
    /// (j, mass), 0 not among them.
    slot: Vec<(i64, f64)>,
    /// Relative error of these masses, and of a sum of them.
    mass_error: f64,
    /// At least the tilted mass next to 0 that would make the mean before tilting exactly 0.
    imbalance: f64,
}

/// The blocks on which a sum is computed, as a cycle.
pub(super) struct Window {
    pub(super) first_block: i64,
    /// Number of blocks.
    length: usize,
    /// At least the tilted mass outside.
    outside: f64,
}

/// A frequency of the sum, and how far it may be off.
struct Frequency {
    value: Complex64,
    error: f64,
}

impl TiltedSlot {
    pub(super) fn new(sum: &Sum, theta: f64) -> Self {
        let slots = sum.slots as f64;
        let mut slot: Vec<(i64, f64)> = sum.slot.iter().map(|(j, mass)| (*j, mass * exp(theta * *j as f64))).collect();
        // The mean is 0: subtracting it leaves terms of one sign.
        let grown = |j: i64, mass: f64| {
            let x = theta * j as f64;
            mass * (exp_m1(x) - x).max(0.0)
        };
        let growth = sum.slot.iter().map(|(j, mass)| grown(*j, *mass)).collect::<Accumulator>().total();
        let scale = 1.0 + growth;
        slot.iter_mut().for_each(|(_, mass)| *mass /= scale);
        let spread: f64 = sum.slot.iter().map(|(j, mass)| mass * (theta * *j as f64).abs()).sum();
        // e^x − 1 − x cancels for small x; and the mean is 0 but for rounding.
        let distance: f64 = sum.slot.iter().map(|(j, mass)| mass * j.abs() as f64).sum();
        let imbalance = 8.0 * U * distance * exp(theta.abs()) / scale;
        let scale_error = slots * (64.0 * U * (growth + spread) + imbalance);
        let reach = slot.iter().map(|(j, _)| j.abs()).max().unwrap_or(0) as f64;
        let mass_error = U * (128.0 + 4.0 * theta.abs() * reach);
        Self { theta, slots, ln_scale: slots * ln_1p(growth), scale_error, slot, mass_error, imbalance }
    }

    /// At least the logarithm of the tilted mean of e^{φS}.
    fn cumulant_upper(&self, phi: f64) -> f64 {
        let (mut grown, mut size) = (0.0, 0.0);
        for (j, mass) in &self.slot {
            let term = mass * exp_m1(phi * *j as f64);
            grown += term;
            size += term.abs();
        }
        let rounding = self.mass_error + 4.0 * U * self.slot.len() as f64;
        self.slots * ln_1p(grown + rounding * size) + 1e-9
    }

    /// Mean and standard deviation of the sum. Lead searches; nothing rests on them.
    fn moments(&self) -> (f64, f64) {
        let mean: f64 = self.slot.iter().map(|(j, mass)| mass * *j as f64).sum();
        let square: f64 = self.slot.iter().map(|(j, mass)| mass * powi(*j as f64, 2)).sum();
        (self.slots * mean, (self.slots * (square - mean * mean).max(0.0)).sqrt())
    }

    /// Blocks outside of which there is next to nothing, by Chernoff's bound. `None` if they are
    /// too many.
    pub(super) fn window(&self, block: i64, longest: f64) -> Option<Window> {
        let (mean, deviation) = self.moments();
        let far = |sign: f64| self.slot.iter().map(|(j, _)| sign * *j as f64).fold(0.0, f64::max) * self.slots;
        // The distance from the mean beyond which there is at most e^LN_CUT.
        let end = |sign: f64| {
            let at = |phi: f64| (self.cumulant_upper(sign * phi) - sign * phi * mean - LN_CUT) / phi;
            let gaussian = (-2.0 * LN_CUT).sqrt() / deviation.max(1.0);
            let candidates = (-20..=20).map(|i| at(gaussian * powi(1.25_f64, i)));
            candidates.filter(|end| !end.is_nan()).fold(f64::INFINITY, f64::min)
        };
        let (low, high) = ((mean - end(-1.0)).max(-far(-1.0)), (mean + end(1.0)).min(far(1.0)));
        let size = block as f64;
        let (first, last) = ((low / size).floor(), (high / size).floor());
        let is_short = last - first < longest;
        if !is_short {
            return None;
        }
        let length = fast_length((last - first) as usize + 2);
        Some(Window { first_block: first as i64, length, outside: 2.0 * exp(LN_CUT) * (1.0 + 1e-6) })
    }

    /// The least that the blocks of a window have.
    pub(super) fn blocks(&self, window: &Window, kernel: &Kernel) -> Vec<Option<Atom>> {
        let cycle = window.length * kernel.size as usize;
        let first = (window.first_block * kernel.size) as f64;
        let mut spectra = [(); 2].map(|()| vec![Complex64::new(0.0, 0.0); window.length / 2 + 1]);
        let mut noise = 0.0;
        let count = self.count_of_frequencies(cycle);
        // Nearly all mass in two atoms: one bit tells all, and this bound gives up.
        if cycle > LONGEST_CYCLE && count as f64 * self.slot.len() as f64 > MOST_SINES {
            return Vec::new();
        }
        // So many terms are added up in a frequency of the blocks.
        let terms = (2 + 2 * count / window.length) as f64;
        self.each_frequency(cycle, count, |f, frequency| {
            let phi = TAU * f as f64 / cycle as f64;
            // All frequencies but the first and the last stand for two.
            let twice = if f == 0 || 2 * f == cycle { 1.0 } else { 2.0 };
            let phase = phi * first;
            let placed = 16.0 * U * (terms + phase.abs() + log2(kernel.size as f64));
            noise += twice * (frequency.error + frequency.value.norm_sqr().sqrt() * placed);
            let moved = frequency.value * from_polar(twice / 2.0 / kernel.size as f64, -phase);
            let (sum, moment) = kernel.at(phi);
            let bin = f % window.length;
            for (spectrum, factor) in spectra.iter_mut().zip([sum, moment]) {
                add_hermitian(spectrum, window.length, bin, moved * factor);
            }
        });
        let noise = noise / cycle as f64 + exp(LN_CUT) / cycle as f64 + window.outside;
        let (total, total_moment) = kernel.at(0.0);
        let mut transformed = spectra.map(|mut spectrum| {
            let mut output = vec![0.0; window.length];
            let error = transform_back(&mut spectrum, &mut output);
            (output, error)
        });
        transformed[0].1 += noise * total.re * (1.0 + 1e-9);
        transformed[1].1 += noise * total_moment.re * (1.0 + 1e-9);
        let [(sums, sum_error), (moments, moment_error)] = &transformed;
        sums.iter()
            .zip(moments)
            .enumerate()
            .map(|(i, (sum, moment))| {
                let start = first + i as f64 * kernel.size as f64;
                let (most, least) = (sum + sum_error, sum - sum_error);
                // Not so for a NaN, either.
                let is_resolved = least > 0.5 * sum;
                if !is_resolved {
                    return None;
                }
                let (from, to) = ((moment - moment_error) / most, (moment + moment_error) / least);
                let exponent = self.ln_scale - self.theta * start;
                let slack = self.scale_error + 8.0 * U * (1.0 + self.ln_scale.abs() + (self.theta * start).abs());
                let end = (kernel.size - 1) as f64;
                Some(Atom {
                    mass: least * exp(exponent - slack),
                    from: start + from.clamp(0.0, end),
                    to: start + to.clamp(0.0, end),
                })
            })
            .collect()
    }

    /// The last frequency on a cycle of points that is not negligible.
    fn count_of_frequencies(&self, cycle: usize) -> usize {
        let highest = (self.highest_frequency(cycle) * cycle as f64 / TAU).ceil() as usize;
        highest.min(cycle / 2)
    }

    /// The frequencies of the sum on a cycle of points, from 0 to `count`.
    fn each_frequency(&self, cycle: usize, count: usize, mut each: impl FnMut(usize, Frequency)) {
        if count as f64 * self.slot.len() as f64 <= MANY_SINES || cycle > LONGEST_CYCLE {
            for f in 0..=count {
                let phi = TAU * f as f64 / cycle as f64;
                let (difference, error) = self.transform_minus_1(phi);
                each(f, self.raised(difference, error + self.imbalance * phi.min(2.0)));
            }
            return;
        }
        // The error of a transform is that of its largest masses: they are summed directly.
        let (few, many) = self.without_largest(SUMMED_DIRECTLY);
        let (first, mut values) = many.dense();
        values[(-first) as usize] = 0.0;
        let total: f64 = values.iter().copied().collect::<Accumulator>().total();
        let spectrum = Spectrum::new(first, 1, &values, cycle);
        for f in 0..=count {
            let (value, error) = spectrum.frequency(f);
            let (difference, error_of_few) = few.transform_minus_1(TAU * f as f64 / cycle as f64);
            // The transform has e^{−iφj}.
            let difference = difference + (value.conj() - total);
            let rounding = 2.0 * (self.mass_error * total + self.imbalance);
            each(f, self.raised(difference, error + error_of_few + rounding));
        }
    }

    /// The slot with its largest masses only, and the slot without them.
    fn without_largest(&self, count: usize) -> (Self, Self) {
        let mut sizes: Vec<f64> = self.slot.iter().map(|(_, mass)| *mass).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes.get(count).copied().unwrap_or(0.0);
        let (few, many) = self.slot.iter().partition(|(_, mass)| *mass > least);
        let part = |slot| Self { slot, ..*self };
        (part(few), part(many))
    }

    /// The masses from the first to the last, 0 among them.
    fn dense(&self) -> (i64, Vec<f64>) {
        let ends = |sign: i64| self.slot.iter().map(|(j, _)| sign * j).fold(0, i64::max);
        let (first, last) = (-ends(-1), ends(1));
        let mut values = vec![0.0; (last - first + 1) as usize];
        values[(-first) as usize] = (1.0 - self.slot.iter().map(|(_, mass)| mass).sum::<f64>()).max(0.0);
        self.slot.iter().for_each(|(j, mass)| values[(j - first) as usize] = *mass);
        (first, values)
    }

    /// `Σ mass·(e^{iφj} − 1)` and a bound on its error. With half angles, `e^{iα} − 1 =
    /// 2i·sin(α/2)·e^{iα/2}`, each term is accurate.
    fn transform_minus_1(&self, phi: f64) -> (Complex64, f64) {
        let (mut re, mut im, mut size) = (Accumulator::default(), Accumulator::default(), 0.0);
        for (j, mass) in &self.slot {
            let (sin, cos) = sin_cos(0.5 * phi * *j as f64);
            let double = 2.0 * mass * sin;
            re.add(-double * sin);
            im.add(double * cos);
            size += double.abs();
        }
        // Angles are rounded to a unit relative to themselves: at small angles that is no more than
        // the sum of sizes.
        let angle = |(j, mass): &(i64, f64)| mass * (phi * *j as f64).abs().min(2.0 * PI);
        let angles: f64 = self.slot.iter().map(angle).sum();
        (Complex64::new(re.total(), im.total()), self.mass_error * size * 1.001 + 16.0 * U * angles)
    }

    /// `(1 + d)^slots` for a d that is off by at most `error`.
    fn raised(&self, difference: Complex64, error: f64) -> Frequency {
        let (value, rounding) = power_of_one_plus(difference, self.slots);
        let size = (1.0 + difference).norm_sqr().sqrt();
        let relative = self.slots * error / size + rounding;
        if relative < 0.1 {
            Frequency { value, error: value.norm_sqr().sqrt() * exp_m1(relative) }
        } else {
            // |a^k − b^k| ≤ |a|^k + |b|^k ≤ 2(|a| + e)^k.
            let largest = size + error + 16.0 * U;
            Frequency { value: Complex64::new(0.0, 0.0), error: 2.0 * exp(self.slots * ln(largest)) * (1.0 + 1e-6) }
        }
    }

    /// From this φ to π all frequencies of the sum together are below `e^LN_CUT`.
    ///
    /// Let a share A_d of the law be made of pairs of points d apart with equal masses. Such a pair
    /// has a transform of size |cos(φd/2)|, so that of the law is at most `1 − A_d(1 −
    /// |cos(φd/2)|)`. Pairs at distance d serve the frequencies up to π/d: well above π/(2d),
    /// falling below it.
    fn highest_frequency(&self, cycle: usize) -> f64 {
        let needed = -LN_CUT + ln(cycle as f64);
        let (_, values) = self.dense();
        let mut highest = PI;
        let mut distance = 1;
        while distance < values.len() {
            let pairs = self.slots * pairs(&values, distance) * (1.0 - 1e-9);
            if pairs >= needed {
                highest = f64::min(highest, 2.0 / distance as f64 * acos(1.0 - needed / pairs));
            }
            if OCTAVE * pairs < needed {
                break;
            }
            distance *= 2;
        }
        highest
    }
}

/// The share of a law that is made of disjoint pairs of equal masses at this distance.
fn pairs(masses: &[f64], distance: usize) -> f64 {
    let of_chunk = |chunk: &[f64]| -> f64 {
        let (near, far) = chunk.split_at(distance.min(chunk.len()));
        near.iter().zip(far).map(|(a, b)| 2.0 * a.min(*b)).sum()
    };
    masses.chunks(2 * distance).map(of_chunk).sum()
}

/// Adds a frequency and its mirror image to the spectrum of a real sequence on a cycle of this
/// length, whose transform back has e^{+i…}.
fn add_hermitian(spectrum: &mut [Complex64], length: usize, bin: usize, value: Complex64) {
    let mirrored = (length - bin) % length;
    if bin < spectrum.len() {
        spectrum[bin] += value.conj();
    }
    if mirrored < spectrum.len() {
        spectrum[mirrored] += value;
    }
}
