//! Whether as many clients come as were accounted for.

use serde::{Deserialize, Serialize};
use shuffledp_accounting::scheme::Scheme;
use shuffledp_randomizers::clopper_pearson;

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

/// Below this share of what was accounted for it is worth a word: some reports are always lost on
/// their way.
const FEW: f64 = 0.9;

impl CheckInMonitor {
    /// Another round, in which `heard` of `clients` were.
    pub fn add(&mut self, heard: u64, clients: u64) {
        self.heard = self.heard.saturating_add(heard);
        self.asked = self.asked.saturating_add(clients);
    }

    /// The rate at which clients were heard, as an interval of confidence 99 % (Clopper and
    /// Pearson). `None` before the first round.
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.asked > 0).then(|| {
            let (heard, asked) = (self.heard, self.asked);
            (clopper_pearson::lower(heard, asked, MISS), clopper_pearson::upper(heard, asked, MISS))
        })
    }

    /// A sentence of warning if more come than were accounted for: then ε is larger than stated. Or
    /// if far fewer do: then there may not be as many honest clients as it was stated for.
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
    use crate::participation::participants;

    #[test]
    fn more_or_far_fewer_than_accounted_for_are_warned_about() {
        let scheme = Scheme::check_in(20_000, 0.1, 0.25).unwrap();
        let mut monitor = CheckInMonitor::default();
        for round in 0..100 {
            let speakers = participants(&scheme, 3, round);
            monitor.add(speakers.len() as u64, 20_000);
        }
        let (low, high) = monitor.interval().unwrap();
        assert!(low < 0.075 && 0.075 < high && high - low < 0.002, "{low} {high}");
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
