//! Whatever is asked: no panic, no hang, no NaN, nothing negative; monotone where the truth is.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use proptest::prelude::*;
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::catalogue::{Analysis, Method, Options, Target, ask, method};
use shuffledp_accounting::scheme::{MAX_COUNT, Mechanism, Question, RandomizerSpec, Round, Scheme};

/// The formulas of the papers: cheap enough to be asked anything. Methods that compute loss
/// distributions are tested elsewhere.
const FORMULAS: [&str; 19] = [
    "girgis-theorem-1",
    "girgis-theorem-2",
    "ccs21-upper",
    "ccs21-upper+subsampling",
    "ccs21-lower",
    "clones-closed-form",
    "clones-closed-form+subsampling+kov",
    "enhanced-corollary-1",
    "enhanced-corollary-2",
    "enhanced-theorem-2",
    "enhanced-theorem-3",
    "check-in-theorem-2",
    "check-in-theorem-3",
    "check-in-approach-1",
    "check-in-approach-2",
    "check-in-baseline",
    "check-in-strong-composition",
    "local-composition",
    "shuffle-gaussian-corollary-1",
];

fn formulas() -> impl Iterator<Item = &'static dyn Method> {
    FORMULAS.iter().map(|id| method(id).expect("in the catalogue"))
}

/// Relative room for monotonicity: the order search stops within 1e-5 of a flat minimum, whose
/// value then differs by its square, and bounds are rounded up by up to 1e-9 at extreme orders.
const FLAT: f64 = 1e-6;

fn count(top: u64) -> BoxedStrategy<u64> {
    let exponent = (top as f64).log2();
    prop_oneof![
        3 => (0.0..=exponent).prop_map(move |e| (e.exp2() as u64).clamp(1, top)),
        1 => Just(1),
        1 => Just(top),
    ]
    .boxed()
}

fn local_epsilon() -> BoxedStrategy<f64> {
    prop_oneof![
        6 => (-3.0..1.301_f64).prop_map(|e| 10_f64.powf(e)),
        1 => Just(0.0),
        1 => Just(1e-300),
        1 => Just(50.0),
        1 => Just(1e6),
    ]
    .boxed()
}

fn delta() -> BoxedStrategy<f64> {
    prop_oneof![4 => (-12.0..-1.0_f64).prop_map(|e| 10_f64.powf(e)), 1 => Just(1e-300), 1 => Just(0.999)].boxed()
}

fn mechanism() -> BoxedStrategy<Mechanism> {
    let sigma = (-1.0..3.0_f64).prop_map(|e| 10_f64.powf(e));
    prop_oneof![
        4 => local_epsilon().prop_map(|local_epsilon| Mechanism::Any { local_epsilon }),
        2 => local_epsilon().prop_map(|local_epsilon| Mechanism::Rr { local_epsilon }),
        1 => (local_epsilon(), count(MAX_COUNT))
            .prop_map(|(local_epsilon, m)| Mechanism::Krr { local_epsilon, categories: m.max(2) }),
        1 => local_epsilon().prop_map(|local_epsilon| Mechanism::RInf { local_epsilon }),
        1 => local_epsilon().prop_map(|local_epsilon| Mechanism::R1 { local_epsilon }),
        1 => local_epsilon().prop_map(|local_epsilon| Mechanism::R2 { local_epsilon }),
        1 => local_epsilon().prop_map(|local_epsilon| Mechanism::LdpSgd { local_epsilon }),
        1 => (local_epsilon(), 2..2000_u64)
            .prop_map(|(local_epsilon, dimension)| Mechanism::PrivUnit { local_epsilon, dimension }),
        2 => (local_epsilon(), prop_oneof![Just(0.0), Just(1e-30), Just(1e-9), Just(0.5)])
            .prop_map(|(local_epsilon, local_delta)| Mechanism::Approximate { local_epsilon, local_delta }),
        1 => sigma.clone().prop_map(|sigma| Mechanism::Gaussian { sigma }),
        1 => sigma.prop_map(|sigma| Mechanism::DiscreteGaussian { sigma }),
        1 => local_epsilon().prop_map(|local_epsilon| Mechanism::Laplace { local_epsilon }),
        1 => local_epsilon().prop_map(|local_epsilon| Mechanism::DiscreteLaplace { local_epsilon }),
    ]
    .boxed()
}

fn scheme() -> BoxedStrategy<Scheme> {
    prop_oneof![
        count(MAX_COUNT).prop_map(|n| Scheme::shuffle(n).expect("valid")),
        (count(MAX_COUNT), count(MAX_COUNT)).prop_map(|(n, k)| Scheme::subsampled(n.max(k), n.min(k)).expect("valid")),
        (count(MAX_COUNT), -12.0..0.0_f64, prop_oneof![Just(0.0), Just(0.3)])
            .prop_map(|(n, rate, drop_out)| Scheme::check_in(n, 10_f64.powf(rate), drop_out).expect("valid")),
    ]
    .boxed()
}

