//! From a randomizer's name and parameters to the code that runs it: the one place where they meet.

use crate::error::{RandomizerError, Result, require};
use crate::likelihood::Likelihood;
use crate::noise::VectorNoise;
use crate::{
    DiscreteGaussian, DiscreteLaplace, Duchi, Gaussian, KSubset, Krr, Laplace, PrivUnit, R1, RInf, RoundedGaussian,
    TopSet,
};
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// The shape of a mechanism's input, beyond the parameters that accounting needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorShape {
    /// Coordinates of a vector. Mechanisms over categories do not look at it.
    pub dimension: u32,
    /// The norm to which vectors are clipped, ℓ1, ℓ2 or ℓ∞ as the mechanism has it.
    pub clip: f32,
}

/// An operation on a mechanism whose type is known only at run time, from its spec.
pub trait Visitor {
    /// The result of the operation.
    type Output;

    /// With a mechanism over vectors of `dimension` coordinates.
    fn vector<M>(self, mechanism: M, dimension: u32) -> Result<Self::Output>
    where
        M: Likelihood<Input = [f32]> + VectorNoise + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static;

    /// With a mechanism over the categories 0 to `categories` − 1.
    fn category<M>(self, mechanism: M, categories: u64) -> Result<Self::Output>
    where
        M: Likelihood<Input = u64> + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static;
}

/// Builds the mechanism of `spec` and hands it to `visitor`. A class of mechanisms, such as `any`,
/// cannot be run.
pub fn visit<V: Visitor>(spec: RandomizerSpec, shape: VectorShape, visitor: V) -> Result<V::Output> {
    let VectorShape { dimension, clip } = shape;
    match spec.mechanism() {
        Mechanism::Rr { local_epsilon } => visitor.category(Krr::binary(local_epsilon)?, 2),
        Mechanism::Krr { local_epsilon, categories } => {
            visitor.category(Krr::new(local_epsilon, categories)?, categories)
        }
        Mechanism::KSubset { local_epsilon, categories } => {
            visitor.category(KSubset::new(local_epsilon, categories)?, categories)
        }
        Mechanism::RInf { local_epsilon } => visitor.vector(RInf::new(local_epsilon, dimension, clip)?, dimension),
        Mechanism::R1 { local_epsilon } => visitor.vector(R1::new(local_epsilon, dimension, clip)?, dimension),
        Mechanism::R2 { local_epsilon } => visitor.vector(Duchi::new(local_epsilon, dimension, clip)?, dimension),
        Mechanism::LdpSgd { local_epsilon } => {
            visitor.vector(Duchi::ldp_sgd(local_epsilon, dimension, clip)?, dimension)
        }
        Mechanism::PrivUnit { local_epsilon, dimension: accounted } => {
            // Its cap, and with it what accounting says, depends on the dimension.
            require(accounted == u64::from(dimension), "dimension", "that of the PrivUnit mechanism", dimension)?;
            visitor.vector(PrivUnit::new(local_epsilon, dimension, clip)?, dimension)
        }
        Mechanism::TopSet { local_epsilon, dimension: accounted, share } => {
            // So does the number of its candidates.
            require(accounted == u64::from(dimension), "dimension", "that of the top-set mechanism", dimension)?;
            visitor.vector(TopSet::new(local_epsilon, dimension, clip, share)?, dimension)
        }
        Mechanism::Gaussian { sigma } => visitor.vector(Gaussian::new(sigma, dimension, clip)?, dimension),
        Mechanism::DiscreteGaussian { sigma } => {
            visitor.vector(DiscreteGaussian::new(sigma, dimension, clip)?, dimension)
        }
        Mechanism::RoundedGaussian { sigma } => {
            visitor.vector(RoundedGaussian::new(sigma, dimension, clip)?, dimension)
        }
        Mechanism::Laplace { local_epsilon } => {
            visitor.vector(Laplace::new(local_epsilon, dimension, clip)?, dimension)
        }
        Mechanism::DiscreteLaplace { local_epsilon } => {
            visitor.vector(DiscreteLaplace::new(local_epsilon, dimension, clip)?, dimension)
        }
        class => Err(RandomizerError::OutOfRange {
            parameter: "randomizer",
            requirement: "a mechanism that can be run",
            value: format!("a whole class of them: {class:?}"),
        }),
    }
}
