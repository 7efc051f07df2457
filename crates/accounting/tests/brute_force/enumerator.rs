//! The enumerator under test: a second one that lists every outcome, closed forms, and identities
//! between schemes.

use crate::cases::{Case, draw, random_any, random_local_epsilon, random_scheme};
use crate::dominating::{Randomizer, Round, upper_delta, upper_renyi};
use crate::formula::multinomial;
use crate::protocol::{Views, heard_sets, view_laws};
use crate::randomizers::{self, Channel};
use crate::rng::Rng;
use shuffledp_accounting::scheme::{Participation, Scheme};
use std::collections::BTreeMap;

type Map = BTreeMap<Vec<u8>, f64>;

fn as_map(law: &[f64], clients: usize, outputs: usize) -> Map {
    let views = Views::of(clients, outputs);
    views.histograms.iter().cloned().zip(law.iter().copied()).filter(|(_, mass)| *mass > 0.0).collect()
}

fn assert_same(left: &Map, right: &Map) {
    for view in left.keys().chain(right.keys()) {
        let [l, r] = [left, right].map(|law| law.get(view).copied().unwrap_or(0.0));
        assert!((l - r).abs() <= 1e-14 * (l + r) + 1e-300, "{view:?}: {l} {r}");
    }
}

/// Each client in turn: silent, lost, or one of its messages; every combination by itself.
/// Fixed-size sets are drawn one client after the other.
fn list_outcomes(case: &Case, world: usize) -> Map {
    fn walk(
        case: &Case,
        world: usize,
        client: usize,
        weight: f64,
        heard: u64,
        histogram: &mut Vec<u8>,
        into: &mut Map,
    ) {
        let clients = case.others.len() + 1;
        if client == clients {
            *into.entry(histogram.clone()).or_default() += weight;
            return;
        }
        // Client 0 is the victim here, the last one in the enumerator: the order must not matter.
        let row = if client == 0 { &case.victim[world] } else { &case.others[client - 1] };
        let (speaks, lost) = match case.scheme.participation() {
            Participation::Everyone => (1.0, 0.0),
            // Selection sampling: needed ones over remaining ones.
            Participation::FixedSize { sampled } => ((sampled - heard) as f64 / (clients - client) as f64, 0.0),
            Participation::CheckIn { rate, drop_out } => (rate, drop_out),
        };
        for (probability, audible) in [(1.0 - speaks, false), (speaks * lost, false), (speaks * (1.0 - lost), true)] {
            if probability <= 0.0 {
                continue;
            }
            if !audible {
                walk(case, world, client + 1, weight * probability, heard, histogram, into);
                continue;
            }
            for y in 0..row.len() {
                histogram[y] += 1;
                walk(case, world, client + 1, weight * probability * row[y], heard + 1, histogram, into);
                histogram[y] -= 1;
            }
        }
    }
    let mut into = Map::new();
    walk(case, world, 0, 1.0, 0, &mut vec![0; case.victim[0].len()], &mut into);
    into
}

#[test]
fn agrees_with_a_listing_of_every_outcome() {
    let mut rng = Rng::new(0x1157);
    for _ in 0..300 {
        let local_epsilon = random_local_epsilon(&mut rng);
        let channel = random_any(local_epsilon, &mut rng);
        let scheme = random_scheme(1, 4, &mut rng);
        let case = draw(channel, scheme, &mut rng);
        let laws = case.truth();
        for (world, law) in [laws.p, laws.q].iter().enumerate() {
            let law = as_map(law, case.others.len() + 1, case.victim[0].len());
            assert_same(&law, &list_outcomes(&case, world));
        }
    }
}

fn sample_case(scheme: Scheme, channel: Channel) -> Case {
    draw(channel, scheme, &mut Rng::new(5))
}

#[test]
fn everyone_alike_gives_a_binomial_count() {
    let rr = randomizers::binary_response(1.2);
    let scheme = Scheme::shuffle(6).expect("a valid scheme");
    let [law, _] = view_laws(&scheme, &vec![rr.rows[0].clone(); 5], [&rr.rows[0], &rr.rows[1]]);
    for (view, mass) in as_map(&law, 6, 2) {
        let ones = u64::from(view[1]);
        let p = rr.rows[0][1];
        let binomial = multinomial(&[ones, 6 - ones]) * p.powi(ones as i32) * (1.0 - p).powi(6 - ones as i32);
        assert!((mass - binomial).abs() < 1e-15, "{view:?}");
    }
}

/// k = n and check-in at rate 1 are the shuffle; drop-out thins the rate; check-in is the mixture
/// of fixed sizes.
#[test]
fn schemes_agree_where_they_must() {
    let n = 5;
    let channel = randomizers::response(1.0, 3);
    let law = |scheme: shuffledp_accounting::Result<Scheme>| {
        let mut case = sample_case(Scheme::shuffle(n).expect("a valid scheme"), channel.clone());
        case.scheme = scheme.expect("a valid scheme");
        as_map(&case.truth().p, n as usize, 3)
    };
    let shuffle = law(Scheme::shuffle(n));
    assert_same(&shuffle, &law(Scheme::subsampled(n, n)));
    assert_same(&shuffle, &law(Scheme::check_in(n, 1.0, 0.0)));
    let thinned = law(Scheme::check_in(n, 0.6, 0.25));
    assert_same(&thinned, &law(Scheme::check_in(n, 0.6 * 0.75, 0.0)));
    let rate = 0.6 * 0.75;
    let mut mixture = Map::from([(vec![0; 3], f64::powi(1.0 - rate, n as i32))]);
    for k in 1..=n {
        let weight = multinomial(&[k, n - k]) * f64::powi(rate, k as i32) * f64::powi(1.0 - rate, (n - k) as i32);
        mixture.extend(law(Scheme::subsampled(n, k)).into_iter().map(|(view, mass)| (view, weight * mass)));
    }
    assert_same(&thinned, &mixture);
}

#[test]
fn sets_heard_have_total_mass_one() {
    let mut rng = Rng::new(0x5e75);
    for _ in 0..100 {
        let scheme = random_scheme(1, 6, &mut rng);
        let total: f64 = heard_sets(&scheme).iter().sum();
        assert!((total - 1.0).abs() < 1e-14, "{scheme:?}: {total}");
    }
}

/// One client: shuffling hides nothing, and both rows are exactly binary randomized response.
#[test]
fn one_client_is_local_privacy() {
    let e = f64::exp(1.0);
    let scheme = Scheme::shuffle(1).expect("a valid scheme");
    for randomizer in [Randomizer::any(1.0), Randomizer::TwoLevel { local_epsilon: 1.0, high_mass: 0.5 }] {
        let round = Round { scheme, randomizer };
        // The crate adds 4e-12 of the sum to stay above it.
        for epsilon in [-0.5, 0.0, 0.5] {
            let excess = upper_delta(&round, epsilon) - (e - f64::exp(epsilon)) / (e + 1.0);
            assert!((0.0..5e-12).contains(&excess), "{excess:e}");
        }
        let moment = (e.powf(2.5) + e.powf(-1.5)) / (e + 1.0);
        let excess = upper_renyi(&round, 2.5) - moment.ln() / 1.5;
        assert!((0.0..5e-12).contains(&excess), "{excess:e}");
    }
}
