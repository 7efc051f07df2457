//! Which sums a scheme asks for: Theorems 1 and 2 of `docs/theory/displacement.md`.

use crate::numerics::directed::inflate;
use crate::numerics::elementary::{exp, exp_m1, ln, ln_1p};
use crate::pair::Binomial;
use crate::sums::Number;

/// A sum S over slots in a population of so many clients: it contributes
/// `weight/population·E(S − population·(t−1))₊` to the divergence at t.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    pub(crate) weight: f64,
    pub(crate) slots: SlotCount,
    pub(crate) population: u64,
}

/// How many slots there are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SlotCount {
    /// Always the same number.
    Fixed(u64),
    /// Each of so many is there with this probability.
    Thinned { slots: u64, rate: f64 },
    /// (number, probability), the number increasing.
    Sizes(Vec<(u64, f64)>),
}

impl SlotCount {
    /// As a number of draws.
    pub(crate) fn number(&self) -> Number<'_> {
        match self {
            Self::Fixed(slots) => Number::Fixed(*slots),
            Self::Thinned { slots, rate } => Number::Thinned { draws: *slots, rate: *rate },
            Self::Sizes(sizes) => Number::Mixed(sizes),
        }
    }

    /// The mean number of slots that are there.
    pub(crate) fn present(&self) -> f64 {
        self.number().mean()
    }
}

/// An upper bound on the divergence of a round at every t ≥ 1: all terms, and `local·δ(t) +
/// linear·(t−1)`, δ the local profile.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Terms {
    pub(crate) terms: Vec<Term>,
    pub(crate) local: f64,
    pub(crate) linear: f64,
}

/// The part that one report has in common with any other, for Theorem 2: every law is at least γ
/// times one fixed law, but for a defect of mass γ·`defect`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Blanket {
    pub(crate) gamma: f64,
    pub(crate) defect: f64,
}

/// Numbers of slots within this share of each other are taken for one.
const CLOSE: f64 = 2e-3;

/// Each block of them is wider than the one before by this factor, but no wider than a share of the
/// slots that are left, or a smaller one of all.
const GROWTH: f64 = 2.0;
const WIDEST: f64 = 0.1;
const WIDEST_OF_ALL: f64 = 0.06;

/// Check-ins are told apart by about so many sizes.
const MOST_SIZES: u64 = 256;

/// The logarithm of the share of the local profile from which on it is charged altogether.
const HOPELESS: f64 = -5.0;

/// Covers the roundings of a weight.
const SLACK: f64 = 64.0 * f64::EPSILON;

/// The relative error of binomial masses, see `docs/numerics.md`.
pub(super) const MASS_ERROR: f64 = 4e-12;

impl Terms {
    /// Theorem 1: `sampled` of `clients` participate, not all of them.
    pub(crate) fn sampled(clients: u64, sampled: u64) -> Self {
        let term = Term { weight: 1.0, slots: SlotCount::Fixed(sampled), population: clients };
        Self { terms: vec![term], local: 0.0, linear: 0.0 }
    }

    /// Theorem 1 at check-in: every slot is there with probability `rate`. Should all n come, which
    /// happens with probability r^n, Theorem 1 says nothing, and the local profile is charged.
    pub(crate) fn check_in(clients: u64, rate: f64) -> Self {
        let slots = SlotCount::Thinned { slots: clients, rate };
        let term = Term { weight: 1.0, slots, population: clients };
        Self { terms: vec![term], local: all_come(clients, rate), linear: 0.0 }
    }

