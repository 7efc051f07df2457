//! One round: the enumerated truth is never above the dominating pair.

use crate::cases::{Case, draw, random_any, random_local_epsilon, random_scheme, random_two_level};
use crate::dominating::{Randomizer, Upper};
use crate::randomizers::{self, Channel};
use crate::rng::Rng;
use crate::tally::Tally;
use shuffledp_accounting::scheme::{Mechanism, Scheme};

const MOST_CLIENTS: usize = 6;

fn compare_random(title: &str, seed: u64, cases: usize, channel: impl Fn(f64, &mut Rng) -> Channel) {
    let mut rng = Rng::new(seed);
    let mut tally = Tally::default();
    for _ in 0..cases {
        let local_epsilon = random_local_epsilon(&mut rng);
        let channel = channel(local_epsilon, &mut rng);
        let scheme = random_scheme(2, MOST_CLIENTS, &mut rng);
        let case = draw(channel, scheme, &mut rng);
        tally.compare(&case.class(), local_epsilon, &case.truth(), &Upper::of(&case.round()), &case);
    }
    tally.report(title);
    assert_eq!(tally.cases(), cases);
}

#[test]
fn two_level_randomizers_stay_below_their_row() {
    compare_random("two-level row, random datasets", 0x7e01, 10_000, random_two_level);
}

#[test]
fn any_local_randomizer_stays_below_the_clone_row() {
    compare_random("any-LDP row, random datasets", 0xa117, 10_000, random_any);
}

/// Divergences are jointly convex, so the worst records are extreme ones: for a few randomizers,
/// all of those.
#[test]
fn no_extreme_dataset_exceeds_the_rows() {
    let mut rng = Rng::new(0xe87e);
    let mut tally = Tally::default();
    for local_epsilon in [0.3, 1.0, 2.2] {
        let mut square = randomizers::r_inf(local_epsilon, &mut rng);
        square.rows.truncate(4);
        let channels = [
            randomizers::binary_response(local_epsilon),
            randomizers::response(local_epsilon, 3),
            randomizers::response(local_epsilon, 4),
            randomizers::cap(local_epsilon, 5, 2, &mut rng),
            square,
        ];
        for channel in channels.iter().flat_map(|channel| [channel.clone(), channel.clone().forget()]) {
            let most = if channel.rows.len() <= 4 { 5 } else { 3 };
            for clients in 2..=most {
                let schemes = [
                    Scheme::shuffle(clients),
                    Scheme::subsampled(clients, clients / 2),
                    Scheme::subsampled(clients, clients - 1),
                    Scheme::check_in(clients, 0.4, 0.0),
                    Scheme::check_in(clients, 0.9, 0.1),
                ];
                for scheme in schemes.map(|scheme| scheme.expect("a valid scheme")) {
                    compare_all_extreme(&channel, scheme, &mut tally);
                }
            }
        }
    }
    tally.report("all extreme datasets");
}

/// Every multiset of the others' records. The victim's first record is input 0: the inputs of these
/// randomizers are alike (but for the caps drawn at random, which are the others' and the second
/// record's).
fn compare_all_extreme(channel: &Channel, scheme: Scheme, tally: &mut Tally) {
    let row = match channel.randomizer {
        Randomizer::Named(spec) if matches!(spec.mechanism(), Mechanism::Any { .. }) => "any-LDP row",
        _ => "two-level row",
    };
    let inputs = channel.rows.len();
    let count = scheme.clients() as usize - 1;
    let mut others = vec![0usize; count];
    loop {
        for second in 1..inputs {
            let case = Case {
                channel: channel.clone(),
                scheme,
                others: others.iter().map(|&x| channel.rows[x].clone()).collect(),
                victim: [channel.rows[0].clone(), channel.rows[second].clone()],
            };
            let class = format!("{row}, {}", case.class());
            tally.compare(&class, channel.local_epsilon, &case.truth(), &Upper::of(&case.round()), &case);
        }
        // The next non-decreasing tuple.
        let Some(place) = (0..count).rev().find(|&i| others[i] + 1 < inputs) else { return };
        let value = others[place] + 1;
        others[place..].fill(value);
    }
}
