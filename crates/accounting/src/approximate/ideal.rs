//! Rounds of which some are only approximately private, composed with their ideal counterparts.

use super::model::Model;
use super::tradeoff::Tradeoff;
use super::variation::variation_upper;
use crate::bound::Answer;
use crate::error::{AccountingError, Result};
use crate::numerics::directed::{add_up, inflate, mul_up, sum_up};
use crate::numerics::led_bisection::smallest_safe_led;
use crate::pair::{Direction, LinearPair, Resolution, upper};
use crate::pld::{LossDistribution, Rounds, cache, release};
use crate::scheme::{Output, Release, Round, Scheme};

/// Lattice points to a standard deviation of a round.
const PER_DEVIATION: f64 = 128.0;

/// The same for a single round, where nothing else costs time.
const PER_DEVIATION_SINGLE: f64 = 512.0;

/// ε0 is found to this relative accuracy.
const LOCAL_TOLERANCE: f64 = 1e-9;

/// Covers the roundings of `(1 + e^ε)·v`.
const SLACK: f64 = 16.0 * f64::EPSILON;

/// So many ideal protocols are composed for one answer. Mostly two are enough.
const MAX_CANDIDATES: usize = 6;

/// The same for a sketch.
const FEW_CANDIDATES: usize = 2;

/// Variations closer than this (in their logarithm) are as good as each other: δ is off by half the square of it at the most.
const CLOSE: f64 = 0.1;

/// Rounds that are dominated by a pair, and rounds that are so but for a total variation.
///
/// With `v` the total variation that all rounds together are granted, the m kinds of approximate rounds get `v/m` each: that decides their ε0, and
/// with them a bound. `v` is what is searched for. Every v gives a valid bound, so the search may stop anywhere and costs tightness only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Idealised {
    exact: Vec<(LinearPair, u64)>,
    /// Outputs that are not shuffled, Gaussian ones apart.
    releases: Vec<(Release, u64)>,
    /// Σ μ² over all Gaussian outputs, rounded up: together they are one with the square root of this.
    gaussian: f64,
    approximate: Vec<Kind>,
    /// How finely the outcomes of pairs are resolved.
    resolution: Resolution,
}

/// A kind of approximate round, and how often it happens.
#[derive(Debug, Clone, Copy)]
struct Kind {
    scheme: Scheme,
    tradeoff: Tradeoff,
    count: u64,
}

/// The ideal protocol for one choice of ε0 (per kind of round).
struct Candidate {
    /// What dominates the ideal protocol.
    rounds: Rounds,
    /// At least the total variation between the two protocols.
    variation: f64,
    /// The (ε0, δ0) of every kind of approximate round.
    local: Vec<(f64, f64)>,
}

impl Idealised {
    /// Nothing yet, and the outcomes of pairs resolved like this.
    pub(super) fn resolved(resolution: Resolution) -> Self {
        Self { resolution, ..Self::default() }
    }

    /// `round` happens `count` times.
    pub(crate) fn add(&mut self, round: &Round, count: u64) -> Result<()> {
        match Tradeoff::of(&round.randomizer) {
            None => self.exact.push((upper::dominating(round)?, count)),
            Some(tradeoff) => {
                if let Tradeoff::Fixed { epsilon, .. } = tradeoff {
                    upper::any_ldp(&round.scheme, epsilon)?;
                }
                self.approximate.push(Kind { scheme: round.scheme, tradeoff, count });
            }
        }
        Ok(())
    }

    /// `release` happens `count` times.
    pub(crate) fn add_release(&mut self, release: &Release, count: u64) {
        match release.output() {
            Output::Gaussian { mu } => {
                self.gaussian = add_up(self.gaussian, mul_up(mul_up(mu, mu), count as f64));
            }
            _ => self.releases.push((*release, count)),
        }
    }

    /// All Gaussian outputs together, if there are any. An error if they are too many to be accounted.
    fn gaussian_release(&self) -> Result<Option<Release>> {
        if self.gaussian <= 0.0 {
            return Ok(None);
        }
        let mu = self.gaussian.sqrt().next_up();
        Release::new(Output::Gaussian { mu }).map(Some).map_err(|_| {
            AccountingError::numerical(format!("all Gaussian outputs together have μ = {mu:.0}: ε is in the thousands"))
        })
    }

    fn candidates(&self) -> usize {
        if self.resolution == Resolution::ROUGH { FEW_CANDIDATES } else { MAX_CANDIDATES }
    }

