//! Mechanisms for callers that learn only at run time which one it is: inputs in, frames out,
//! estimates from frames.

use crate::clip::Norm;
use crate::dispatch::{self, VectorShape, Visitor};
use crate::error::{RandomizerError, Result};
use crate::likelihood::Likelihood;
use crate::noise::VectorNoise;
use crate::randomizer::{Aggregator, PublicSeed, Randomizer};
use crate::randomness::Randomness;
use shuffledp_accounting::scheme::RandomizerSpec;
use std::any::Any;

/// A mechanism over vectors, whichever it is.
pub trait VectorRandomizer: Send + Sync {
    /// The specification, for accounting.
    fn spec(&self) -> RandomizerSpec;

    /// Coordinates of a vector.
    fn dimension(&self) -> u32;

    /// See [`VectorNoise::norm`].
    fn norm(&self) -> Norm;

    /// See [`VectorNoise::report_variance`].
    fn report_variance(&self) -> f64;

    /// Bytes of every frame.
    fn frame_len(&self) -> usize;

    /// The same mechanism in the round of this seed: see [`Randomizer::in_round`].
    fn in_round(&self, seed: PublicSeed) -> Box<dyn VectorRandomizer>;

    /// Clips and randomizes `input` and writes the encoded report into `frame`. On an error `frame`
    /// is left as it was.
    fn randomize_into(&self, input: &[f32], rng: &mut dyn Randomness, frame: &mut [u8]) -> Result<()>;

    /// An empty aggregate.
    fn aggregator(&self) -> Box<dyn FrameAggregator>;
}

/// A mechanism over categories, whichever it is.
pub trait CategoryRandomizer: Send + Sync {
    /// The specification, for accounting.
    fn spec(&self) -> RandomizerSpec;

    /// How many categories there are.
    fn categories(&self) -> u64;

    /// Bytes of every frame.
    fn frame_len(&self) -> usize;

    /// Randomizes `input` and writes the encoded report into `frame`. On an error `frame` is left
    /// as it was.
    fn randomize_into(&self, input: u64, rng: &mut dyn Randomness, frame: &mut [u8]) -> Result<()>;

    /// An empty aggregate.
    fn aggregator(&self) -> Box<dyn FrameAggregator>;
}

/// A running estimate from encoded reports.
pub trait FrameAggregator: Send {
    /// Adds one report. What no input could have produced is refused, and changes nothing.
    fn add_frame(&mut self, frame: &[u8]) -> Result<()>;

    /// Adds all that `other` holds; both must be of one mechanism, else nothing is changed.
    fn merge(&mut self, other: Box<dyn FrameAggregator>) -> Result<()>;

    /// Number of reports.
    fn count(&self) -> u64;

    /// The estimate of the mean of the inputs (of the share of every category).
    fn mean(&self) -> Result<Vec<f64>>;

    /// For [`merge`](Self::merge): the aggregate as what it is.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The mechanism over vectors that `spec` names.
pub fn vector_randomizer(spec: RandomizerSpec, shape: VectorShape) -> Result<Box<dyn VectorRandomizer>> {
    match dispatch::visit(spec, shape, Erase)? {
        Either::Vector(randomizer) => Ok(randomizer),
        Either::Category(_) => Err(wrong_kind("one over vectors", spec)),
    }
}

/// The mechanism over categories that `spec` names.
pub fn category_randomizer(spec: RandomizerSpec) -> Result<Box<dyn CategoryRandomizer>> {
    // Vectors are not asked for: any shape does.
    match dispatch::visit(spec, VectorShape { dimension: 1, clip: 1.0 }, Erase) {
        Ok(Either::Category(randomizer)) => Ok(randomizer),
        Ok(Either::Vector(_)) => Err(wrong_kind("one over categories", spec)),
        Err(error) => Err(error),
    }
}

fn wrong_kind(requirement: &'static str, spec: RandomizerSpec) -> RandomizerError {
    RandomizerError::OutOfRange { parameter: "randomizer", requirement, value: format!("{:?}", spec.mechanism()) }
}

enum Either {
    Vector(Box<dyn VectorRandomizer>),
    Category(Box<dyn CategoryRandomizer>),
}

/// Forgets the type.
struct Erase;

impl Visitor for Erase {
    type Output = Either;

