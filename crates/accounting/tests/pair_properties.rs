//! Properties of every pair, whatever its parameters: upper above lower, monotone, equal where the
//! protocols are equal.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use proptest::prelude::*;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::pair::{LinearPair, upper};
use shuffledp_accounting::pld::{Down, LossLattice, Rounding, Rounds, Up};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};
use std::sync::Arc;

/// The largest difference between two computations of one number, relative to ε: blocks of signals
/// cost a few 1e-5, connecting the dots at 128 points to a deviation 1/(6·128²) ≈ 1e-5 of the
/// variance, and each stage of composition 1/(6·64²) ≈ 4e-5 of it.
const DISCRETISATION: f64 = 2e-4;

/// Lattice points to a standard deviation, as where questions are answered.
const PER_DEVIATION: f64 = 128.0;

/// About the largest step of a grid that so many rounds are composed on: 1/1024 of a deviation of
/// their loss, tilted to where δ lives, or the lattice's own.
///
/// Where losses are few and rare, ε is next to one of them, and no more exact than a step: each is
/// moved to the next ones.
fn grid_step(lattice: &LossLattice, rounds: u64, delta: f64) -> f64 {
    let greatest = lattice.iter().map(|(loss, _)| loss).fold(0.0, f64::max);
    // The cumulant of one loss and its variance, tilted.
    let tilted = |theta: f64| {
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (loss, mass) in lattice.iter() {
            let mass = mass * (theta * (loss - greatest)).exp();
            (sum, first, second) = (sum + mass, first + mass * loss, second + mass * loss * loss);
        }
        let mean = first / sum;
        (sum.ln() + theta * greatest, second / sum - mean * mean)
    };
    let chernoff = |theta: &f64| (rounds as f64 * tilted(*theta).0 - delta.ln()) / theta;
    let thetas = (0..160).map(|i| 2_f64.powf(f64::from(i) / 4.0 - 6.0));
    let theta = thetas.min_by(|a, b| chernoff(a).total_cmp(&chernoff(b))).unwrap();
    ((rounds as f64 * tilted(theta).1).sqrt() / 1024.0).max(lattice.spacing())
}

/// Which row of the table.
#[derive(Debug, Clone, Copy)]
enum Row {
    Any,
    TwoLevel { high_mass: f64 },
}

impl Row {
    fn pair(self, scheme: &Scheme, local_epsilon: f64) -> LinearPair {
        match self {
            Self::Any => upper::any_ldp(scheme, local_epsilon),
            Self::TwoLevel { high_mass } => upper::two_level(scheme, local_epsilon, high_mass),
        }
        .expect("a pair")
    }
}

fn row() -> BoxedStrategy<Row> {
    prop_oneof![
        2 => Just(Row::Any),
        2 => Just(Row::TwoLevel { high_mass: 0.5 }),
        2 => logarithmic(0.01, 0.5).prop_map(|high_mass| Row::TwoLevel { high_mass }),
    ]
    .boxed()
}

fn logarithmic(low: f64, high: f64) -> BoxedStrategy<f64> {
    (low.ln()..=high.ln()).prop_map(|x| x.exp()).boxed()
}

fn count(low: u64, high: u64) -> BoxedStrategy<u64> {
    logarithmic(low as f64, high as f64).prop_map(move |x| (x.round() as u64).clamp(low, high)).boxed()
}

fn scheme(most: u64) -> BoxedStrategy<Scheme> {
    prop_oneof![
        count(1, most).prop_map(|n| Scheme::shuffle(n).expect("valid")),
        (count(1, most), logarithmic(1.0, 1e5))
            .prop_map(|(k, share)| Scheme::subsampled((k as f64 * share) as u64, k).expect("valid")),
        (count(1, most), logarithmic(1e-3, 1.0)).prop_map(|(n, rate)| Scheme::check_in(n, rate, 0.0).expect("valid")),
        (count(1, most), 0.01..1.0_f64, 0.0..0.9_f64)
            .prop_map(|(n, rate, drop_out)| Scheme::check_in(n, rate, drop_out).expect("valid")),
    ]
    .boxed()
}

