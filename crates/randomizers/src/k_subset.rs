//! k-subset selection: a set of k of the m categories, more often one with the truth in it (Wang et
//! al. 2016, "Mutual information optimally local private discrete distribution estimation"; Ye and
//! Barg 2018, "Optimal schemes for discrete distribution estimation under locally differential
//! privacy").
//!
//! With probability t a set is drawn from those that hold the truth, else from all of them. So its
//! density is one of two values of ratio `1 + t·m/((1−t)·k)`, the higher on a share k/m of all
//! sets. For t = (e^ε0−1)/(e^ε0−1+m/k) that is e^ε0; t is a whole multiple of 2^−64 below it. The
//! size k is the one that accounting assumes
//! ([`subset_size`](shuffledp_accounting::scheme::subset_size)). A category is in a report with
//! probability `b = t·(k−1)/(m−1) + (1−t)·k/m` if it is not the truth, and t·(m−k)/(m−1) more often
//! if it is: (share of reports − b) over that is unbiased. A report takes k·⌈log2 m⌉ bits.

use crate::coin::Coin;
use crate::error::{RandomizerError, Result, require};
use crate::likelihood::Likelihood;
use crate::randomizer::{Aggregator, Randomizer};
use crate::randomness::Randomness;
use crate::running_sums;
use crate::sample;
use crate::saved_sums;
use crate::word_code::WordCode;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec, subset_size};

/// A server counts every category, and a report holds up to half of them.
const MAX_CATEGORIES: u64 = 1 << 20;

/// k-subset selection over the categories 0 to m − 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KSubset {
    spec: RandomizerSpec,
    categories: u64,
    size: u64,
    truth: Coin,
}

impl KSubset {
    /// Over `categories` values.
    pub fn new(local_epsilon: f64, categories: u64) -> Result<Self> {
        let spec = RandomizerSpec::new(Mechanism::KSubset { local_epsilon, categories })?;
        require(categories <= MAX_CATEGORIES, "categories", "at most 2^20, for reports hold many of them", categories)?;
        let size = subset_size(local_epsilon, categories);
        // t = 1/(1 + (m/k)/(e^ε0−1)), rounded down as for randomized response: five operations,
        // five units.
        let odds = categories as f64 / size as f64 / libm::expm1(local_epsilon);
        let truth = Coin::at_most((1.0 / (1.0 + odds) * (1.0 - 3.0 * f64::EPSILON)).min(1.0 - f64::EPSILON / 2.0));
        require(
            truth.threshold() >= 1,
            "local-epsilon",
            "above 1e-19 times the number of categories (below that no report says anything)",
            local_epsilon,
        )?;
        Ok(Self { spec, categories, size, truth })
    }

    /// k: how many categories a report holds.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// t: the coin that says whether the truth is in the report whatever else is drawn.
    pub fn truth_coin(&self) -> Coin {
        self.truth
    }

    fn word(&self) -> WordCode {
        WordCode::up_to(self.categories - 1)
    }
}

impl Randomizer for KSubset {
    type Input = u64;
    /// Increasing.
    type Report = Box<[u64]>;
    type Aggregator = SubsetCounts;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &u64, rng: &mut R) -> Result<Box<[u64]>> {
        if *input >= self.categories {
            return Err(RandomizerError::input(format!("the category is not below {}", self.categories)));
        }
        if !self.truth.flip(rng) {
            return Ok(sample::without_replacement(self.categories, self.size, rng).into_iter().collect());
        }
        // The others, of all categories but the truth: those from the truth on are one further.
        let others = sample::without_replacement(self.categories - 1, self.size - 1, rng);
        let mut report: Vec<u64> = others.into_iter().map(|other| other + u64::from(other >= *input)).collect();
        report.push(*input);
        report.sort_unstable();
        Ok(report.into())
    }

    fn frame_len(&self) -> usize {
        self.size as usize * self.word().frame_len()
    }

    fn encode(&self, report: &Box<[u64]>, frame: &mut [u8]) {
        assert_eq!(frame.len(), self.frame_len(), "a frame of another length");
        let word = self.word();
        for (category, bytes) in report.iter().zip(frame.chunks_exact_mut(word.frame_len())) {
            word.encode(*category, bytes);
        }
    }

    fn decode(&self, frame: &[u8]) -> Result<Box<[u64]>> {
        let (given, right) = (frame.len(), self.frame_len());
        if given != right {
            return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
        }
        let word = self.word();
        let report: Vec<u64> =
            frame.chunks_exact(word.frame_len()).map(|bytes| word.decode(bytes)).collect::<Result<_>>()?;
        if report.windows(2).all(|pair| pair[0] < pair[1]) {
            Ok(report.into())
        } else {
            Err(RandomizerError::report("its categories do not increase"))
        }
    }

    fn aggregator(&self) -> SubsetCounts {
        let (m, k, t) = (self.categories as f64, self.size as f64, self.truth.probability());
        SubsetCounts {
            counts: vec![0; self.categories as usize],
            count: 0,
            by_chance: t * (k - 1.0) / (m - 1.0) + self.truth.probability_of(false) * k / m,
            more_often: t * (m - k) / (m - 1.0),
        }
    }
}

