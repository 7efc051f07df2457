//! In which order a batch leaves.

use rand::Rng;
use rand::seq::SliceRandom;
use shuffledp_wire::SystemRandom;

/// Puts an order into disorder. A trait so that the tests can plant a biased one and see it caught.
pub trait Permute: Send {
    /// Permutes in place.
    fn permute(&mut self, order: &mut [u32]);
}

/// The Fisher–Yates shuffle of the crate `rand` over a generator: every order equally likely,
/// exactly so if the generator's bits are fair, because `rand` is built with its feature
/// `unbiased`.
#[derive(Debug)]
pub struct FisherYates<R>(pub R);

impl FisherYates<SystemRandom> {
    /// Keyed anew by the operating system.
    ///
    /// # Errors
    ///
    /// If the operating system gives no random bytes. There is no other source to fall back to.
    pub fn from_operating_system() -> shuffledp_wire::Result<Self> {
        Ok(Self(SystemRandom::from_operating_system()?))
    }
}

impl<R: Rng + Send> Permute for FisherYates<R> {
    fn permute(&mut self, order: &mut [u32]) {
        order.shuffle(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_loses_nothing() {
        let mut shuffle = FisherYates::from_operating_system().unwrap();
        for len in 0..70 {
            let mut order: Vec<u32> = (0..len).collect();
            shuffle.permute(&mut order);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..len));
        }
    }
}