fn rounds<D: Rounding>(pair: &LinearPair, count: u64) -> Rounds<D> {
    Rounds::new(vec![(Arc::new(LossLattice::new(pair, PER_DEVIATION)), count)])
}

fn epsilon(pair: &LinearPair, count: u64, delta: f64) -> f64 {
    rounds::<Up>(pair, count).epsilon(delta).expect("a number")
}

fn round(scheme: Scheme, mechanism: Mechanism) -> Round {
    Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("valid") }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(2000))]

    /// The two lattices of one pair enclose its truth, so the lower never exceeds the upper;
    /// nothing is NaN.
    #[test]
    fn upper_is_never_below_lower(
        row in row(),
        scheme in scheme(100_000),
        local_epsilon in logarithmic(1e-3, 20.0),
        count in count(1, 1_000_000),
        delta in logarithmic(1e-15, 0.1),
        per_deviation in prop_oneof![3 => Just(8.0), 3 => Just(32.0), 1 => Just(PER_DEVIATION)],
        share in 0.0..1.0_f64,
    ) {
        let pair = row.pair(&scheme, local_epsilon);
        let up = Rounds::<Up>::new(vec![(Arc::new(LossLattice::new(&pair, per_deviation)), count)]);
        let down = Rounds::<Down>::new(vec![(Arc::new(LossLattice::new(&pair, per_deviation)), count)]);
        let (upper, lower) = (up.epsilon(delta).unwrap(), down.epsilon(delta).unwrap());
        prop_assert!(0.0 <= lower && lower <= upper, "ε from {lower:e} to {upper:e}");
        prop_assert!(upper.is_finite(), "nothing is known at δ = {delta:e}");
        let epsilon = share * upper;
        let (above, below) = (up.delta(epsilon).unwrap(), down.delta(epsilon).unwrap());
        prop_assert!(0.0 <= below && below <= above && above <= 1.0, "ε = {epsilon}: δ from {below:e} to {above:e}");
    }
}