    /// Theorem 1 at check-in, by the number of those who came, in blocks whose width is a multiple
    /// of `width`: the bound grows with the number, so a block is charged at its largest. Numbers
    /// beyond all but e^`ln_cut` are charged the local profile.
    pub(crate) fn check_in_by_size(clients: u64, rate: f64, width: u64, ln_cut: f64) -> Self {
        let law = Binomial { trials: clients, p: rate, q: 1.0 - rate };
        let (low, high) = law.window(ln_cut);
        let (low, high) = (low.min(clients - 1), high.min(clients - 1));
        let width = width * ((high - low) / (width * MOST_SIZES)).max(1);
        // Fewer than the window has are charged as its smallest block.
        let mut sizes: Vec<(u64, f64)> = vec![(low.div_ceil(width) * width, exp(ln_cut))];
        for (size, mass) in (low..=high).zip(law.masses(low, high)) {
            let largest = size.div_ceil(width) * width;
            match sizes.last_mut() {
                Some((last, weight)) if *last == largest => *weight += mass,
                _ => sizes.push((largest, mass)),
            }
        }
        sizes.iter_mut().for_each(|(_, weight)| *weight *= 1.0 + MASS_ERROR);
        let term = Term { weight: 1.0, slots: SlotCount::Sizes(sizes), population: clients };
        Self { terms: vec![term], local: all_come(clients, rate) + exp(ln_cut), linear: 0.0 }
    }

    /// Theorem 2: everybody participates, or everybody checks in at this rate. A client that stays
    /// away is a spare too: absence is a report that everybody may send.
    ///
    /// `U_m ≤ γL_m + (1−γ+γδ')U_(m−1) + γδ'(U_(m−1) + t − 1)` from `U_0 ≤ δ(t)`, unrolled until
    /// what is left has weight e^`ln_cut`. L_m does not increase with m, so a block of them is
    /// charged at its smallest.
    pub(crate) fn everybody(clients: u64, rate: f64, blanket: Blanket, ln_cut: f64) -> Self {
        let gamma = (1.0 - rate) + rate * blanket.gamma;
        let defect = rate * blanket.gamma * blanket.defect;
        let others = clients - 1;
        // The logarithm of the factor from one step to the next.
        let ln_next = ln_1p(2.0 * defect - gamma);
        // Where there are too few clients for a spare to be among them, the local profile is all
        // there is.
        let is_hopeless = ln_next * others as f64 > HOPELESS;
        if others == 0 || is_hopeless || ln_next.is_nan() {
            return Self { terms: Vec::new(), local: 1.0, linear: 0.0 };
        }
        let after = |steps: u64| if steps == 0 { 1.0 } else { exp(ln_next * steps as f64) };
        let slack = |steps: u64| SLACK * (1.0 + steps as f64 * ln_next.abs());
        let steps = (ln_cut / ln_next).ceil().clamp(1.0, others as f64) as u64;
        let (mut terms, mut taken) = (Vec::new(), 0);
        let mut width = ((others as f64 * CLOSE) as u64).clamp(1, steps);
        while taken < steps {
            let next = (taken + width).min(others);
            // γ·(a^taken + … + a^(next−1)), a the factor.
            let sum = after(taken) * exp_m1(ln_next * (next - taken) as f64) / exp_m1(ln_next);
            let slots = others - (next - 1);
            let count = if rate < 1.0 { SlotCount::Thinned { slots, rate } } else { SlotCount::Fixed(slots) };
            terms.push(Term { weight: inflate(gamma * sum, slack(next)), slots: count, population: slots });
            taken = next;
            let widest = ((others - taken) as f64 * WIDEST).max(others as f64 * WIDEST_OF_ALL);
            width = ((width as f64 * GROWTH).min(widest) as u64).max(1);
        }
        let linear = inflate(defect / (gamma - 2.0 * defect), SLACK);
        Self { terms, local: inflate(after(taken), slack(taken)), linear }
    }
}

