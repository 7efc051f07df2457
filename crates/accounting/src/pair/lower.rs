//! Pairs that real mechanisms attain on real datasets: no analysis of their class can go below
//! these.
//!
//! Randomized response over m ≥ 3 values with all other clients at a third value is again a linear
//! pair; a mechanism of which only one bit per report is looked at is a [`BinaryPair`].

use super::linear::{Cells, LinearPair, Weights};
use super::window::Binomial;
use crate::error::{AccountingError, Result};
use crate::numerics::beta::regularised_beta_of_complement;
use crate::numerics::elementary::{exp_m1, ln_1p};
use crate::scheme::priv_unit::optimal_cap;
use crate::scheme::{Participation, Scheme};

/// The high sets of a two-level randomizer: two that are disjoint, and a third one that meets each
/// of them alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// The measure of each high set, q.
    high: f64,
    /// The measure of the third one's intersection with each of the other two, m; at most q/2. A
    /// larger one than in truth is safe.
    shared: f64,
}

impl Overlap {
    /// Three of so many values of randomized response: nothing is shared.
    pub fn of_values(categories: u64) -> Result<Self> {
        if categories < 3 {
            return Err(AccountingError::not_applicable("there is no third value among two"));
        }
        Ok(Self { high: 1.0 / categories as f64, shared: 0.0 })
    }

    /// Caps of PrivUnit around u, −u and a direction that is orthogonal to u.
    ///
    /// A point of the third cap has the height t ≥ g above the third equator. What lies at that
    /// height is a sphere of one dimension less and of radius √(1−t²), on which the first cap has
    /// the height g/√(1−t²), and so at least g/√(1−g²): m is at most q times the measure of that
    /// cap.
    pub fn of_caps(local_epsilon: f64, dimension: u64) -> Self {
        let cap = optimal_cap(local_epsilon, dimension);
        let square = cap.height * cap.height;
        let height_squared = square / (1.0 - square);
        let share = if height_squared >= 1.0 {
            0.0
        } else if dimension == 2 {
            0.5
        } else {
            0.5 * regularised_beta_of_complement((dimension as f64 - 2.0) / 2.0, 0.5, height_squared).0
        };
        // A little more than the beta function's error.
        Self { high: cap.mass, shared: cap.mass * (share * (1.0 + 1e-9)).min(0.5) }
    }
}

/// A two-level randomizer, the victim at one of two records with disjoint high sets and everyone
/// else at a third record: attained on this dataset, but for the third high set being seen as a
/// whole.
///
/// With `g = 1/(1+(E−1)q)`: each of the victim's high sets, without the third, comes up with
/// probability g(q−m), the third with Egq. Relative to everyone holding the third record, `P/W = 1
/// − k/n + (E·a + b + ω·l + rest)/n` with `ω = (1+(E−1)m/q)/E`. Written with the third set as the
/// remaining cell all weights are non-negative. At check-in the absent, too, have weight 1. For
/// m-ary randomized response q = 1/m, and nothing is shared.
pub fn third_value(scheme: &Scheme, local_epsilon: f64, Overlap { high, shared }: Overlap) -> Result<LinearPair> {
    let (e, e_minus_1) = super::upper::exponentials(local_epsilon)?;
    let n = scheme.clients() as f64;
    let low = 1.0 / (1.0 + e_minus_1 * high);
    let (signal, third) = (low * (high - shared), low * e * high);
    // 1 − 2·signal − third, without cancellation.
    let others = low * (1.0 - 3.0 * high + 2.0 * shared).max(0.0);
    // 1 − ω.
    let lack = -exp_m1(-local_epsilon) * (1.0 - shared / high);
    let (trials, heard, absent) = super::upper::trials(scheme);
    // A lower bound wants a rate that is not too large: thinning is post-processing.
    let heard = lower_rate(scheme).unwrap_or(heard);
    let cells = Cells { signal: heard * signal, neutral: heard * others + (1.0 - heard), rest: heard * third };
    let weights = Weights {
        offset: absent + trials as f64 * (1.0 - lack) / n,
        low: lack / n,
        gap: e_minus_1 / n,
        neutral: lack / n,
    };
    LinearPair::new(trials, cells, weights)
}

/// One bit of every report, all other clients at the victim's first record: the bit is 1 with
/// probability `p0` for that record and `p1` for the second.
///
/// Of k reports m show a 1, m ~ Bin(k, p0) if the victim holds the first record, and holding the
/// second multiplies its probability by `1 + (m − k·p0)·(p1−p0)/(n·p0(1−p0))`. Looking at one bit
/// only is post-processing, so this is a lower bound for whatever mechanism has such a bit; binary
/// randomized response attains it.
#[derive(Debug, Clone, PartialEq)]
pub struct BinaryPair {
    /// (probability, number of reports): one entry for fixed sizes.
    sizes: Vec<(f64, u64)>,
    p0: f64,
    /// (p1−p0)/(n·p0(1−p0)): the loss per 1, about.
    step: f64,
}

