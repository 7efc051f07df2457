//! The decision whether a point lies below the curve e^(−x²/2), in whole numbers of any length.

use crate::randomness::Randomness;
use num_bigint::BigUint;

/// A point (x, h) of which only the first digits are drawn yet. All further digits are uniform.
///
/// With D the denominator: `x ≤ true x < x + 1` in units of 2^−x_bits, and
/// `h ≤ true h < h + 1` in units of 2^−h_bits/D.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) x: BigUint,
    pub(super) x_bits: u64,
    pub(super) h: BigUint,
    pub(super) h_bits: u64,
    pub(super) denominator: BigUint,
}

impl Point {
    /// Returns whether the point lies below the curve. Digits are drawn until that is certain.
    ///
    /// The digits drawn leave a decision open on a strip along the curve. Each pass makes the strip
    /// narrower by about 2^64, so the loop ends. Nothing is decided before it is certain, so the
    /// answer has exactly the probability that the area below the curve has.
    pub(super) fn decide<R: Randomness + ?Sized>(mut self, rng: &mut R) -> bool {
        loop {
            if let Some(is_below) = self.decided() {
                return is_below;
            }
            self.x = (self.x << 64_u32) + rng.bits();
            self.x_bits += 64;
            self.h = (self.h << 64_u32) + rng.bits();
            self.h_bits += 64;
        }
    }

    /// Returns the answer if all points with these first digits have the same one.
    ///
    /// h < e^(−x²/2) is the same as h·e^(x²/2) < 1: both factors grow, so two corners decide.
    pub(super) fn decided(&self) -> Option<bool> {
        let precision = self.h_bits + 64;
        let one = &self.denominator << (self.h_bits + precision);
        let [x_next, h_next] = [&self.x + 1_u32, &self.h + 1_u32];
        let half_square_bits = 2 * self.x_bits + 1;
        if h_next * exponential(&(&x_next * &x_next), half_square_bits, precision, Direction::Up) <= one {
            return Some(true);
        }
        let grown = exponential(&(&self.x * &self.x), half_square_bits, precision, Direction::Down);
        (&self.h * grown >= one).then_some(false)
    }
}

/// Which way a result is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Down,
    Up,
}

/// Returns `2^precision·e^y` for `y = numerator/2^bits`, rounded in the direction asked for.
///
/// Formula: Σ yⁿ/n!. All terms are positive. Down: every term is rounded down, and the sum ends
/// when a term is 0. Up: every term is rounded up; from n ≥ 2y on each term is at most half of the
/// one before it, so what is left out after the last term t is at most t.
pub(super) fn exponential(numerator: &BigUint, bits: u64, precision: u64, direction: Direction) -> BigUint {
    let one = BigUint::from(1_u32) << precision;
    let up = direction == Direction::Up;
    let almost_one = (BigUint::from(1_u32) << bits) - 1_u32;
    let mut term = one.clone();
    let mut sum = one;
    let mut n = 0_u64;
    loop {
        n += 1;
        let product = &term * numerator;
        term = if up { (((product + &almost_one) >> bits) + (n - 1)) / n } else { (product >> bits) / n };
        sum += &term;
        let is_last = if up {
            term <= BigUint::from(1_u32) && (BigUint::from(n) << bits) >= (numerator << 1_u32)
        } else {
            term == BigUint::ZERO
        };
        if is_last {
            return if up { sum + term } else { sum };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulationRng;

    #[test]
    fn the_exponential_lies_between_its_bounds() {
        // ⌊2^128·e⌋, from the digits of e.
        let e: u128 = 0xb7e1_5162_8aed_2a6a_bf71_5880_9cf4_f3c7;
        let e = (BigUint::from(2_u32) << 128_u32) + e;
        let bounds = |numerator: u32, bits, precision| {
            [Direction::Down, Direction::Up].map(|d| exponential(&BigUint::from(numerator), bits, precision, d))
        };
        let [down, up] = bounds(1, 0, 128);
        assert!(down <= e && e < up && &up - &down < BigUint::from(200_u32));
        // The same as 4/4.
        let [down, up] = bounds(4, 2, 128);
        assert!(down <= e && e < up);
        // e^0 is exact from below, and large exponents keep their relative precision.
        assert_eq!(bounds(0, 5, 10)[0], BigUint::from(1024_u32));
        for y in [1, 9, 50, 2500] {
            let [down, up] = bounds(y, 0, 200);
            let error = (&up - &down) << 150_u32;
            assert!(down < up && error < down, "{y}");
        }
    }

    fn point(x: f64, h: f64) -> Point {
        let digits = |value: f64| BigUint::from((value * 2.0_f64.powi(40)) as u64);
        Point { x: digits(x), x_bits: 40, h: digits(h), h_bits: 40, denominator: BigUint::from(1_u32) }
    }

    #[test]
    fn points_on_either_side_are_told_apart() {
        for x in [0.0_f64, 0.3, 1.0, 2.5, 4.0, 6.0] {
            let curve = (-x * x / 2.0).exp();
            assert_eq!(point(x, curve * (1.0 - 1e-3)).decided(), Some(true), "{x}");
            assert_eq!(point(x, curve * (1.0 + 1e-3)).decided(), Some(false), "{x}");
        }
    }

    /// The first digits of a point next to the curve say nothing; further ones do, either way.
    #[test]
    fn digits_are_drawn_until_it_is_certain() {
        let near = point(1.0, (-0.5_f64).exp());
        assert_eq!(near.decided(), None);
        let below = (0..200).filter(|&seed| near.clone().decide(&mut SimulationRng::from_seed(seed))).count();
        assert!((1..200).contains(&below), "{below}");
    }
}
