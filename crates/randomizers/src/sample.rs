//! Uniform sampling of a set of fixed size: the clients that participate in a round.

use crate::randomness::Randomness;
use crate::uniform;
use std::collections::BTreeSet;

/// `size` different numbers below `count`, in increasing order (Floyd: Bentley, Floyd 1987,
/// "Programming Pearls: a sample of brilliance", Algorithm F2).
///
/// # Panics
///
/// If `size > count`.
pub fn without_replacement<R: Randomness + ?Sized>(count: u64, size: u64, rng: &mut R) -> BTreeSet<u64> {
    assert!(size <= count, "{size} of {count} were asked for");
    let mut chosen = BTreeSet::new();
    for newest in count - size..count {
        let drawn = uniform::below(newest + 1, rng);
        if !chosen.insert(drawn) {
            chosen.insert(newest);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::SimulationRng;
    use std::collections::BTreeMap;

    #[test]
    fn every_set_is_equally_likely() {
        let mut rng = SimulationRng::from_seed(1);
        let mut counts = BTreeMap::new();
        for _ in 0..20_000 {
            let set = without_replacement(6, 3, &mut rng);
            assert_eq!(set.len(), 3);
            *counts.entry(set).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 20);
        let chi_square: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        // The 1 − 1e-6 quantile of χ² with 19 degrees of freedom.
        assert!(chi_square < 63.68, "{chi_square}");
    }

    #[test]
    fn the_ends_are_exact() {
        let mut rng = SimulationRng::from_seed(1);
        assert!(without_replacement(5, 0, &mut rng).is_empty());
        assert_eq!(without_replacement(5, 5, &mut rng), (0..5).collect());
    }
}
