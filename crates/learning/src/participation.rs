//! Who speaks in a simulated round, and whether as many come as were accounted for.

use serde::{Deserialize, Serialize};
use shuffledp_accounting::scheme::{Participation, Scheme};
use shuffledp_randomizers::clopper_pearson;
use shuffledp_randomizers::coin::Coin;
use shuffledp_randomizers::{SimulationRng, sample, shuffle};

/// What a named generator is for; see [`SimulationRng::named`].
pub(crate) const WHO_SPEAKS: u64 = 1;
pub(crate) const CLIENT: u64 = 2;
pub(crate) const SUMMED_NOISE: u64 = 3;
pub(crate) const SPLIT: u64 = 4;
pub(crate) const BLOCK_ORDER: u64 = 5;

/// The clients that are heard in a round, in a uniformly random order. A shuffled order of speakers is a shuffled batch of
/// reports: nothing else is left for a simulated shuffler to do.
pub fn participants(scheme: &Scheme, seed: u64, round: u64) -> Vec<u64> {
    let mut rng = SimulationRng::named([seed, WHO_SPEAKS, round, 0]);
    let clients = scheme.clients();
    let mut speakers: Vec<u64> = match scheme.participation() {
        Participation::Everyone => (0..clients).collect(),
        Participation::FixedSize { sampled } => {
            sample::without_replacement(clients, sampled, &mut rng).into_iter().collect()
        }
        Participation::CheckIn { rate, drop_out } => {
            // Each flips a coin of its own; those that decided to speak may still be lost.
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

/// Compares how many clients came with the rate that privacy was accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckInMonitor {
    /// Reports so far.
    pub heard: u64,
    /// Clients times rounds so far.
    pub asked: u64,
}

/// Chance that the interval misses the rate on one side.
const MISS: f64 = 0.005;

/// Below this share of what was accounted for it is worth a word: some reports are always lost on their way.
const FEW: f64 = 0.9;

impl CheckInMonitor {
    /// Another round, in which `heard` of `clients` were.
    pub fn add(&mut self, heard: u64, clients: u64) {
        self.heard += heard;
        self.asked += clients;
    }

    /// The rate at which clients were heard, as an interval of confidence 99 % (Clopper and Pearson). `None` before the first round.
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.asked > 0).then(|| {
            let (heard, asked) = (self.heard, self.asked);
            (clopper_pearson::lower(heard, asked, MISS), clopper_pearson::upper(heard, asked, MISS))
        })
    }

    /// A sentence of warning if more come than were accounted for: then ε is larger than stated. Or if far fewer do: then there may not be as many honest
    /// clients as it was stated for.
    pub fn warning(&self, scheme: &Scheme) -> Option<String> {
        let accounted = scheme.check_in_rate()?;
        let (low, high) = self.interval()?;
        let observed = format!("clients check in at a rate between {low:.6} and {high:.6} (confidence 99 %)");
        if low > accounted {
            let advice = "the stated ε is too small; account for the larger rate";
            return Some(format!("{observed}, above the accounted {accounted}: {advice}"));
        }
        (high < FEW * accounted).then(|| {
            let clients = scheme.clients();
            format!(
                "{observed}, far below the accounted {accounted}: if fewer than {clients} honest clients are there, the stated ε is too \
                 small; account for those who are"
            )
        })
    }
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
    fn check_in_and_drop_out_have_their_rates() {
        let scheme = Scheme::check_in(20_000, 0.1, 0.25).unwrap();
        let mut monitor = CheckInMonitor::default();
        let mut victim = 0;
        for round in 0..100 {
            let speakers = participants(&scheme, 3, round);
            victim += u64::from(speakers.contains(&17));
            monitor.add(speakers.len() as u64, 20_000);
        }
        let (low, high) = monitor.interval().unwrap();
        assert!(low < 0.075 && 0.075 < high && high - low < 0.002, "{low} {high}");
        // 7.5 expected, standard deviation 2.6.
        assert!((1..=20).contains(&victim), "{victim}");
        assert_eq!(monitor.warning(&scheme), None);
        let accounted = Scheme::check_in(20_000, 0.07, 0.0).unwrap();
        assert!(monitor.warning(&accounted).unwrap().contains("above the accounted 0.07"));
        assert_eq!(CheckInMonitor::default().warning(&accounted), None);
        // A tenth may be lost on the way without a word; more is a hint that a promise is not kept.
        assert_eq!(monitor.warning(&Scheme::check_in(20_000, 0.082, 0.0).unwrap()), None);
        let promised = Scheme::check_in(20_000, 0.1, 0.0).unwrap();
        assert!(monitor.warning(&promised).unwrap().contains("far below the accounted 0.1"));
    }
}
