//! Displacement: the client whom the victim displaced is its hiding place.
//!
//! Of n clients k participate. Draw k *others*, and let the victim, if it participates, take the
//! place of one of them. Then every report but one has the same law under both hypotheses, and that
//! one is compared with the report of the client who is silent instead. The divergence of a round
//! is `E[((1−k/n)(1−t) + (1/n)·ΣG)₊]` with independent *slots* G, and whatever law is above every
//! possible slot in convex order gives a bound. `docs/theory/displacement.md` has the proofs.
//!
//! | module | what it holds |
//! |---|---|
//! | `terms` | which sums over slots a scheme asks for (Theorems 1 and 2) |
//! | `slot` | the law of a slot from the local profile alone (Theorem 3) |
//! | `zero_out` | the same where the victim's record is replaced by zero |
//! | `one_bit` | one-bit randomizers: the worst number of slots of either type |
//! | `blocks` | any ε0-LDP randomizer: the worst types, in blocks of slots |
//! | `curve` | divergences at many t, and the loss of a round that they make |
//! | `composed` | rounds of several kinds together |
//! | `method` | the bounds of the catalogue |

mod blocks;
mod composed;
mod curve;
mod method;
mod one_bit;
mod slot;
mod terms;
mod zero_out;

pub(crate) use composed::{Composed, delta_by_floor, floor};
pub(crate) use curve::{Bounds, Extent, Fineness, Group, Way};
pub(crate) use method::METHODS;
pub(crate) use slot::{CUT_SHARE, SlotSum, deviation};
pub(crate) use terms::{Term, Terms};
pub(crate) use zero_out::{Order, Profiles};

use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, exp_m1, exp_m1_down, ln, ln_1p};
use crate::pair::LinearPair;
use crate::pair::upper::{self, MAX_LOCAL_EPSILON};
use crate::pld::{HalfCurve, LossLattice, Rounds, Up, cache};
use crate::profile::LocalProfile;
use crate::scheme::{Participation, Scheme};
use blocks::TypedSlots;
use one_bit::OneBitSlots;
use slot::ProfileSlots;
use std::cell::OnceCell;
use std::sync::Arc;
use terms::Blanket;
use zero_out::{ZeroOutSlots, mixed};

/// The part of a randomizer that a bound uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Known {
    /// Its local profile, and nothing else. Where that ends at 0, the randomizer is ε0-LDP.
    Profile(LocalProfile),
    /// That it is two-level with ratio e^ε0 and high sets of measure 1/2.
    OneBit { epsilon: f64 },
    /// Its profiles, where neighbours differ in a record that is zero in one of them.
    ZeroOut(Profiles),
}

/// As [`upper::MAX_LOCAL_EPSILON`], for Gaussian noise: sensitivity over standard deviation.
const MAX_MU: f64 = 30.0;

/// Populations of plain shuffles and check-ins are taken for one in which so many participate, at
/// the most: revealing the reports of others is post-processing undone, so fewer clients are an
/// upper bound.
const MOST_PRESENT: f64 = 1e10;

/// A spare costs e^ε0 clients or so. Among more than this many times as many, that is nothing next
/// to what clones and blankets cost.
const MANY_SPARES: f64 = 1e3;

/// Where fewer than this times e^ε0 participate, it is so unlikely that any report hides another
/// that displacement does not help, but for the sampling, which is accounted for by itself.
const FEWEST_HIDDEN: f64 = 1e-3;

/// From this ratio 2/σ on, single reports are larger than all others together, and a rough lattice
/// costs no more than 3e-3 of ε.
const LOUD: f64 = 1.5;

/// With more terms than this, spares are so rare that Theorem 2 loses more than a rough lattice
/// does.
const MANY_TERMS: usize = 12;

/// A blanket may have a defect of so many floors: it is charged times t − 1, which is small.
const DEFECTS: [f64; 5] = [1.0, 1e2, 1e4, 1e6, 1e8];

/// Losses of so many standard deviations decide which of them is the best.
const DECISIVE: f64 = 4.0;

/// The share of a curve's floor that sums may leave out.
const LEFT_OUT: f64 = 0.1;

impl Known {
    /// Of any two records.
    fn profile(self) -> LocalProfile {
        match self {
            Self::Profile(profile) => profile,
            Self::OneBit { epsilon } => LocalProfile::TwoLevel { epsilon, high_mass: 0.5 },
            Self::ZeroOut(profiles) => profiles.far,
        }
    }

    /// Of the victim's two records, in both orders.
    fn profile_of_victim(self) -> LocalProfile {
        match self {
            Self::ZeroOut(profiles) => profiles.near,
            _ => self.profile(),
        }
    }

