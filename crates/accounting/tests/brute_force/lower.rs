//! The lower-bound rows are exact for their datasets, and what is special about binary randomized
//! response.

use crate::cases::{draw, random_local_epsilon};
use crate::divergence::Experiment;
use crate::dominating::{Randomizer, Round, Upper};
use crate::formula::{mixed_over_speakers, multinomial};
use crate::protocol::{Row, view_laws};
use crate::randomizers;
use crate::rng::Rng;
use crate::tally::{ORDERS, epsilons, exceeds};
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::{self, Mechanism, Question, RandomizerSpec, Scheme};

/// Randomized response over `m` values, enumerated: the victim holds 0 or 1, all others hold
/// `common`.
fn others_hold(common: usize, m: usize, local_epsilon: f64, scheme: &Scheme) -> Experiment {
    let rows = randomizers::response(local_epsilon, m).rows;
    let others = vec![rows[common].clone(); scheme.clients() as usize - 1];
    Experiment::new(view_laws(scheme, &others, [&rows[0], &rows[1]]))
}

/// The row "m-RR, others hold a third value": `a`, `b`, `l` count the victim's two values and the
/// third one, and `P/W = 1 − k/n + (E·a + b + l/E + rest)/n`, in the other world with `a` and `b`
/// exchanged.
fn third_value_row(m: usize, local_epsilon: f64, clients: u64, sampled: u64) -> Experiment {
    let e = local_epsilon.exp();
    let p = 1.0 / (e + m as f64 - 1.0);
    let rest_share = (m as f64 - 3.0) * p;
    let mut row = Experiment::default();
    for a in 0..=sampled {
        for b in 0..=sampled - a {
            for l in 0..=sampled - a - b {
                let rest = sampled - a - b - l;
                let weight = multinomial(&[a, b, l, rest])
                    * p.powi((a + b) as i32)
                    * (e * p).powi(l as i32)
                    * rest_share.powi(rest as i32);
                let density =
                    |a: u64, b: u64| (clients - sampled) as f64 + e * a as f64 + b as f64 + l as f64 / e + rest as f64;
                row.p.push(weight * density(a, b) / clients as f64);
                row.q.push(weight * density(b, a) / clients as f64);
            }
        }
    }
    row
}

/// The row "2-RR, others hold x_0" (Girgis et al. 2021, Theorem 2): with `ones ~ Bin(k, p)`,
/// `p = 1/(E + 1)`, when all hold 0, the world in which the victim holds 1 has density
/// `1 + (k/n)·((E² − 1)/(kE))·(ones − kp)`.
fn first_value_row(local_epsilon: f64, clients: u64, sampled: u64) -> Experiment {
    let e = local_epsilon.exp();
    let p = 1.0 / (e + 1.0);
    let mut row = Experiment::default();
    for ones in 0..=sampled {
        let weight =
            multinomial(&[ones, sampled - ones]) * p.powi(ones as i32) * (1.0 - p).powi((sampled - ones) as i32);
        let slope = (e * e - 1.0) / (clients as f64 * e);
        row.p.push(weight);
        row.q.push(weight * (1.0 + slope * (ones as f64 - sampled as f64 * p)));
    }
    row
}

/// Equal curves, up to the rounding of the enumerated masses.
fn assert_same_curves(enumerated: &Experiment, row: &Experiment, local_epsilon: f64, case: &str) {
    for (enumerated, row) in [(enumerated, row), (&enumerated.reversed(), &row.reversed())] {
        for epsilon in epsilons(local_epsilon) {
            let (exact, formula) = (enumerated.hockey_stick(epsilon), row.hockey_stick(epsilon));
            assert!(!exceeds(exact, formula, epsilon), "{case}: ε = {epsilon}: {exact:e} {formula:e}");
            assert!(!exceeds(formula, exact, epsilon), "{case}: ε = {epsilon}: {exact:e} {formula:e}");
        }
        for order in ORDERS {
            let (exact, formula) = (enumerated.renyi(order), row.renyi(order));
            assert!((exact - formula).abs() <= 1e-12 * (1.0 + exact), "{case}: order {order}: {exact:e} {formula:e}");
        }
    }
}

/// Every scheme of fixed size up to six clients.
fn fixed_sizes() -> impl Iterator<Item = (u64, u64)> {
    (1..=6).flat_map(|clients| (1..=clients).map(move |sampled| (clients, sampled)))
}

#[test]
fn the_lower_rows_are_attained_on_their_datasets() {
    for local_epsilon in [0.2, 1.0, 3.0] {
        for (clients, sampled) in fixed_sizes() {
            let scheme = Scheme::subsampled(clients, sampled).expect("a valid scheme");
            for m in [3, 4, 5] {
                let case = format!("{m}-RR, third value, {sampled} of {clients}, ε0 = {local_epsilon}");
                let row = third_value_row(m, local_epsilon, clients, sampled);
                assert_same_curves(&others_hold(2, m, local_epsilon, &scheme), &row, local_epsilon, &case);
            }
            let case = format!("2-RR, first value, {sampled} of {clients}, ε0 = {local_epsilon}");
            let row = first_value_row(local_epsilon, clients, sampled);
            assert_same_curves(&others_hold(0, 2, local_epsilon, &scheme), &row, local_epsilon, &case);
        }
    }
}