impl Likelihood for KSubset {
    fn ln_likelihood(&self, report: &Box<[u64]>, input: &u64) -> f64 {
        // Relative to the uniform law over all sets.
        let low = self.truth.probability_of(false);
        let high = low + self.truth.probability() * self.categories as f64 / self.size as f64;
        if report.binary_search(input).is_ok() { high.ln() } else { low.ln() }
    }

    fn worst_case_inputs(&self) -> [Box<u64>; 2] {
        [0, 1].map(Box::new)
    }

    fn third_input(&self) -> Option<Box<u64>> {
        (self.categories > 2).then(|| Box::new(2))
    }
}

/// In how many reports every category is: exact, whatever the order.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsetCounts {
    counts: Vec<u64>,
    count: u64,
    /// b: the probability of a category that is not the truth.
    by_chance: f64,
    /// By how much more often the truth is in a report.
    more_often: f64,
}

impl Aggregator for SubsetCounts {
    type Report = Box<[u64]>;

    fn add(&mut self, report: &Box<[u64]>) {
        report.iter().for_each(|category| self.counts[*category as usize] += 1);
        self.count += 1;
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let is_same = [self.by_chance, self.more_often].map(f64::to_bits)
            == [other.by_chance, other.more_often].map(f64::to_bits);
        running_sums::merge(&mut self.counts, other.counts, is_same)?;
        self.count += other.count;
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        saved_sums::save(self.count, &self.counts)
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        (self.count, self.counts) = saved_sums::load(saved, self.counts.len(), |count, counts: &[u64]| {
            counts.iter().all(|more| *more <= count)
        })?;
        Ok(())
    }

    fn count(&self) -> u64 {
        self.count
    }

    /// The share of every category. A share may come out negative or above 1: cutting it off would
    /// be a bias.
    fn mean(&self) -> Result<Vec<f64>> {
        let reports = running_sums::divisor(self.count)?;
        Ok(self.counts.iter().map(|&count| (count as f64 / reports - self.by_chance) / self.more_often).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::SimulationRng;
    use std::collections::BTreeMap;

    #[test]
    fn the_ratio_of_densities_is_at_most_what_is_claimed_and_hardly_less() {
        for (local_epsilon, categories) in [(0.1, 2), (1.0, 7), (2.0, 50), (0.5, 1000), (5.0, 4)] {
            let mechanism = KSubset::new(local_epsilon, categories).unwrap();
            let inside: Box<[u64]> = (0..mechanism.size()).collect();
            let ratio = mechanism.ln_likelihood(&inside, &0) - mechanism.ln_likelihood(&inside, &(categories - 1));
            assert!(
                ratio <= local_epsilon && ratio > local_epsilon * (1.0 - 1e-12),
                "{local_epsilon}, {categories}: {ratio}"
            );
        }
    }

    #[test]
    fn every_set_comes_as_often_as_its_likelihood_says() {
        let mechanism = KSubset::new(1.0, 6).unwrap();
        assert_eq!(mechanism.size(), 2);
        let mut rng = SimulationRng::from_seed(7);
        let mut counts: BTreeMap<Box<[u64]>, u32> = BTreeMap::new();
        const REPORTS: u32 = 60_000;
        for _ in 0..REPORTS {
            *counts.entry(mechanism.randomize(&3, &mut rng).unwrap()).or_default() += 1;
        }
        assert_eq!(counts.len(), 15);
        let chi_square: f64 = counts
            .iter()
            .map(|(report, &count)| {
                let expected = f64::from(REPORTS) / 15.0 * mechanism.ln_likelihood(report, &3).exp();
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        // The 1 − 1e-6 quantile of χ² with 14 degrees of freedom.
        assert!(chi_square < 54.0, "{chi_square}");
    }

    #[test]
    fn shares_are_unbiased_and_frames_come_back() {
        let mechanism = KSubset::new(2.0, 20).unwrap();
        let mut rng = SimulationRng::from_seed(3);
        let mut aggregate = mechanism.aggregator();
        let mut frame = vec![0; mechanism.frame_len()];
        for i in 0..40_000_u64 {
            // Three quarters hold 5, the others 11.
            let report = mechanism.randomize(&if i % 4 == 0 { 11 } else { 5 }, &mut rng).unwrap();
            mechanism.encode(&report, &mut frame);
            assert_eq!(mechanism.decode(&frame).unwrap(), report);
            aggregate.add(&report);
        }
        let shares = aggregate.mean().unwrap();
        for (category, share) in shares.iter().enumerate() {
            let truth = match category {
                5 => 0.75,
                11 => 0.25,
                _ => 0.0,
            };
            // Six standard deviations.
            assert!((share - truth).abs() < 0.035, "{category}: {share}");
        }
    }

    #[test]
    fn what_no_client_sends_is_refused() {
        let mechanism = KSubset::new(1.0, 6).unwrap();
        for frame in [&[1, 1][..], &[2, 1], &[0, 6], &[1], &[0, 1, 2]] {
            assert!(mechanism.decode(frame).is_err(), "{frame:?}");
        }
        assert!(mechanism.randomize(&6, &mut SimulationRng::from_seed(1)).is_err());
        assert!(KSubset::new(1e-30, 6).is_err() && KSubset::new(1.0, 1).is_err());
    }
}
