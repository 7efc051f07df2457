//! Liew, Hasegawa, Takahashi 2022 (arXiv 2206.03151).

use crate::page::row;
use crate::{any, epsilon, question, renyi, standing, two_rr};
use shuffledp_accounting::numerics::binomial;
use shuffledp_accounting::numerics::gamma::{ln_binomial, ln_gamma};
use shuffledp_accounting::published::{check_in, girgis};
use shuffledp_accounting::rdp::epsilon_from_renyi;
use shuffledp_accounting::scheme::{Mechanism, Scheme};

/// Equation (6) with the right inclusion probability: Girgis' Theorem 1 at rate k/n, mixed over k.
fn repaired(local_epsilon: f64, clients: u64, rate: f64, order: f64) -> f64 {
    let moment: f64 = (1..=clients)
        .map(|k| {
            let renyi = girgis::renyi_upper(local_epsilon, k, clients, order);
            binomial::pmf(k, clients, rate) * ((order - 1.0) * renyi).exp_m1()
        })
        .sum();
    moment.ln_1p() / (order - 1.0)
}

#[test]
fn check_in_theorem_1_is_below_two_rr() {
    // The exact divergences at inclusion probability γ, as the theorem has it, and at k/n, as it
    // is.
    let (local_epsilon, clients, rate, order) = (2.0, 10, 0.1, 16.0);
    let claim = two_rr::check_in(local_epsilon, clients, rate, order, |_| rate);
    let truth = two_rr::check_in(local_epsilon, clients, rate, order, |k| k as f64 / clients as f64);
    row("check-in-theorem-1", claim, truth);
    assert!(claim < truth);
    // The same divergence as the plain shuffle's where everybody comes.
    let certain = two_rr::check_in(local_epsilon, clients, 1.0, order, |k| k as f64 / clients as f64);
    let forward = girgis::TwoRrMoments::new(local_epsilon, clients, clients).unwrap().renyi_forward(order);
    assert!((certain / forward - 1.0).abs() < 1e-11, "{certain} {forward}");
}

#[test]
fn check_in_theorem_2_is_below_its_repaired_formula() {
    let (local_epsilon, clients, rate, order) = (0.5, 100, 0.02, 100.0);
    let printed = check_in::renyi_as_printed(local_epsilon, clients, rate, order, 0.5);
    let repaired = repaired(local_epsilon, clients, rate, order);
    row("check-in-theorem-2", printed, repaired);
    assert!(printed < repaired);
    // Both are above what 2-RR loses there: it is the proof that is refuted.
    assert!(two_rr::check_in(local_epsilon, clients, rate, order, |k| k as f64 / clients as f64) < printed);
}

#[test]
fn check_in_lemma_5_fails() {
    // "Equation 9 decreases in k": with the rate k/n it has to stand for, it grows.
    let at = |k| girgis::renyi_upper(0.5, k, 100, 100.0);
    row("check-in-lemma-5", at(1), at(8));
    assert!(at(1) < at(2) && at(2) < at(4) && at(4) < at(8));
}

#[test]
fn check_in_theorem_3_is_a_renyi_statement_only() {
    // At rate 1 check-in is the plain shuffle, whose 2-RR divergence is known: the statement holds
    // there ...
    let printed = check_in::renyi_lower_as_printed(2.0, 1000, 1.0, 8.0, 0.5);
    assert!(printed > 0.0 && printed <= two_rr::renyi(2.0, 1000, 8.0), "{printed}");
    // ... but its method never counts as a lower bound on ε.
    assert_eq!(standing("check-in-theorem-3"), "flawed");
}

#[test]
fn check_in_lemma_3_is_a_lower_bound() {
    // ε-DP with δ = 0 allows divergence 0, and the lemma says so; randomized response at ε has
    // more.
    let (e, order) = (1.0_f64.exp(), 2.0);
    let response = ((e.powf(order) + e.powf(1.0 - order)) / (e + 1.0)).ln() / (order - 1.0);
    row("check-in-lemma-3", check_in::smallest_renyi(1.0, 0.0, order), response);
    // As printed, without ε and ln(·)/(λ−1): not even 0 for a mechanism that says nothing, (ε,
    // δ) = (0, 0).
    let literal = (1..1000).map(|i| {
        let r = f64::from(i) / 1000.0;
        r.powf(order) * r.powf(1.0 - order) + (1.0 - r).powf(order) * (1.0 - r).powf(1.0 - order)
    });
    row("check-in-lemma-3-literal", literal.fold(f64::INFINITY, f64::min), 0.0);
}