/// At least r^n.
fn all_come(clients: u64, rate: f64) -> f64 {
    let ln_all = clients as f64 * ln(rate);
    inflate(exp(ln_all), 4.0 * f64::EPSILON * (1.0 + ln_all.abs())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Theorem 2's recursion, step by step, for sums that are given.
    fn recursion(others: u64, gamma: f64, defect: f64, excess: f64, of_sum: impl Fn(u64) -> f64) -> f64 {
        let mut bound = 0.25;
        for m in 1..=others {
            bound = gamma * of_sum(m) + (1.0 - gamma + defect) * bound + defect * (bound + excess);
        }
        bound
    }

    /// The value of the terms, for the same sums.
    fn of_terms(terms: &Terms, excess: f64, of_sum: impl Fn(u64) -> f64) -> f64 {
        let sums: f64 = terms.terms.iter().map(|term| term.weight * of_sum(term.population)).sum();
        sums + terms.local * 0.25 + terms.linear * excess
    }

    #[test]
    fn theorem_2_is_unrolled() {
        let excess = 0.5;
        let of_sum = |m: u64| 0.2 / (m as f64).sqrt();
        for (others, rate, gamma, defect) in [
            (40, 1.0, 0.3, 0.0),
            (40, 1.0, 0.3, 0.01),
            (500, 1.0, 0.02, 1e-4),
            (40, 0.6, 0.1, 0.02),
            (11, 1.0, 0.5, 0.0),
        ] {
            let terms = Terms::everybody(others + 1, rate, Blanket { gamma, defect }, -60.0);
            let all = (1.0 - rate) + rate * gamma;
            let truth = recursion(others, all, rate * gamma * defect, excess, of_sum);
            let value = of_terms(&terms, excess, of_sum);
            assert!(value >= truth * (1.0 - 1e-14), "{others}, {rate}, {gamma}, {defect}: {value} below {truth}");
            assert!(value <= 1.5 * truth, "{others}, {rate}, {gamma}, {defect}: {value} far above {truth}");
        }
    }

    /// Cut off early, the rest is charged the local profile.
    #[test]
    fn what_is_not_unrolled_is_charged() {
        let terms = Terms::everybody(1_001, 1.0, Blanket { gamma: 0.01, defect: 0.0 }, -2.0);
        let total: f64 = terms.terms.iter().map(|term| term.weight).sum();
        assert!(total < 0.95 && total + terms.local >= 1.0, "{total} {}", terms.local);
    }

    /// Alone, whatever the randomizer, nobody is a spare.
    #[test]
    fn a_single_client_has_its_local_profile() {
        for (rate, gamma) in [(1.0, 1.0), (1.0, 0.5), (1e-9, 1.0)] {
            let terms = Terms::everybody(1, rate, Blanket { gamma, defect: 0.0 }, -60.0);
            assert_eq!(terms, Terms { terms: Vec::new(), local: 1.0, linear: 0.0 });
        }
    }

    #[test]
    fn everybody_who_comes_is_counted() {
        for (clients, rate) in [(3_u64, 0.9_f64), (10, 0.5), (200, 0.03), (5, 1.0 - 1e-9)] {
            let all = rate.powi(clients as i32);
            assert!(Terms::check_in(clients, rate).local >= all * (1.0 - 1e-15));
            for width in [1, 4, 12] {
                let terms = Terms::check_in_by_size(clients, rate, width, -30.0);
                assert!(terms.local >= all + (-30.0_f64).exp() * (1.0 - 1e-15));
                let SlotCount::Sizes(sizes) = &terms.terms[0].slots else { panic!("sizes") };
                // As many as come, or more, are at least as likely as they are.
                for least in 0..clients {
                    let law = Binomial { trials: clients, p: rate, q: 1.0 - rate };
                    let truth: f64 = law.masses(least, clients - 1).iter().sum();
                    let charged: f64 = sizes.iter().filter(|(size, _)| *size >= least).map(|(_, weight)| weight).sum();
                    assert!(
                        charged + (-30.0_f64).exp() >= truth * (1.0 - 1e-12),
                        "{clients}, {rate}, {width}, {least}"
                    );
                }
            }
        }
    }
}