/// At check-in, sizes within this share of each other are taken for the smallest: reports dropped
/// at random are post-processing.
const SIZE_BLOCK: f64 = 2e-4;

/// Logarithm of the mass that windows drop.
const LN_CUT: f64 = -69.0;

/// Of more clients than this the outcomes that matter, about `24·√n`, are too many to hold.
const MAX_CLIENTS: u64 = 100_000_000_000;

impl BinaryPair {
    /// The pair of a bit that is 1 with probability `p0` or `p0 + gap`, `0 < p0 < p0 + gap < 1`; of
    /// at most 10¹¹ clients.
    ///
    /// The gap is given because the difference of two rounded probabilities would cancel; a little
    /// less of it is the safe side.
    pub fn new(scheme: &Scheme, p0: f64, gap: f64) -> Result<Self> {
        if scheme.clients() > MAX_CLIENTS {
            return Err(AccountingError::not_applicable(format!(
                "the counts of more than {MAX_CLIENTS} clients are too many to be summed"
            )));
        }
        let sizes = match scheme.participation() {
            Participation::CheckIn { rate, .. } => {
                blocks_of_sizes(scheme.clients(), lower_rate(scheme).unwrap_or(rate))
            }
            _ => vec![(1.0, scheme.fixed_size().unwrap_or(scheme.clients()))],
        };
        let step = gap * (1.0 - 1e-14) / (scheme.clients() as f64 * p0 * (1.0 - p0));
        if p0 > 0.0 && gap > 0.0 && p0 + gap < 1.0 && step.is_finite() {
            Ok(Self { sizes, p0, step })
        } else {
            Err(AccountingError::not_applicable("the bit of a report says nothing that floats can tell"))
        }
    }

    /// The bit of a two-level randomizer: whether the report lies in the high set of the second
    /// record, given disjoint high sets. For q = 1/2 this is binary randomized response.
    pub fn two_level(scheme: &Scheme, local_epsilon: f64, high_mass: f64) -> Result<Self> {
        let (_, e_minus_1) = super::upper::exponentials(local_epsilon)?;
        let low = high_mass / (1.0 + e_minus_1 * high_mass);
        Self::new(scheme, low, e_minus_1 * low)
    }

    /// (probability when all hold the first record, logarithm of the factor when the victim holds
    /// the second), every outcome of the windows once.
    pub(crate) fn outcomes(&self) -> Vec<(f64, f64)> {
        let mut outcomes = Vec::new();
        for &(weight, reports) in &self.sizes {
            let law = Binomial { trials: reports, p: self.p0, q: 1.0 - self.p0 };
            let (low, high) = law.window(LN_CUT);
            let mean = law.mean();
            outcomes.extend(
                (low..=high)
                    .zip(law.masses(low, high))
                    .map(|(ones, mass)| (weight * mass, ln_1p(self.step * (ones as f64 - mean)))),
            );
        }
        outcomes
    }

    /// About the standard deviation of the loss of one round.
    pub(crate) fn typical_loss(&self) -> f64 {
        let reports: f64 = self.sizes.iter().map(|(weight, reports)| weight * *reports as f64).sum();
        self.step * (reports * self.p0 * (1.0 - self.p0)).sqrt()
    }

    /// At least the rounding error of a loss: the difference of the count and its mean, times the
    /// step.
    pub(crate) fn loss_error(&self) -> f64 {
        let reports = self.sizes.iter().map(|(_, reports)| *reports).max().unwrap_or(0) as f64;
        8.0 * f64::EPSILON * self.step * reports
    }
}

/// The rate at check-in, rounded down; `None` for fixed sizes.
pub(crate) fn lower_rate(scheme: &Scheme) -> Option<f64> {
    match scheme.participation() {
        Participation::CheckIn { rate, drop_out: 0.0 } => Some(rate),
        Participation::CheckIn { rate, drop_out } => Some((rate * (1.0 - drop_out).next_down()).next_down()),
        _ => None,
    }
}

/// The number of check-ins in blocks, each represented by its smallest member.
fn blocks_of_sizes(clients: u64, rate: f64) -> Vec<(f64, u64)> {
    let law = Binomial { trials: clients, p: rate, q: 1.0 - rate };
    let (low, high) = law.window(LN_CUT);
    let masses = law.masses(low, high);
    let mut sizes: Vec<(f64, u64)> = Vec::new();
    for (size, mass) in (low..=high).zip(masses) {
        match sizes.last_mut() {
            Some((weight, first)) if (size - *first) as f64 <= SIZE_BLOCK * size as f64 => *weight += mass,
            _ => sizes.push((mass, size)),
        }
    }
    sizes
}
