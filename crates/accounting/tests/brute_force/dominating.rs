//! The bounds that the enumerated truth is compared with: the bounds that the crate itself
//! computes.
//!
//! One round is a [`LinearPair`], several are its loss lattices composed by [`Rounds`]. This file
//! alone knows where the upper bounds come from.

use shuffledp_accounting::pair::{LinearPair, upper};
use shuffledp_accounting::pld::{LossLattice, Rounds, Up};
use shuffledp_accounting::scheme::{LocalStructure, Mechanism, RandomizerSpec, Scheme};
use std::sync::Arc;

/// A randomizer as the bounds see it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Randomizer {
    /// By name. `Mechanism::Any` is the class of all ε0-LDP randomizers.
    Named(RandomizerSpec),
    /// Density of two values with ratio `e^ε0`, the high one on a set of blanket measure
    /// `high_mass` for every input.
    TwoLevel { local_epsilon: f64, high_mass: f64 },
}

impl Randomizer {
    pub(crate) fn named(mechanism: Mechanism) -> Self {
        Self::Named(RandomizerSpec::new(mechanism).expect("a valid mechanism"))
    }

    pub(crate) fn any(local_epsilon: f64) -> Self {
        Self::named(Mechanism::Any { local_epsilon })
    }
}

/// One round, as the bounds see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub(crate) scheme: Scheme,
    pub(crate) randomizer: Randomizer,
}

impl Round {
    /// The crate's linear pair.
    fn pair(&self) -> LinearPair {
        let scheme = self.scheme;
        match self.randomizer {
            Randomizer::TwoLevel { local_epsilon, high_mass } => upper::two_level(&scheme, local_epsilon, high_mass),
            Randomizer::Named(randomizer) => match randomizer.local_structure() {
                LocalStructure::TwoLevel { epsilon, high_mass } => upper::two_level(&scheme, epsilon, high_mass),
                LocalStructure::Pure { epsilon } => upper::any_ldp(&scheme, epsilon),
                LocalStructure::Approximate => panic!("no pair for {randomizer:?}"),
            },
        }
        .expect("a pair for a handful of clients")
    }
}

/// Lattice points to a standard deviation of one round, as where questions are answered.
const PER_DEVIATION: f64 = 128.0;

/// The dominating pair of one round, or of several in a row. Swap-symmetric: one direction serves
/// both.
pub(crate) struct Upper {
    pairs: Vec<LinearPair>,
    /// Several rounds.
    composed: Option<Rounds>,
}

impl Upper {
    pub(crate) fn of(round: &Round) -> Self {
        Self { pairs: vec![round.pair()], composed: None }
    }

    /// The pairs of all rounds, one after the other. Rounds that are equal are repetitions of one
    /// lattice.
    pub(crate) fn composed(rounds: &[Round]) -> Self {
        let pairs: Vec<LinearPair> = rounds.iter().map(Round::pair).collect();
        let mut parts: Vec<(LinearPair, u64)> = Vec::new();
        for pair in &pairs {
            match parts.iter_mut().find(|(known, _)| known == pair) {
                Some((_, count)) => *count += 1,
                None => parts.push((*pair, 1)),
            }
        }
        let lattice = |pair| Arc::new(LossLattice::<Up>::new(pair, PER_DEVIATION));
        let parts = parts.iter().map(|(pair, count)| (lattice(pair), *count)).collect();
        Self { pairs, composed: Some(Rounds::new(parts)) }
    }

    /// No dataset has a larger hockey-stick divergence than this.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        match &self.composed {
            None => self.pairs[0].delta_upper(epsilon),
            Some(rounds) if epsilon >= 0.0 => rounds.delta(epsilon).expect("a number"),
            // Σ(P − tQ)₊ = 1 − t + t·Σ(Q − P/t)₊, and exchanging P and Q changes nothing.
            Some(rounds) => -epsilon.exp_m1() + epsilon.exp() * rounds.delta(-epsilon).expect("a number"),
        }
    }

    /// No dataset has a larger Rényi divergence than this.
    pub(crate) fn renyi(&self, order: f64) -> f64 {
        self.pairs.iter().map(|pair| pair.renyi_upper(order)).sum()
    }
}

/// [`Upper::delta`] where one number is wanted.
pub(crate) fn upper_delta(round: &Round, epsilon: f64) -> f64 {
    Upper::of(round).delta(epsilon)
}

