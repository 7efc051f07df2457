//! δ(ε) and ε(δ) of composed rounds.

use super::Direction;
use super::compose::Rounds;
use super::tilted::Tilted;
use super::{LossLattice, Rounding};
use crate::error::{AccountingError, Result};
use crate::numerics::directed::{mul_up, sum_up};
use crate::numerics::elementary::{exp, exp_m1, ln, ln_1p};
use crate::rdp::{Orders, epsilon_from_renyi, ln_delta_from_renyi, minimise_over_orders};
use std::cell::RefCell;

/// Room beyond the tail that is asked for: what windows cut off is about `e^{−40}` of it.
pub(super) const MARGIN: f64 = 40.0;

/// Covers the roundings of reading but for the exponents': every sum below has non-negative terms.
const SUMMING_ERROR: f64 = 1e-10;

/// Shares of δ that are tried for what windows have lost.
const RESERVED: [f64; 8] = [1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5];

/// The largest losses of all rounds, which have no more than one of these shares of δ, may be left
/// out.
const RARE: [f64; 3] = [1e-4, 1e-2, 0.1];

/// They are where that brings Rényi DP's answer down by this share, or this much in logarithms of
/// δ.
const DECISIVE: f64 = 0.02;

/// Tilting a loss ℓ by θ costs a few units of roundoff times θℓ; all rounds together may cost 1e-7.
const MAX_TILT: f64 = 1e8;

impl<D: Rounding> Rounds<D> {
    /// δ at `epsilon` ≥ 0, in the direction of the lattices.
    pub fn delta(&self, epsilon: f64) -> Result<f64> {
        // Not clamped at 0: where the losses are uncertain by more than ε, the δ of a negative ε is
        // what bounds.
        let epsilon = epsilon - D::DIRECTION.sign() * self.loss_error();
        if self.is_single() {
            return self.read_delta(&self.composed(0.0, 0.0), epsilon);
        }
        if D::DIRECTION == Direction::Up && epsilon > self.largest() {
            return Ok(
                sum_up(self.parts.iter().map(|(lattice, count)| mul_up(lattice.infinity, *count as f64))).min(1.0)
            );
        }
        let order_for = |rounds: &Self| {
            minimise_over_orders(Orders::Reals, rounds.max_order(), |order| {
                Ok(ln_delta_from_renyi(rounds.cumulant(order - 1.0) / (order - 1.0), order, epsilon))
            })
        };
        let (order, ln_chernoff) = order_for(self)?;
        let found = self.delta_tilted(epsilon, order, ln_chernoff)?;
        // Every answer is valid: rare losses may be in the way of the one that was found.
        let (mut best, mut ln_least) = (found, ln_chernoff);
        for frequent in self.without_rare(found) {
            let (order, ln_without) = order_for(&frequent)?;
            if ln_without < ln_least - DECISIVE {
                best = self.better(best, frequent.delta_tilted(epsilon, order, ln_without)?);
                ln_least = ln_without;
            }
        }
        Ok(best)
    }

    /// δ at `epsilon`, less what losses may have been moved by, composed with the tilt of this
    /// order, which has this Chernoff bound.
    fn delta_tilted(&self, epsilon: f64, order: f64, ln_chernoff: f64) -> Result<f64> {
        let composed = self.composed(order - 1.0, (2.0 * (MARGIN - ln_chernoff.min(0.0))).sqrt());
        // Tilted, what lies below the window is lost. That does not matter below ε; if ε itself
        // lies there, δ is nearly 1 and tilting serves nothing: without it, what lies below
        // reappears at the top.
        if epsilon < composed.bottom() {
            return self.read_delta(&self.composed(0.0, (2.0 * MARGIN).sqrt()), epsilon);
        }
        self.read_delta(&composed, epsilon)
    }

    /// At least the largest finite loss of all rounds together.
    fn largest(&self) -> f64 {
        let top = |lattice: &LossLattice<D>| (lattice.first + lattice.masses.len() as i64) as f64 * lattice.spacing;
        let sum: f64 = self.parts.iter().map(|(lattice, count)| top(lattice).max(0.0) * *count as f64).sum();
        sum * (1.0 + 1e-9)
    }

