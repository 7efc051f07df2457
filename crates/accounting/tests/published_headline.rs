//! The numbers that the papers print, from the question to the answer.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::bound::{Bound, Standing};
use shuffledp_accounting::catalogue::{Options, Target, ask, method, survey};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

fn question(scheme: Scheme, mechanism: Mechanism, rounds: u64) -> Question {
    Question::new(Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("a valid question") }, rounds)
        .expect("a valid question")
}

fn any(clients: u64, sampled: u64, local_epsilon: f64, rounds: u64) -> Question {
    question(Scheme::subsampled(clients, sampled).expect("a valid question"), Mechanism::Any { local_epsilon }, rounds)
}

fn epsilon(id: &str, question: &Question, delta: f64) -> Bound {
    ask(method(id).expect("a valid question"), question, Target::EpsilonAt { delta }, &Options::default())
        .expect("a valid question")
}

#[test]
fn girgis_blue_and_magenta_curves() {
    // Figure 2a at T = 10^5, and the abstract's "factor of 14".
    let asked = any(1_000_000, 1000, 2.0, 100_000);
    let blue = epsilon("girgis-theorem-1", &asked, 1e-8);
    assert!((blue.value - 1.0402).abs() < 5e-5, "{blue:?}");
    assert!((blue.order.unwrap() - 28.0).abs() < 0.5, "{blue:?}");
    let magenta = epsilon("clones-closed-form+subsampling+kov", &asked, 1e-8);
    assert!((magenta.value - 14.3).abs() < 0.05, "{magenta:?}");
    assert!(magenta.note.contains("ε = ε0"), "{magenta:?}");
}

#[test]
fn girgis_theorem_1_in_the_other_settings() {
    for (local_epsilon, sampled, clients, rounds, delta, expected, digits) in [
        (1.0, 1000, 1_000_000, 100_000, 1e-8, 0.2538, 5e-5),
        (3.0, 1000, 1_000_000, 100_000, 1e-8, 4.086, 5e-4),
        (1.5, 10_000, 60_000, 1200, 1e-5, 3.086, 5e-4),
        (2.0, 2000, 60_000, 6000, 1e-5, 5.795, 5e-4),
    ] {
        let bound = epsilon("girgis-theorem-1", &any(clients, sampled, local_epsilon, rounds), delta);
        assert!((bound.value - expected).abs() < digits, "{expected}: {bound:?}");
    }
}

#[test]
fn the_red_curve_never_becomes_a_lower_bound() {
    let asked = any(1_000_000, 1000, 2.0, 100_000);
    let red = epsilon("girgis-theorem-2", &asked, 1e-8);
    assert_eq!(red.standing, Standing::Flawed);
    let all = survey(&asked, Target::EpsilonAt { delta: 1e-8 }, &Options::default()).unwrap();
    assert!(all.best_lower().is_none_or(|bound| bound.id != "girgis-theorem-2"), "{all:?}");
    // Why it must not: 2-RR is (ε, δ)-DP here with ε between 0.1083 and 0.1146 (its own composed
    // loss distributions).
    assert!(red.value > 0.1150 && red.value < 0.1165, "{red:?}");
}

#[test]
fn ccs21_with_and_without_sampling() {
    let sampled = any(1_000_000, 1000, 2.0, 100_000);
    let black = epsilon("ccs21-upper+subsampling", &sampled, 1e-8);
    let blue = epsilon("girgis-theorem-1", &sampled, 1e-8);
    assert!(black.value > blue.value && black.value.is_finite(), "the paper: {black:?} is above {blue:?}");
    // Without sampling, by hand: λ²(E−1)²/n̄ with n̄ = ⌊999999/(2E)⌋ + 1, the exponential term
    // gone.
    let e = 1.0_f64.exp();
    let by_hand = 16.0 * (e - 1.0).powi(2) / ((999_999.0 / (2.0 * e)).floor() + 1.0) / 3.0;
    let value = shuffledp_accounting::published::ccs21::renyi_upper(1.0, 1_000_000, 4.0);
    assert!(value >= by_hand && value / by_hand - 1.0 < 1e-14, "{value} {by_hand}");
}

#[test]
fn one_shuffle_by_the_closed_form() {
    let asked = question(Scheme::shuffle(1_000_000).unwrap(), Mechanism::Any { local_epsilon: 1.0 }, 1);
    let bound = epsilon("clones-closed-form", &asked, 1e-8);
    let e = 1.0_f64.exp();
    let by_hand = (1.0 + (e - 1.0) / (e + 1.0) * (8.0 * (e * 4e8_f64.ln()).sqrt() / 1e3 + 8.0 * e / 1e6)).ln();
    assert!((bound.value / by_hand - 1.0).abs() < 1e-13, "{bound:?} {by_hand}");
    // (ε0, δ0): what δ0 adds comes out of δ, so ε grows; too large a δ0 leaves nothing.
    let with = |local_delta| {
        let mechanism = Mechanism::Approximate { local_epsilon: 1.0, local_delta };
        epsilon("clones-closed-form", &question(Scheme::shuffle(1_000_000).unwrap(), mechanism, 1), 1e-8).value
    };
    assert!(with(1e-16) > bound.value && with(1e-16) < 1.01 * bound.value, "{}", with(1e-16));
    assert!(with(1e-10).is_infinite());
}

