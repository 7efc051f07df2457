//! From gradients to an estimate of their mean: the clients' reports, collected as the shuffler
//! would hand them over.
//!
//! Every algorithm is simulated through one of these. Of the services, clients report through
//! [`Frames`] and the server adds up through them, in the same [`Segments`]: what is simulated is
//! what is deployed. One shortcut, [`SummedGaussian`], is equal in law, as is proven there; it
//! needs no more of a round than the sum of the clipped gradients, as do all that are [`Summing`].
//! A [`Collector`]'s reports and batches have types of their own, so what belongs to one cannot be
//! added to another.

mod blocks;
mod clipping;
mod frames;
mod plain;
pub mod segments;
mod sketch;
mod summed;
mod vector_sum;

pub use blocks::BlockMean;
pub use clipping::Clipping;
pub use frames::Frames;
pub use plain::Plain;
pub use segments::Segments;
pub use sketch::Sketch;
pub use summed::SummedGaussian;
pub use vector_sum::{Summing, VectorSum};

use crate::Result;
use shuffledp_randomizers::Randomness;

/// Defines the reports that clients send and the batch that the server aggregates from them.
pub trait Collector: Sync {
    /// The report of one client.
    type Report: Send;
    /// The aggregate of the reports so far.
    type Batch: Send;

    /// Room for a report, to be used again and again.
    fn blank(&self) -> Self::Report;

    /// No reports yet.
    fn empty(&self) -> Self::Batch;

    /// A client: makes `report` of its gradient.
    fn report(&self, gradient: &[f32], rng: &mut dyn Randomness, report: &mut Self::Report) -> Result<()>;

    /// Adds a report.
    fn add(&self, report: &Self::Report, batch: &mut Self::Batch) -> Result<()>;

    /// Adds the reports of `more`.
    fn merge(&self, batch: &mut Self::Batch, more: Self::Batch) -> Result<()>;

    /// The server: an unbiased estimate of the mean of the clipped gradients, `None` of no reports.
    /// `rng` is for what the clients left to be drawn together, if anything.
    fn mean(&self, batch: Self::Batch, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>>;
}
