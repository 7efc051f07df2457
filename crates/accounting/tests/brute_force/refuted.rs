//! That the comparison can fail: a published formula that is refuted, and pairs made wrong on
//! purpose.

use crate::cases::{Case, draw, random_local_epsilon};
use crate::divergence::Experiment;
use crate::dominating::{Randomizer, Round, upper_delta};
use crate::formula::{clone_pair, mixed_over_speakers, multinomial, two_level_pair};
use crate::protocol::view_laws;
use crate::randomizers;
use crate::rng::Rng;
use crate::tally::{epsilons, exceeds};
use shuffledp_accounting::scheme::Scheme;

/// The pair of the variation-ratio reduction (Wang et al., "Privacy amplification via shuffling:
/// unified, simplified, and tightened", arXiv 2304.05007) for `p`, `β` and `q`: with
/// `α = β/(p − 1)` and `r = αp/q`, `C ~ Bin(n − 1, 2r)` clones of which `A ~ Bin(C, 1/2)` are of
/// the first kind, and the victim adds one to the first count with probability `αp`, to the second
/// with probability `α`, to neither otherwise; in the other world exchanged.
fn variation_ratio_pair(clients: u64, p: f64, beta: f64, q: f64) -> Experiment {
    let alpha = beta / (p - 1.0);
    let r = alpha * p / q;
    let victim =
        [(1, 0, alpha * p, alpha), (0, 1, alpha, alpha * p), (0, 0, 1.0 - alpha * (p + 1.0), 1.0 - alpha * (p + 1.0))];
    let side = clients as usize + 1;
    let mut pair = Experiment::new([vec![0.0; side * side], vec![0.0; side * side]]);
    for a in 0..clients {
        for b in 0..clients - a {
            let rest = clients - 1 - a - b;
            let weight = multinomial(&[a, b, rest]) * r.powi((a + b) as i32) * (1.0 - 2.0 * r).powi(rest as i32);
            for (more_a, more_b, mass_p, mass_q) in victim {
                let view = (a as usize + more_a) * side + b as usize + more_b;
                pair.p[view] += weight * mass_p;
                pair.q[view] += weight * mass_q;
            }
        }
    }
    pair
}

/// Randomized response over m values has ratio `E`, total variation `(E − 1)/(E + m − 1)` and
/// blanket ratio `q = E`. The claim for 5 values, 8 clients, ε0 = 1 at ε = 0.6 is δ = 2.468e-3; a
/// dataset whose others all hold a third value has 3.257e-3.
#[test]
fn catches_the_variation_ratio_formula() {
    let (m, clients, epsilon) = (5usize, 8, 0.6);
    let e = f64::exp(1.0);
    let claimed = variation_ratio_pair(clients, e, (e - 1.0) / (e + m as f64 - 1.0), e).hockey_stick(epsilon);
    assert!((claimed - 2.467_977_710_677_617e-3).abs() < 1e-15, "{claimed:e}");

    let channel = randomizers::response(1.0, m);
    let scheme = Scheme::shuffle(clients).expect("a valid scheme");
    let others = vec![channel.rows[2].clone(); clients as usize - 1];
    let truth = Experiment::new(view_laws(&scheme, &others, [&channel.rows[0], &channel.rows[1]]));
    let exact = truth.hockey_stick(epsilon);
    assert!((exact - 3.257_348_950_127_28e-3).abs() < 1e-15, "{exact:e}");
    assert!(exceeds(exact, claimed, epsilon));
    // As printed in the page.
    let page = include_str!("../../../../docs/errors-in-the-literature.md");
    let row = page.lines().find(|line| line.starts_with("| `variation-ratio` |")).expect("a row");
    assert!(row.contains(&format!("| {claimed:.3e} | {exact:.3e} |")), "{row}");

    // The rigorous rows are above both.
    for randomizer in [channel.randomizer, Randomizer::any(1.0)] {
        assert!(!exceeds(exact, upper_delta(&Round { scheme, randomizer }, epsilon), epsilon));
    }
}