    /// The orders of two neighbours that have curves of their own.
    fn orders(self) -> &'static [Order] {
        match self {
            Self::ZeroOut(_) => &[Order::RecordFirst, Order::ZeroFirst],
            _ => &[Order::RecordFirst],
        }
    }

    /// Refuses what no shuffling hides.
    pub(crate) fn check(self) -> Result<()> {
        let (name, value, most) = match self.profile() {
            LocalProfile::Pure { epsilon }
            | LocalProfile::TwoLevel { epsilon, .. }
            | LocalProfile::Approximate { epsilon, .. }
            | LocalProfile::Laplace { epsilon }
            | LocalProfile::DiscreteLaplace { epsilon, .. } => ("a local epsilon", epsilon, MAX_LOCAL_EPSILON),
            LocalProfile::Gaussian { mu } | LocalProfile::Concentrated { mu } => ("a ratio 2/sigma", mu, MAX_MU),
            LocalProfile::Points(points) => match points.pure_epsilon() {
                Some(epsilon) => ("a local epsilon", epsilon, MAX_LOCAL_EPSILON),
                None => return Ok(()),
            },
        };
        if value <= most {
            return Ok(());
        }
        Err(AccountingError::not_applicable(format!(
            "{name} of {value} is above {most}, where shuffling hides nothing"
        )))
    }
}

/// The bounds on one round.
pub(crate) struct Displacement {
    known: Known,
    /// Of any two records.
    profile: LocalProfile,
    /// Of the victim's two records.
    of_victim: LocalProfile,
    scheme: Scheme,
    fineness: Fineness,
    /// The pair that dominates without a spare client, where all may participate.
    pair: Option<LinearPair>,
}

impl Displacement {
    pub(crate) fn new(scheme: &Scheme, known: Known, fineness: Fineness) -> Result<Self> {
        known.check()?;
        let scheme = computable(scheme)?;
        let is_small = |epsilon: f64| {
            let all_speak = scheme.fixed_size() == Some(scheme.clients());
            all_speak && scheme.clients() as f64 <= MANY_SPARES * exp(epsilon)
        };
        let profile = known.profile();
        let pair = match (profile.pure_epsilon(), profile) {
            (_, LocalProfile::TwoLevel { epsilon, high_mass }) if is_small(epsilon) => {
                Some(upper::two_level(&scheme, epsilon, high_mass)?)
            }
            (Some(epsilon), _) if is_small(epsilon) => Some(upper::any_ldp(&scheme, epsilon)?),
            _ => None,
        };
        Ok(Self { known, profile, of_victim: known.profile_of_victim(), scheme, fineness, pair })
    }

