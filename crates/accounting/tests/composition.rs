//! Composed rounds against two oracles that know no lattice: all products of outcomes, and contour
//! integrals.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use serde_json::Value;
use shuffledp_accounting::pair::{LinearPair, upper};
use shuffledp_accounting::pld::{Down, LossLattice, Rounding, Rounds, Up};
use shuffledp_accounting::scheme::Scheme;
use std::sync::Arc;

fn rounds<D: Rounding>(parts: &[(LinearPair, u64)], per_deviation: f64) -> Rounds<D> {
    let lattice = |pair| Arc::new(LossLattice::new(pair, per_deviation));
    Rounds::new(parts.iter().map(|(pair, count)| (lattice(pair), *count)).collect())
}

/// A pair as its list of outcomes, (P-mass, Q-mass) each.
type Outcomes = Vec<(f64, f64)>;

/// k of n clients: `a`, `b` of probability `signal` each and `c` of probability `neutral` out of k,
/// P-density `1 − k/n + (high·a + low·b + c)/n`, in the other world with a and b exchanged.
/// Multiplied out, nothing shared with the crate.
fn outcomes(k: u64, n: u64, [signal, neutral]: [f64; 2], [high, low]: [f64; 2]) -> Outcomes {
    let rest = (1.0 - 2.0 * signal - neutral).max(0.0);
    let choose = |n: u64, k: u64| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
    let mut list = Vec::new();
    for a in 0..=k {
        for b in 0..=k - a {
            for c in 0..=k - a - b {
                let left = k - a - b - c;
                let mass = choose(k, a)
                    * choose(k - a, b)
                    * choose(k - a - b, c)
                    * signal.powi((a + b) as i32)
                    * neutral.powi(c as i32)
                    * rest.powi(left as i32);
                let density =
                    |a: u64, b: u64| ((n - k) as f64 + high * a as f64 + low * b as f64 + c as f64) / n as f64;
                if mass > 0.0 {
                    list.push((mass * density(a, b), mass * density(b, a)));
                }
            }
        }
    }
    list
}

fn two_level(k: u64, n: u64, local_epsilon: f64, q: f64) -> (LinearPair, Outcomes) {
    let e = local_epsilon.exp();
    let blanket = 1.0 / (1.0 + (e - 1.0) * q);
    let scheme = Scheme::subsampled(n, k).unwrap();
    let list = outcomes(k, n, [blanket * q, blanket * (1.0 - 2.0 * q)], [e, 1.0]);
    (upper::two_level(&scheme, local_epsilon, q).unwrap(), list)
}

fn any_ldp(k: u64, n: u64, local_epsilon: f64) -> (LinearPair, Outcomes) {
    let e = local_epsilon.exp();
    let kappa = 2.0 * e / (e + 1.0);
    let scheme = Scheme::subsampled(n, k).unwrap();
    (upper::any_ldp(&scheme, local_epsilon).unwrap(), outcomes(k, n, [0.5 / e, 0.0], [kappa * e, kappa]))
}

fn product(left: &Outcomes, right: &Outcomes) -> Outcomes {
    left.iter().flat_map(|(p, q)| right.iter().map(move |(r, s)| (p * r, q * s))).collect()
}

/// In chunks: millions of terms one after the other would gather millions of roundings.
fn sum(list: &Outcomes, term: impl Fn(&(f64, f64)) -> f64) -> f64 {
    list.chunks(2048).map(|chunk| chunk.iter().map(&term).sum::<f64>()).sum()
}

fn hockey_stick(list: &Outcomes, epsilon: f64) -> f64 {
    let t = epsilon.exp();
    sum(list, |(p, q)| (p - t * q).max(0.0))
}

/// Relative rounding of a product of some tens of floats, for either of the two masses whose
/// difference counts.
fn rounding(epsilon: f64) -> f64 {
    128.0 * f64::EPSILON * (1.0 + epsilon.exp())
}