    /// At least ε at `delta`, strictly between 0 and 1; `+∞` where what the rounds' δ0 add up to exceeds δ.
    pub(crate) fn epsilon_upper(&self, delta: f64) -> Result<Answer> {
        if self.approximate.is_empty() {
            return Ok(Answer::plain(self.candidate(0.0)?.rounds.epsilon(delta)?));
        }
        let (least, most) = self.variations()?;
        let mut best: Option<(f64, Candidate)> = None;
        let mut model = Model::new(self);
        let mut tried: Option<f64> = None;
        for _ in 0..self.candidates() {
            let variation = model.variation_at_delta(delta, (least, most))?;
            if tried.is_some_and(|last| (variation / last).ln().abs() < CLOSE) {
                break;
            }
            tried = Some(variation);
            let candidate = self.candidate(variation)?;
            let reading = candidate.epsilon(delta)?;
            model.correct(variation, reading.of_pair, reading.delta)?;
            if let Some(epsilon) = reading.epsilon
                && best.as_ref().is_none_or(|(value, _)| epsilon < *value)
            {
                best = Some((epsilon, candidate));
            }
        }
        Ok(match best {
            Some((value, candidate)) => Answer { value, order: None, remark: Some(candidate.remark()) },
            None => Answer {
                value: f64::INFINITY,
                order: None,
                remark: Some("what the δ0 of all reports add up to exceeds δ".to_owned()),
            },
        })
    }

    /// At least δ at `epsilon` ≥ 0.
    pub(crate) fn delta_upper(&self, epsilon: f64) -> Result<Answer> {
        if self.approximate.is_empty() {
            return Ok(Answer::plain(self.candidate(0.0)?.rounds.delta(epsilon)?));
        }
        let range = self.variations()?;
        let mut best: Option<(f64, Candidate)> = None;
        let mut model = Model::new(self);
        let mut tried: Option<f64> = None;
        for _ in 0..self.candidates() {
            let variation = model.variation_at_epsilon(epsilon, range)?;
            if tried.is_some_and(|last| (variation / last).ln().abs() < CLOSE) {
                break;
            }
            tried = Some(variation);
            let candidate = self.candidate(variation)?;
            let of_pair = candidate.rounds.delta(epsilon)?;
            model.correct(variation, epsilon, of_pair)?;
            let delta = add_up(of_pair, candidate.charge(epsilon));
            if best.as_ref().is_none_or(|(value, _)| delta < *value) {
                best = Some((delta, candidate));
            }
        }
        Ok(match best {
            Some((value, candidate)) if value < 1.0 => Answer { value, order: None, remark: Some(candidate.remark()) },
            _ => Answer::plain(1.0),
        })
    }

    /// The composed loss of everything. Not where a δ0 is charged: that is no loss of any pair.
    pub(crate) fn loss_distribution(&self) -> Result<LossDistribution> {
        if !self.approximate.is_empty() {
            return Err(AccountingError::not_applicable(
                "rounds whose randomizer has a δ0 are charged to δ and have no loss distribution of their own",
            ));
        }
        self.candidate(0.0)?.rounds.distribution()
    }

    /// About the standard deviation of the loss of all ideal rounds together, if they are granted this total variation. Leads the search; nothing
    /// rests on it.
    pub(super) fn deviation(&self, variation: f64) -> Result<f64> {
        let square = |pair: &LinearPair, count: u64| pair.typical_loss().powi(2) * count as f64;
        let mut sum: f64 = self.exact.iter().map(|(pair, count)| square(pair, *count)).sum();
        sum += self.releases.iter().map(|(one, count)| release::typical_loss(one).powi(2) * *count as f64).sum::<f64>();
        sum += self.gaussian;
        for kind in &self.approximate {
            let epsilon = kind.local_epsilon(variation / self.approximate.len() as f64)?;
            sum += square(&upper::any_ldp(&kind.scheme, epsilon)?, kind.count);
        }
        Ok(sum.sqrt())
    }

    /// The smallest and the largest total variation of interest: at the largest ε0 that is computed, and at the smallest of the curves.
    fn variations(&self) -> Result<(f64, f64)> {
        let total = |epsilon: fn(&Kind) -> f64| -> Result<f64> {
            Ok(sum_up(self.approximate.iter().map(|kind| kind.variation(epsilon(kind))).collect::<Result<Vec<_>>>()?))
        };
        // m kinds share equally, so the total may be m times what the largest of them needs.
        let kinds = self.approximate.len() as f64;
        let least = (total(|_| upper::MAX_LOCAL_EPSILON)? * kinds).max(f64::MIN_POSITIVE);
        let most = total(|kind| kind.tradeoff.least_epsilon())? * kinds;
        Ok((least, most.max(least)))
    }

