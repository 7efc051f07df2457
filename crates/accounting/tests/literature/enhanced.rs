//! "Rényi differential privacy in the shuffle model: enhanced amplification bounds" (arXiv
//! 2401.04306).

use crate::page::row;
use crate::{delta, question, standing, two_rr};
use shuffledp_accounting::numerics::binomial;
use shuffledp_accounting::pair::upper;
use shuffledp_accounting::published::{ccs21, enhanced, gdp};
use shuffledp_accounting::scheme::{Mechanism, Scheme};

#[test]
fn enhanced_corollary_1_has_no_finite_divergence() {
    // An outcome that P has and Q has not: D_λ(P‖Q) is infinite at every order.
    let (p, q) = enhanced::printed_pair_at_far_corner(2.0, 10);
    row("enhanced-theorem-1", q, p);
    for (local_epsilon, clients) in [(0.5, 3), (2.0, 10), (4.0, 100)] {
        let (p, q) = enhanced::printed_pair_at_far_corner(local_epsilon, clients);
        assert!(p > 0.0 && q == 0.0, "{p} {q}");
    }
    // By enumeration for three clients: C ~ Bin(2, p), A ~ Bin(C, 1/2), Δ ~ Bern(p), the pairs as
    // printed.
    let p = (-0.5_f64).exp();
    let (mut laws, ways) = ([[[0.0; 4]; 4]; 2], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 2.0, 1.0]]);
    for c in 0..=2_usize {
        for a in 0..=c {
            for (extra, mass) in [(0, 1.0 - p), (1, p)] {
                let mass = mass * binomial::pmf(c as u64, 2, p) * ways[c][a] * 0.5_f64.powi(c as i32);
                laws[0][a][c - a + extra] += mass;
                laws[1][a + extra][c - a] += mass;
            }
        }
    }
    let corner = enhanced::printed_pair_at_far_corner(0.5, 3);
    assert!((laws[0][0][3] / corner.0 - 1.0).abs() < 1e-14 && laws[1][0][3] == 0.0);
}

#[test]
fn enhanced_corollary_2_is_below_two_rr() {
    let (claim, truth) = (enhanced::renyi_asymptotic(4.0, 1000, 16.0), two_rr::renyi(4.0, 1000, 16.0));
    row("enhanced-corollary-2", claim, truth);
    assert!(claim < truth);
    // And it does not vanish where the reports say nothing at all.
    row("enhanced-corollary-2-zero", enhanced::renyi_asymptotic(0.0, 1000, 16.0), two_rr::renyi(0.0, 1000, 16.0));
    // The missing factor is tanh²(ε0/2): with it the limit is that of the pair of Proposition 1,
    // the clones' ...
    let (local_epsilon, clients, order) = (1.0_f64, 10_000, 4.0);
    let claim = enhanced::renyi_asymptotic(local_epsilon, clients, order);
    let pair = upper::any_ldp(&Scheme::shuffle(clients).unwrap(), local_epsilon).unwrap().renyi_upper(order);
    row("enhanced-corollary-2-factor", claim, pair);
    let limit = |claim: f64, local_epsilon: f64| claim * (0.5 * local_epsilon).tanh().powi(2);
    assert!((limit(claim, local_epsilon) / pair - 1.0).abs() < 0.01);
    // ... and still below 2-RR where n is small.
    assert!(limit(enhanced::renyi_asymptotic(4.0, 1000, 16.0), 4.0) < truth);
}

#[test]
fn enhanced_corollary_2_is_not_always_the_tighter() {
    // "Significantly better" than equation (8), by a factor λ/(λ−1)·(E−1)²: below 1 where ε0 is
    // small.
    let (local_epsilon, clients, order) = (0.1, 10_000, 4.0);
    let claim = enhanced::renyi_asymptotic(local_epsilon, clients, order);
    let older = ccs21::renyi_upper(local_epsilon, clients, order);
    row("enhanced-against-ccs21", claim, older);
    assert!(older < claim);
}

#[test]
fn enhanced_theorem_2_is_below_two_rr() {
    // All zeros against one 1, n = 1000, ε0 = 4: no ones at all has probability (1−p)^n under the
    // first, and e^−4 of that under the second, so δ(3) ≥ (1−p)^n·(1 − e^(3−4)).
    let p = 1.0 / (4.0_f64.exp() + 1.0);
    let truth = binomial::pmf(0, 1000, p) * (1.0 - (-1.0_f64).exp());
    let claim = gdp::delta_upper(enhanced::gaussian_mu(4.0, 1000), 3.0);
    row("enhanced-theorem-2", claim, truth);
    assert!(claim < truth && standing("enhanced-theorem-2") == "asymptotic");
}

#[test]
fn enhanced_theorem_3_shuffles_blocks_that_do_not_hide_each_other() {
    // In units of the noise scale 2C/(mε0), ε0 = 1, blocks of 200 records: the victim's block is at
    // −100 or, its record replaced, at −99, and the 299 others at +100. Is any report below −99.75?
    let (epsilon, others) = (0.5_f64, 299.0);
    let tail = |distance: f64| 0.5 * (-distance).exp();
    let strayed = others * tail(199.75);
    let lower = (1.0 - tail(0.25)) - epsilon.exp() * (tail(0.75) + strayed);
    // Without any shuffling an epoch is a Laplace mechanism with ε0 = 1: δ(ε) = 1 − e^((ε−ε0)/2),
    // the same number.
    assert!((lower - (1.0 - (0.5_f64 * (0.5 - 1.0)).exp())).abs() < 1e-15);

    let blocks = question(Scheme::shuffle(300).unwrap(), Mechanism::Laplace { local_epsilon: 1.0 }, 1);
    let by_renyi = delta("enhanced-theorem-3", &blocks, epsilon);
    let mu = enhanced::gaussian_mu(1.0, 300);
    let by_gdp = gdp::delta_upper(mu, epsilon);
    row("enhanced-theorem-3", by_renyi, lower);
    row("enhanced-theorem-3-gdp", by_gdp, lower);
    // What the clones would give if any two blocks were ε0-close: not what the theorem says, but
    // what its idea amounts to.
    let if_close = delta("any-ldp-pld", &blocks, epsilon);
    row("enhanced-theorem-3-clones", if_close, lower);
    assert!(by_renyi < lower && by_gdp < lower && standing("enhanced-theorem-3") == "flawed");
}

#[test]
fn ccs21_lower_is_a_renyi_statement_only() {
    for (local_epsilon, clients) in [(0.5, 100), (2.0, 1000), (3.0, 10_000)] {
        for order in [2.0, 4.0, 16.0] {
            let lower = ccs21::renyi_lower(local_epsilon, clients, order);
            let truth = two_rr::renyi(local_epsilon, clients, order);
            let upper = ccs21::renyi_upper(local_epsilon, clients, order);
            assert!(lower <= truth && truth <= upper, "{lower} {truth} {upper}");
        }
    }
    assert_eq!(standing("ccs21-lower"), "flawed");
}