/// Neither dataset is the worse one throughout: a lower bound is the maximum over both, and over
/// both directions.
#[test]
fn the_worse_dataset_depends_on_epsilon() {
    let scheme = Scheme::shuffle(6).expect("a valid scheme");
    let [first, third] = [0, 2].map(|common| {
        let truth = others_hold(common, 3, 1.0, &scheme);
        move |epsilon: f64| truth.hockey_stick(epsilon).max(truth.reversed().hockey_stick(epsilon))
    });
    assert!((first(0.9) - 3.5e-3).abs() < 5e-5, "{:e}", first(0.9));
    assert!((third(0.9) - 2.1e-4).abs() < 5e-6, "{:e}", third(0.9));
    assert!(third(0.0) > first(0.0), "{:e} {:e}", third(0.0), first(0.0));
}

/// The law of a sum of independent bits.
fn count_of_ones(bits: impl Iterator<Item = f64>) -> Vec<f64> {
    bits.fold(vec![1.0], |law, bit| {
        let mut grown = vec![0.0; law.len() + 1];
        for (ones, mass) in law.iter().enumerate() {
            grown[ones] += mass * (1.0 - bit);
            grown[ones + 1] += mass * bit;
        }
        grown
    })
}

/// The sharper bound for binary randomized response, `sampled` of `clients`: the largest
/// hockey-stick divergence over `h` ones among the others, the two extreme means of the client that
/// may stand in for the victim, both directions.
fn binary_delta(local_epsilon: f64, clients: u64, sampled: u64, epsilon: f64) -> f64 {
    if sampled == 0 {
        return (-epsilon.exp_m1()).max(0.0);
    }
    let p = 1.0 / (local_epsilon.exp() + 1.0);
    let rate = sampled as f64 / clients as f64;
    let mut worst: f64 = 0.0;
    for ones in 0..sampled {
        for stand_in in [p, 1.0 - p] {
            let law = |victim: f64| {
                let others = (1..sampled).map(|i| if i <= ones { 1.0 - p } else { p });
                count_of_ones(others.chain([rate * victim + (1.0 - rate) * stand_in]))
            };
            let pair = Experiment::new([law(1.0 - p), law(p)]);
            worst = worst.max(pair.hockey_stick(epsilon)).max(pair.reversed().hockey_stick(epsilon));
        }
    }
    worst
}

/// The largest hockey-stick divergence of binary randomized response over all datasets of bits,
/// enumerated.
fn worst_bits(local_epsilon: f64, scheme: &Scheme, epsilon: f64) -> f64 {
    let rows = randomizers::binary_response(local_epsilon).rows;
    let count = scheme.clients() as usize - 1;
    let mut worst: f64 = 0.0;
    for bits in 0usize..1 << count {
        let others: Vec<Row> = (0..count).map(|i| rows[bits >> i & 1].clone()).collect();
        let truth = Experiment::new(view_laws(scheme, &others, [&rows[0], &rows[1]]));
        worst = worst.max(truth.hockey_stick(epsilon)).max(truth.reversed().hockey_stick(epsilon));
    }
    worst
}

#[test]
fn binary_response_shuffled_is_known_exactly() {
    for local_epsilon in [0.2, 1.0, 3.0] {
        for clients in 1..=6 {
            let scheme = Scheme::shuffle(clients).expect("a valid scheme");
            let round = Round { scheme, randomizer: Randomizer::TwoLevel { local_epsilon, high_mass: 0.5 } };
            let blanket = Upper::of(&round);
            for epsilon in epsilons(local_epsilon) {
                let exact = worst_bits(local_epsilon, &scheme, epsilon);
                let formula = binary_delta(local_epsilon, clients, clients, epsilon);
                assert!(!exceeds(exact, formula, epsilon), "{clients}, {epsilon}: {exact:e} {formula:e}");
                assert!(!exceeds(formula, exact, epsilon), "{clients}, {epsilon}: {exact:e} {formula:e}");
                assert!(!exceeds(formula, blanket.delta(epsilon), epsilon), "{clients}, {epsilon}: above the blanket");
            }
        }
    }
}