    /// The orders of two neighbours that have losses of their own.
    pub(super) fn orders(&self) -> &'static [Order] {
        self.known.orders()
    }

    /// The loss of a round in this order, one that dominates it. Divergences below `floor` are
    /// charged at infinite loss.
    pub(crate) fn lattice(&self, floor: f64, order: Order) -> Arc<LossLattice> {
        let key = |order| cache::Key::Displacement(self.scheme, self.known, order, self.fineness, floor);
        if let [only] = self.orders() {
            return cache::remembered_always(key(*only), || self.curve(floor, *only).into_symmetric_lattice());
        }
        // Each order needs the curve of the other, too; both lattices are remembered.
        let curves = OnceCell::new();
        let [record_first, zero_first] = [Order::RecordFirst, Order::ZeroFirst].map(|order| {
            cache::remembered_always(key(order), || {
                let (record_first, zero_first) =
                    curves.get_or_init(|| (self.curve(floor, Order::RecordFirst), self.curve(floor, Order::ZeroFirst)));
                match order {
                    Order::RecordFirst => record_first.convex_lattice(zero_first),
                    Order::ZeroFirst => zero_first.convex_lattice(record_first),
                }
            })
        });
        match order {
            Order::RecordFirst => record_first,
            Order::ZeroFirst => zero_first,
        }
    }

    fn curve(&self, floor: f64, order: Order) -> HalfCurve {
        let (ways, extent) = self.ways(floor, order);
        self.bounds(&ways, floor, order, |bounds| bounds.curve(&extent, self.fineness, floor))
    }

    /// At least δ of one round at ε ≥ 0, in this order. Divergences below `floor` need not be
    /// resolved, nor those that are above `most` for what is charged besides sums.
    pub(crate) fn delta_upper(&self, epsilon: f64, floor: f64, most: f64, order: Order) -> f64 {
        let (ways, extent) = self.ways(floor, order);
        if epsilon >= extent.largest && self.of_victim.delta_upper(exp_m1(extent.largest)) <= f64::MIN_POSITIVE {
            return 0.0;
        }
        self.bounds(&ways, floor, order, |bounds| bounds.at(exp_m1_down(epsilon).max(0.0), most)).min(1.0)
    }

    pub(super) fn fineness(&self) -> Fineness {
        self.fineness
    }

    /// The largest loss of a round; may be infinite.
    pub(crate) fn largest_loss(&self) -> f64 {
        ln_1p(self.of_victim.end())
    }

    /// About the standard deviation of the loss of a round. Leads searches; nothing rests on it.
    pub(crate) fn typical_loss(&self) -> f64 {
        let present = self.scheme.clients() as f64 * speaks(&self.scheme);
        deviation(&self.of_victim, present.max(1.0)) / self.scheme.clients() as f64
    }

    fn bounds<T>(&self, ways: &[Box<dyn Way>], floor: f64, order: Order, ask: impl FnOnce(&Bounds<'_>) -> T) -> T {
        let local = |excess: f64| self.of_victim.delta_upper(excess);
        let speaks = speaks(&self.scheme);
        let pair = self.pair.as_ref().map(|pair| {
            let lattice = cache::lattice::<Up>(pair, self.fineness.losses, composed::resolution(floor));
            Rounds::new(vec![(lattice, 1)])
        });
        // A victim who participates with probability ρ is compared with itself otherwise; in a
        // sample of fixed size the divergence is at most ρ·δ(1 + (t−1)/ρ).
        let stretched = if self.scheme.check_in_rate().is_none() { speaks } else { 1.0 };
        let cap = |excess: f64| {
            let in_sample = excess / stretched * (1.0 - 1e-15);
            let sampled = match (self.known, order) {
                // Those in the sample who hide the victim are further from its record than zero is.
                (Known::ZeroOut(profiles), Order::RecordFirst) if stretched < 1.0 => {
                    mixed(&profiles, (1.0 + excess) / (1.0 + excess / stretched), in_sample).min(local(excess) / speaks)
                }
                _ => local(in_sample),
            };
            let sampled = speaks * sampled * (1.0 + 1e-15);
            let of_pair = pair.as_ref().and_then(|pair| pair.delta(ln_1p(excess) * (1.0 - 1e-15)).ok()).unwrap_or(1.0);
            sampled.min(of_pair)
        };
        ask(&Bounds { ways, local: &local, cap: &cap })
    }

    /// The ways to bound a round in this order, and how far its losses reach.
    fn ways(&self, floor: f64, order: Order) -> (Vec<Box<dyn Way>>, Extent) {
        let profile = self.profile;
        let all_terms = self.profile_terms(floor);
        let is_loud = matches!(profile, LocalProfile::Gaussian { mu } | LocalProfile::Concentrated { mu } if mu > LOUD);
        let is_rough = is_loud || all_terms[0].terms.len() > MANY_TERMS;
        let fineness = if is_rough { Fineness::ROUGH } else { self.fineness };
        let first = &all_terms[0].terms;
        let present: f64 = first.iter().map(|term| term.weight * term.slots.present()).sum();
        let population = first.first().map_or(1.0, |term| term.population as f64);
        let mut ways: Vec<Box<dyn Way>> = Vec::new();
        let extent = Extent::of(&self.of_victim, &profile, present, population, floor);
        if present < FEWEST_HIDDEN * profile.end() && profile.pure_epsilon().is_some() {
            return (ways, extent);
        }
        match (self.known, profile.pure_epsilon()) {
            (Known::OneBit { epsilon }, _) => {
                let terms = self.one_bit_terms(epsilon, &all_terms[0], floor);
                ways.push(Box::new(OneBitSlots::new(epsilon, terms, fineness, floor)));
            }
            (Known::Profile(_), Some(epsilon)) => {
                ways.push(Box::new(TypedSlots::new(epsilon, self.typed_terms(&all_terms[0], floor), fineness)));
            }
            // Types know nothing of how near zero is.
            (Known::Profile(_), None) | (Known::ZeroOut(_), _) => {}
        }
        ways.extend(all_terms.into_iter().map(|terms| -> Box<dyn Way> {
            match self.known {
                Known::ZeroOut(profiles) => Box::new(ZeroOutSlots { profiles, order, terms, fineness, floor }),
                _ => Box::new(ProfileSlots { profile, terms, fineness, floor }),
            }
        }));
        (ways, extent)
    }

    /// The terms for slots of which only the profile is known; the first terms are the ones
    /// to go by.
    fn profile_terms(&self, floor: f64) -> Vec<Terms> {
        let clients = self.scheme.clients();
        let everybody = |rate: f64| self.best_of_blankets(rate, floor);
        match (self.scheme.fixed_size(), self.scheme.check_in_rate()) {
            (_, Some(rate)) => {
                let terms = Terms::check_in(clients, rate);
                // Where it is likely that all come, Theorem 2 is the better one.
                if terms.local > floor { vec![terms, everybody(rate)] } else { vec![terms] }
            }
            (Some(sampled), None) if sampled < clients => vec![Terms::sampled(clients, sampled)],
            _ => vec![everybody(1.0)],
        }
    }

    /// Theorem 2 with the blanket that is charged least where it matters. A larger defect allows a
    /// larger blanket, and with that a spare is found sooner. Zero's own law is a blanket for
    /// zero-out neighbours: no record is further from it than the victim's.
    fn best_of_blankets(&self, rate: f64, floor: f64) -> Terms {
        let clients = self.scheme.clients();
        let excess = exp_m1(DECISIVE * self.typical_loss());
        let charged = |terms: &Terms| terms.local * self.of_victim.delta_upper(excess) + terms.linear * excess;
        let with = |defect: &f64| {
            Terms::everybody(clients, rate, blanket(&self.of_victim, defect * floor), ln(LEFT_OUT * floor))
        };
        let mut best = with(&DEFECTS[0]);
        for terms in DEFECTS[1..].iter().map(with) {
            // What is below the floor does not matter: then the larger blanket.
            if charged(&terms) <= charged(&best).max(floor) {
                best = terms;
            }
        }
        best
    }

    /// The terms that blocks of slots are summed over.
    fn typed_terms(&self, of_profile: &Terms, floor: f64) -> Terms {
        match self.scheme.check_in_rate() {
            Some(rate) => {
                let width = self.fineness.block;
                Terms::check_in_by_size(self.scheme.clients(), rate, width, ln(LEFT_OUT * floor))
            }
            None => of_profile.clone(),
        }
    }

    /// The terms that the slots of a one-bit randomizer are summed over. All laws have 2/(E+1) of
    /// the uniform one.
    fn one_bit_terms(&self, epsilon: f64, of_profile: &Terms, floor: f64) -> Terms {
        let blanket = Blanket { gamma: 2.0 / (1.0 + exp(epsilon)) * (1.0 - 1e-15), defect: 0.0 };
        let everybody = |rate: f64| Terms::everybody(self.scheme.clients(), rate, blanket, ln(LEFT_OUT * floor));
        match (self.scheme.fixed_size(), self.scheme.check_in_rate()) {
            (_, Some(rate)) => everybody(rate),
            (Some(sampled), None) if sampled < self.scheme.clients() => of_profile.clone(),
            _ => everybody(1.0),
        }
    }
}

