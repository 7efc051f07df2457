//! The loss distribution of the shuffle Gaussian pair, both ways round.

use super::pair::{PairCurve, gaussian_mu};
use super::reports::{Forward, Reports, Reverse, shortfall};
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::displacement::{self, Bounds, Extent, Fineness, Terms, delta_by_floor};
use crate::error::Result;
use crate::numerics::directed::{inflate, mul_up};
use crate::pld::{HalfCurve, LossLattice, Rounds, cache};
use crate::profile::LocalProfile;
use crate::rdp::RenyiAnalysis;
use crate::scheme::{Question, Scheme};
use std::cell::OnceCell;
use std::sync::Arc;

/// Which of the two datasets' laws is the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// P against Q: the victim at the other end, against all at one end.
    Forward,
    /// Q against P.
    Reverse,
}

/// One round of the pair.
struct PairRound {
    mu: f64,
    profile: LocalProfile,
    scheme: Scheme,
    fineness: Fineness,
}

impl PairRound {
    fn new(scheme: &Scheme, mu: f64, fineness: Fineness) -> Result<Self> {
        let profile = LocalProfile::Gaussian { mu };
        // The law of a report is the same for every t.
        let fineness = fineness.with_one_law();
        // More clients hide better (Theorem G4), so populations may be taken for smaller ones.
        Ok(Self { mu, profile, scheme: displacement::computable(scheme)?, fineness })
    }

    /// The victim is one of the reports, so the pair needs no spare client, whoever participates.
    fn terms(&self) -> Terms {
        let clients = self.scheme.clients();
        match (self.scheme.fixed_size(), self.scheme.check_in_rate()) {
            (_, Some(rate)) => Terms { local: 0.0, ..Terms::check_in(clients, rate) },
            (sampled, None) => Terms::sampled(clients, sampled.unwrap_or(clients)),
        }
    }

    /// How far losses reach.
    fn extent(&self, floor: f64) -> Extent {
        let clients = self.scheme.clients() as f64;
        Extent::of(&self.profile, &self.profile, clients * displacement::speaks(&self.scheme), clients, floor)
    }

    /// Divergences at many t ≥ 1.
    fn curve(&self, way: Way, floor: f64) -> HalfCurve {
        let reports = Reports { profile: self.profile, terms: self.terms(), fineness: self.fineness, floor };
        let sums: Box<dyn displacement::Way> = match way {
            Way::Forward => Box::new(Forward(reports)),
            Way::Reverse => Box::new(Reverse(reports)),
        };
        let local = |excess: f64| self.profile.delta_upper(excess);
        let cap = |excess: f64| self.cap(way, excess);
        let bounds = Bounds { ways: &[sums], local: &local, cap: &cap };
        bounds.curve(&self.extent(floor), self.fineness, floor)
    }

    /// At least the divergence at t = 1 + `excess`, if one report were all: V is a mean, and the
    /// divergences are convex in it.
    ///
    /// In a sample of fixed size `V − 1` is γ times the mean of the `w − 1`; at check-in V is the
    /// mean of variables that are w with probability r and else 1.
    fn cap(&self, way: Way, excess: f64) -> f64 {
        let rate = displacement::speaks(&self.scheme);
        let stretched = if self.scheme.check_in_rate().is_none() { rate } else { 1.0 };
        let down = 1.0 - 8.0 * f64::EPSILON;
        let one = match way {
            Way::Reverse if stretched < 1.0 => {
                let t = 1.0 + excess;
                inflate(t * shortfall(&self.profile, excess / t / stretched * down), 4.0 * f64::EPSILON)
            }
            // One report alone has the same curve both ways round.
            _ => self.profile.delta_upper(excess / stretched * down),
        };
        mul_up(rate, one)
    }

    /// The loss of P against Q, and that of Q against P. Divergences below `floor` are charged at
    /// infinite loss.
    fn lattices(&self, floor: f64) -> [Arc<LossLattice>; 2] {
        let curves = OnceCell::new();
        let curve = |way| self.curve(way, floor);
        [Way::Forward, Way::Reverse].map(|way| {
            let key = cache::Key::GaussianPair(self.scheme, self.mu, way, self.fineness, floor);
            cache::remembered_always(key, || {
                let (forward, reverse) = curves.get_or_init(|| (curve(Way::Forward), curve(Way::Reverse)));
                match way {
                    Way::Forward => forward.lattice(reverse),
                    Way::Reverse => reverse.lattice(forward),
                }
            })
        })
    }
}

/// Rounds of the pair, one way round in all of them.
struct Composed {
    round: PairRound,
    rounds: u64,
}

impl Composed {
    /// The larger of what is asked of P against Q and of Q against P.
    fn larger(&self, floor: f64, ask: impl Fn(&Rounds) -> Result<f64>) -> Result<Answer> {
        let [forward, reverse] = self.round.lattices(floor).map(|lattice| {
            let rounds = Rounds::new(vec![(lattice, self.rounds)]);
            ask(&rounds)
        });
        Ok(Answer::plain(forward?.max(reverse?)))
    }
}

