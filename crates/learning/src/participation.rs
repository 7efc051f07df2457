//! The clients that participate in a simulated round.

use shuffledp_accounting::scheme::{Participation, Scheme};
use shuffledp_randomizers::coin::Coin;
use shuffledp_randomizers::{PublicSeed, Randomness, SimulationRng, sample, shuffle};

/// The purpose of a named generator; see [`SimulationRng::named`].
pub(crate) const WHO_SPEAKS: u64 = 1;
pub(crate) const CLIENT: u64 = 2;
pub(crate) const SUMMED_NOISE: u64 = 3;
pub(crate) const SPLIT: u64 = 4;
pub(crate) const BLOCK_ORDER: u64 = 5;
pub(crate) const TEST_SHARE: u64 = 6;
pub(crate) const PUBLIC_SEED: u64 = 7;
pub(crate) const HELD_OUT: u64 = 8;

/// The public seed of a simulated round.
pub(crate) fn public_seed(seed: u64, round: u64) -> PublicSeed {
    let mut public = PublicSeed::default();
    SimulationRng::named([seed, PUBLIC_SEED, round, 0]).fill(&mut public.0);
    public
}

/// The clients that are heard in a round, in a uniformly random order. A shuffled order of
/// participants is a shuffled batch of reports: nothing else is left for a simulated shuffler to
/// do.
pub fn participants(scheme: &Scheme, seed: u64, round: u64) -> Vec<u64> {
    let mut rng = SimulationRng::named([seed, WHO_SPEAKS, round, 0]);
    let clients = scheme.clients();
    let mut speakers: Vec<u64> = match scheme.participation() {
        Participation::Everyone => (0..clients).collect(),
        Participation::FixedSize { sampled } => {
            sample::without_replacement(clients, sampled, &mut rng).into_iter().collect()
        }
        Participation::CheckIn { rate, drop_out } => {
            // Each flips a coin of its own; those that decided to participate may still be lost.
            let (comes, lost) = (Coin::at_most(rate), Coin::at_most(drop_out));
            (0..clients)
                .filter(|_| comes.flip(&mut rng))
                .collect::<Vec<_>>()
                .into_iter()
                .filter(|_| !lost.flip(&mut rng))
                .collect()
        }
    };
    shuffle::permute(&mut speakers, &mut rng);
    speakers
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_sample_has_its_size_and_is_shuffled() {
        let scheme = Scheme::subsampled(1000, 200).unwrap();
        let speakers = participants(&scheme, 7, 1);
        assert_eq!(speakers.iter().collect::<BTreeSet<_>>().len(), 200);
        assert!(speakers.iter().all(|client| *client < 1000));
        assert!(!speakers.is_sorted());
        assert_eq!(speakers, participants(&scheme, 7, 1));
        assert_ne!(speakers, participants(&scheme, 7, 2));
        assert_ne!(speakers, participants(&scheme, 8, 1));
        let mut everyone = participants(&Scheme::shuffle(50).unwrap(), 7, 1);
        everyone.sort_unstable();
        assert_eq!(everyone, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn every_client_has_its_own_coins() {
        let scheme = Scheme::check_in(20_000, 0.1, 0.25).unwrap();
        let victim = (0..100).filter(|round| participants(&scheme, 3, *round).contains(&17)).count();
        // 7.5 expected, standard deviation 2.6.
        assert!((1..=20).contains(&victim), "{victim}");
    }
}