#[test]
fn where_the_condition_fails_nothing_is_amplified() {
    let asked = question(Scheme::shuffle(1000).unwrap(), Mechanism::Any { local_epsilon: 2.0 }, 1);
    let bound = epsilon("clones-closed-form", &asked, 1e-8);
    assert!((bound.value - 2.0).abs() < 1e-15 && bound.note.contains("ε = ε0"), "{bound:?}");
}

#[test]
fn everybody_has_a_local_answer() {
    let check_in = Scheme::check_in(60_000, 0.1, 0.0).unwrap();
    let pure = epsilon("local-composition", &question(check_in, Mechanism::Any { local_epsilon: 0.01 }, 100), 1e-5);
    // The middle one of the three forms: μ + ε√(2T ln(e + √T·ε/δ)), μ = Tε·tanh(ε/2).
    let spread = (200.0 * (1.0_f64.exp() + 10.0 * 0.01 / 1e-5).ln()).sqrt();
    let by_hand = 0.01 * 0.005_f64.tanh() * 100.0 + 0.01 * spread;
    assert!((pure.value / by_hand - 1.0).abs() < 1e-12, "{pure:?} {by_hand}");
    // Gaussian, σ = 10: μ = 0.2 per round; δ(ε) must come back.
    let gaussian = question(check_in, Mechanism::Gaussian { sigma: 10.0 }, 25);
    let bound = epsilon("local-composition", &gaussian, 1e-5);
    let back = shuffledp_accounting::published::gdp::delta_upper(1.0, bound.value);
    assert!(back <= 1.0000001e-5 && back > 0.9999999e-5, "{bound:?} {back}");
    // (ε0, δ0): the rounds' δ0 come out of δ.
    let approximate = |local_delta| {
        let mechanism = Mechanism::Approximate { local_epsilon: 0.01, local_delta };
        epsilon("local-composition", &question(check_in, mechanism, 100), 1e-5).value
    };
    assert!(approximate(1e-9) > pure.value && approximate(1e-9).is_finite() && approximate(1e-6).is_infinite());
    let discrete =
        epsilon("local-composition", &question(check_in, Mechanism::DiscreteGaussian { sigma: 10.0 }, 25), 1e-5);
    assert!(discrete.value > bound.value && discrete.value < 1.2 * bound.value, "{discrete:?} {bound:?}");
}

#[test]
fn check_in_at_the_setting_of_figure_3a() {
    // The paper reports ε ≈ 1 here; its equation (7) evaluates to 17.5, at the smallest order.
    let asked = question(Scheme::check_in(60_000, 0.1, 0.0).unwrap(), Mechanism::LdpSgd { local_epsilon: 2.0 }, 6800);
    let printed = epsilon("check-in-theorem-2", &asked, 1e-5);
    assert!((printed.value - 17.49).abs() < 5e-3 && printed.standing == Standing::Flawed, "{printed:?}");
    // What of the paper is sound gains from sampling only.
    let sound = epsilon("check-in-strong-composition", &asked, 1e-5);
    let local = epsilon("local-composition", &asked, 1e-5);
    assert!(sound.standing == Standing::Rigorous && sound.value < 0.11 * local.value, "{sound:?} {local:?}");
    let all = survey(&asked, Target::EpsilonAt { delta: 1e-5 }, &Options::default()).unwrap();
    assert!(all.best_upper(Standing::Rigorous).is_some_and(|bound| bound.standing == Standing::Rigorous));
}

#[test]
fn the_number_of_speakers_is_bounded_from_above() {
    use shuffledp_accounting::numerics::binomial::upper_tail;
    use shuffledp_accounting::published::check_in::speakers_upper;
    for (clients, rate, excess) in [(100, 0.02, 1e-3), (60_000, 0.1, 1e-9), (10, 0.5, 1e-3), (1_000_000, 1e-7, 1e-12)] {
        let l = speakers_upper(clients, rate, excess);
        assert!(upper_tail(l + 1, clients, rate) <= excess && upper_tail(l, clients, rate) > 0.999 * excess, "{l}");
    }
    // No room for an excess: everybody may come.
    assert_eq!(speakers_upper(100, 0.5, 0.0), 100);
}
