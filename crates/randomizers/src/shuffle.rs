//! The shuffle itself: a permutation of which every one is equally likely.

use crate::randomness::Randomness;
use crate::uniform;

/// Puts `items` in a uniformly random order (Fisher–Yates, in Durstenfeld's form: Knuth, *The Art
/// of Computer Programming*, volume 2, Algorithm 3.4.2P).
///
/// Exactly uniform given uniform bits: every index comes from [`uniform::below`]. What an item
/// holds is not looked at.
pub fn permute<T, R: Randomness + ?Sized>(items: &mut [T], rng: &mut R) {
    for last in (1..items.len()).rev() {
        // At most `last`, so it fits.
        let chosen = uniform::below(last as u64 + 1, rng) as usize;
        items.swap(chosen, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::SimulationRng;
    use std::collections::BTreeMap;

    const ITEMS: usize = 4;
    const ORDERS: usize = 24;
    const DRAWS: usize = 24_000;

    /// χ² of the counts of all orders against the uniform law.
    fn chi_square(shuffle: impl Fn(&mut [u8; ITEMS], &mut SimulationRng)) -> f64 {
        let mut rng = SimulationRng::from_seed(1);
        let mut counts = BTreeMap::new();
        for _ in 0..DRAWS {
            let mut items = [0, 1, 2, 3];
            shuffle(&mut items, &mut rng);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        let expected = (DRAWS / ORDERS) as f64;
        let seen: f64 = counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        seen + (ORDERS - counts.len()) as f64 * expected
    }

    /// The 1 − 1e-6 quantile of χ² with 23 degrees of freedom (R:
    /// `qchisq(1e-6, 23, lower.tail = FALSE)` = 70.55).
    const CRITICAL: f64 = 70.55;

    #[test]
    fn every_order_is_equally_likely() {
        assert!(chi_square(|items, rng| permute(items, rng)) < CRITICAL);
    }

    #[test]
    fn a_biased_shuffle_is_noticed() {
        // The usual mistake: a partner among all, not among those that are left. 4^4 outcomes
        // cannot cover 4! orders evenly.
        let naive = chi_square(|items, rng| {
            for i in 0..ITEMS {
                items.swap(i, uniform::below(ITEMS as u64, rng) as usize);
            }
        });
        assert!(naive > CRITICAL, "{naive}");
        // Sattolo's: only cycles.
        let cycles = chi_square(|items, rng| {
            for last in (1..ITEMS).rev() {
                items.swap(uniform::below(last as u64, rng) as usize, last);
            }
        });
        assert!(cycles > CRITICAL, "{cycles}");
    }

    #[test]
    fn short_batches_are_left_alone() {
        let mut rng = SimulationRng::from_seed(2);
        permute::<u8, _>(&mut [], &mut rng);
        let mut one = [7];
        permute(&mut one, &mut rng);
        assert_eq!(one, [7]);
    }
}
