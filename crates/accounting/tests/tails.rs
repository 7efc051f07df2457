//! Small δ and high orders, against sums over all outcomes of the clones' pair.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

/// The pair of Feldman, McMillan, Talwar 2021 for n clients and any ε0-LDP randomizer, outcome by
/// outcome: of n clients a and b are clones of the victim's two laws, each with probability
/// e^{−ε0}/2, and the victim's densities are proportional to E·a + b and a + E·b.
struct Clones {
    /// (ln P, loss).
    outcomes: Vec<(f64, f64)>,
}

impl Clones {
    fn new(clients: usize, local_epsilon: f64) -> Self {
        let mut ln_factorial = vec![0.0; clients + 1];
        for k in 1..=clients {
            ln_factorial[k] = ln_factorial[k - 1] + (k as f64).ln();
        }
        let e = local_epsilon.exp();
        let (ln_signal, ln_rest) = (-local_epsilon - 2.0_f64.ln(), (-(-local_epsilon).exp()).ln_1p());
        let ln_kappa = (2.0 * e / (e + 1.0) / clients as f64).ln();
        let mut outcomes = Vec::new();
        for a in 0..=clients {
            for b in 0..=clients - a {
                let rest = clients - a - b;
                let ln_base = ln_factorial[clients] - ln_factorial[a] - ln_factorial[b] - ln_factorial[rest]
                    + (a + b) as f64 * ln_signal
                    + rest as f64 * ln_rest;
                let (p, q) = (e * a as f64 + b as f64, a as f64 + e * b as f64);
                if a + b > 0 {
                    outcomes.push((ln_base + ln_kappa + p.ln(), (p / q).ln()));
                }
            }
        }
        Self { outcomes }
    }

    /// ln δ(ε).
    fn ln_delta(&self, epsilon: f64) -> f64 {
        let ln_terms = |(ln_p, loss): &(f64, f64)| (*loss > epsilon).then(|| ln_p + (-(epsilon - loss).exp_m1()).ln());
        ln_sum(self.outcomes.iter().filter_map(ln_terms).collect())
    }

    /// The Rényi divergence at `order`.
    fn renyi(&self, order: f64) -> f64 {
        ln_sum(self.outcomes.iter().map(|(ln_p, loss)| ln_p + (order - 1.0) * loss).collect()) / (order - 1.0)
    }

    /// Two rounds.
    fn twice(&self) -> Self {
        let mut outcomes = Vec::with_capacity(self.outcomes.len() * self.outcomes.len());
        for (ln_p, loss) in &self.outcomes {
            outcomes.extend(self.outcomes.iter().map(|next| (ln_p + next.0, loss + next.1)));
        }
        Self { outcomes }
    }
}

fn ln_sum(terms: Vec<f64>) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}

fn question(clients: u64, local_epsilon: f64, rounds: u64) -> Question {
    let randomizer = RandomizerSpec::new(Mechanism::Any { local_epsilon }).unwrap();
    Question::new(Round { scheme: Scheme::shuffle(clients).unwrap(), randomizer }, rounds).unwrap()
}

fn answer(id: &str, question: &Question, target: Target) -> f64 {
    ask(method(id).unwrap(), question, target, &Options::default()).unwrap().value
}

/// Asks `id` for ε at δ, and for δ at that ε: both are on the safe side of the sum over all
/// outcomes, and next to it.
fn check(id: &str, question: &Question, exact: &Clones, delta: f64) {
    let epsilon = answer(id, question, Target::EpsilonAt { delta });
    // The sums are good to 1e-9.
    assert!(exact.ln_delta(epsilon) <= delta.ln() + 1e-9, "{id}: ε = {epsilon} is too small at δ = {delta:e}");
    assert!(exact.ln_delta(0.999 * epsilon) > delta.ln(), "{id}: ε = {epsilon} is loose at δ = {delta:e}");
    let there = answer(id, question, Target::DeltaAt { epsilon });
    let truth = exact.ln_delta(epsilon);
    assert!(there.ln() >= truth - 1e-9, "{id}: δ = {there:e} is too small at ε = {epsilon}, e^{truth}");
    assert!(there.ln() <= truth + 0.5, "{id}: δ = {there:e} is loose at ε = {epsilon}, e^{truth}");
}

