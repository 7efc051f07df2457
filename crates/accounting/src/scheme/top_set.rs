//! How many candidates top-set has, and how many of them a client's own set holds.

/// The sizes of top-set for one dimension and share. Client and accountant must both use *these*
/// sizes, and then no privacy rests on which candidates are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopSetSize {
    /// 2D: the signed coordinates, D the smallest power of two that is at least the dimension.
    pub candidates: u64,
    /// M: those in a client's own set, at least 1 and at most D.
    pub chosen: u64,
}

impl TopSetSize {
    /// M is `share·2D` to the nearest. The dimension is at most 2^62, the share at most 1/2.
    pub fn new(dimension: u64, share: f64) -> Self {
        let half = dimension.next_power_of_two();
        let candidates = 2 * half;
        let chosen = ((share * candidates as f64).round() as u64).clamp(1, half);
        Self { candidates, chosen }
    }

    /// q = M/2D: the share of all candidates that a client's own set holds. Exact, because 2D is a
    /// power of two and M is below 2^53 for every dimension that is accepted.
    pub fn share(self) -> f64 {
        self.chosen as f64 / self.candidates as f64
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "quotients by a power of two are exact")]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_nearest_and_never_none_nor_more_than_half() {
        for (dimension, share, candidates, chosen) in [
            (9_760, 1.0 / 6.0, 32_768, 5_461),
            (34_720, 1.0 / 6.0, 131_072, 21_845),
            (16_384, 0.5, 32_768, 16_384),
            (16_385, 0.5, 65_536, 32_768),
            (2, 1e-300, 4, 1),
            (3, 0.3, 8, 2),
        ] {
            let size = TopSetSize::new(dimension, share);
            assert_eq!(size, TopSetSize { candidates, chosen }, "{dimension}, {share}");
            assert_eq!(size.share(), chosen as f64 / candidates as f64);
        }
    }

    /// One candidate of eight is randomized response over eight values, but for a third record
    /// whose set meets neither of two others.
    #[test]
    fn one_candidate_is_randomized_response() {
        use crate::bound::Standing;
        use crate::catalogue::{Options, Target, survey};
        use crate::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};
        let scheme = Scheme::subsampled(10_000, 500).unwrap();
        let bounds = |mechanism| {
            let randomizer = RandomizerSpec::new(mechanism).unwrap();
            let question = Question::new(Round { scheme, randomizer }, 20).unwrap();
            let survey = survey(&question, Target::EpsilonAt { delta: 1e-6 }, &Options::default()).unwrap();
            let upper = survey.best_upper(Standing::Rigorous).unwrap().value;
            (upper, survey.best_lower().unwrap().value)
        };
        let (upper, lower) = bounds(Mechanism::TopSet { local_epsilon: 2.0, dimension: 3, share: 0.125 });
        let (of_values, below) = bounds(Mechanism::Krr { local_epsilon: 2.0, categories: 8 });
        assert_eq!(upper, of_values);
        assert!(0.0 < lower && lower <= below && lower < upper, "{lower} {below} {upper}");
    }
}
