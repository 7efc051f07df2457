//! The edge between values that meet a target and values that do not, in few evaluations.
//!
//! Invariant: one end was evaluated and is safe, the other was evaluated and is not. The bracket
//! shrinks until its ends are neighbours. Guesses interpolate ln ε over the logarithm of the value,
//! along which it is nearly a line.

use super::grid::Grid;
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, ln};

/// The result of a search, in positions on the grid.
pub(super) enum Found {
    /// This place is safe, and the next is not; or it is as close to the target as was asked.
    Edge { place: i64 },
    /// The last place of the grid is safe.
    Everywhere { place: i64 },
    /// The first place of the grid is not safe, nor any other that was tried; this one was nearest
    /// to it.
    Nowhere { place: i64 },
}

impl Found {
    /// The place it is about.
    pub(super) fn place(&self) -> i64 {
        match self {
            Self::Edge { place } | Self::Everywhere { place } | Self::Nowhere { place } => *place,
        }
    }
}

/// An evaluated place.
#[derive(Clone, Copy)]
struct Point {
    place: i64,
    epsilon: f64,
}

/// No search takes so many evaluations; if one does, ε is not a function to search in.
const MAX_EVALUATIONS: usize = 400;

/// The first move, in logarithms, where nothing is known about the slope.
const STRIDE: f64 = 1.5;

/// How much the first power law of [`Search::home_in`] may be off.
const DOUBT: f64 = 0.03;

/// It moves no more often than this, and no farther, in logarithms.
const HOMING_MOVES: usize = 5;
const HOMING_REACH: f64 = 0.7;

/// A move that ends farther from the target than it began, and this far, has met a jump.
const HOMING_MISS: f64 = 0.1;

/// No move is longer, in logarithms.
const LONGEST: f64 = 16.0;

/// The edge of ε ≤ target on a grid. ε goes about like the value to the power ±`exponent`: this
/// leads the search, nothing rests on it.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) grid: &'a Grid,
    pub(super) target: f64,
    pub(super) exponent: f64,
    /// The search may end at a place whose ε is this close to the target, in logarithms; at 0 it
    /// goes on to the edge itself.
    pub(super) close: f64,
    /// The edge is thought to be this near, in logarithms. Where the power law says otherwise there
    /// is a jump, and steps are small at first.
    pub(super) reach: f64,
}