impl Analysis for Composed {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        self.larger(displacement::floor(delta, self.rounds), |rounds| rounds.epsilon(delta))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        delta_by_floor(self.rounds, |floor| Ok(self.larger(floor, |rounds| rounds.delta(epsilon))?.value))
            .map(Answer::plain)
    }
}

/// Noise so weak (μ above this) that the log-normal's tail fits no lattice, and Rényi orders do as
/// well.
const MAX_MU: f64 = 3.0;

/// `gaussian-pair-pld`: the pair that is believed to be the worst, by its loss distribution.
///
/// The same pair as [`Pair`](super::Pair)'s, without what is lost from Rényi orders to ε: most of
/// it, where losses have the log-normal's tail. Rounds are composed, P against Q and Q against P,
/// and the larger ε counts. Rényi orders bound the same pair, and the smaller bound is the answer:
/// where the tail is too heavy for a lattice, it is theirs.
///
/// **Direction: up.** Every divergence is rounded up, and the loss that is composed dominates the
/// pair's.
pub struct PairLoss;

impl Method for PairLoss {
    fn about(&self) -> About {
        About {
            id: "gaussian-pair-pld",
            name: "Shuffle Gaussian, conjectured worst pair, composed",
            kind: Kind::Upper,
            standing: Standing::Conjectured,
            citation: "the pair of Liew and Takahashi 2022 (arXiv 2206.09569), Theorem 1, at sensitivity 2C, both directions, by its loss \
                       distribution: docs/theory/gaussian.md",
            note: "exact for one pair of datasets, all others at an endpoint of the diameter; that no other pair is worse is not proven",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        Ok(Box::new(Smaller::of(question, Fineness::FINE, options)?))
    }

    fn sketch(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        Ok(Box::new(Smaller::of(question, Fineness::ROUGH, options)?))
    }
}

/// Two upper bounds on one pair.
struct Smaller {
    by_orders: RenyiAnalysis<PairCurve>,
    by_loss: Option<Composed>,
}

impl Smaller {
    fn of(question: &Question, fineness: Fineness, options: &Options) -> Result<Self> {
        let (mu, rounds) = (gaussian_mu(question)?, question.rounds());
        let by_orders = RenyiAnalysis::new(PairCurve::new(question.scheme(), mu), rounds, options.max_order);
        let round = (mu <= MAX_MU).then(|| PairRound::new(question.scheme(), mu, fineness)).transpose()?;
        Ok(Self { by_orders, by_loss: round.map(|round| Composed { round, rounds }) })
    }

    /// The smaller of two answers; where the loss has none, that of the orders.
    fn ask(&self, ask: impl Fn(&dyn Analysis) -> Result<Answer>) -> Result<Answer> {
        let by_orders = ask(&self.by_orders)?;
        if by_orders.value <= 0.0 {
            return Ok(by_orders);
        }
        let by_loss = self.by_loss.as_ref().and_then(|composed| ask(composed).ok());
        Ok(by_loss.filter(|by_loss| by_loss.value < by_orders.value).unwrap_or(by_orders))
    }
}

impl Analysis for Smaller {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        self.ask(|analysis| analysis.epsilon(delta))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        self.ask(|analysis| analysis.delta(epsilon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(parts: &[(&Arc<LossLattice>, u64)], delta: f64) -> Result<f64> {
        let parts = parts.iter().map(|(lattice, count)| (Arc::clone(lattice), *count)).collect();
        Rounds::new(parts).epsilon(delta)
    }

    #[test]
    fn rounds_some_of_which_are_the_other_way_round_are_no_worse() -> Result<()> {
        // The others may be at either end, and at another one in every round.
        for (clients, mu) in [(1_000, 1.0), (100, 0.4), (20, 1.5)] {
            let round = PairRound::new(&Scheme::shuffle(clients)?, mu, Fineness::ROUGH)?;
            let [forward, reverse] = round.lattices(1e-15);
            let largest = epsilon(&[(&forward, 10)], 1e-6)?.max(epsilon(&[(&reverse, 10)], 1e-6)?);
            for mixed in [1, 5, 9] {
                let value = epsilon(&[(&forward, mixed), (&reverse, 10 - mixed)], 1e-6)?;
                assert!(value <= largest, "n = {clients}, μ = {mu}: {value} above {largest}");
            }
        }
        Ok(())
    }

    #[test]
    fn one_client_is_its_own_report() -> Result<()> {
        let profile = LocalProfile::Gaussian { mu: 0.7 };
        let round = PairRound::new(&Scheme::shuffle(1)?, 0.7, Fineness::FINE)?;
        for lattice in round.lattices(1e-15) {
            for loss in [0.1, 0.5, 1.5, 3.0] {
                let value = Rounds::new(vec![(Arc::clone(&lattice), 1)]).delta(loss)?;
                let exact = profile.delta_upper(f64::exp_m1(loss));
                // Chords over 1/64 of a deviation cost about 1/8·(1/64)² of the density.
                assert!(value >= exact * (1.0 - 1e-9) && value <= exact * 1.002, "{loss}: {value:e} {exact:e}");
            }
        }
        Ok(())
    }
}
