//! Randomized response over m categories (Warner 1965; Kairouz, Bonawitz and Ramage 2016), and over
//! two: 2-RR.
//!
//! With probability t the truth, else a category drawn from all m, the true one included. So the
//! truth is sent with p = t + (1−t)/m and every other category with q = (1−t)/m. For
//! t = (e^ε0−1)/(e^ε0−1+m) that is the textbook's e^ε0/(e^ε0+m−1). t is a whole multiple of 2^−64
//! *below* it: `p/q = (2^64 + (m−1)·T)/(2^64 − T) ≤ e^ε0` as whole numbers, and the estimator
//! divides by the actual t: (share of reports − q)/t is unbiased. A report takes ⌈log2 m⌉ bits.

use crate::coin::Coin;
use crate::error::{RandomizerError, Result, require};
use crate::likelihood::Likelihood;
use crate::randomizer::{Aggregator, Randomizer};
use crate::randomness::Randomness;
use crate::running_sums;
use crate::saved_sums;
use crate::uniform;
use crate::word_code::WordCode;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// A server counts every category: 2 GiB of counts.
const MAX_CATEGORIES: u64 = 1 << 28;

/// Randomized response over the categories 0 to m − 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Krr {
    spec: RandomizerSpec,
    categories: u64,
    truth: Coin,
}

impl Krr {
    /// Over `categories` values.
    pub fn new(local_epsilon: f64, categories: u64) -> Result<Self> {
        require(categories <= MAX_CATEGORIES, "categories", "at most 2^28, for a server counts each", categories)?;
        Self::of(Mechanism::Krr { local_epsilon, categories }, local_epsilon, categories)
    }

    /// 2-RR: over the values 0 and 1.
    pub fn binary(local_epsilon: f64) -> Result<Self> {
        Self::of(Mechanism::Rr { local_epsilon }, local_epsilon, 2)
    }

    fn of(mechanism: Mechanism, local_epsilon: f64, categories: u64) -> Result<Self> {
        let spec = RandomizerSpec::new(mechanism)?;
        // t = 1/(1 + m/(e^ε0−1)), rounded down: the four operations err by less than four units in
        // the last place together, and four are taken off. From about ε0 = 37 + ln m on it stays at
        // 1 − 2^−53: more privacy than asked, and the estimator knows.
        let truth = 1.0 / (1.0 + categories as f64 / libm::expm1(local_epsilon));
        let truth = Coin::at_most((truth * (1.0 - 2.0 * f64::EPSILON)).min(1.0 - f64::EPSILON / 2.0));
        require(
            truth.threshold() >= 1,
            "local-epsilon",
            "above 1e-19 times the number of categories (below that no report says anything)",
            local_epsilon,
        )?;
        Ok(Self { spec, categories, truth })
    }

    /// t: the coin that says whether the truth is sent whatever else is drawn.
    pub fn truth_coin(&self) -> Coin {
        self.truth
    }

    /// q: the probability of one category that is not the truth.
    fn other_probability(&self) -> f64 {
        self.truth.probability_of(false) / self.categories as f64
    }
}

impl Randomizer for Krr {
    type Input = u64;
    type Report = u64;
    type Aggregator = CategoryCounts;

    fn spec(&self) -> RandomizerSpec {
        self.spec
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &u64, rng: &mut R) -> Result<u64> {
        if *input >= self.categories {
            return Err(RandomizerError::input(format!("the category is not below {}", self.categories)));
        }
        Ok(if self.truth.flip(rng) { *input } else { uniform::below(self.categories, rng) })
    }

    fn frame_len(&self) -> usize {
        WordCode::up_to(self.categories - 1).frame_len()
    }

    fn encode(&self, report: &u64, frame: &mut [u8]) {
        WordCode::up_to(self.categories - 1).encode(*report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<u64> {
        WordCode::up_to(self.categories - 1).decode(frame)
    }

    fn aggregator(&self) -> CategoryCounts {
        CategoryCounts {
            counts: vec![0; self.categories as usize],
            count: 0,
            truth: self.truth,
            other_probability: self.other_probability(),
        }
    }
}

impl Likelihood for Krr {
    fn ln_likelihood(&self, report: &u64, input: &u64) -> f64 {
        let other = self.other_probability();
        if report == input { (self.truth.probability() + other).ln() } else { other.ln() }
    }

    fn worst_case_inputs(&self) -> [Box<u64>; 2] {
        [0, 1].map(Box::new)
    }

    fn third_input(&self) -> Option<Box<u64>> {
        (self.categories > 2).then(|| Box::new(2))
    }
}

/// Reports of every category: exact, whatever the order.
#[derive(Debug, Clone, PartialEq)]
pub struct CategoryCounts {
    counts: Vec<u64>,
    count: u64,
    truth: Coin,
    other_probability: f64,
}

impl CategoryCounts {
    /// Reports of every category, as they came.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl Aggregator for CategoryCounts {
    type Report = u64;

    #[inline]
    fn add(&mut self, report: &u64) {
        self.counts[*report as usize] += 1;
        self.count += 1;
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        running_sums::merge(&mut self.counts, other.counts, self.truth == other.truth)?;
        self.count += other.count;
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        saved_sums::save(self.count, &self.counts)
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        (self.count, self.counts) = saved_sums::load(saved, self.counts.len(), |count, counts: &[u64]| {
            counts.iter().try_fold(0, |sum: u64, more| sum.checked_add(*more)) == Some(count)
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
        let share = |&count: &u64| (count as f64 / reports - self.other_probability) / self.truth.probability();
        Ok(self.counts.iter().map(share).collect())
    }
}
