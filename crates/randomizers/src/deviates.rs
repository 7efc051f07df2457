//! Normal and Laplace deviates in floating point, from our own generators alone.
//!
//! For what is simulated, and for directions whose low bits are rounded away before release.
//! [`crate::exact`] has the noise of deployed mechanisms.

use crate::randomness::Randomness;
use rand::rand_core::{Infallible, TryRng};
use rand_distr::{Distribution, StandardNormal};

/// A [`Randomness`] in the clothes that `rand_distr` asks for. It never leaves this file, so the
/// seal holds.
struct Dressed<'a, R: ?Sized>(&'a mut R);

impl<R: Randomness + ?Sized> TryRng for Dressed<'_, R> {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.half_bits())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.bits())
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(bytes);
        Ok(())
    }
}

/// A standard normal deviate. Never beyond ±[`LARGEST`].
#[inline]
pub(crate) fn normal<R: Randomness + ?Sized>(rng: &mut R) -> f64 {
    StandardNormal.sample(&mut Dressed(rng))
}

/// A standard Laplace deviate, of scale 1. Never beyond ±[`LARGEST`].
#[inline]
pub(crate) fn laplace<R: Randomness + ?Sized>(rng: &mut R) -> f64 {
    let bits = rng.bits();
    // The sign is a bit that the size does not use.
    let size = -libm::log(unit_of(bits));
    if bits & 1 == 0 { size } else { -size }
}

/// Beyond what deviates reach: their tails take logarithms of 53-bit numbers, at most 37 in
/// absolute value, and the ziggurat's starts below 4.
pub(crate) const LARGEST: f64 = 64.0;

/// Uniform in (0, 1], a multiple of 2^−53.
#[inline]
pub(crate) fn unit<R: Randomness + ?Sized>(rng: &mut R) -> f64 {
    unit_of(rng.bits())
}

/// The upper 53 bits as a number in (0, 1].
#[inline]
fn unit_of(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 * (f64::EPSILON / 2.0)
}