impl Search<'_> {
    /// Searches from the place `start` on.
    pub(super) fn run(&self, start: i64, mut epsilon: impl FnMut(f64) -> Result<f64>) -> Result<Found> {
        let mut evaluations = 0;
        let mut evaluate = |place: i64| -> Result<Point> {
            evaluations += 1;
            if evaluations > MAX_EVALUATIONS {
                return Err(AccountingError::numerical("the bound jumps about so much that no edge was found"));
            }
            Ok(Point { place, epsilon: epsilon(self.grid.value(place))? })
        };
        match self.gallop(start, &mut evaluate)? {
            Ok((safe, beyond)) => self.narrow(safe, beyond, &mut evaluate),
            Err(found) => Ok(found),
        }
    }

    /// From a place near the edge to what is most likely the last safe one, along power laws
    /// through the last two points: the first has this `exponent`. Ends without evaluating the
    /// place, once it is thought to be known to a step.
    pub(super) fn home_in(
        &self,
        start: i64,
        mut exponent: f64,
        mut epsilon: impl FnMut(f64) -> Result<f64>,
    ) -> Result<i64> {
        let mut point = Point { place: start, epsilon: epsilon(self.grid.value(start))? };
        let mut doubt = DOUBT;
        for _ in 0..HOMING_MOVES {
            let distance = self.room(point) / exponent;
            let is_near = distance.abs() <= HOMING_REACH;
            if !is_near {
                break;
            }
            let place = self.grid.last_within(point.place, distance);
            let step = self.grid.step(place) / self.grid.value(place);
            if doubt * distance.abs() < step || place == point.place {
                return Ok(place);
            }
            let moved = Point { place, epsilon: epsilon(self.grid.value(place))? };
            if self.room(moved).abs() > self.room(point).abs().max(HOMING_MISS) {
                // No power law: a jump, and it is near the place where the last one led to.
                return Ok(point.place);
            }
            // The next law is off by about its curvature over the way it was found on.
            (exponent, doubt) = (self.exponent_between(point, moved), distance.abs().min(DOUBT));
            point = moved;
        }
        Ok(point.place)
    }

    /// The power law of ε at a place, by its values there and nearby.
    pub(super) fn exponent_at(&self, place: i64, mut epsilon: impl FnMut(f64) -> Result<f64>) -> Result<f64> {
        let mut point =
            |place: i64| -> Result<Point> { Ok(Point { place, epsilon: epsilon(self.grid.value(place))? }) };
        let (here, nearby) = (point(place)?, point(self.grid.moved(place, -0.1))?);
        Ok(if here.place == nearby.place { self.exponent } else { self.exponent_between(here, nearby) })
    }

    /// NaN is not safe.
    fn is_safe(&self, point: Point) -> bool {
        point.epsilon <= self.target
    }

    /// How far ε is below the target, in logarithms; above it, this is negative. May be infinite.
    fn room(&self, point: Point) -> f64 {
        ln(self.target / point.epsilon)
    }

    /// The power law through two points, unless it is far from the one that was expected.
    fn exponent_between(&self, a: Point, b: Point) -> f64 {
        let moved = ln(self.grid.value(b.place) / self.grid.value(a.place));
        let exponent = ((self.room(a) - self.room(b)) / moved).abs();
        if exponent.is_finite() { exponent.clamp(self.exponent / 4.0, self.exponent * 4.0) } else { self.exponent }
    }

    /// Walks from a place until there is a safe one and, beyond it, one that is not. The inner
    /// error is a search that has ended.
    fn gallop(
        &self,
        start: i64,
        evaluate: &mut impl FnMut(i64) -> Result<Point>,
    ) -> Result<std::result::Result<(Point, Point), Found>> {
        let mut point = evaluate(start)?;
        let (outward, mut best) = (self.is_safe(point), point);
        let (mut exponent, mut least) = (self.exponent, 1e-7);
        let end = if outward { self.grid.last() } else { self.grid.first() };
        while point.place != end {
            // Where a power law says the target is, and a fifth further: both sides are needed.
            let predicted = (1.2 * self.room(point) / exponent).abs();
            let predicted = if predicted.is_finite() { predicted } else { STRIDE };
            let distance = if predicted <= self.reach { predicted.max(least) } else { least }.min(LONGEST);
            least *= 8.0;
            let moved = evaluate(self.grid.moved(point.place, if outward { distance } else { -distance }))?;
            exponent = self.exponent_between(point, moved);
            if moved.epsilon < best.epsilon {
                best = moved;
            }
            match (outward, self.is_safe(moved)) {
                (true, false) => return Ok(Ok((point, moved))),
                (false, true) => return Ok(Ok((moved, point))),
                _ => point = moved,
            }
        }
        Ok(Err(if outward { Found::Everywhere { place: end } } else { Found::Nowhere { place: best.place } }))
    }

    /// Shrinks the bracket until a safe place has a neighbour that is not.
    ///
    /// Regula falsi; an end that stays while the other moves twice counts half (the Illinois rule),
    /// and where three guesses do not halve the bracket, the middle is tried.
    fn narrow(
        &self,
        mut safe: Point,
        mut beyond: Point,
        evaluate: &mut impl FnMut(i64) -> Result<Point>,
    ) -> Result<Found> {
        let (mut safe_room, mut beyond_room) = (self.room(safe), self.room(beyond));
        let mut last_was_safe = None;
        let (mut guesses, mut width) = (0, safe.place.abs_diff(beyond.place));
        while safe.place.abs_diff(beyond.place) > 1 {
            guesses += 1;
            let stuck = guesses % 3 == 0 && safe.place.abs_diff(beyond.place) > width / 2;
            if guesses % 3 == 0 {
                width = safe.place.abs_diff(beyond.place);
            }
            // Towards an infinite ε the share would be 0, and the bracket would shrink by single
            // steps.
            let is_line = !stuck && safe_room.is_finite() && beyond_room.is_finite();
            let share = if is_line { safe_room / (safe_room - beyond_room) } else { 0.5 };
            let point = evaluate(self.between(safe.place, beyond.place, share))?;
            if self.room(point).abs() < self.close {
                return Ok(Found::Edge { place: point.place });
            }
            let is_safe = self.is_safe(point);
            if is_safe {
                (safe, safe_room) = (point, self.room(point));
                beyond_room *= if last_was_safe == Some(true) { 0.5 } else { 1.0 };
            } else {
                (beyond, beyond_room) = (point, self.room(point));
                safe_room *= if last_was_safe == Some(false) { 0.5 } else { 1.0 };
            }
            last_was_safe = Some(is_safe);
        }
        Ok(Found::Edge { place: safe.place })
    }

    /// A place strictly inside of the bracket, at this share of the way in logarithms; halfway if
    /// it is no number.
    fn between(&self, safe: i64, beyond: i64, share: f64) -> i64 {
        let (from, to) = (ln(self.grid.value(safe)), ln(self.grid.value(beyond)));
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
        let place = self.grid.place(exp(from + share * (to - from)));
        place.clamp(safe.min(beyond) + 1, safe.max(beyond) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reals(is_largest: bool) -> Grid {
        Grid::new(1e-9, 1e9, false, is_largest)
    }

    fn counts(is_largest: bool) -> Grid {
        Grid::new(1.0, 1e15, true, is_largest)
    }

    fn run(grid: &Grid, start: f64, target: f64, mut f: impl FnMut(f64) -> f64) -> Found {
        let search = Search { grid, target, exponent: 0.7, close: 0.0, reach: f64::INFINITY };
        search.run(grid.place(start), |x| Ok(f(x))).unwrap()
    }

    /// Finds the edge, checks it, and returns the value and the number of evaluations.
    fn edge(grid: &Grid, start: f64, target: f64, f: impl Fn(f64) -> f64) -> (f64, usize) {
        let mut count = 0;
        let found = run(grid, start, target, |x| {
            count += 1;
            f(x)
        });
        let Found::Edge { place } = found else { panic!("no edge") };
        let (value, next) = (grid.value(place), grid.value(grid.next(place)));
        assert!(f(value) <= target && (f(next) > target || f(next).is_nan()), "{value} {next}");
        (value, count)
    }

    #[test]
    fn smooth_curves_take_few_evaluations() {
        for target in [1e-3, 0.3, 4.0, 70.0] {
            for start in [1e-3, 1.0, 900.0] {
                let (value, count) = edge(&reals(true), start, target, |x| x.powf(1.2) * (1.0 + 0.1 * x.ln().sin()));
                assert!(count <= 16, "{target} {start}: {value} after {count}");
                let (value, count) = edge(&reals(false), start, target, |x| 2.0 / x);
                assert!((value * target / 2.0 - 1.0).abs() < 2e-4 && count <= 10, "{value} after {count}");
            }
        }
        let (value, count) = edge(&counts(true), 100.0, 3.0, |x| 1e-3 * x.sqrt());
        assert!((value - 9e6).abs() < 1.5 && count <= 10, "{value} after {count}");
        let (value, count) = edge(&counts(false), 1e5, 0.01, |x| 7.0 / x.sqrt());
        assert!((value - 490_000.0).abs() < 1.5 && count <= 10, "{value} after {count}");
    }

    #[test]
    fn a_start_next_to_the_edge_is_used() {
        let (_, count) = edge(&counts(true), 8_999_990.0, 3.0, |x| 1e-3 * x.sqrt());
        assert!(count <= 6, "{count}");
        let (_, count) = edge(&reals(false), 6.667, 0.3, |x| 2.0 / x);
        assert!(count <= 4, "{count}");
    }

    #[test]
    fn jumps_infinities_and_zeros_are_no_obstacle() {
        edge(&reals(true), 1.0, 0.5, |x| if x < 3.0 { 0.0 } else { f64::INFINITY });
        edge(&reals(false), 1.0, 0.5, |x| if x > 3.0 { 0.0 } else { f64::INFINITY });
        edge(&counts(true), 5.0, 0.5, |x| if x < 12_345.5 { 0.1 } else { 7.0 });
        edge(&counts(false), 5.0, 0.5, |x| if x < 12_345.5 { 7.0 } else { 0.1 });
        // NaN is not safe.
        edge(&reals(true), 1.0, 0.5, |x| if x < 3.0 { 0.1 } else { f64::NAN });
        // Not monotone: any edge will do.
        edge(&counts(true), 50.0, 1.0, |x| x / 1000.0 + 0.1 * (x / 7.0).sin());
        edge(&reals(true), 50.0, 1.0, |x| x / 1000.0 + 0.1 * (x / 7.0).sin());
    }

    #[test]
    fn homing_in_stays_where_it_was_before_a_jump() {
        let grid = reals(true);
        let search = Search { grid: &grid, target: 3.0, exponent: 1.0, close: 0.0, reach: f64::INFINITY };
        for beyond in [30.0, f64::INFINITY] {
            let mut asked = 0;
            let home = search.home_in(grid.place(2.0), 1.0, |x| {
                asked += 1;
                Ok(if x < 2.5 { x } else { beyond })
            });
            let home = grid.value(home.unwrap());
            assert!((2.0..2.5).contains(&home) && asked <= HOMING_MOVES + 1, "{home} after {asked}");
        }
        // A small miss is none: the next law knows better.
        let home = search.home_in(grid.place(2.9), 1.0, |x| Ok(x * (1.0 + 0.02 * (x - 2.9)))).unwrap();
        assert!((grid.value(home) - 2.994).abs() < 1e-3, "{}", grid.value(home));
    }

    #[test]
    fn ends_of_the_range_are_told() {
        let last = |grid: Grid, f: fn(f64) -> f64| match run(&grid, 7.0, 1.0, f) {
            Found::Everywhere { place } => grid.value(place),
            _ => panic!("not everywhere"),
        };
        assert_eq!((last(counts(true), |_| 0.5), last(counts(false), |_| 0.5)), (1e15, 1.0));
        let best = |grid: Grid, f: fn(f64) -> f64| match run(&grid, 7.0, 1.0, f) {
            Found::Nowhere { place } => grid.value(place),
            _ => panic!("somewhere"),
        };
        assert_eq!((best(counts(true), |x| x + 1.0), best(reals(false), |x| 2.0 + 1.0 / x)), (1.0, 1e9));
        assert!(edge(&counts(true), 7.0, 1.0, |x| if x < 1.5 { 0.5 } else { 2.0 }).0 < 1.5);
    }
}