    /// The ideal protocol at which all approximate rounds together have about this total variation.
    fn candidate(&self, variation: f64) -> Result<Candidate> {
        let gaussian = self.gaussian_release()?;
        let released = self.releases.iter().map(|(_, count)| *count).chain(gaussian.map(|_| 1));
        let shuffled = self.exact.iter().map(|(_, count)| *count).chain(self.approximate.iter().map(|kind| kind.count));
        let is_single = shuffled.chain(released).sum::<u64>() == 1;
        let per_deviation = match (is_single, self.resolution == Resolution::ROUGH) {
            (_, true) => PER_DEVIATION / 4.0,
            (true, false) => PER_DEVIATION_SINGLE,
            (false, false) => PER_DEVIATION,
        };
        let lattice = |pair: &LinearPair| cache::lattice(pair, Direction::Up, per_deviation, self.resolution);
        let mut parts: Vec<_> = self.exact.iter().map(|(pair, count)| (lattice(pair), *count)).collect();
        let releases = self.releases.iter().copied().chain(gaussian.map(|release| (release, 1)));
        parts.extend(releases.map(|(release, count)| (cache::release(&release, per_deviation), count)));
        let share = variation / self.approximate.len() as f64;
        let (mut total, mut local) = (0.0, Vec::new());
        for kind in &self.approximate {
            let epsilon = kind.local_epsilon(share)?;
            total = add_up(total, kind.variation(epsilon)?);
            local.push((epsilon, kind.tradeoff.delta_upper(epsilon)?));
            parts.push((lattice(&upper::any_ldp(&kind.scheme, epsilon)?), kind.count));
        }
        Ok(Candidate { rounds: Rounds::new(Direction::Up, parts), variation: total, local })
    }
}

impl Kind {
    /// At least the total variation of all these rounds.
    fn variation(&self, local_epsilon: f64) -> Result<f64> {
        let one = variation_upper(&self.scheme, local_epsilon, self.tradeoff.delta_upper(local_epsilon)?);
        Ok(mul_up(one, self.count as f64))
    }

    /// The smallest ε0 at which all these rounds have at most this total variation, or the largest that is computed.
    fn local_epsilon(&self, variation: f64) -> Result<f64> {
        let (least, most) = (self.tradeoff.least_epsilon(), upper::MAX_LOCAL_EPSILON);
        let found = smallest_safe_led(least, most, LOCAL_TOLERANCE, |epsilon| {
            let found = self.variation(epsilon)?;
            let excess = (found / variation).ln();
            // The comparison decides; the logarithm leads.
            Ok::<_, AccountingError>(if found <= variation { excess.min(0.0) } else { excess.max(f64::MIN_POSITIVE) })
        })?;
        Ok(found.unwrap_or(most))
    }
}

/// What a candidate says to a δ.
struct AtDelta {
    /// At least ε, if what the total variation costs leaves room for it.
    epsilon: Option<f64>,
    /// A point of the pair's own curve near the answer.
    of_pair: f64,
    delta: f64,
}

impl Candidate {
    /// At least `(1 + e^ε)·v`: what the distance to the ideal protocol costs.
    fn charge(&self, epsilon: f64) -> f64 {
        inflate((1.0 + epsilon.exp()) * self.variation, SLACK)
    }

    /// At least the smallest ε with `δ_pair(ε) + (1+e^ε)·v ≤ delta`.
    ///
    /// `x ↦ ε_pair(δ − charge(x))` increases. Iterating it from 0 approaches its least fixed point from below; a step too far lands above it. Whenever
    /// the value y at x is at most x, y is an answer: `δ_pair(y) + charge(y) ≤ δ − charge(x) + charge(x)`.
    fn epsilon(&self, delta: f64) -> Result<AtDelta> {
        let of_pair = self.rounds.epsilon_near(delta)?;
        let (mut x, mut overshoot) = (0.0, 1.0);
        let half = AtDelta { epsilon: None, of_pair: of_pair(0.5 * delta)?, delta: 0.5 * delta };
        // Ends long before, unless the fixed point is so near to not being one that it is not worth having.
        for _ in 0..32 {
            let left = (delta - self.charge(x)).next_down();
            if left <= 0.0 {
                break;
            }
            let y = of_pair(left)?;
            if y <= x {
                return Ok(AtDelta { epsilon: Some(y), of_pair: y, delta: left });
            }
            if y.is_infinite() {
                break;
            }
            if y - x < 1e-5 * y {
                x = y + overshoot * (y - x);
                overshoot *= 4.0;
            } else {
                x = y;
            }
        }
        Ok(half)
    }

    /// Which (ε0, δ0) gave the answer.
    fn remark(&self) -> String {
        let taken: Vec<_> = self.local.iter().map(|(epsilon, delta)| format!("({epsilon:.4}, {delta:.2e})")).collect();
        format!("taken as (ε0, δ0) = {}", taken.join(", "))
    }
}