fn question() -> impl Strategy<Value = Question> {
    (scheme(), mechanism(), count(MAX_COUNT)).prop_map(|(scheme, mechanism, rounds)| {
        Question::new(Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("valid") }, rounds)
            .expect("valid")
    })
}

/// A question like those that people ask: everything finite and moderate.
fn moderate() -> impl Strategy<Value = Question> {
    let local = 0.05..4.0_f64;
    let scheme =
        (10..100_000_u64, 1..100_u64).prop_map(|(n, share)| Scheme::subsampled(n, (n / share).max(1)).expect("valid"));
    (scheme, local, 1..10_000_u64).prop_map(|(scheme, local_epsilon, rounds)| {
        let randomizer = RandomizerSpec::new(Mechanism::Any { local_epsilon }).expect("valid");
        Question::new(Round { scheme, randomizer }, rounds).expect("valid")
    })
}

/// The rigorous upper bounds that apply. A flawed curve need not be that of any mechanism: where it
/// falls with the order, or is what is left of a cancellation, no search can make sense of it.
fn analyses(question: &Question) -> Vec<(&'static str, Box<dyn Analysis>)> {
    formulas()
        .filter(|method| method.about().kind == Kind::Upper && method.about().standing == Standing::Rigorous)
        .filter_map(|method| Some((method.about().id, method.analyse(question, &Options::default()).ok()?)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_formula_answers(question in question(), delta in delta(), epsilon in 0.0..30.0_f64) {
        for target in [Target::EpsilonAt { delta }, Target::DeltaAt { epsilon }] {
            for formula in formulas() {
                let id = formula.about().id;
                match ask(formula, &question, target, &Options::default()) {
                    Ok(bound) => {
                        let most = if matches!(target, Target::DeltaAt { .. }) { 1.0 } else { f64::INFINITY };
                        prop_assert!(bound.value >= 0.0 && bound.value <= most, "{id}: {}", bound.value);
                    }
                    Err(AccountingError::NotApplicable { reason }) => {
                        prop_assert!(id != "local-composition", "always applies, but: {reason}");
                    }
                    Err(error) => prop_assert!(false, "{id}: {error}"),
                }
            }
        }
    }

    #[test]
    fn delta_of_epsilon_of_delta_is_at_most_delta(question in question(), delta in delta()) {
        for (id, analysis) in analyses(&question) {
            let epsilon = analysis.epsilon(delta).unwrap().value;
            if epsilon.is_finite() {
                // A touch above ε: an ε of 1e40 times an order has no digits left for ln δ.
                let epsilon = epsilon * (1.0 + FLAT);
                let back = analysis.delta(epsilon).unwrap().value;
                prop_assert!(back <= delta * (1.0 + FLAT), "{id}: δ = {delta} → ε = {epsilon} → {back}");
                let again = analysis.epsilon(back.clamp(1e-307, 0.9999)).unwrap().value;
                prop_assert!(again <= epsilon * (1.0 + FLAT) + 1e-9, "{id}: {epsilon} → {back} → {again}");
            }
        }
    }

    #[test]
    fn monotone_in_delta(question in question(), delta in delta(), factor in 1e-6..1.0_f64) {
        for (id, analysis) in analyses(&question) {
            let (loose, tight) = (analysis.epsilon(delta).unwrap().value, analysis.epsilon(delta * factor).unwrap().value);
            prop_assert!(loose <= tight * (1.0 + FLAT), "{id}: {loose} at δ = {delta}, {tight} at {}", delta * factor);
        }
    }

    #[test]
    fn monotone_in_rounds(question in question(), delta in delta(), more in 1..1000_u64) {
        let rounds = (question.rounds() + more).min(MAX_COUNT);
        let longer = Question::new(*question.round(), rounds).unwrap();
        let after_all = analyses(&longer);
        for (id, analysis) in analyses(&question) {
            let Some((_, after)) = after_all.iter().find(|(other, _)| *other == id) else { continue };
            let (few, many) = (analysis.epsilon(delta).unwrap().value, after.epsilon(delta).unwrap().value);
            prop_assert!(few <= many * (1.0 + FLAT), "{id}: {few}, with more rounds {many}");
        }
    }

    #[test]
    fn rigorous_bounds_grow_with_the_local_epsilon(question in moderate(), factor in 1.0..1.5_f64) {
        let Mechanism::Any { local_epsilon } = question.randomizer().mechanism() else { unreachable!() };
        let randomizer = RandomizerSpec::any(local_epsilon * factor).unwrap();
        let louder = Question::new(Round { scheme: *question.scheme(), randomizer }, question.rounds()).unwrap();
        let louder_all = analyses(&louder);
        for (id, analysis) in analyses(&question) {
            let Some((_, other)) = louder_all.iter().find(|(other, _)| *other == id) else { continue };
            let (quiet, loud) = (analysis.epsilon(1e-6).unwrap().value, other.epsilon(1e-6).unwrap().value);
            prop_assert!(quiet <= loud * (1.0 + FLAT), "{id}: {quiet} at {local_epsilon}, {loud} at ×{factor}");
        }
    }
}