proptest! {
    #![proptest_config(config(150))]

    /// One round needs no composition: the lattice against the sum over outcomes.
    #[test]
    fn one_round_is_the_sum_over_outcomes(
        row in row(),
        scheme in scheme(3_000),
        local_epsilon in logarithmic(1e-3, 8.0),
        delta in logarithmic(1e-12, 0.1),
    ) {
        let pair = row.pair(&scheme, local_epsilon);
        let (up, down) = (rounds::<Up>(&pair, 1), rounds::<Down>(&pair, 1));
        let epsilon = up.epsilon(delta).unwrap();
        for epsilon in [0.0, 0.5 * epsilon, epsilon] {
            let (upper, lower) = (up.delta(epsilon).unwrap(), down.delta(epsilon).unwrap());
            let (sum_upper, sum_lower) = (pair.delta_upper(epsilon), pair.delta_lower(epsilon));
            prop_assert!(upper >= sum_lower, "ε = {epsilon}: lattice {upper:e} below the sum {sum_lower:e}");
            prop_assert!(lower <= sum_upper, "ε = {epsilon}: lattice {lower:e} above the sum {sum_upper:e}");
            // Connecting the dots lifts the curve by at most a quarter of the spacing, of the mass
            // beyond ε − h.
            let spacing = LossLattice::<Up>::new(&pair, PER_DEVIATION).spacing();
            let nearby = pair.delta_upper(epsilon - spacing);
            // Levels are spread over intervals of 1 %, which moves a loss by sinh(loss) per cent:
            // near the largest loss of a large ε0 that is no small share of δ.
            prop_assert!(
                local_epsilon > 1.0 || upper <= nearby.max(sum_upper) * (1.0 + DISCRETISATION) + 1e-25,
                "ε = {epsilon}: {upper:e} far above {sum_upper:e}"
            );
        }
    }

    /// δ(ε) and ε(δ) are read from differently tilted compositions of one lattice.
    #[test]
    fn epsilon_and_delta_are_inverse(
        row in row(),
        scheme in scheme(3_000),
        local_epsilon in logarithmic(1e-3, 4.0),
        count in count(1, 100_000),
        delta in logarithmic(1e-12, 0.01),
    ) {
        let rounds = rounds::<Up>(&row.pair(&scheme, local_epsilon), count);
        let epsilon = rounds.epsilon(delta).unwrap();
        let back = rounds.delta(epsilon).unwrap();
        if epsilon > 0.0 {
            let again = rounds.epsilon(back.clamp(1e-300, 0.999)).unwrap();
            prop_assert!((again / epsilon - 1.0).abs() <= DISCRETISATION, "ε = {epsilon} → δ = {back:e} → ε = {again}");
        } else {
            prop_assert!(back <= delta * (1.0 + 1e-6), "δ(0) = {back:e} above {delta:e}");
        }
    }

    #[test]
    fn monotone_in_clients_rounds_and_local_epsilon(
        row in row(),
        scheme in scheme(3_000),
        local_epsilon in logarithmic(1e-3, 6.0),
        count in count(1, 100_000),
        delta in logarithmic(1e-12, 0.01),
        factor in 1.0..3.0_f64,
    ) {
        let pair = row.pair(&scheme, local_epsilon);
        let spacing = LossLattice::<Up>::new(&pair, PER_DEVIATION).spacing();
        let base = epsilon(&pair, count, delta);
        // A single round of few outcomes is resolved to a fraction of the spacing only.
        let not_above = |small: f64, large: f64| small <= large * (1.0 + DISCRETISATION) + spacing;
        let longer = (count as f64 * factor) as u64;
        let more_rounds = epsilon(&pair, longer, delta);
        prop_assert!(not_above(base, more_rounds), "T = {count}: {base}, T = {longer}: {more_rounds}");
        let louder = epsilon(&row.pair(&scheme, local_epsilon * factor), count, delta);
        prop_assert!(not_above(base, louder), "ε0 = {local_epsilon}: {base}, ×{factor}: {louder}");
        let clients = (scheme.clients() as f64 * factor) as u64;
        let larger = Scheme::new(clients, scheme.participation()).unwrap();
        let crowded = epsilon(&row.pair(&larger, local_epsilon), count, delta);
        prop_assert!(not_above(crowded, base), "{} clients: {base}, {clients}: {crowded}", scheme.clients());
    }

    /// The same protocol by another name.
    #[test]
    fn equal_protocols_have_equal_pairs(
        row in row(),
        clients in count(1, 1_000_000_000),
        local_epsilon in logarithmic(1e-3, 20.0),
    ) {
        let pair = |scheme: Scheme| row.pair(&scheme, local_epsilon);
        let shuffle = pair(Scheme::shuffle(clients).unwrap());
        prop_assert_eq!(shuffle, pair(Scheme::subsampled(clients, clients).unwrap()));
        prop_assert_eq!(shuffle, pair(Scheme::check_in(clients, 1.0, 0.0).unwrap()));
    }

    #[test]
    fn drop_out_thins_the_rate(
        row in row(),
        clients in count(1, 3_000),
        rate in 0.01..1.0_f64,
        drop_out in 0.0..0.95_f64,
        local_epsilon in logarithmic(1e-2, 4.0),
        count in count(1, 10_000),
    ) {
        let dropping = row.pair(&Scheme::check_in(clients, rate, drop_out).unwrap(), local_epsilon);
        let thinned = row.pair(&Scheme::check_in(clients, rate * (1.0 - drop_out), 0.0).unwrap(), local_epsilon);
        let (dropping, thinned) = (epsilon(&dropping, count, 1e-6), epsilon(&thinned, count, 1e-6));
        // The effective rate is rounded up by an ulp or two; beyond that only the grids could
        // differ, and they do not.
        prop_assert!((dropping - thinned).abs() <= 1e-7 * thinned, "{dropping} {thinned}");
    }

    /// Rounds in any order and grouping.
    #[test]
    fn the_order_of_rounds_does_not_matter(
        first in scheme(2_000),
        second in scheme(2_000),
        local_epsilon in logarithmic(1e-2, 3.0),
        counts in (count(1, 5_000), count(1, 5_000)),
        delta in logarithmic(1e-10, 0.01),
    ) {
        let a = round(first, Mechanism::Any { local_epsilon });
        let b = round(second, Mechanism::LdpSgd { local_epsilon: 0.7 * local_epsilon });
        let told = |list: &[(Round, u64)]| {
            let mut accountant = Accountant::new();
            list.iter().for_each(|(round, count)| accountant.compose(*round, *count).unwrap());
            accountant
        };
        let (m, n) = counts;
        let (forth, back) = (told(&[(a, m), (b, n)]), told(&[(b, n), (a, m)]));
        let epsilon = forth.epsilon(delta).unwrap();
        // The same transforms, multiplied in another order.
        let other = back.epsilon(delta).unwrap();
        prop_assert!((other - epsilon).abs() <= 1e-7 * epsilon, "{other} {epsilon}");
        let half = m / 2;
        if half > 0 {
            prop_assert_eq!(&told(&[(a, half), (b, n), (a, m - half)]), &forth);
        }
        let mut merged = told(&[(a, m)]);
        merged.merge(&told(&[(b, n)])).unwrap();
        prop_assert_eq!(&merged, &forth);
    }

    /// Two entries of one lattice are composed in other stages than one entry of both counts.
    #[test]
    fn splitting_a_count_changes_nothing_but_the_grid(
        row in row(),
        scheme in scheme(2_000),
        local_epsilon in logarithmic(1e-2, 3.0),
        counts in (count(1, 50_000), count(1, 50_000)),
        delta in logarithmic(1e-10, 0.01),
    ) {
        let lattice = Arc::new(LossLattice::<Up>::new(&row.pair(&scheme, local_epsilon), PER_DEVIATION));
        let (m, n) = counts;
        let one = Rounds::new(vec![(lattice.clone(), m + n)]).epsilon(delta).unwrap();
        let two = Rounds::new(vec![(lattice.clone(), m), (lattice.clone(), n)]).epsilon(delta).unwrap();
        let step = grid_step(&lattice, m + n, delta);
        // Two computations, of two stages each.
        prop_assert!((one - two).abs() <= DISCRETISATION * one + 4.0 * step, "{one} {two}, in steps of {step}");
    }

    /// Composing the loss distribution is never worse than adding up Rényi divergences.
    #[test]
    fn loss_distributions_beat_renyi_divergences(
        scheme in scheme(3_000),
        local_epsilon in logarithmic(1e-2, 4.0),
        count in count(1, 100_000),
        delta in logarithmic(1e-12, 0.01),
        two_level in any::<bool>(),
    ) {
        let (mechanism, class) = if two_level {
            (Mechanism::RInf { local_epsilon }, "two-level")
        } else {
            (Mechanism::Any { local_epsilon }, "any-ldp")
        };
        let question = Question::new(round(scheme, mechanism), count).unwrap();
        let value = |composition: &str| {
            let method = method(&format!("{class}-{composition}")).expect("a registered method");
            ask(method, &question, Target::EpsilonAt { delta }, &Options::default()).unwrap().value
        };
        let (pld, rdp) = (value("pld"), value("rdp"));
        prop_assert!(pld <= rdp * (1.0 + 1e-4), "loss distribution {pld}, Rényi {rdp}");
    }
}

/// ε0, k, n, T, δ of the headline settings.
const HEADLINE: [(f64, u64, u64, u64, f64); 5] = [
    (2.0, 1_000, 1_000_000, 100_000, 1e-8),
    (1.0, 1_000, 1_000_000, 100_000, 1e-8),
    (3.0, 1_000, 1_000_000, 100_000, 1e-8),
    (1.5, 10_000, 60_000, 1_200, 1e-5),
    (2.0, 2_000, 60_000, 6_000, 1e-5),
];

#[test]
fn the_discretisation_gap_is_small_in_the_headline_settings() {
    for (local_epsilon, sampled, clients, count, delta) in HEADLINE {
        for row in [Row::Any, Row::TwoLevel { high_mass: 0.5 }] {
            let pair = row.pair(&Scheme::subsampled(clients, sampled).unwrap(), local_epsilon);
            let upper = rounds::<Up>(&pair, count).epsilon(delta).unwrap();
            let lower = rounds::<Down>(&pair, count).epsilon(delta).unwrap();
            assert!(lower <= upper && upper < 1.001 * lower, "ε0 = {local_epsilon}, {row:?}: {lower} to {upper}");
        }
    }
}
