//! Sums of independent draws: how large is `E(S − x)₊`?
//!
//! The hockey-stick divergence of a round is such a mean (`docs/theory/displacement.md`). A [`Law`]
//! is one draw on a lattice, made so that its sums bound the true ones; [`Draws`] says how often it
//! is drawn; [`calls_upper`] bounds `E(S − x)₊` at many x, by FFT, tilted to where x lies;
//! [`calls_with_jumps`] does so where single draws may outweigh all others; and [`Scan`] takes the
//! largest over how many draws are of which of two kinds.
//!
//! `x ↦ E(X − x)₊` is called the *call* of X and `x ↦ E(−x − X)₊` its *put*: together they are the
//! potential of its law. X is below Y in increasing convex order if its call is nowhere larger, and
//! sums of independent draws inherit that.

mod calls;
mod direct;
mod jumps;
mod law;
mod power;
mod scan;

pub(crate) use calls::calls_upper;
pub(crate) use direct::calls_direct;
pub(crate) use jumps::calls_with_jumps;
pub(crate) use law::{Jumps, Law};
pub(crate) use scan::Scan;

/// A law, and how often it is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws<'a> {
    pub(crate) law: &'a Law,
    pub(crate) number: Number<'a>,
}

/// A number of draws.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number<'a> {
    /// Always the same.
    Fixed(u64),
    /// Of so many draws each happens with this probability; else it is 0.
    Thinned { draws: u64, rate: f64 },
    /// (number, probability), the number increasing.
    Mixed(&'a [(u64, f64)]),
}

impl<'a> Draws<'a> {
    pub(crate) fn new(law: &'a Law, number: Number<'a>) -> Self {
        Self { law, number }
    }

    pub(crate) fn fixed(law: &'a Law, draws: u64) -> Self {
        Self { law, number: Number::Fixed(draws) }
    }
}

impl Number<'_> {
    /// The mean.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Self::Fixed(draws) => *draws as f64,
            Self::Thinned { draws, rate } => *draws as f64 * rate,
            Self::Mixed(numbers) => numbers.iter().map(|(number, weight)| *number as f64 * weight).sum(),
        }
    }

    /// The largest.
    pub(crate) fn most(&self) -> f64 {
        match self {
            Self::Fixed(draws) | Self::Thinned { draws, .. } => *draws as f64,
            Self::Mixed(numbers) => numbers.last().map_or(0.0, |(number, _)| *number as f64),
        }
    }

    /// The probability that a draw happens.
    fn rate(&self) -> f64 {
        match self {
            Self::Thinned { rate, .. } => *rate,
            _ => 1.0,
        }
    }

    /// At least the mean, and at least the total probability times any number: what an excess per
    /// draw is multiplied by.
    fn mean_upper(&self) -> f64 {
        self.mean() * (1.0 + 1e-12)
    }
}
