//! The normal law, rounded down to a grid far finer than anybody needs.
//!
//! A uniform point of the area below e^(−x²/2) has a normal x (von Neumann's rejection). A point is
//! drawn from [boxes](super::boxes) that cover that area, and kept if it lies below the curve. Its
//! digits are drawn as they are needed: 64 random bits choose a box and 51 digits of x in it, which
//! settles 93 % of all draws. The curve passes through the other boxes; there 32 digits of the
//! height and a few products decide, and if they cannot, arithmetic of any length
//! ([`Point`]) does. No step uses floating point, and none is cut off: the law is exact.
//!
//! Digits on demand for an exact normal deviate are Karney's idea (2016, "Sampling exactly from the
//! normal distribution"). Boxes take the place of his coins because one word then settles most
//! draws.

use super::boxes::{Boxes, COLUMN_BITS, COLUMNS, ROWS, SLOT_BITS, Slot, TOP_BITS};
use super::curve::Point;
use crate::randomness::Randomness;
use num_bigint::BigUint;

/// Digits of x in a column: what a word has left beside the box and the sign.
const DIGITS: u32 = u64::BITS - SLOT_BITS - 1;

/// The standard normal law, in units of 2^−56.
#[derive(Debug, Clone, Copy)]
pub struct ExactNormal {
    boxes: &'static Boxes,
}

impl Default for ExactNormal {
    fn default() -> Self {
        Self::new()
    }
}

impl ExactNormal {
    /// Bits of a draw below the point.
    pub const FRACTION_BITS: u32 = COLUMN_BITS + DIGITS;

    /// The largest draw: 64 standard deviations. What is larger, of probability e^−2048, becomes
    /// this.
    pub const LARGEST: i64 = 64 << Self::FRACTION_BITS;

    /// The law. The first call makes its table.
    pub fn new() -> Self {
        Self { boxes: Boxes::table() }
    }

    /// Returns ⌊2^56·N⌋ for a standard normal N, no further from 0 than [`LARGEST`](Self::LARGEST).
    #[inline]
    pub fn draw<R: Randomness + ?Sized>(self, rng: &mut R) -> i64 {
        loop {
            let bits = rng.bits();
            let digits = bits >> (SLOT_BITS + 1);
            let size = match self.boxes.slot(bits as usize) {
                Ok(column) => Some(join(column, digits)),
                Err(slot) => self.in_other_slot(slot, digits, rng),
            };
            if let Some(size) = size {
                // ⌊−x⌋ = −⌊x⌋ − 1, but for whole x, which have no probability.
                let is_negative = bits >> SLOT_BITS & 1 == 1;
                return if is_negative { !size } else { size };
            }
        }
    }

    /// Returns ⌊2^56·x⌋ of a point in a box that is not wholly below the curve, if the point is.
    #[cold]
    fn in_other_slot<R: Randomness + ?Sized>(self, slot: Slot, digits: u64, rng: &mut R) -> Option<i64> {
        match slot {
            Slot::Empty => None,
            Slot::Edge { column, row } => {
                let height = rng.bits();
                let is_below = self.is_below_curve(column, digits, row, height).unwrap_or_else(|| {
                    let point = Point {
                        x: BigUint::from(join(column, digits).unsigned_abs()),
                        x_bits: Self::FRACTION_BITS.into(),
                        h: BigUint::from(u128::from(row) << 64 | u128::from(height)),
                        h_bits: 64,
                        denominator: ROWS.into(),
                    };
                    point.decide(rng)
                });
                is_below.then(|| join(column, digits))
            }
            Slot::Tail => {
                let units = leading_tails(rng);
                let fraction = rng.bits() >> (u64::BITS - Self::FRACTION_BITS);
                let start = u64::from(COLUMNS) << DIGITS;
                let x = (u128::from(units) << Self::FRACTION_BITS) + u128::from(start + fraction);
                let point = Point {
                    x: BigUint::from(x),
                    x_bits: Self::FRACTION_BITS.into(),
                    h: BigUint::from(rng.bits()),
                    h_bits: 64,
                    denominator: BigUint::from(ROWS) << (u64::from(COLUMN_BITS) + units + 1),
                };
                // It fits below LARGEST.
                let size = || i64::try_from(x).unwrap_or(i64::MAX).min(Self::LARGEST);
                point.decide(rng).then(size)
            }
        }
    }

    /// Returns whether the point (x, h) of a box is below the curve, if 32 digits can tell.
    #[inline]
    fn is_below_curve(self, column: u16, digits: u64, row: u16, height: u64) -> Option<bool> {
        let (lowest, highest) = self.curve(column, digits, ALLOWANCE);
        // The digits of the height that are left out are less than 1.
        let height = u64::from(row) << TOP_BITS | height >> (u64::BITS - TOP_BITS);
        if height < lowest {
            Some(true)
        } else if height >= highest {
            Some(false)
        } else {
            None
        }
    }

