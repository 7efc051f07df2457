//! A profile given by points.

use crate::error::{AccountingError, Result};
use crate::numerics::directed::inflate;
use crate::numerics::elementary::exp_m1;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// The largest number of points of a profile.
pub const MAX_POINTS: usize = 100_000;

/// A convex profile through given points (ε, δ): between them chords in e^ε, beyond the last one
/// constant.
///
/// A handle: the points live as long as the program and are kept once, so that a randomizer that is
/// given by its profile is as small as any other.
#[derive(Debug, Clone, Copy)]
pub struct ProfilePoints(&'static [Point]);

/// A point of a profile. Written as `[ε, δ]`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    epsilon: f64,
    /// e^ε − 1.
    excess: f64,
    delta: f64,
}

/// Every profile that was ever given.
static GIVEN: Mutex<Vec<&'static [Point]>> = Mutex::new(Vec::new());

/// Slopes may be this much out of order: points that were computed and written with many digits
/// are.
const TOLERANCE: f64 = 1e-9;

impl ProfilePoints {
    /// Checks points (ε, δ): ε starts at 0 and increases, δ is between 0 and 1 and does not
    /// increase, and δ is convex in e^ε, at e^ε = 1 included, where the profile goes on by its
    /// symmetry.
    pub fn new(points: &[(f64, f64)]) -> Result<Self> {
        let refused = |reason: String| AccountingError::OutOfRange {
            parameter: "profile",
            requirement: "a convex curve of points (epsilon, delta)",
            value: reason,
        };
        let name = |i: usize| format!("point {} (ε = {}, δ = {})", i + 1, points[i].0, points[i].1);
        if points.is_empty() || points.len() > MAX_POINTS {
            return Err(refused(format!("a list of {} points: give between 1 and {MAX_POINTS}", points.len())));
        }
        if points[0].0 != 0.0 {
            return Err(refused(format!("{}: the first point must be at ε = 0", name(0))));
        }
        let mut checked: Vec<Point> = Vec::with_capacity(points.len());
        let mut slope_before = f64::MIN;
        for (i, &(epsilon, delta)) in points.iter().enumerate() {
            if !(0.0..=700.0).contains(&epsilon) {
                return Err(refused(format!("{}: ε must be between 0 and 700", name(i))));
            }
            if !(0.0..=1.0).contains(&delta) {
                return Err(refused(format!("{}: δ must be between 0 and 1", name(i))));
            }
            let point = Point { epsilon, excess: exp_m1(epsilon), delta };
            if let Some(last) = checked.last() {
                if point.excess <= last.excess {
                    return Err(refused(format!("{}: ε must increase from point to point", name(i))));
                }
                if delta > last.delta {
                    return Err(refused(format!("{}: δ must not increase", name(i))));
                }
                let slope = (delta - last.delta) / (point.excess - last.excess);
                if i == 1 && slope < -0.5 * (1.0 - last.delta) * (1.0 + TOLERANCE) - TOLERANCE {
                    return Err(refused(format!(
                        "{}: δ falls faster than that of any two laws, by more than (1 − δ(0))/2 to a unit of e^ε",
                        name(i)
                    )));
                }
                if slope < slope_before - TOLERANCE * slope_before.abs() {
                    return Err(refused(format!("{}: δ is not convex in e^ε", name(i))));
                }
                slope_before = slope;
            }
            checked.push(point);
        }
        Ok(Self(kept(checked)))
    }

    /// The points, as (ε, δ).
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.0.iter().map(|point| (point.epsilon, point.delta))
    }

    /// At least δ(1 + `excess`). **Direction: up.**
    pub(super) fn delta_upper(&self, excess: f64) -> f64 {
        let next = self.0.partition_point(|point| point.excess <= excess);
        match (next.checked_sub(1).map(|last| self.0[last]), self.0.get(next)) {
            (Some(last), Some(next)) => {
                let share = (next.excess - excess) / (next.excess - last.excess);
                inflate(next.delta + share.clamp(0.0, 1.0) * (last.delta - next.delta), 8.0 * f64::EPSILON)
            }
            (Some(last), None) => last.delta,
            // Before the first point, at 0, there is nothing.
            (None, _) => 1.0,
        }
    }

    /// The last point, as (ε, δ): beyond it the profile is constant.
    pub fn last(&self) -> (f64, f64) {
        self.0.last().map_or((0.0, 1.0), |point| (point.epsilon, point.delta))
    }

    /// ε of the last point, if its δ is 0.
    pub fn pure_epsilon(&self) -> Option<f64> {
        let (epsilon, delta) = self.last();
        (delta <= 0.0).then_some(epsilon)
    }

    /// Where the last point is.
    pub(super) fn end(&self) -> f64 {
        self.0.last().map_or(0.0, |point| point.excess)
    }
}

/// The points, kept for good; the same ones once.
fn kept(points: Vec<Point>) -> &'static [Point] {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = given.iter().find(|known| **known == points.as_slice()) {
        return known;
    }
    let points: &'static [Point] = Box::leak(points.into_boxed_slice());
    given.push(points);
    points
}

impl PartialEq for ProfilePoints {
    /// The same points are kept once.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Serialize for ProfilePoints {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.points())
    }
}

impl<'de> Deserialize<'de> for ProfilePoints {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let points = Vec::<(f64, f64)>::deserialize(deserializer)?;
        Self::new(&points).map_err(serde::de::Error::custom)
    }
}