#[test]
fn one_round_at_any_delta() {
    let (exact, question) = (Clones::new(3_000, 1.0), question(3_000, 1.0, 1));
    for delta in [1e-8, 1e-24, 1e-28, 1e-30, 1e-60, 1e-100, 1e-200] {
        check("any-ldp-pld", &question, &exact, delta);
    }
    // The same figures, written down.
    let at = |delta: f64| answer("any-ldp-pld", &question, Target::EpsilonAt { delta });
    assert!((0.306_78..0.306_82).contains(&at(1e-30)) && (0.5982..0.599).contains(&at(1e-100)));
    // Next to what floats can hold there is an answer or none, and the local ε at worst.
    assert!(at(1e-300) >= 0.9);
}

#[test]
fn two_rounds_at_any_delta() {
    let (exact, question) = (Clones::new(60, 0.1).twice(), question(60, 0.1, 2));
    for delta in [1e-6, 1e-12, 1e-20, 1e-24, 1e-26, 1e-28] {
        check("any-ldp-pld", &question, &exact, delta);
    }
}

/// The outcomes of a hundred rounds cannot be listed. Chernoff's bound is above them, and one round
/// below.
#[test]
fn many_rounds_are_between_one_and_the_bound_of_chernoff() {
    let (exact, question) = (Clones::new(1_000, 1.0), question(1_000, 1.0, 100));
    for delta in [1e-28, 1e-40, 1e-100, 1e-250] {
        let epsilon = answer("any-ldp-pld", &question, Target::EpsilonAt { delta });
        let chernoff = |order: f64| 100.0 * exact.renyi(order) - delta.ln() / (order - 1.0);
        let above = (1..400).map(|i| chernoff(1.0 + 0.25 * f64::from(i))).fold(f64::INFINITY, f64::min);
        assert!(exact.ln_delta(epsilon) < delta.ln() && epsilon <= above, "{delta:e}: {epsilon} {above}");
        assert!(epsilon >= 0.9 * above, "{delta:e}: {epsilon} {above}");
    }
}

#[test]
fn renyi_divergences_at_high_orders() {
    let (exact, question) = (Clones::new(3_000, 1.0), question(3_000, 1.0, 1));
    for order in [2.0, 16.0, 100.0, 400.0, 1_000.0, 2_000.0] {
        let (value, truth) = (answer("any-ldp-rdp", &question, Target::RenyiAt { order }), exact.renyi(order));
        assert!(value >= truth * (1.0 - 1e-10) && value <= truth * 1.01, "order {order}: {value} against {truth}");
    }
    // Converted, they are above the loss distribution, and not by much.
    for delta in [1e-20, 1e-30, 1e-100] {
        let [renyi, loss] = ["any-ldp-rdp", "any-ldp-pld"].map(|id| answer(id, &question, Target::EpsilonAt { delta }));
        assert!(renyi >= loss && renyi <= 1.1 * loss, "δ = {delta:e}: {renyi} {loss}");
    }
}

/// The accountant chooses its cuts from δ as well.
#[test]
fn different_rounds_at_any_delta() {
    let mut accountant = Accountant::new();
    for clients in [3_000, 3_001] {
        let randomizer = RandomizerSpec::new(Mechanism::Sequential { local_epsilon: 1.0 }).unwrap();
        accountant.compose(Round { scheme: Scheme::shuffle(clients).unwrap(), randomizer }, 1).unwrap();
    }
    for delta in [1e-20, 1e-30, 1e-100] {
        let alike = answer("any-ldp-pld", &question(3_000, 1.0, 2), Target::EpsilonAt { delta });
        let epsilon = accountant.epsilon(delta).unwrap();
        assert!((0.998 * alike..1.002 * alike).contains(&epsilon), "δ = {delta:e}: {epsilon} {alike}");
    }
}
