//! Girgis, Data, Diggavi 2021 (arXiv 2107.08763).

use crate::page::row;
use crate::{any, epsilon, question, renyi, standing, two_rr};
use shuffledp_accounting::published::girgis::{self, TwoRrMoments};
use shuffledp_accounting::rdp::RenyiCurve;
use shuffledp_accounting::scheme::{Mechanism, Scheme};

#[test]
fn a_renyi_lower_bound_is_not_a_lower_bound_on_epsilon() {
    // One shuffle, where the ε of 2-RR is known exactly: the largest over all datasets.
    let (local_epsilon, clients, delta) = (1.0, 100, 1e-6);
    let asked = question(Scheme::shuffle(clients).unwrap(), Mechanism::Rr { local_epsilon }, 1);
    let claim = epsilon("girgis-theorem-2", &asked, delta, None);
    let truth = two_rr::epsilon(local_epsilon, clients, delta);
    row("girgis-theorem-2", claim, truth);
    assert!(claim > truth && standing("girgis-theorem-2") == "flawed");
    // Ours is below, and near.
    let ours = epsilon("2-rr-pld", &asked, delta, None);
    assert!(ours <= truth && ours > 0.9 * truth, "{ours} {truth}");
}

#[test]
fn girgis_theorem_2_is_one_direction() {
    let pair = TwoRrMoments::new(4.0, 60, 60).unwrap();
    let (forward, reverse) = (pair.renyi_forward(4.0), pair.renyi_reverse(4.0));
    row("girgis-theorem-2-direction", forward, reverse);
    assert!(reverse > forward);
}

#[test]
fn girgis_factors_against_the_baselines() {
    let (delta, rounds) = (1e-8, 100_000);
    let asked = any(Scheme::subsampled(1_000_000, 1000).unwrap(), 2.0, rounds);
    let own = epsilon("girgis-theorem-1", &asked, delta, None);
    row("girgis-14", 14.0, epsilon("clones-closed-form+subsampling+kov", &asked, delta, None) / own);
    row("girgis-14-numerical", 14.0, epsilon("clones-numerical+subsampling+kov", &asked, delta, None) / own);
    row("girgis-2.5", 2.5, epsilon("ccs21-upper+subsampling", &asked, delta, None) / own);
    row("girgis-headline", own, epsilon("any-ldp-pld", &asked, delta, None));
}

#[test]
fn girgis_figure_5a_in_twelve_hundred_rounds() {
    let asked = any(Scheme::subsampled(60_000, 10_000).unwrap(), 1.5, 1200);
    row("girgis-figure-5a", 2.91, epsilon("girgis-theorem-1", &asked, 1e-5, None));
}

#[test]
fn girgis_network_has_other_parameters() {
    let convolution = |side: u64, from: u64, to: u64| side * side * from * to + to;
    // 28 → 14 → 13 → 5 → 4 pixels a side: stride 2, 2×2 pooling with stride 1, stride 2, pooling;
    // then 32 units and 10.
    let dense = |from: u64, to: u64| from * to + to;
    let parameters = convolution(8, 1, 16) + convolution(4, 16, 16) + dense(4 * 4 * 16, 32) + dense(32, 10);
    row("girgis-parameters", 13_170.0, parameters as f64);
}

#[test]
fn rigorous_renyi_bounds_are_above_two_rr() {
    for (local_epsilon, sampled, clients) in [(1.0, 40, 40), (2.0, 1000, 1_000_000), (0.1, 50, 500), (4.0, 60, 60)] {
        let truth = TwoRrMoments::new(local_epsilon, sampled, clients).unwrap();
        let asked = any(Scheme::subsampled(clients, sampled).unwrap(), local_epsilon, 1);
        for order in [2.0, 5.0, 28.0, 220.0] {
            assert!(girgis::renyi_upper(local_epsilon, sampled, clients, order) >= truth.epsilon(order).unwrap());
            if sampled < clients {
                assert!(renyi("ccs21-upper+subsampling", &asked, order) >= truth.epsilon(order).unwrap());
            }
        }
    }
}