    /// Returns bounds on the curve at all x that begin with these digits, in rows, in units of
    /// 2^−32.
    ///
    /// The curve at x is `top·e^−z`, z = (x² − a²)/2, a the left edge of the column. For z ≥ 0,
    /// e^−z is at least 1 − z + z²/2 − z³/6 and at most that plus z⁴/24. All numbers here are in
    /// units of 2^−32 and z is below 0.14. z is rounded down by less than 1.01 (which includes the
    /// digits of x that are not drawn), z²/2 by less than 1, z³/6 by less than 1.5, z⁴/24 by less
    /// than 1. What can point one way adds up to less than [`ALLOWANCE`].
    #[inline]
    fn curve(self, column: u16, digits: u64, allowance: u64) -> (u64, u64) {
        let twice_left = u64::from(column) << (DIGITS + 1);
        // In units of 2^−(2·56+1).
        let z = u128::from(digits) * u128::from(twice_left + digits);
        let z = (z >> (2 * Self::FRACTION_BITS + 1 - TOP_BITS)) as u64;
        let half_square = (z * z) >> (TOP_BITS + 1);
        let sixth_cube = ((half_square * z) >> TOP_BITS) / 3;
        let series = (1 << TOP_BITS) - z + half_square - sixth_cube;
        let next = ((sixth_cube * z) >> TOP_BITS) / 4;
        let top = self.boxes.top(column);
        (scaled(top, series - allowance), scaled(top + 1, series + next + allowance) + 1)
    }
}

/// The largest rounding error of a series, in units of 2^−32.
const ALLOWANCE: u64 = 4;

/// x of a column and the digits in it, in units of 2^−56.
#[inline]
fn join(column: u16, digits: u64) -> i64 {
    i64::from(column) << DIGITS | digits as i64
}

/// `a·b/2^32`, rounded down.
#[inline]
fn scaled(a: u64, b: u64) -> u64 {
    // a is below 98·2^32 + 2 and b below 2^33: the quotient fits.
    ((u128::from(a) * u128::from(b)) >> TOP_BITS) as u64
}

/// The number of tails before the first head of fair coins: n with probability 2^−(n+1).
fn leading_tails<R: Randomness + ?Sized>(rng: &mut R) -> u64 {
    let mut tails = 0;
    loop {
        let more = u64::from(rng.bits().trailing_zeros());
        tails += more;
        if more < u64::from(u64::BITS) {
            return tails;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::curve::{Direction, exponential};
    use super::*;
    use crate::SimulationRng;

    /// The curve in rows, in units of 2^−32, at x in units of 2^−56.
    fn exact(x: i64, direction: Direction) -> BigUint {
        let x = BigUint::from(x.unsigned_abs());
        let opposite = if direction == Direction::Up { Direction::Down } else { Direction::Up };
        let e = exponential(&(&x * &x), 2 * 56 + 1, 128, opposite);
        let rows = BigUint::from(ROWS) << (128 + TOP_BITS);
        if direction == Direction::Up { (rows + &e - 1_u32) / e } else { rows / e }
    }

    /// 32 digits never contradict arithmetic of any length. Without the allowance they would.
    #[test]
    fn the_curve_lies_between_its_bounds_and_needs_the_allowance() {
        let normal = ExactNormal::new();
        let mut rng = SimulationRng::from_seed(1);
        let (mut needed, mut widest) = (0, 0);
        for i in 0..40_000_u64 {
            let column = (i % u64::from(COLUMNS)) as u16;
            // Also the ends of a column.
            let digits = match i / u64::from(COLUMNS) {
                0 => 0,
                1 => (1 << DIGITS) - 1,
                _ => rng.bits() >> (u64::BITS - DIGITS),
            };
            let x = join(column, digits);
            let (low, high) = (exact(x + 1, Direction::Down), exact(x, Direction::Up));
            let (lowest, highest) = normal.curve(column, digits, ALLOWANCE);
            assert!(BigUint::from(lowest) <= low && high <= BigUint::from(highest), "{column} {digits}");
            widest = widest.max(highest - lowest);
            let (lowest, highest) = normal.curve(column, digits, 0);
            needed += u32::from(BigUint::from(lowest) > low || high > BigUint::from(highest));
        }
        assert!(needed > 100, "{needed}");
        // z⁴/24 is 1.3e-5 at most: few points of a box are left undecided.
        assert!(widest < 1 << 18, "{widest}");
    }

    #[test]
    fn what_32_digits_decide_is_right_and_they_decide_nearly_all() {
        let normal = ExactNormal::new();
        let mut rng = SimulationRng::from_seed(2);
        let mut undecided = 0;
        for number in (0..1 << SLOT_BITS).cycle().take(100_000) {
            let Err(Slot::Edge { column, row }) = normal.boxes.slot(number) else { continue };
            let (digits, height) = (rng.bits() >> (SLOT_BITS + 1), rng.bits());
            let point = Point {
                x: BigUint::from(join(column, digits).unsigned_abs()),
                x_bits: 56,
                h: BigUint::from(u128::from(row) << 64 | u128::from(height)),
                h_bits: 64,
                denominator: ROWS.into(),
            };
            match normal.is_below_curve(column, digits, row, height) {
                Some(is_below) => assert_eq!(point.decided(), Some(is_below), "{column} {row}"),
                None => undecided += 1,
            }
        }
        assert!(undecided < 10, "{undecided}");
    }

    #[test]
    fn tails_are_geometric() {
        let mut rng = SimulationRng::from_seed(3);
        let mut counts = [0_u64; 3];
        (0..80_000).for_each(|_| counts[leading_tails(&mut rng).min(2) as usize] += 1);
        // 40,000, 20,000, 20,000; five deviations are below 710.
        assert!(counts.iter().zip([40_000_u64, 20_000, 20_000]).all(|(&n, mean)| n.abs_diff(mean) < 710), "{counts:?}");
    }
}
