//! The trait for Python's needs of a mechanism, beyond randomizing and aggregating.

use shuffledp_randomizers::estimate::mean::{of_numbers, of_vectors};
use shuffledp_randomizers::estimate::{Confidence, Interval, histogram};
use shuffledp_randomizers::{
    DiscreteGaussian, DiscreteLaplace, Duchi, Gaussian, Krr, Laplace, PrivUnit, R1, RInf, Randomizer, RandomizerError,
    Result, RoundedGaussian, TopSet,
};

/// Python's needs of a mechanism beyond [`Randomizer`].
pub(super) trait Native: Randomizer<Aggregator: Clone + Send + 'static> + Clone + Send + Sync + 'static {
    /// Adding a report takes as long as its vector, and sums do not depend on their order: worth
    /// all cores.
    const ADDS_IN_PARALLEL: bool = false;

    /// Intervals for the mean.
    fn intervals(&self, _aggregate: &Self::Aggregator, _confidence: Confidence) -> Result<Vec<Interval>> {
        Err(RandomizerError::Aggregate { reason: "no interval is known for this mechanism".to_owned() })
    }

    /// The report that is a category.
    fn report_of(&self, _category: u64) -> Result<Self::Report> {
        let reason =
            "this mechanism's reports are not categories; pass the array of bytes that randomize_batch returned";
        Err(RandomizerError::Report { reason: reason.to_owned() })
    }
}

impl Native for RInf {
    fn intervals(&self, aggregate: &Self::Aggregator, confidence: Confidence) -> Result<Vec<Interval>> {
        match aggregate.sums().len() {
            1 => of_numbers(self, aggregate, confidence).map(|interval| vec![interval]),
            _ => of_vectors(self, aggregate, confidence),
        }
    }
}

impl Native for R1 {
    fn intervals(&self, aggregate: &Self::Aggregator, confidence: Confidence) -> Result<Vec<Interval>> {
        of_vectors(self, aggregate, confidence)
    }
}

impl Native for Duchi {
    const ADDS_IN_PARALLEL: bool = true;

    fn intervals(&self, aggregate: &Self::Aggregator, confidence: Confidence) -> Result<Vec<Interval>> {
        of_vectors(self, aggregate, confidence)
    }
}

impl Native for PrivUnit {
    const ADDS_IN_PARALLEL: bool = true;
}

// Its estimate is biased, so it has no intervals.
impl Native for TopSet {}

impl Native for DiscreteGaussian {
    const ADDS_IN_PARALLEL: bool = true;
}

impl Native for RoundedGaussian {
    const ADDS_IN_PARALLEL: bool = true;
}

impl Native for DiscreteLaplace {
    const ADDS_IN_PARALLEL: bool = true;
}

// Sums of floating-point numbers depend on their order, and simulations are to be repeatable.
impl Native for Gaussian {}
impl Native for Laplace {}

impl Native for Krr {
    fn intervals(&self, aggregate: &Self::Aggregator, confidence: Confidence) -> Result<Vec<Interval>> {
        histogram::shares(self, aggregate, confidence)
    }

    fn report_of(&self, category: u64) -> Result<u64> {
        let bytes = category.to_le_bytes();
        // Frames are little-endian. What does not fit into one is no category, and what fits is
        // checked by `decode`.
        let (low, high) = bytes.split_at(Randomizer::frame_len(self));
        if high.iter().any(|&byte| byte != 0) {
            return Err(RandomizerError::Report { reason: "it is not one of the categories".to_owned() });
        }
        self.decode(low)
    }
}
