//! `full-report-pld`: all that the reports of the named mechanism tell, everyone else at one of the
//! victim's records.

use super::lattice_law::LatticeLaw;
use super::report::Report;
use super::sum::{Atom, Sum};
use super::{Attained, PER_DEVIATION, about, rounded_records, share_of_diameter};
use crate::bound::About;
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, ln_1p};
use crate::pair::lower::lower_rate;
use crate::pld::{Down, LossLattice};
use crate::scheme::{Adjacency, LocalStructure, Noise, Question, Scheme};
use std::sync::Arc;

/// `full-report-pld`.
pub(super) struct FullReport;

/// Errors grow with the square root of the number of clients; beyond this many they are not small.
const MAX_CLIENTS: u64 = 100_000_000_000;

/// The scale of discrete Laplace noise, in steps, is the exact one within this share.
const STEP_ROUNDING: f64 = 1e-9;

/// Outcomes with a smaller likelihood ratio are dropped: their losses would be differences of
/// rounded numbers.
const LEAST_RATIO: f64 = 1e-6;

/// A normal law has 10⁻³⁰⁰ of its mass beyond this many deviations.
const DEEPEST: f64 = 37.0;

impl Method for FullReport {
    fn about(&self) -> About {
        about(
            "full-report-pld",
            "Attained by whole reports",
            "what whole reports of the named mechanism lose when all other clients hold one of the victim's two records",
        )
    }

    /// Zero and a record at the end of the ball are two records half as far apart.
    fn covers(&self, _adjacency: Adjacency) -> bool {
        true
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let rounds = RoundRatio::best(question.scheme(), &report_of(question)?)?;
        // Tails of T rounds that are 37 deviations out are made of rounds that are 37/√T out.
        let deviations = DEEPEST / (question.rounds() as f64).sqrt();
        let lattices = rounds.iter().flat_map(|round| round.lattices(deviations)).collect();
        Ok(Box::new(Attained::new(lattices, question.rounds())))
    }
}

/// Reports from two records of the named mechanism that are as far apart as any.
fn report_of(question: &Question) -> Result<Report> {
    let (randomizer, share) = (question.randomizer(), share_of_diameter(question));
    match (randomizer.local().noise, randomizer.local_structure()) {
        // Rounded down: a little less than the distance of the records is the distance of two
        // records between them.
        (Some(Noise::Gaussian { ratio }), _) => Report::gaussian(ratio.next_down() * share),
        (Some(Noise::Laplace { epsilon }), _) => Report::laplace(epsilon.next_down() * share),
        // On every grid the discrete Laplace tells more: the continuous one is the discrete one
        // with independent noise added. Its scale in whole steps is rounded up, by less than this.
        (Some(Noise::DiscreteLaplace { epsilon }), _) => Report::laplace(epsilon * (1.0 - STEP_ROUNDING) * share),
        // The question names no grid, so it is about all of them; on finer and finer ones the
        // discrete Gaussian comes as near to the continuous one as one likes.
        (Some(Noise::DiscreteGaussian { ratio }), _) => Report::gaussian(ratio.next_down() * share),
        (Some(Noise::RoundedGaussian { ratio }), _) => {
            let (mu, cells) = rounded_records(question, ratio);
            Report::rounded_gaussian(mu, cells)
        }
        (_, LocalStructure::TwoLevel { epsilon, high_mass })
            if high_mass < 0.5 && question.adjacency() == Adjacency::ReplaceOne =>
        {
            Report::two_level(epsilon, high_mass)
        }
        _ => Err(AccountingError::not_applicable("no whole report of this randomizer is known exactly")),
    }
}

/// The likelihood ratio of one round, `1 + X/n`: X as a sum over slots.
pub(super) struct RoundRatio {
    sum: Sum,
    clients: f64,
}

impl RoundRatio {
    /// The ratio, with each report told in one of the ways that tell most.
    ///
    /// Fixed sizes have a slot for each participant. At check-in each client has one, which is
    /// empty unless it comes: what is seen of the number of participants is in X already.
    fn best(scheme: &Scheme, report: &Report) -> Result<Vec<Self>> {
        if scheme.clients() > MAX_CLIENTS {
            return Err(AccountingError::not_applicable(format!("there are more than {MAX_CLIENTS} clients")));
        }
        let clients = scheme.clients() as f64;
        let laws = LatticeLaw::best(report, clients);
        if laws.is_empty() {
            return Err(AccountingError::not_applicable("floats do not resolve what a report tells"));
        }
        let (slots, rate) = match lower_rate(scheme) {
            Some(rate) => (scheme.clients(), rate),
            None => (scheme.fixed_size().unwrap_or(scheme.clients()), 1.0),
        };
        Ok(laws.iter().map(|law| Self { sum: Sum::new(law, slots, rate), clients }).collect())
    }

    /// Both directions of the round, rounded down.
    fn lattices(&self, deviations: f64) -> [Arc<LossLattice<Down>>; 2] {
        let atoms = self.sum.atoms(deviations);
        let spacing = self.sum.spacing * self.sum.deviation() / self.clients / PER_DEVIATION;
        [false, true].map(|reverse| {
            let outcomes: Vec<(f64, f64)> = atoms.iter().filter_map(|atom| self.outcome(atom, reverse)).collect();
            Arc::new(LossLattice::of_outcomes(&outcomes, spacing, 0.0))
        })
    }

    /// (P-mass, loss) of an atom, the loss at its smallest: P is the law with the ratio `1 + X/n`
    /// to Q, or the other way round.
    fn outcome(&self, atom: &Atom, reverse: bool) -> Option<(f64, f64)> {
        let part = |points: f64| self.sum.spacing * points / self.clients;
        if 1.0 + part(atom.from) < LEAST_RATIO {
            return None;
        }
        // A part is a product and a quotient of floats, next to −1 its error counts for 1/ratio as
        // much.
        let slack = |part: f64| 16.0 * f64::EPSILON * part.abs() / (1.0 + part).min(1.0);
        if reverse {
            let part = part(atom.to);
            Some((atom.mass, -ln_1p(part) - slack(part)))
        } else {
            let part = part(atom.from);
            let loss = ln_1p(part) - slack(part);
            Some((atom.mass * exp(loss), loss))
        }
    }
}
