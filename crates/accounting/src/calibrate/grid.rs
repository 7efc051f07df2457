//! The values that may be tried: whole numbers, or numbers of five significant digits.
//!
//! Either way they can be counted through, so that every value has one next to it. And either way a
//! value is what is printed of it: whoever types the answer asks about the very number that was
//! checked.

use crate::numerics::elementary::{exp, log10, powi};

/// Significant digits of an answer that is not a count.
const DIGITS: i32 = 5;

/// The smallest mantissa, 10^(DIGITS−1). A decade has nine times as many numbers.
const LEAST_MANTISSA: i64 = 10_000;
const PER_DECADE: i64 = 9 * LEAST_MANTISSA;

/// The values that are searched, each with its place in the row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    is_count: bool,
    /// ε grows with the value.
    is_largest: bool,
    low: i64,
    high: i64,
}

impl Grid {
    /// All values from `low` to `high`, which belong to them.
    pub(super) fn new(low: f64, high: f64, is_count: bool, is_largest: bool) -> Self {
        let everything = Self { is_count, is_largest, low: i64::MIN, high: i64::MAX };
        Self { low: everything.place(low), high: everything.place(high), ..everything }
    }

    /// The value at a place.
    pub(super) fn value(&self, place: i64) -> f64 {
        if self.is_count {
            return place as f64;
        }
        let mantissa = LEAST_MANTISSA + place.rem_euclid(PER_DECADE);
        decimal(mantissa, place.div_euclid(PER_DECADE) as i32 - (DIGITS - 1))
    }

    /// The place of a positive value, or of one near it.
    pub(super) fn place(&self, value: f64) -> i64 {
        if self.is_count {
            return (value.round() as i64).clamp(self.low, self.high);
        }
        let value = value.clamp(f64::MIN_POSITIVE, f64::MAX);
        let exponent = log10(value).floor();
        // The mantissa may be 10^DIGITS, if rounded up: that is the first place of the next decade.
        let mantissa = (value / powi(10_f64, exponent as i32 - (DIGITS - 1))).round() as i64;
        (exponent as i64 * PER_DECADE + mantissa - LEAST_MANTISSA).clamp(self.low, self.high)
    }

    /// How far the next value is.
    pub(super) fn step(&self, place: i64) -> f64 {
        if self.is_count {
            return 1.0;
        }
        // Towards smaller values the last digit's unit is that of the smaller one.
        let smaller = if self.is_largest { place } else { place - 1 };
        decimal(1, smaller.div_euclid(PER_DECADE) as i32 - (DIGITS - 1))
    }

    /// The next place towards larger ε.
    pub(super) fn next(&self, place: i64) -> i64 {
        if self.is_largest { place + 1 } else { place - 1 }
    }

    /// The place with the smallest ε.
    pub(super) fn first(&self) -> i64 {
        if self.is_largest { self.low } else { self.high }
    }

    /// The place with the largest ε.
    pub(super) fn last(&self) -> i64 {
        if self.is_largest { self.high } else { self.low }
    }

    /// The last place that is not beyond the value e^`ln_factor` times as large as this place's,
    /// towards larger ε if that is positive.
    pub(super) fn last_within(&self, place: i64, ln_factor: f64) -> i64 {
        let sign = if self.is_largest { 1.0 } else { -1.0 };
        let value = self.value(place) * exp(sign * ln_factor);
        let nearest = self.place(value);
        let is_beyond = sign * (self.value(nearest) - value) > 0.0;
        (if is_beyond { nearest - sign as i64 } else { nearest }).clamp(self.low, self.high)
    }

    /// The place whose value is e^`ln_factor` times as large, towards larger ε if that is positive;
    /// at least one step away, if there is one.
    pub(super) fn moved(&self, place: i64, ln_factor: f64) -> i64 {
        let sign = if self.is_largest { 1.0 } else { -1.0 };
        let moved = self.place(self.value(place) * exp(sign * ln_factor));
        let one_step = if (ln_factor > 0.0) == self.is_largest { place + 1 } else { place - 1 };
        if moved == place { one_step.clamp(self.low, self.high) } else { moved }
    }
}

/// `mantissa · 10^exponent`, as the number that is written so is read.
fn decimal(mantissa: i64, exponent: i32) -> f64 {
    // Powers to 10^22 are exact, so that one correctly rounded operation gives the nearest number:
    // what parsing gives.
    let power = |exponent: i32| powi(10_f64, exponent);
    if exponent < 0 { mantissa as f64 / power(-exponent) } else { mantissa as f64 * power(exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_what_is_printed_of_it() {
        let grid = Grid::new(1e-12, 1e12, false, true);
        for place in (grid.low..=grid.high).step_by(997) {
            let value = grid.value(place);
            assert_eq!(grid.place(value), place, "{value}");
            // At most five digits, and those of no other number.
            assert!(format!("{value:.4e}").parse::<f64>().unwrap().total_cmp(&value).is_eq(), "{value}");
            assert!(grid.value(place + 1) > value);
            let step = grid.value(place + 1) - value;
            assert!((grid.step(place) / step - 1.0).abs() < 1e-9, "{value}: {step}");
        }
    }

    #[test]
    fn decades_join() {
        let grid = Grid::new(1e-6, 1e6, false, false);
        let one = grid.place(1.0);
        let neighbours = [one - 1, one, one + 1].map(|place| grid.value(place).to_string());
        assert_eq!(neighbours, ["0.99999", "1", "1.0001"]);
        assert_eq!(grid.place(0.999_999_99), one);
        // ε grows towards smaller values here.
        assert_eq!((grid.next(one), grid.step(one).to_string()), (one - 1, "0.00001".to_owned()));
        assert_eq!(
            (grid.value(grid.first()).to_string(), grid.value(grid.last()).to_string()),
            ("1000000".into(), "0.000001".into())
        );
    }

    #[test]
    fn moves_go_one_step_at_least_and_never_outside() {
        let counts = Grid::new(1.0, 1e15, true, true);
        assert_eq!((counts.moved(5, 1e-9), counts.moved(5, -1e-9), counts.moved(1, -1.0)), (6, 4, 1));
        let clients = Grid::new(7.0, 1e15, true, false);
        assert_eq!((clients.moved(9, 1e-9), clients.moved(9, -1e-9), clients.moved(9, 50.0)), (8, 10, 7));
        assert_eq!(clients.moved(9, -90.0), 1_000_000_000_000_000);
    }
}