/// Below four values the same formula is not contradicted at this size; with four it is.
#[test]
fn the_variation_ratio_formula_fails_from_four_values_on() {
    let e = f64::exp(1.0);
    let scheme = Scheme::shuffle(8).expect("a valid scheme");
    let fails = |m: usize| {
        let claimed = variation_ratio_pair(8, e, (e - 1.0) / (e + m as f64 - 1.0), e);
        let rows = randomizers::response(1.0, m).rows;
        let truth = Experiment::new(view_laws(&scheme, &vec![rows[m - 1].clone(); 7], [&rows[0], &rows[1]]));
        epsilons(1.0)
            .into_iter()
            .any(|epsilon| exceeds(truth.hockey_stick(epsilon), claimed.hockey_stick(epsilon), epsilon))
    };
    assert_eq!([2, 3, 4, 5].map(fails), [false, false, true, true]);
}

/// True if some random dataset has a hockey-stick divergence above the claimed pair.
fn caught(scheme: &Scheme, claimed: impl Fn(f64) -> Experiment, channel: impl Fn(f64) -> randomizers::Channel) -> bool {
    let mut rng = Rng::new(0xbad);
    (0..200).any(|_| {
        let local_epsilon = random_local_epsilon(&mut rng);
        let case: Case = draw(channel(local_epsilon), *scheme, &mut rng);
        let (truth, claimed) = (case.truth(), claimed(local_epsilon));
        epsilons(local_epsilon)
            .into_iter()
            .any(|epsilon| exceeds(truth.hockey_stick(epsilon), claimed.hockey_stick(epsilon), epsilon))
    })
}

#[test]
fn catches_pairs_made_wrong_on_purpose() {
    let shuffle = Scheme::shuffle(4).expect("a valid scheme");
    let subsampled = Scheme::subsampled(4, 2).expect("a valid scheme");
    let check_in = Scheme::check_in(3, 0.5, 0.0).expect("a valid scheme");
    let dropping = Scheme::check_in(3, 0.8, 0.1).expect("a valid scheme");
    let rr = randomizers::binary_response;
    let three = |local_epsilon| randomizers::response(local_epsilon, 3);

    // The right pairs are not caught.
    assert!(!caught(&shuffle, |e0| two_level_pair(e0, 0.5, 4, 1.0), rr));
    assert!(!caught(&subsampled, |e0| two_level_pair(e0, 1.0 / 3.0, 2, 0.5), three));

    // The measure of the high set too small: more blanket than there is.
    assert!(caught(&shuffle, |e0| two_level_pair(e0, 0.1, 4, 1.0), rr));
    assert!(caught(&shuffle, |e0| two_level_pair(e0, 0.1, 4, 1.0), three));
    // ε0 two per cent too small.
    assert!(caught(&shuffle, |e0| two_level_pair(0.98 * e0, 0.5, 4, 1.0), rr));
    // All clients counted as a crowd, though only two of four participate.
    assert!(caught(&subsampled, |e0| two_level_pair(e0, 0.5, 4, 0.5), rr));
    // A sampling rate below k/n.
    assert!(caught(&subsampled, |e0| two_level_pair(e0, 0.5, 2, 0.4), rr));
    // Check-in: given that k came, the victim is among them with probability k/n, not the rate.
    let wrong_rate = |e0: f64| mixed_over_speakers(3, 0.5, |k| two_level_pair(e0, 0.5, k, 0.5));
    assert!(caught(&check_in, wrong_rate, rr));
    // Drop-out counted twice.
    let right_rate =
        |rate: f64| move |e0: f64| mixed_over_speakers(3, rate, |k| two_level_pair(e0, 0.5, k, k as f64 / 3.0));
    assert!(!caught(&dropping, right_rate(0.8 * 0.9), rr));
    assert!(caught(&dropping, right_rate(0.8 * 0.9 * 0.9), rr));
    // Clones more frequent than any randomizer has.
    assert!(caught(&shuffle, |e0| clone_pair(e0.exp(), 0.5, 4, 1.0), three));
}