#[test]
fn two_and_three_rounds_against_all_products() {
    let single: Vec<(&str, (LinearPair, Outcomes))> = vec![
        ("any, 20 of 50", any_ldp(20, 50, 1.0)),
        ("any, shuffle of 9", any_ldp(9, 9, 0.5)),
        ("two-level, 15 of 15", two_level(15, 15, 2.0, 0.5)),
        ("two-level, 8 of 1000", two_level(8, 1000, 3.0, 0.5)),
        ("3-RR, 7 of 10", two_level(7, 10, 1.0, 1.0 / 3.0)),
        ("two-level, 6 of 6", two_level(6, 6, 5.0, 0.02)),
        ("any, shuffle of 5", any_ldp(5, 5, 12.0)),
        ("two-level, 4 of 9", two_level(4, 9, 18.0, 0.5)),
        ("two-level, 5 of 7", two_level(5, 7, 8.0, 0.3)),
    ];
    let mut cases = Vec::new();
    for (i, (name, (pair, list))) in single.iter().enumerate() {
        cases.push((format!("{name}, once"), vec![(*pair, 1)], list.clone()));
        cases.push((format!("{name}, twice"), vec![(*pair, 2)], product(list, list)));
        if list.len() <= 140 {
            cases.push((format!("{name}, three times"), vec![(*pair, 3)], product(&product(list, list), list)));
        }
        let (other, (next, after)) = &single[(i + 1) % single.len()];
        cases.push((format!("{name}, then {other}"), vec![(*pair, 1), (*next, 1)], product(list, after)));
    }
    for (name, parts, list) in &cases {
        // Fine lattices: a handful of atoms would make the gap to the exact curve visible at fewer
        // points.
        let (down, up) = (rounds::<Down>(parts, 512.0), rounds::<Up>(parts, 512.0));
        let (p, q) = (sum(list, |(p, _)| *p), sum(list, |(_, q)| *q));
        assert!((p - 1.0_f64).abs() < 1e-12 && (q - 1.0_f64).abs() < 1e-12, "{name}: masses {p} {q}");
        for epsilon in [0.0, 1e-3, 0.01, 0.05, 0.2, 0.5, 1.0, 2.0, 3.5] {
            let exact = hockey_stick(list, epsilon);
            let (lower, upper) = (down.delta(epsilon).unwrap(), up.delta(epsilon).unwrap());
            assert!(lower <= exact + rounding(epsilon), "{name}, ε = {epsilon}: {lower:e} is above {exact:e}");
            assert!(exact <= upper + rounding(epsilon), "{name}, ε = {epsilon}: {upper:e} is below {exact:e}");
            assert!(upper - lower < 1e-3, "{name}, ε = {epsilon}: {lower:e} to {upper:e}");
        }
        // Backwards: at the δ of the bounds' own ε the truth is on the right side.
        for delta in [0.1, 1e-2, 1e-4, 1e-7] {
            let (lower, upper) = (down.epsilon(delta).unwrap(), up.epsilon(delta).unwrap());
            assert!(
                hockey_stick(list, upper) <= delta + rounding(upper),
                "{name}, δ = {delta}: ε = {upper} is too small"
            );
            let enough = lower == 0.0 || hockey_stick(list, lower) >= delta - rounding(lower);
            assert!(enough, "{name}, δ = {delta}: ε = {lower} is too large");
            assert!(upper - lower < 1e-2 * (1.0 + upper), "{name}, δ = {delta}: {lower} to {upper}");
        }
    }
}

/// 1,200 and 100,000 rounds against contour integrals.
#[test]
fn many_rounds_against_contour_integrals() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("data/composition/many_rounds.json")).unwrap();
    assert!(rows.len() >= 8);
    for row in &rows {
        let inputs = &row["inputs"];
        let real = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
        let count = |key: &str| inputs[key].as_u64().unwrap();
        let scheme = Scheme::subsampled(count("clients"), count("sampled")).unwrap();
        let (local_epsilon, epsilon) = (real(&inputs["local_epsilon"]), real(&inputs["epsilon"]));
        let pair = match inputs["pair"].as_str().unwrap() {
            "two-level" => upper::two_level(&scheme, local_epsilon, 0.5),
            _ => upper::any_ldp(&scheme, local_epsilon),
        }
        .unwrap();
        let parts = [(pair, count("rounds"))];
        let (down, up) = (rounds::<Down>(&parts, 128.0), rounds::<Up>(&parts, 128.0));
        let (exact, uncertain) = (real(&row["value"]), real(&row["relative_uncertainty"]));
        let (lower, upper) = (down.delta(epsilon).unwrap(), up.delta(epsilon).unwrap());
        assert!(lower <= exact * (1.0 + uncertain), "{inputs}: {lower:e} is above {exact:e}");
        assert!(upper >= exact * (1.0 - uncertain), "{inputs}: {upper:e} is below {exact:e}");
        // ε for that δ is uncertain by less than the same share. Upper bounds are reported to four
        // digits; lower ones are rounded down to the first order where hardly any mass is, and may
        // be looser.
        let (lower, upper) = (down.epsilon(exact).unwrap(), up.epsilon(exact).unwrap());
        assert!(
            lower <= epsilon * (1.0 + uncertain) && epsilon * (1.0 - uncertain) <= upper,
            "{inputs}: {lower} {upper}"
        );
        assert!(upper <= epsilon * (1.0 + 1e-4), "{inputs}: {upper}");
        assert!(lower >= epsilon * (1.0 - 2e-3), "{inputs}: {lower}");
    }
}