    fn vector<M>(self, mechanism: M, dimension: u32) -> Result<Either>
    where
        M: Likelihood<Input = [f32]> + VectorNoise + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static,
    {
        Ok(Either::Vector(Box::new(Erased { mechanism, size: u64::from(dimension) })))
    }

    fn category<M>(self, mechanism: M, categories: u64) -> Result<Either>
    where
        M: Likelihood<Input = u64> + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static,
    {
        Ok(Either::Category(Box::new(Erased { mechanism, size: categories })))
    }
}

/// A mechanism, and its dimension or number of categories.
struct Erased<M> {
    mechanism: M,
    size: u64,
}

impl<M> Erased<M>
where
    M: Randomizer + Clone + Send + 'static,
    M::Aggregator: Send + 'static,
{
    fn randomize_into(&self, input: &M::Input, rng: &mut dyn Randomness, frame: &mut [u8]) -> Result<()> {
        if frame.len() != self.mechanism.frame_len() {
            let (given, right) = (frame.len(), self.mechanism.frame_len());
            return Err(RandomizerError::report(format!(
                "its frame has {given} bytes, and this mechanism's have {right}"
            )));
        }
        self.mechanism.encode(&self.mechanism.randomize(input, rng)?, frame);
        Ok(())
    }

    fn aggregator(&self) -> Box<dyn FrameAggregator> {
        Box::new(Frames { mechanism: self.mechanism.clone(), aggregate: self.mechanism.aggregator() })
    }
}

impl<M> VectorRandomizer for Erased<M>
where
    M: VectorNoise + Clone + Send + Sync + 'static,
    M::Aggregator: Send + 'static,
{
    fn norm(&self) -> Norm {
        self.mechanism.norm()
    }

    fn report_variance(&self) -> f64 {
        self.mechanism.report_variance()
    }

    fn spec(&self) -> RandomizerSpec {
        self.mechanism.spec()
    }

    fn dimension(&self) -> u32 {
        // It was made from a u32.
        self.size as u32
    }

    fn frame_len(&self) -> usize {
        self.mechanism.frame_len()
    }

    fn in_round(&self, seed: PublicSeed) -> Box<dyn VectorRandomizer> {
        Box::new(Self { mechanism: self.mechanism.in_round(seed), size: self.size })
    }

    fn randomize_into(&self, input: &[f32], rng: &mut dyn Randomness, frame: &mut [u8]) -> Result<()> {
        self.randomize_into(input, rng, frame)
    }

    fn aggregator(&self) -> Box<dyn FrameAggregator> {
        self.aggregator()
    }
}

impl<M> CategoryRandomizer for Erased<M>
where
    M: Randomizer<Input = u64> + Clone + Send + Sync + 'static,
    M::Aggregator: Send + 'static,
{
    fn spec(&self) -> RandomizerSpec {
        self.mechanism.spec()
    }

    fn categories(&self) -> u64 {
        self.size
    }

    fn frame_len(&self) -> usize {
        self.mechanism.frame_len()
    }

    fn randomize_into(&self, input: u64, rng: &mut dyn Randomness, frame: &mut [u8]) -> Result<()> {
        self.randomize_into(&input, rng, frame)
    }

    fn aggregator(&self) -> Box<dyn FrameAggregator> {
        self.aggregator()
    }
}

/// Decodes, then aggregates.
struct Frames<M: Randomizer> {
    mechanism: M,
    aggregate: M::Aggregator,
}

impl<M> FrameAggregator for Frames<M>
where
    M: Randomizer + Send + 'static,
    M::Aggregator: Send + 'static,
{
    fn add_frame(&mut self, frame: &[u8]) -> Result<()> {
        self.aggregate.add(&self.mechanism.decode(frame)?);
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn FrameAggregator>) -> Result<()> {
        match other.into_any().downcast::<Self>() {
            // Two mechanisms of one type may still differ in ε0: their specs tell, and the
            // aggregates themselves look at the rest.
            Ok(other) if other.mechanism.spec() == self.mechanism.spec() => self.aggregate.merge(other.aggregate),
            _ => Err(RandomizerError::aggregate("the two aggregates are of different mechanisms")),
        }
    }

    fn count(&self) -> u64 {
        self.aggregate.count()
    }

    fn mean(&self) -> Result<Vec<f64>> {
        self.aggregate.mean()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
