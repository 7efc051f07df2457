//! `E(S − x)₊` of a sum at many points.

use super::Draws;
use super::power::{Part, Tilted, moments, power};
use crate::numerics::directed::{add_up, mul_up};
use crate::numerics::elementary::exp;

/// Covers the roundings of reading but for the exponents': every sum has non-negative terms.
pub(super) const SUMMING_ERROR: f64 = 1e-10;

/// A tilt serves the points at which what it charges for its errors is at most this share of the
/// call.
const ACCURACY: f64 = 1e-6;

/// The same in a heavy tail, which tilts do not bring up.
const ACCURACY_OF_HEAVY: f64 = 1e-4;

/// Points that no tilt serves are gone through in about so many steps.
const FEWEST_STEPS: usize = 4;

/// Attempts at a point, before what is known of it has to do. A tilt moves the mean so many
/// standard deviations beyond the point; in between is no tilt at all: any tilt makes the end of a
/// heavy tail the bulk.
const AHEAD: [f64; 3] = [3.5, f64::NEG_INFINITY, 0.0];

/// Weights of masses are computed anew after so many steps.
const ANCHOR_EVERY: usize = 256;

/// An upper bound on a call, and how much of it is charged for errors that a better tilt would
/// avoid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub(super) call: f64,
    pub(super) charged: f64,
}