/// A regression: two rounds of so few outcomes that, tilted, all mass sits far from the edge of the
/// window. Their lower bound was 0.
#[test]
fn few_outcomes_far_apart_keep_their_lower_bound() {
    let parts = [(two_level(7, 10, 1.0, 1.0 / 3.0).0, 1), (two_level(6, 6, 5.0, 0.02).0, 1)];
    let (down, up) = (rounds::<Down>(&parts, 512.0), rounds::<Up>(&parts, 512.0));
    for delta in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
        let (lower, upper) = (down.epsilon(delta).unwrap(), up.epsilon(delta).unwrap());
        // The coarser of the two lattices has points 2^−7 apart.
        assert!(lower <= upper && upper - lower < 4.0 / 128.0, "δ = {delta}: {lower} to {upper}");
    }
}

/// One client: `δ(ε) = (E − e^ε)/(E + 1)`, and nothing helps against a large ε0. Reading adds
/// 1e-10; what was here before lost 3e-9 of the mass at ε0 = 20 and 4e-4 at 30, since P-masses were
/// differences of numbers next to 1.
#[test]
fn large_local_epsilons_neither_lose_nor_gain_mass() {
    for tenth in 1..=320 {
        let local_epsilon = f64::from(tenth) / 10.0;
        let e = local_epsilon.exp();
        let parts = [(any_ldp(1, 1, local_epsilon).0, 1)];
        let (down, up) = (rounds::<Down>(&parts, 128.0), rounds::<Up>(&parts, 128.0));
        for share in [0.0, 0.1, 0.5, 0.9] {
            let epsilon = share * local_epsilon;
            let exact = (e - epsilon.exp()) / (e + 1.0);
            let (lower, upper) = (down.delta(epsilon).unwrap(), up.delta(epsilon).unwrap());
            assert!(lower <= exact && exact <= upper, "ε0 = {local_epsilon}, ε = {epsilon}: {lower} {exact} {upper}");
        }
        let mass = |masses: &mut dyn Iterator<Item = (f64, f64)>| -> f64 { masses.map(|(_, mass)| mass).sum() };
        let down = mass(&mut LossLattice::<Down>::new(&parts[0].0, 128.0).iter());
        let up = mass(&mut LossLattice::<Up>::new(&parts[0].0, 128.0).iter());
        for mass in [down, up] {
            assert!((mass - 1.0).abs() < 1e-13, "ε0 = {local_epsilon}: mass {mass}");
        }
    }
}

/// A lattice that was rounded down has no more mass than there is: δ never exceeds 1, however many
/// rounds.
#[test]
fn lower_lattices_create_no_mass() {
    let parts = [(any_ldp(27, 1603, 13.195_315_906_277_875).0, 17_127)];
    let (down, up) = (rounds::<Down>(&parts, 128.0), rounds::<Up>(&parts, 128.0));
    for epsilon in [0.0, 1.0, 10.0, 1000.0] {
        assert!(down.delta(epsilon).unwrap() <= up.delta(epsilon).unwrap(), "ε = {epsilon}");
    }
}

/// Rare large losses: a window of a Gaussian's width cut off so much of every block that the upper
/// bound was infinite.
#[test]
fn rare_large_losses_have_a_finite_bound() {
    let alone = Scheme::check_in(1, 0.096, 0.0).unwrap();
    let parts = [(upper::two_level(&alone, 0.0075, 0.011).unwrap(), 902_189)];
    let (down, up) = (rounds::<Down>(&parts, 128.0), rounds::<Up>(&parts, 128.0));
    let (lower, upper) = (down.epsilon(1.79e-7).unwrap(), up.epsilon(1.79e-7).unwrap());
    assert!(lower <= upper && upper < 1.05 * lower, "{lower} to {upper}");
}
