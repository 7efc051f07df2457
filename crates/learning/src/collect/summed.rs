//! Gaussian noise, drawn once for all clients of a simulated round.
//!
//! A deployed client sends x_i + z_i, with x_i its gradient clipped to length C and z_i ~
//! N(0, σ²C²I) of its own ([`Frames`](super::Frames) of the same mechanism). All that the server
//! makes of the k reports of a round is their mean, a function of
//!
//! > Σ (x_i + z_i) = Σ x_i + Z with Z = Σ z_i,
//!
//! and Z, a sum of k independent N(0, σ²C²I) that do not depend on the x_i, is N(0, kσ²C²I). So Σ
//! x_i plus one draw of Z has the law of the sum of reports, jointly over all rounds, and every
//! model, metric and decision that follows has the law that it would have with k vectors of noise.
//! (To within the rounding of floating point: frames carry f32.) It is a statement about what is
//! *made of* the reports, which is all there is in a simulation; what is accounted for is the
//! multiset of reports that a deployment's server would see.

use super::{Clipping, Summing, VectorSum};
use crate::Result;
use shuffledp_randomizers::clip::Norm;
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::{Gaussian, Randomizer, Randomness};

/// Clients clip as the mechanism does; the noise of all is drawn when their mean is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummedGaussian {
    sigma: f64,
    shape: VectorShape,
}

impl SummedGaussian {
    /// Of [`Gaussian`]'s parameters: σ over the clipping norm, and the vectors' dimension and norm.
    pub fn new(sigma: f64, shape: VectorShape) -> Result<Self> {
        // The mechanism of one client checks what it is given.
        Gaussian::new(sigma, shape.dimension, shape.clip)?;
        Ok(Self { sigma, shape })
    }
}

impl Summing for SummedGaussian {
    /// As the mechanism has it: a report without its noise, which is part of Z.
    fn clipping(&self) -> Clipping {
        Clipping::To { norm: Norm::L2, bound: self.shape.clip }
    }

    fn mean_of(&self, sum: VectorSum, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        if sum.count() == 0 {
            return Ok(None);
        }
        let VectorShape { dimension, clip } = self.shape;
        let together = Gaussian::new(self.sigma * (sum.count() as f64).sqrt(), dimension, clip)?;
        let noise = together.randomize(&vec![0.0; dimension as usize], rng)?;
        Ok(Some(sum.mean_with(&noise)))
    }
}