#[test]
fn binary_response_subsampled_is_dominated() {
    for local_epsilon in [0.2, 1.0, 3.0] {
        for (clients, sampled) in fixed_sizes() {
            let scheme = Scheme::subsampled(clients, sampled).expect("a valid scheme");
            for epsilon in epsilons(local_epsilon) {
                let exact = worst_bits(local_epsilon, &scheme, epsilon);
                let formula = binary_delta(local_epsilon, clients, sampled, epsilon);
                assert!(!exceeds(exact, formula, epsilon), "{sampled} of {clients}, {epsilon}: {exact:e} {formula:e}");
            }
        }
        for clients in 1..=5 {
            for (rate, drop_out) in [(0.1, 0.0), (0.5, 0.2), (0.9, 0.1)] {
                let scheme = Scheme::check_in(clients, rate, drop_out).expect("a valid scheme");
                let heard = rate * (1.0 - drop_out);
                for epsilon in epsilons(local_epsilon) {
                    let exact = worst_bits(local_epsilon, &scheme, epsilon);
                    // A mixture of hockey-sticks: one number for each count of participants,
                    // weighted by its probability.
                    let mixed = mixed_over_speakers(clients, heard, |k| {
                        Experiment::new([vec![binary_delta(local_epsilon, clients, k, epsilon)], vec![0.0]])
                    });
                    let formula = mixed.totals().0;
                    assert!(!exceeds(exact, formula, epsilon), "{scheme:?}, {epsilon}: {exact:e} {formula:e}");
                }
            }
        }
    }
}

/// Records between 0 and 1 are no worse than bits.
#[test]
fn binary_response_with_interior_records_is_dominated() {
    let mut rng = Rng::new(0xb175);
    for _ in 0..2000 {
        let local_epsilon = random_local_epsilon(&mut rng);
        let clients = 1 + rng.below(6) as u64;
        let sampled = 1 + rng.below(clients as usize) as u64;
        let scheme = Scheme::subsampled(clients, sampled).expect("a valid scheme");
        let case = draw(randomizers::binary_response(local_epsilon), scheme, &mut rng);
        let truth = case.truth();
        for epsilon in epsilons(local_epsilon) {
            let formula = binary_delta(local_epsilon, clients, sampled, epsilon);
            for truth in [&truth, &truth.reversed()] {
                assert!(!exceeds(truth.hockey_stick(epsilon), formula, epsilon), "{case}: ε = {epsilon}");
            }
        }
    }
}

/// Lower rows stay below upper rows of the classes they belong to.
#[test]
fn lower_rows_are_below_upper_rows() {
    for local_epsilon in [0.2, 1.0, 3.0] {
        for (clients, sampled) in fixed_sizes() {
            let scheme = Scheme::subsampled(clients, sampled).expect("a valid scheme");
            let upper = |randomizer| Upper::of(&Round { scheme, randomizer });
            let any = upper(Randomizer::any(local_epsilon));
            for (row, high_mass) in [
                (first_value_row(local_epsilon, clients, sampled), 0.5),
                (third_value_row(3, local_epsilon, clients, sampled), 1.0 / 3.0),
                (third_value_row(5, local_epsilon, clients, sampled), 0.2),
            ] {
                let own = upper(Randomizer::TwoLevel { local_epsilon, high_mass });
                for epsilon in epsilons(local_epsilon) {
                    let lower = row.hockey_stick(epsilon).max(row.reversed().hockey_stick(epsilon));
                    for bound in [&any, &own] {
                        assert!(!exceeds(lower, bound.delta(epsilon), epsilon), "{sampled} of {clients}, {epsilon}");
                    }
                }
            }
        }
    }
}

/// The bounds of named mechanisms stay below their own enumeration: m-RR, others at the victim's
/// first record, whichever direction loses more. The one-bit bound is below that of whole reports
/// but for what the latter gives up on its lattice.
#[test]
fn whole_reports_lose_no_more_than_enumerated() {
    let mut schemes: Vec<Scheme> = (1..=4)
        .flat_map(|clients| (1..=clients).map(move |sampled| Scheme::subsampled(clients, sampled)))
        .map(|scheme| scheme.expect("a valid scheme"))
        .collect();
    schemes.extend([0.2, 0.9].map(|rate| Scheme::check_in(4, rate, 0.1).expect("a valid scheme")));
    for scheme in schemes {
        for (local_epsilon, m) in [(0.3, 3_usize), (1.0, 4), (3.0, 3)] {
            let truth = others_hold(0, m, local_epsilon, &scheme);
            let mechanism = Mechanism::Krr { local_epsilon, categories: m as u64 };
            let randomizer = RandomizerSpec::new(mechanism).expect("a valid randomizer");
            let question = Question::new(scheme::Round { scheme, randomizer }, 1).expect("a valid question");
            for epsilon in [0.0, 0.1 * local_epsilon, 0.3 * local_epsilon, 0.7 * local_epsilon] {
                let exact = truth.hockey_stick(epsilon).max(truth.reversed().hockey_stick(epsilon));
                let lower = |id: &str| {
                    let method = catalogue::method(id).expect("a method");
                    let target = Target::DeltaAt { epsilon };
                    catalogue::ask(method, &question, target, &Options::default()).expect("an answer").value
                };
                let (full, bit) = (lower("full-report-pld"), lower("one-bit-pld"));
                assert!(!exceeds(full, exact, epsilon), "{scheme:?}, {m}-RR, {epsilon}: {full:e} {exact:e}");
                assert!(!exceeds(bit, exact, epsilon), "{scheme:?}, {m}-RR, {epsilon}: {bit:e} {exact:e}");
                assert!(full >= 0.9 * exact - 1e-3, "{scheme:?}, {m}-RR, {epsilon}: {full:e} {exact:e}");
            }
        }
    }
}