    /// One round is read as it is: nothing is transformed, so nothing need be tilted.
    fn is_single(&self) -> bool {
        matches!(self.parts.as_slice(), [(_, 1)])
    }

    pub(super) fn read_delta(&self, composed: &Tilted, epsilon: f64) -> Result<f64> {
        composed.check()?;
        let finite = composed.hockey_stick(epsilon) * (1.0 + D::DIRECTION.sign() * composed.reading_error());
        Ok(match D::DIRECTION {
            Direction::Up => (finite + composed.reserve(epsilon) + composed.infinity).min(1.0),
            Direction::Down => finite.min(1.0),
        })
    }

    /// ε at `delta`, in the direction of the lattices: an upper bound may be `+∞`, a lower bound 0.
    pub fn epsilon(&self, delta: f64) -> Result<f64> {
        let answer = self.epsilon_near(delta)?(delta)?;
        if D::DIRECTION == Direction::Up || answer > 0.0 || self.is_single() {
            return Ok(answer);
        }
        // A lower bound gives up what rounding could have added, and few atoms far apart, tilted
        // hard, can leave nothing. Every tilt is valid.
        let deviations = (2.0 * (MARGIN - ln(delta))).sqrt();
        let composed = self.composed(0.0, deviations);
        composed.check()?;
        self.read_epsilon(&composed, &FromTop::default(), delta)
    }

    /// ε as a function of δ, composed once: valid everywhere, tight near `delta`.
    ///
    /// Rounds are composed as they are, and [without their rare losses](Self::without_rare) where
    /// Rényi DP has a better answer then: each gives a valid answer, and the best one counts.
    pub(crate) fn epsilon_near(&self, delta: f64) -> Result<impl Fn(f64) -> Result<f64>> {
        let mut all = Vec::new();
        if self.is_single() {
            all.push(self.composed(0.0, 0.0));
        } else {
            let deviations = (2.0 * (MARGIN - ln(delta))).sqrt();
            let (order, mut epsilon) = self.order_for(delta)?;
            all.push(self.composed(order - 1.0, deviations));
            for frequent in self.without_rare(delta) {
                let (order, epsilon_without) = frequent.order_for(delta)?;
                if epsilon_without < (1.0 - DECISIVE) * epsilon {
                    epsilon = epsilon_without;
                    all.push(frequent.composed(order - 1.0, deviations));
                }
            }
        }
        all.iter().try_for_each(Tilted::check)?;
        let all: Vec<_> = all.into_iter().map(|composed| (composed, FromTop::default())).collect();
        Ok(move |delta| {
            let mut answers = all.iter().map(|(composed, from_top)| self.read_epsilon(composed, from_top, delta));
            let first = answers.next().unwrap_or(Ok(f64::INFINITY))?;
            answers.try_fold(first, |best, answer| Ok(self.better(best, answer?)))
        })
    }

    /// The tighter of two bounds.
    fn better(&self, a: f64, b: f64) -> f64 {
        match D::DIRECTION {
            Direction::Up => a.min(b),
            Direction::Down => a.max(b),
        }
    }

    /// How many points all lattices have.
    fn points(&self) -> usize {
        self.parts.iter().map(|(lattice, _)| lattice.masses.len()).sum()
    }

    /// The order whose tilt suits `delta`, and about the ε that it gives by Rényi DP.
    pub(super) fn order_for(&self, delta: f64) -> Result<(f64, f64)> {
        let infinite: f64 = self.parts.iter().map(|(lattice, count)| lattice.infinity * *count as f64).sum();
        let finite = if infinite < 0.999 * delta { delta - infinite } else { delta };
        minimise_over_orders(Orders::Reals, self.max_order(), |order| {
            Ok(epsilon_from_renyi(self.cumulant(order - 1.0) / (order - 1.0), order, finite))
        })
    }

