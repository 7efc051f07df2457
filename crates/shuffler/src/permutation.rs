//! In which order a batch leaves.

use rand::Rng;
use shuffledp_wire::SystemRandom;

/// Puts an order into disorder. A trait so that the tests can plant a biased one and see it caught.
pub trait Permute: Send {
    /// Permutes in place.
    fn permute(&mut self, order: &mut [u32]);
}

/// Fisher–Yates (Durstenfeld, CACM 7 (1964), algorithm 235) over a generator: every order equally likely, exactly so if the generator's bits are fair.
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
        for last in (1..order.len()).rev() {
            order.swap(last, below(&mut self.0, last + 1));
        }
    }
}

/// Uniform in `0..bound`, without the bias of a remainder: draws as many bits as `bound − 1` has, again until the number is below
/// `bound`. Less than two draws on average.
fn below(rng: &mut impl Rng, bound: usize) -> usize {
    let mask = u64::MAX >> (bound as u64 - 1).leading_zeros().min(63);
    loop {
        let drawn = rng.next_u64() & mask;
        if drawn < bound as u64 {
            // Below `bound`, so it fits.
            return drawn as usize;
        }
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

    #[test]
    fn below_reaches_everything_and_nothing_else() {
        let mut rng = SystemRandom::from_operating_system().unwrap();
        for bound in 1..=17 {
            let mut seen = vec![false; bound];
            // A value is missed by all draws with probability at most 17·(16/17)^2000 < 1e-50.
            for _ in 0..2000 {
                seen[below(&mut rng, bound)] = true;
            }
            assert!(seen.into_iter().all(|seen| seen), "{bound}");
        }
    }
}
