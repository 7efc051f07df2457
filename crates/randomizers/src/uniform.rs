//! Exactly uniform whole numbers.

use crate::randomness::Randomness;

/// A uniform number below `count`, exactly: no modulo bias (Lemire 2019, "Fast random integer
/// generation in an interval").
///
/// # Panics
///
/// If `count` is 0: there is no such number.
#[inline]
pub fn below<R: Randomness + ?Sized>(count: u64, rng: &mut R) -> u64 {
    assert!(count > 0, "a number below 0 was asked for");
    match u32::try_from(count) {
        Ok(count) => u64::from(below_u32(count, rng)),
        Err(_) => below_u64(count, rng),
    }
}

#[inline]
fn below_u32<R: Randomness + ?Sized>(count: u32, rng: &mut R) -> u32 {
    loop {
        let product = u64::from(rng.half_bits()) * u64::from(count);
        // The lowest 2^32 mod count values of the low half occur once too often.
        let low = product as u32;
        if low >= count || low >= count.wrapping_neg() % count {
            return (product >> 32) as u32;
        }
    }
}

#[inline]
fn below_u64<R: Randomness + ?Sized>(count: u64, rng: &mut R) -> u64 {
    loop {
        let product = u128::from(rng.bits()) * u128::from(count);
        let low = product as u64;
        if low >= count || low >= count.wrapping_neg() % count {
            return (product >> 64) as u64;
        }
    }
}
