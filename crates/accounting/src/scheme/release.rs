//! Outputs that are shown as they are, without a shuffler: a noisy sum, a noisy statistic, one
//! answer by randomized response.

use crate::error::{Result, require};
use crate::numerics::elementary::ln_1p;
use serde::{Deserialize, Serialize};

/// How an output is made private, not yet checked. Adjacency is replace-one: a sum of records of
/// norm at most C moves by up to 2C.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
#[non_exhaustive]
pub enum Output {
    /// Gaussian noise on every coordinate.
    Gaussian {
        /// How far two neighbouring datasets' outputs are apart in ℓ2, over the noise's standard
        /// deviation: 2C/s.
        mu: f64,
    },
    /// Laplace noise on every coordinate.
    Laplace {
        /// How far two neighbouring datasets' outputs are apart in ℓ1, over the noise's scale:
        /// 2C/s.
        epsilon: f64,
    },
    /// One of `buckets` values: with probability `noise` a uniformly random one, else the true one.
    RandomizedResponse {
        /// Probability that the answer is drawn at random.
        noise: f64,
        /// Number of values.
        buckets: u64,
    },
    /// Gaussian noise on every coordinate of a sum over a Poisson sample: every record is in it
    /// with probability `rate`, on its own.
    SampledGaussian {
        /// Probability that a record is in the sample.
        rate: f64,
        /// The largest norm of a record, over the noise's standard deviation: C/s.
        mu: f64,
    },
}

/// An [`Output`] whose parameters were checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Output", into = "Output")]
pub struct Release(Output);

impl TryFrom<Output> for Release {
    type Error = crate::AccountingError;

    fn try_from(output: Output) -> Result<Self> {
        Self::new(output)
    }
}

impl From<Release> for Output {
    fn from(release: Release) -> Self {
        release.0
    }
}

impl Release {
    /// The largest μ and ε that are accounted: beyond it the lattice of losses would not fit, and
    /// nothing is private.
    pub const MAX_PARAMETER: f64 = 1000.0;

    /// The largest μ of a sample: beyond it losses are in the hundreds.
    pub const MAX_SAMPLED_MU: f64 = 20.5;

    /// Checks the parameters: μ and ε above 0 and at most [`MAX_PARAMETER`](Self::MAX_PARAMETER),
    /// noise and sampling rate strictly between 0 and 1, two buckets at the least.
    pub fn new(output: Output) -> Result<Self> {
        let in_range = |value: f64| value > 0.0 && value <= Self::MAX_PARAMETER;
        match output {
            Output::Gaussian { mu } => {
                require(in_range(mu), "mu", "above 0 and at most 1000", mu)?;
            }
            Output::Laplace { epsilon } => {
                require(in_range(epsilon), "epsilon", "above 0 and at most 1000", epsilon)?;
            }
            Output::RandomizedResponse { noise, buckets } => {
                require(noise > 0.0 && noise < 1.0, "noise-parameter", "strictly between 0 and 1", noise)?;
                require((2..=super::MAX_COUNT).contains(&buckets), "num-buckets", "between 2 and 2^53", buckets)?;
            }
            Output::SampledGaussian { rate, mu } => {
                require(rate > 0.0 && rate < 1.0, "sampling-probability", "strictly between 0 and 1", rate)?;
                let largest = Self::MAX_SAMPLED_MU;
                require(mu > 0.0 && mu <= largest, "mu", "above 0 and at most 20.5", mu)?;
            }
        }
        Ok(Self(output))
    }

    /// How the output is made private.
    pub fn output(&self) -> Output {
        self.0
    }

    /// At least the ε of one such output, if it is ε-DP with no δ.
    pub fn pure_epsilon(&self) -> Option<f64> {
        match self.0 {
            Output::Gaussian { .. } | Output::SampledGaussian { .. } => None,
            Output::Laplace { epsilon } => Some(epsilon),
            Output::RandomizedResponse { noise, buckets } => Some(response_loss(noise, buckets) * (1.0 + 1e-14)),
        }
    }
}

/// `ln(1 + k(1−p)/p)`: the loss of randomized response at the true value, to a few units of
/// roundoff.
pub(crate) fn response_loss(noise: f64, buckets: u64) -> f64 {
    ln_1p(buckets as f64 * (1.0 - noise) / noise)
}
