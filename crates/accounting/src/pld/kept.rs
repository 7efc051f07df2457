//! Composed rounds that are kept, so that one more round is composed with all of them together and
//! not with each.
//!
//! A composition is kept tilted for one δ. One more round is one more convolution with what is
//! kept, on a window whose length does not depend on how many rounds are in it. Every step is one
//! of [`compose`], so everything that it rounds, cuts off or loses is charged: the answer stays an
//! upper bound. What changes with the number of rounds is how well the tilt fits, and how much
//! rounding to the lattice has spread the losses: [`Kept::is_worn`] says when to compose anew.

use super::compose::{NEGLIGIBLE_GROWTH, Rounds, compose};
use super::read::{FromTop, MARGIN, epsilon_of};
use super::tilted::Tilted;
use super::{Direction, Up};
use crate::error::Result;
use crate::numerics::elementary::{exp, ln};

/// Rounds composed for one δ.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    composed: Tilted,
    deviations: f64,
    loss_error: f64,
    /// By how much, in logarithms, the masses of all rounds together may exceed 1.
    growth: f64,
    /// Of the tilted loss, when it was composed.
    first_variance: f64,
    /// How often something was added.
    added: u32,
}

/// A tilt suits losses of up to this many times the variance that it was chosen for: the order that
/// suits goes down with the standard deviation, so it is at most twice what suits. What is read
/// then is e^−20 of the largest mass at a δ of 1e-9, and FFTs err by 1e-16 of it.
const MOST_VARIANCE: f64 = 4.0;

/// Whatever is added spreads the loss by up to a lattice point of 1/1024 standard deviation
/// or twice that, as the variance grows: so many of them add 1e-3 to the variance.
const MOST_ADDED: u32 = 2048;

impl Kept {
    /// All of these, tilted for `delta`.
    pub(crate) fn new(rounds: &Rounds<Up>, delta: f64) -> Result<Self> {
        let deviations = (2.0 * (MARGIN - ln(delta))).sqrt();
        let (order, _) = rounds.order_for(delta)?;
        let parts = rounds.parts.iter().map(|(lattice, count)| (Tilted::new(lattice, order - 1.0), *count)).collect();
        let composed = compose(parts, deviations, Direction::Up);
        let (loss_error, growth, first_variance) = (rounds.loss_error(), growth(rounds), variance(&composed));
        Ok(Self { composed, deviations, loss_error, growth, first_variance, added: 0 })
    }

    /// Also these, all in one convolution.
    pub(crate) fn add(&mut self, rounds: &Rounds<Up>) {
        let theta = self.composed.theta;
        let more = rounds.parts.iter().map(|(lattice, count)| (Tilted::new(lattice, theta), *count));
        let parts = std::iter::once((self.composed.clone(), 1)).chain(more).collect();
        self.composed = compose(parts, self.deviations, Direction::Up);
        self.loss_error += rounds.loss_error();
        self.growth += growth(rounds);
        self.added += 1;
    }

    /// At least ε at `delta` of everything that is kept.
    pub(crate) fn epsilon(&self, delta: f64) -> Result<f64> {
        let mut composed = self.composed.clone();
        // What one round puts at infinity is multiplied by the masses of all others.
        if self.growth > NEGLIGIBLE_GROWTH {
            composed.infinity *= exp(self.growth);
        }
        composed.check()?;
        epsilon_of::<Up>(&composed, &FromTop::default(), delta, self.loss_error)
    }

    /// Whether what is kept has changed so much that composing anew is tighter.
    pub(crate) fn is_worn(&self) -> bool {
        self.added >= MOST_ADDED || variance(&self.composed) > MOST_VARIANCE * self.first_variance
    }
}

fn growth(rounds: &Rounds<Up>) -> f64 {
    rounds.parts.iter().map(|(lattice, count)| lattice.relative_error * *count as f64).sum()
}

fn variance(tilted: &Tilted) -> f64 {
    tilted.moments().1 * tilted.spacing * tilted.spacing
}