/// At least `E(S − x)₊` at every x of `points`, which increase; S is the sum of all draws.
pub(crate) fn calls_upper(draws: &[Draws<'_>], points: &[f64]) -> Vec<f64> {
    let most = draws.iter().map(|draws| draws.number.most() * draws.law.top().max(0.0)).sum::<f64>() * (1.0 + 1e-12);
    let excess = draws.iter().map(|draws| mul_up(draws.law.excess, draws.number.mean_upper())).fold(0.0, add_up);
    let reached = points.partition_point(|x| *x < most);
    let mut calls = tilt_by_tilt(&points[..reached], |point, ahead, points| {
        power(&parts_at(draws, tilt(draws, point, ahead))).calls(points, excess)
    });
    // The sum is never that large.
    calls.resize(points.len(), excess);
    calls
}

/// The smallest bounds over several tilts.
///
/// Each tilt θ ≥ 0 gives an upper bound at every point, tight around the mean of the tilted sum.
/// They are tried from the first point on until all points are served. `read` tilts the mean to so
/// many standard deviations beyond a point and reads calls.
pub(super) fn tilt_by_tilt(points: &[f64], read: impl Fn(f64, f64, &[f64]) -> Vec<Reading>) -> Vec<f64> {
    let mut calls = vec![f64::INFINITY; points.len()];
    // The attempt that comes first, and the accuracy: where the first attempt fails the tail is
    // heavy, and it would fail again; the second, without a tilt, is the same for all points.
    let (mut next, mut attempt, mut first, mut accuracy) = (0, 0, 0, ACCURACY);
    while next < points.len() {
        let readings = read(points[next], AHEAD[attempt], &points[next..]);
        // A reading that overflowed serves nobody.
        let serves = |reading: &&Reading| reading.call.is_finite() && reading.charged <= accuracy * reading.call;
        let served = readings.iter().take_while(serves).count();
        for (call, reading) in calls[next..].iter_mut().zip(readings) {
            *call = call.min(reading.call);
        }
        attempt += 1;
        if served > 0 || attempt >= AHEAD.len() {
            // Where no tilt serves, what a few of them give has to do.
            next += served.max(points.len() / FEWEST_STEPS).max(1);
            if attempt > 1 {
                (first, accuracy) = (2, ACCURACY_OF_HEAVY);
            }
            attempt = first;
        }
    }
    calls
}

fn parts_at(draws: &[Draws<'_>], theta: f64) -> Vec<Part> {
    draws.iter().map(|draws| Part::new(draws, theta)).collect()
}

/// A tilt at which the mean of the sum is about `ahead` standard deviations beyond `point`. Any
/// tilt is valid.
pub(super) fn tilt(draws: &[Draws<'_>], point: f64, ahead: f64) -> f64 {
    let short = |theta: f64| {
        let (mean, deviation) = moments(&parts_at(draws, theta));
        point - (mean - ahead * deviation)
    };
    let (mean, deviation) = moments(&parts_at(draws, 0.0));
    if point - (mean - ahead * deviation) <= 0.0 {
        return 0.0;
    }
    // For a Gaussian sum this is it.
    let mut high = (point - mean + ahead * deviation) / (deviation * deviation);
    let mut low = 0.0;
    let finest = draws.iter().map(|draws| draws.law.spacing).fold(f64::INFINITY, f64::min);
    // Beyond it a single lattice point has all the mass.
    let most = 40.0 / finest;
    while high < most && short(high) > 0.0 {
        low = high;
        high *= 2.0;
    }
    high = high.min(most);
    for _ in 0..5 {
        let middle = 0.5 * (low + high);
        if short(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

impl Tilted {
    /// At least the call at these points, which increase. Of what is charged, so much is
    /// `unavoidable`.
    ///
    /// From the top down, with A the mass above a point and G its call: one lattice point further
    /// down G grows by h·A, and in between linearly. No term is negative.
    pub(super) fn calls(&self, points: &[f64], unavoidable: f64) -> Vec<Reading> {
        let value = |i: usize| (self.first + i as i64) as f64 * self.spacing;
        let count = self.masses.len();
        let reach = value(0).abs().max(value(count - 1).abs());
        let error = SUMMING_ERROR + 4.0 * f64::EPSILON * (self.ln_scale.abs() + self.theta * reach);
        let is_sound = self.ln_scale.is_finite() && self.excess >= 0.0 && self.lost >= 0.0;
        // (A, G) of the masses, and of what they were raised by.
        let (mut masses, mut noises) = ((0.0, 0.0), (0.0, 0.0));
        // Weights follow from each other, and are computed anew so often that their roundings do
        // not add up.
        let (mut weight, step) = (0.0, exp(self.theta * self.spacing));
        let mut next = count;
        let mut readings: Vec<Reading> = Vec::with_capacity(points.len());
        for point in points.iter().rev() {
            while next > 0 && value(next - 1) > *point {
                next -= 1;
                let is_anchor = (count - 1 - next).is_multiple_of(ANCHOR_EVERY) || weight < 1e-280;
                weight = if is_anchor { exp(self.ln_scale - self.theta * value(next)) } else { weight * step };
                for (sums, mass) in [(&mut masses, self.masses[next]), (&mut noises, self.noise)] {
                    *sums = (sums.0 + mass * weight, sums.1 + self.spacing * sums.0);
                }
            }
            // `next` is the lowest lattice point above x, and G belongs to it.
            let distance = if next < count { value(next) - point } else { 0.0 };
            let at = |(above, call): (f64, f64)| call + distance * above;
            let lost = self.reserve(*point);
            // The smallest normal number pays for masses that underflow.
            let call = add_up(at(masses) * (1.0 + error) + f64::MIN_POSITIVE, add_up(lost, self.excess));
            // An accountant that gives up must say so: NaN is no bound.
            let call = if is_sound && call >= 0.0 { call } else { f64::INFINITY };
            readings.push(Reading { call, charged: at(noises) + lost + (self.excess - unavoidable).max(0.0) });
        }
        readings.reverse();
        readings
    }

    /// At least what the lost mass contributes to the call at x, wherever it stands:
    /// `e^{−θs}(s − x)₊ ≤ e^{−θx}/(eθ)`. Without a tilt it is not lost, but reappears inside.
    fn reserve(&self, point: f64) -> f64 {
        if self.lost <= 0.0 || self.theta <= 0.0 {
            return 0.0;
        }
        let slack = 8.0 * f64::EPSILON * (self.ln_scale.abs() + self.theta * point.abs() + 1.0);
        self.lost * exp(self.ln_scale - self.theta * point - 1.0 + slack) / self.theta
    }
}