    /// The same rounds without the largest losses, which have the shares [`RARE`] of `delta` in
    /// all: they are charged as infinite, or dropped from a lower bound.
    ///
    /// They hardly count in the answer. But where they are much larger than all others they
    /// dominate the moments, no tilt brings out the tail that is asked for, and the rounding of the
    /// FFT is what is read.
    fn without_rare(&self, delta: f64) -> Vec<Self> {
        let count: f64 = self.parts.iter().map(|(_, count)| *count as f64).sum();
        let mut all: Vec<Self> = Vec::new();
        for share in RARE {
            let cut = |lattice| LossLattice::without_rare(lattice, share * delta / count);
            let parts: Vec<_> = self.parts.iter().map(|(lattice, count)| (cut(lattice), *count)).collect();
            let without = Self { parts };
            if without.points() < all.last().unwrap_or(self).points() {
                all.push(without);
            }
        }
        all
    }

    fn read_epsilon(&self, composed: &Tilted, from_top: &FromTop, delta: f64) -> Result<f64> {
        epsilon_of::<D>(composed, from_top, delta, self.loss_error())
    }

    /// Beyond it tilting costs too much, or leaves a single point of the lattice.
    fn max_order(&self) -> f64 {
        let reach: f64 = self.parts.iter().map(|(lattice, count)| lattice.reach() * *count as f64).sum();
        let finest = self.parts.iter().map(|(lattice, _)| lattice.spacing).fold(f64::INFINITY, f64::min);
        1.0 + (MAX_TILT / reach).min(4.0 / finest)
    }

    /// The logarithm of the moment `E_P[e^{θ·loss}]` of all rounds together. Chooses tilts; nothing
    /// rests on it.
    fn cumulant(&self, theta: f64) -> f64 {
        self.parts.iter().map(|(lattice, count)| lattice.cumulant(theta) * *count as f64).sum()
    }
}

/// ε at `delta` of composed rounds whose losses may have been moved by `loss_error` in all.
pub(super) fn epsilon_of<D: Rounding>(
    composed: &Tilted,
    from_top: &FromTop,
    delta: f64,
    loss_error: f64,
) -> Result<f64> {
    let finite = (delta - composed.infinity) * (1.0 - D::DIRECTION.sign() * composed.reading_error());
    if D::DIRECTION == Direction::Down {
        let crossing = if finite > 0.0 { composed.crossing(from_top, finite) } else { None };
        return Ok((crossing.unwrap_or(0.0) - loss_error).max(0.0));
    }
    // What was lost below windows gets a share of δ. Every share whose ε passes is an answer;
    // the first is nearly always enough.
    for share in RESERVED {
        let rest = finite * (1.0 - if composed.lost > 0.0 { share } else { 0.0 });
        let epsilon =
            if rest > 0.0 { composed.crossing(from_top, rest).unwrap_or(composed.bottom()) } else { f64::INFINITY };
        if composed.reserve(epsilon) <= finite - rest || epsilon == f64::INFINITY {
            return Ok((epsilon + loss_error).max(0.0));
        }
    }
    Ok(f64::INFINITY)
}

/// A δ may be this far from another, in logarithms, to be read in its units: what underflows there
/// is e^−745 of it.
const NEARBY: f64 = 50.0;

/// The values that [`Tilted::crossing`] has visited from the top down, in units of the δ that was
/// asked first. They are kept so that further δ cost little.
#[derive(Default)]
pub(super) struct FromTop(RefCell<Descent>);

#[derive(Default)]
struct Descent {
    /// The logarithm of the unit.
    ln_unit: f64,
    /// At each lattice point from the top down, the mass above the next one and the divergence
    /// there.
    steps: Vec<(f64, f64)>,
}

impl Tilted {
    /// An accountant that gives up must say so: a NaN among the masses would count for nothing
    /// below.
    pub(super) fn check(&self) -> Result<()> {
        if self.ln_scale.is_finite()
            && self.infinity >= 0.0
            && self.lost >= 0.0
            && self.masses.iter().all(|mass| *mass >= 0.0)
        {
            Ok(())
        } else {
            Err(AccountingError::numerical("the composed loss distribution is not finite"))
        }
    }