/// [`Upper::renyi`] where one number is wanted.
pub(crate) fn upper_renyi(round: &Round, order: f64) -> f64 {
    Upper::of(round).renyi(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{random_any, random_local_epsilon, random_scheme, random_two_level};
    use crate::divergence::Experiment;
    use crate::formula::dominating_pair;
    use crate::rng::Rng;
    use crate::tally::{ORDERS, epsilons, exceeds};
    use serde_json::Value;

    /// The crate adds 4e-12 to a sum over outcomes to stay above it; the cell-by-cell sum has its
    /// own rounding error in addition.
    const SAME: f64 = 1e-10;

    fn random_round(most_clients: usize, rng: &mut Rng) -> (f64, Round) {
        let local_epsilon = random_local_epsilon(rng);
        let two_level = rng.chance(0.5);
        let channel = if two_level { random_two_level(local_epsilon, rng) } else { random_any(local_epsilon, rng) };
        (local_epsilon, Round { scheme: random_scheme(1, most_clients, rng), randomizer: channel.randomizer })
    }

    #[test]
    fn one_round_is_the_formula() {
        let mut rng = Rng::new(0xf0a);
        for _ in 0..1500 {
            let (local_epsilon, round) = random_round(12, &mut rng);
            let (pair, formula) = (round.pair(), dominating_pair(&round));
            for epsilon in epsilons(local_epsilon) {
                let exact = formula.hockey_stick(epsilon);
                let (lower, upper) = (pair.delta_lower(epsilon), pair.delta_upper(epsilon));
                assert!(!exceeds(exact, upper, epsilon), "{round:?}, ε = {epsilon}: {exact:e} above {upper:e}");
                assert!(!exceeds(lower, exact, epsilon), "{round:?}, ε = {epsilon}: {exact:e} below {lower:e}");
                // The differences P − e^ε Q of the cell-by-cell sum have an absolute error.
                let near = SAME * exact + 1e-14 * (1.0 + epsilon.exp());
                assert!(upper - lower <= near && (upper - exact).abs() <= near, "{round:?}, ε = {epsilon}");
            }
            for order in ORDERS {
                let exact = formula.renyi(order);
                let (lower, upper) = (pair.renyi_lower(order), pair.renyi_upper(order));
                // ln of a moment near 1: an absolute error over the order.
                let rounding = 1e-13 / (order - 1.0) + 1e-13 * exact;
                assert!(lower <= exact + rounding && exact <= upper + rounding, "{round:?}, order {order}");
                assert!(upper - lower <= SAME * exact + 1e-300, "{round:?}, order {order}: {lower:e} {upper:e}");
            }
        }
    }

    /// Composition on lattices against the product of all outcomes.
    #[test]
    fn composed_rounds_are_just_above_the_product_of_the_formulas() {
        let mut rng = Rng::new(0xf0b);
        let mut largest: f64 = 0.0;
        for i in 0..400 {
            let (local_epsilon, first) = random_round(4, &mut rng);
            let rounds = match i % 4 {
                0 => vec![first; 2],
                1 => vec![first; 3],
                2 => vec![first, random_round(4, &mut rng).1],
                _ => vec![first, random_round(3, &mut rng).1, first],
            };
            let one = Experiment::new([vec![1.0], vec![1.0]]);
            let product = rounds.iter().fold(one, |sofar, round| sofar.product(&dominating_pair(round)));
            let upper = Upper::composed(&rounds);
            // Connect the dots lifts a curve by at most h/4 between two points h apart; rounds of
            // one question share the coarsest h at the most.
            let spacing = |round: &Round| LossLattice::<Up>::new(&round.pair(), PER_DEVIATION).spacing();
            let room = rounds.len() as f64 * rounds.iter().map(spacing).fold(0.0, f64::max) / 4.0;
            for epsilon in epsilons(local_epsilon) {
                let (exact, bound) = (product.hockey_stick(epsilon), upper.delta(epsilon));
                assert!(!exceeds(exact, bound, epsilon), "{rounds:?}, ε = {epsilon}: {exact:e} above {bound:e}");
                assert!(bound - exact <= room, "{rounds:?}, ε = {epsilon}: {bound:e} far above {exact:e}");
                largest = largest.max((bound - exact) / room);
            }
        }
        println!(
            "composed lattices exceed the product of the formulas by up to {largest} of what connecting dots may cost"
        );
    }

    fn number(inputs: &Value, key: &str) -> Option<f64> {
        let value = inputs.get(key)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    }

    /// The cell-by-cell sums are themselves right: reference values from high-precision sums.
    #[test]
    fn the_formulas_agree_with_the_reference_vectors() {
        let files = [
            include_str!("../data/theory/pair_two_level_delta.json"),
            include_str!("../data/theory/pair_two_level_q_delta.json"),
            include_str!("../data/theory/checkin_two_level_delta.json"),
            include_str!("../data/theory/pair_any_ldp_delta.json"),
            include_str!("../data/theory/checkin_any_ldp_delta.json"),
        ];
        for (file, text) in files.iter().enumerate() {
            let rows: Vec<Value> = serde_json::from_str(text).expect("a list of vectors");
            assert!(!rows.is_empty());
            for row in rows {
                let inputs = |key| number(&row["inputs"], key);
                let needed = |key| inputs(key).unwrap_or_else(|| panic!("{key} in {row}"));
                let clients = needed("clients") as u64;
                let scheme = match inputs("rate") {
                    Some(rate) => Scheme::check_in(clients, rate, 0.0),
                    None => Scheme::subsampled(clients, needed("sampled") as u64),
                };
                let local_epsilon = needed("local_epsilon");
                let randomizer = if file < 3 {
                    Randomizer::TwoLevel { local_epsilon, high_mass: inputs("high_mass").unwrap_or(0.5) }
                } else {
                    Randomizer::any(local_epsilon)
                };
                let round = Round { scheme: scheme.expect("a valid scheme"), randomizer };
                let epsilon = needed("epsilon");
                let formula = dominating_pair(&round).hockey_stick(epsilon);
                let reference = number(&row, "value").expect("a value");
                assert!(!exceeds(formula, reference, epsilon), "{row}: {formula:e}");
                assert!(!exceeds(reference, formula, epsilon), "{row}: {formula:e}");
            }
        }
    }
}