/// The scheme that is computed: the same, but for populations in which more than [`MOST_PRESENT`]
/// participate.
pub(crate) fn computable(scheme: &Scheme) -> Result<Scheme> {
    with_present_at_most(scheme, MOST_PRESENT)
}

/// The same scheme with so many clients that about `most` participate, if there are more of them. A
/// sample of fixed size stays as it is.
fn with_present_at_most(scheme: &Scheme, most: f64) -> Result<Scheme> {
    let clients = |rate: f64| (most / rate).min(scheme.clients() as f64) as u64;
    match scheme.participation() {
        Participation::Everyone => Scheme::shuffle(clients(1.0)),
        Participation::FixedSize { .. } => Ok(*scheme),
        Participation::CheckIn { rate, drop_out } => {
            Scheme::check_in(clients(scheme.check_in_rate().unwrap_or(rate)), rate, drop_out)
        }
    }
}

/// At least the probability that the victim participates.
pub(crate) fn speaks(scheme: &Scheme) -> f64 {
    match (scheme.fixed_size(), scheme.check_in_rate()) {
        (_, Some(rate)) => rate,
        (Some(sampled), None) => (sampled as f64 / scheme.clients() as f64).next_up().min(1.0),
        (None, None) => 1.0,
    }
}

/// A share γ of any report's law that every other has too, but for a defect: 1/γ is the smallest s
/// at which the profile is below `defect`, about.
fn blanket(profile: &LocalProfile, defect: f64) -> Blanket {
    const STEP: f64 = 1.05;
    let mut ratio = 1.0;
    while profile.delta_upper(ratio - 1.0) > defect && ratio - 1.0 < profile.end() && ratio < 1e15 {
        ratio *= STEP;
    }
    // γ is rounded down by more than all roundings before it: 1/γ is not smaller than the ratio,
    // nor than that of the end.
    let end = profile.end();
    let (ratio, excess) = if ratio < 1.0 + end { (ratio, ratio - 1.0) } else { (1.0 + end, end) };
    Blanket { gamma: 1.0 / ratio * (1.0 - 1e-15), defect: profile.delta_upper(excess) }
}