    /// At least what the lost mass contributes to δ(ε), wherever it stands.
    ///
    /// A tilted mass at s contributes `exp(ln_scale)·e^{−θs}(1 − e^{ε−s})₊` of itself, which is
    /// largest at `e^{ε−s} = θ/(1+θ)`: Chernoff's bound.
    fn reserve(&self, epsilon: f64) -> f64 {
        if self.lost == 0.0 {
            return 0.0;
        }
        let theta = self.theta;
        let ln_most = self.ln_scale - theta * epsilon + theta * ln(theta / (1.0 + theta)) - ln_1p(theta);
        let slack = 8.0 * f64::EPSILON * (self.ln_scale.abs() + theta * epsilon.abs() + theta + 1.0);
        self.lost * exp(ln_most + slack)
    }

    /// Relative error of a sum of untilted masses: an exponent `ln_scale − θ·loss` is rounded where
    /// its terms are large, not where it is.
    pub(super) fn reading_error(&self) -> f64 {
        let top = (self.first + self.masses.len() as i64) as f64 * self.spacing;
        let reach = self.bottom().abs().max(top.abs());
        SUMMING_ERROR + 4.0 * f64::EPSILON * (self.ln_scale.abs() + self.theta * reach)
    }

    /// The smallest loss of the window.
    fn bottom(&self) -> f64 {
        self.first as f64 * self.spacing
    }

    /// `Σ_{s>ε} (1 − e^{ε−s})·mass(s)` over the finite part.
    fn hockey_stick(&self, epsilon: f64) -> f64 {
        // In floats, because ε may be any number of lattice points away; the conversion saturates.
        let start = ((epsilon / self.spacing).floor() - self.first as f64 + 1.0).max(0.0) as usize;
        let mut sum = 0.0;
        for (i, mass) in self.masses.iter().enumerate().skip(start).filter(|(_, mass)| **mass > 0.0) {
            let loss = (self.first + i as i64) as f64 * self.spacing;
            sum += mass * exp(self.ln_scale - self.theta * loss) * -exp_m1(epsilon - loss);
        }
        sum
    }

    /// The ε at which the finite part's hockey-stick divergence is `delta`: smaller to its right,
    /// larger to its left. `None` if it is smaller on the whole lattice.
    ///
    /// With `A` the mass above a lattice point and `G` the divergence there, one step down is
    /// `A += m; G = e^{−h}G + (1 − e^{−h})A`: no term is negative. Between lattice points
    /// 1 − e^{−distance} takes the place of 1 − e^{−h}, and can be solved for.
    fn crossing(&self, from_top: &FromTop, delta: f64) -> Option<f64> {
        let ln_delta = ln(delta);
        let mut descent = from_top.0.borrow_mut();
        let Descent { ln_unit, steps } = &mut *descent;
        // Far from the first δ, what underflowed could count.
        let is_near = (*ln_unit - ln_delta).abs() < NEARBY;
        if steps.is_empty() || !is_near {
            steps.clear();
            *ln_unit = ln_delta;
        }
        // 1 for the δ that is asked first.
        let limit = exp(ln_delta - *ln_unit);
        let (keep, add) = (exp(-self.spacing), -exp_m1(-self.spacing));
        let loss = |from_top: usize| (self.first + (self.masses.len() - 1 - from_top) as i64) as f64 * self.spacing;
        let (mut above, mut divergence) = steps.last().copied().unwrap_or((0.0, 0.0));
        while divergence <= limit && steps.len() < self.masses.len() {
            let mass = self.masses[self.masses.len() - 1 - steps.len()];
            if mass > 0.0 {
                above += mass * exp(self.ln_scale - self.theta * loss(steps.len()) - *ln_unit);
            }
            divergence = keep * divergence + add * above;
            steps.push((above, divergence));
        }
        // The divergence grows from step to step.
        let at = steps.partition_point(|(_, divergence)| *divergence <= limit);
        let (above, _) = steps.get(at)?;
        let before = if at > 0 { steps[at - 1].1 } else { 0.0 };
        let share = ((limit - before) / (above - before)).clamp(0.0, 1.0);
        Some(loss(at) + ln_1p(-share).max(-self.spacing))
    }
}
