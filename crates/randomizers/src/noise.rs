//! How a mechanism over vectors clips, and how much noise one report has: the seam for whoever
//! needs a batch's mean and variance and not its reports.

use crate::clip::Norm;
use crate::estimate::mean::BoundedReports;
use crate::randomizer::Randomizer;
use crate::{DiscreteGaussian, DiscreteLaplace, Duchi, Gaussian, Laplace, PrivUnit, R1, RInf, RoundedGaussian, TopSet};

/// A mechanism over vectors whose noise is known.
pub trait VectorNoise: Randomizer<Input = [f32]> {
    /// The norm in which vectors are clipped.
    fn norm(&self) -> Norm;

    /// The variance of one decoded report, averaged over its coordinates.
    ///
    /// **Direction: up.** At least E‖R(x) − x‖²/d for every clipped x, and close to it if d is
    /// large: where only E‖R(x)‖² is known, ‖x‖² is not taken off.
    fn report_variance(&self) -> f64;
}

macro_rules! noise {
    ($($(#[$why:meta])* $mechanism:ty: $norm:ident, $variance:expr;)*) => {$(
        impl VectorNoise for $mechanism {
            fn norm(&self) -> Norm {
                Norm::$norm
            }

            $(#[$why])*
            fn report_variance(&self) -> f64 {
                let variance: fn(&Self) -> f64 = $variance;
                variance(self)
            }
        }
    )*};
}

noise! {
    /// One coordinate of a·d·c, the others 0; coordinates are not correlated.
    RInf: Linf, BoundedReports::second_moment;
    /// ±a·c in every coordinate, not correlated: the rows of the Hadamard matrix are orthogonal.
    R1: L1, BoundedReports::second_moment;
    /// A uniform direction up to its sign: the same in every coordinate, not correlated.
    Duchi: L2, BoundedReports::second_moment;
    /// (C/m)²/d, and at most 2^−32·(C/m)² from rounding to the grid. The variance along x differs
    /// from that across it: this is the mean over all directions.
    PrivUnit: L2, |it| it.magnitude().powi(2) * (1.0 / f64::from(it.dimension()) + 2.0_f64.powi(-32));
    Gaussian: L2, Gaussian::variance;
    DiscreteGaussian: L2, DiscreteGaussian::variance_upper;
    RoundedGaussian: L2, RoundedGaussian::variance;
    /// ± the magnitude in every coordinate. The error of the direction under one rotation is not
    /// part of it: it does not shrink with the number of reports.
    TopSet: L2, |it| it.magnitude().powi(2);
    Laplace: L1, Laplace::variance;
    DiscreteLaplace: L1, DiscreteLaplace::variance_upper;
}