#[test]
fn check_in_section_4_2_claims_less_than_two_rr_loses() {
    // Everybody checks in, so the scheme is the plain shuffle; its 2-RR is in the class that was
    // asked about.
    let (local_epsilon, clients, order) = (1.0, 100_000, 2.0);
    let asked = any(Scheme::check_in(clients, 1.0, 0.0).unwrap(), local_epsilon, 1);
    let truth = two_rr::renyi(local_epsilon, clients, order);
    for id in ["check-in-approach-1", "check-in-approach-2", "check-in-baseline"] {
        let claim = renyi(id, &asked, order);
        row(id, claim, truth);
        assert!(claim < truth && standing(id) == "flawed", "{id}");
    }
    // Not everywhere: at larger orders both approaches are above what 2-RR loses, which proves
    // nothing in their favour.
    let (local_epsilon, clients, rate, order) = (2.0, 1000, 0.1, 32.0);
    let asked = any(Scheme::check_in(clients, rate, 0.0).unwrap(), local_epsilon, 1);
    let truth = two_rr::check_in(local_epsilon, clients, rate, order, |k| k as f64 / clients as f64);
    let claims = ["check-in-approach-1", "check-in-approach-2"].map(|id| renyi(id, &asked, order));
    row("check-in-approach-1-above", claims[0], truth);
    row("check-in-approach-2-above", claims[1], truth);
    assert!(claims[0] > truth && claims[1] > truth);
}

/// Equation (7) at Δ = 1/2 with `clones` for its 2ε0 and `chernoff` for its 8ε0.
fn equation_7(local_epsilon: f64, clients: u64, rate: f64, order: u64, clones: f64, chernoff: f64) -> f64 {
    let (e, expected, lambda) = (local_epsilon.exp(), clients as f64 * rate, order as f64);
    let typical = (0.5 * expected / clones).floor() + 1.0;
    let rare = (-expected / 8.0).exp();
    let second = 2.0 * lambda * (lambda - 1.0) * (rate * (e - 1.0)).powi(2) / e * (rare + 1.0 / typical);
    let series: f64 = (3..=order)
        .map(|j| {
            let half = 0.5 * j as f64;
            let ln_term = ln_binomial(lambda, j as f64)
                + j as f64 * rate.ln()
                + (j as f64).ln()
                + ln_gamma(half)
                + half * (2.0 * (e - 1.0 / e).powi(2)).ln();
            ln_term.exp() * (rare + typical.powf(-half))
        })
        .sum();
    let x = rate * (e - 1.0 / e);
    let spread = (1.0 + x).powf(lambda) - 1.0 - lambda * x;
    let tails = spread * (rare + (-0.5 * expected / chernoff).exp());
    (second + series + tails).ln_1p() / (lambda - 1.0)
}

#[test]
fn check_in_equation_7_does_not_give_figure_3a() {
    let (local_epsilon, clients, rate, rounds, delta) = (2.0_f64, 60_000, 0.1, 6800, 1e-5);
    let e = local_epsilon.exp();
    let own = |order| equation_7(local_epsilon, clients, rate, order, 2.0 * e, 8.0 * e);
    for order in [2, 3, 10] {
        let ours = check_in::renyi_as_printed(local_epsilon, clients, rate, order as f64, 0.5);
        assert!((own(order) / ours - 1.0).abs() < 1e-10, "{order}");
    }
    let best = |curve: &dyn Fn(u64) -> f64| {
        let at = |order: u64| epsilon_from_renyi(rounds as f64 * curve(order), order as f64, delta);
        (2..60).map(at).fold(f64::INFINITY, f64::min)
    };
    // "A privacy budget of ε ≃ 1 is sufficient": with the proof's 2e^ε0, 8e^ε0 and with the
    // theorem's 2ε0, 8ε0.
    row("check-in-figure-3a", 1.0, best(&own));
    let literal = |order| equation_7(local_epsilon, clients, rate, order, 2.0 * local_epsilon, 8.0 * local_epsilon);
    row("check-in-figure-3a-literal", 1.0, best(&literal));
    let asked = question(Scheme::check_in(clients, rate, 0.0).unwrap(), Mechanism::LdpSgd { local_epsilon }, rounds);
    row("check-in-figure-3a-ours", 1.0, epsilon("two-level-pld", &asked, delta, None));
    // One round at order 2, where the misprint alone decides.
    row("check-in-misprint", literal(2), own(2));
    assert!(literal(2) < own(2));
}
