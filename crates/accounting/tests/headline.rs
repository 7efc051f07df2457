//! The numbers this project stands for: upper bounds in the papers' settings, to the digits to
//! which two independent evaluations agree.

use shuffledp_accounting::bound::{Bound, Kind, Standing};
use shuffledp_accounting::catalogue::{Options, Survey, Target, ask, method, survey};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

fn question(scheme: shuffledp_accounting::Result<Scheme>, mechanism: Mechanism, rounds: u64) -> Question {
    let randomizer = RandomizerSpec::new(mechanism).expect("a valid randomizer");
    Question::new(Round { scheme: scheme.expect("a valid scheme"), randomizer }, rounds).expect("a valid question")
}

fn epsilon(id: &str, question: &Question, delta: f64) -> Bound {
    let method = method(id).expect("a registered method");
    ask(method, question, Target::EpsilonAt { delta }, &Options::default()).expect("an answer")
}

fn everything(question: &Question, delta: f64) -> Survey {
    survey(question, Target::EpsilonAt { delta }, &Options::default()).expect("a valid target")
}

/// A printed value: its last digit is uncertain.
struct Printed(&'static str);

impl Printed {
    /// Never below, but for the last digit's uncertainty; at most the resolution of the lattices
    /// (1e-4) above.
    fn holds(&self, value: f64, case: &str) {
        let printed: f64 = self.0.parse().expect("a number");
        let unit = 0.1_f64.powi(self.0.split('.').nth(1).map_or(0, str::len) as i32);
        assert!(value >= printed - unit, "{case}: {value} is below {}", self.0);
        assert!(value <= (printed * (1.0 + 1e-4)).max(printed + unit), "{case}: {value} is above {}", self.0);
    }
}

/// ε0, k, n, T, δ; any ε0-LDP; q = 1/2.
const COMPOSED: [(f64, u64, u64, u64, f64, Printed, Printed); 5] = [
    (2.0, 1_000, 1_000_000, 100_000, 1e-8, Printed("0.19587"), Printed("0.14568")),
    (1.0, 1_000, 1_000_000, 100_000, 1e-8, Printed("0.06885"), Printed("0.05644")),
    (3.0, 1_000, 1_000_000, 100_000, 1e-8, Printed("0.39590"), Printed("0.28256")),
    (1.5, 10_000, 60_000, 1_200, 1e-5, Printed("0.55024"), Printed("0.42087")),
    (2.0, 2_000, 60_000, 6_000, 1e-5, Printed("0.88190"), Printed("0.64702")),
];

#[test]
fn composed_settings() {
    for (local_epsilon, sampled, clients, rounds, delta, any, half) in COMPOSED {
        let scheme = || Scheme::subsampled(clients, sampled);
        let case = format!("ε0 = {local_epsilon}, {sampled} of {clients}, T = {rounds}");
        let asked = question(scheme(), Mechanism::Any { local_epsilon }, rounds);
        let value = epsilon("any-ldp-pld", &asked, delta).value;
        any.holds(value, &case);
        let asked = question(scheme(), Mechanism::LdpSgd { local_epsilon }, rounds);
        let value = epsilon("two-level-pld", &asked, delta).value;
        half.holds(value, &case);
    }
}

#[test]
fn a_single_shuffle() {
    for (local_epsilon, clients, delta, any, half) in [
        (2.0, 10_000, 1e-6, Printed("0.15505"), Printed("0.11440")),
        (1.0, 1_000_000, 1e-8, Printed("0.0061255"), Printed("0.0050116")),
    ] {
        let case = format!("ε0 = {local_epsilon}, {clients} clients, once");
        let asked = question(Scheme::shuffle(clients), Mechanism::Any { local_epsilon }, 1);
        let value = epsilon("any-ldp-pld", &asked, delta).value;
        any.holds(value, &case);
        let asked = question(Scheme::shuffle(clients), Mechanism::RInf { local_epsilon }, 1);
        let value = epsilon("two-level-pld", &asked, delta).value;
        half.holds(value, &case);
    }
}

#[test]
fn check_in() {
    for (rounds, printed) in [(6_800, Printed("1.27")), (1_200, Printed("0.49"))] {
        let asked = question(Scheme::check_in(60_000, 0.1, 0.0), Mechanism::LdpSgd { local_epsilon: 2.0 }, rounds);
        let value = epsilon("two-level-pld", &asked, 1e-5).value;
        printed.holds(value, &format!("check-in, T = {rounds}"));
    }
}

#[test]
fn the_baseline_with_numerical_amplification() {
    let asked = question(Scheme::subsampled(1_000_000, 1_000), Mechanism::Any { local_epsilon: 2.0 }, 100_000);
    let bound = epsilon("clones-numerical+subsampling+kov", &asked, 1e-8);
    Printed("2.52").holds(bound.value, "baseline");
    assert_eq!((bound.kind, bound.standing), (Kind::Upper, Standing::Rigorous));
}

/// ε by displacement, in the settings of the table of the theory's section 10: method, mechanism,
/// scheme, T, δ; not below the first number, which is what no analysis can go below (or two
/// independent sums, less their last digit), and not above the second, which is printed.
#[test]
fn displacement() {
    use Mechanism::*;
    let (any, one_bit, profile) = ("displacement-any-pld", "displacement-one-bit-pld", "displacement-profile-pld");
    let headline = || Scheme::subsampled(1_000_000, 1_000);
    let (fig_5a, fig_5b) = (|| Scheme::subsampled(60_000, 10_000), || Scheme::subsampled(60_000, 2_000));
    let check_in = || Scheme::check_in(60_000, 0.1, 0.0);
    let pure = |local_epsilon| Any { local_epsilon };
    let bit = |local_epsilon| Rr { local_epsilon };
    for (id, mechanism, scheme, rounds, delta, least, most) in [
        (any, pure(2.0), headline(), 100_000, 1e-8, 0.13733, 0.1376),
        (any, pure(1.0), headline(), 100_000, 1e-8, 0.0498, 0.0502),
        (any, pure(3.0), headline(), 100_000, 1e-8, 0.2757, 0.2762),
        (any, pure(1.5), fig_5a(), 1_200, 1e-5, 0.3841, 0.3852),
        (any, pure(2.0), fig_5b(), 6_000, 1e-5, 0.6083, 0.6096),
        (any, pure(2.0), check_in(), 6_800, 1e-5, 1.189, 1.1928),
        (any, pure(2.0), Scheme::shuffle(10_000), 1, 1e-6, 0.1076, 0.1080),
        (one_bit, bit(2.0), headline(), 100_000, 1e-8, 0.10945, 0.1096),
        (one_bit, bit(1.0), headline(), 100_000, 1e-8, 0.0462, 0.0465),
        (one_bit, bit(3.0), headline(), 100_000, 1e-8, 0.2017, 0.2057),
        (one_bit, bit(1.5), fig_5a(), 1_200, 1e-5, 0.3220, 0.3228),
        (one_bit, bit(2.0), fig_5b(), 6_000, 1e-5, 0.4752, 0.4788),
        (one_bit, bit(2.0), check_in(), 6_800, 1e-5, 0.927, 0.934),
        (one_bit, bit(2.0), Scheme::shuffle(10_000), 1, 1e-6, 0.0870, 0.0874),
        (profile, Laplace { local_epsilon: 2.0 }, headline(), 100_000, 1e-8, 0.1210, 0.1212),
        (profile, Gaussian { sigma: 5.0 }, headline(), 100_000, 1e-8, 0.02038, 0.0204),
        (profile, Gaussian { sigma: 5.0 }, check_in(), 5_540, 1e-5, 0.1456, 0.1459),
        (profile, RoundedGaussian { sigma: 5.0 }, check_in(), 5_540, 1e-5, 0.1456, 0.1459),
        (profile, DiscreteGaussian { sigma: 5.0 }, check_in(), 5_540, 1e-5, 0.198, 0.1995),
        (profile, Gaussian { sigma: 5.0 }, Scheme::shuffle(10_000), 1, 1e-6, 0.01505, 0.01515),
    ] {
        let bound = epsilon(id, &question(scheme, mechanism, rounds), delta);
        assert_eq!((bound.kind, bound.standing), (Kind::Upper, Standing::Rigorous));
        assert!((least..=most).contains(&bound.value), "{id}, {mechanism:?}, T = {rounds}: {}", bound.value);
    }
}

/// The default answer is the tightest pair that the randomizer's name admits.
#[test]
fn every_randomizer_gets_its_own_pair() {
    use Mechanism::*;
    let local_epsilon = 2.0;
    let ask_all = |mechanism| everything(&question(Scheme::subsampled(1_000_000, 1_000), mechanism, 100_000), 1e-8);
    let best = |mechanism: Mechanism| {
        let survey = ask_all(mechanism);
        let best = survey.best_upper(Standing::Rigorous).expect("an upper bound").clone();
        (best.id, best.value)
    };
    for half in [
        Rr { local_epsilon },
        RInf { local_epsilon },
        R1 { local_epsilon },
        R2 { local_epsilon },
        LdpSgd { local_epsilon },
    ] {
        let (id, value) = best(half);
        assert_eq!(id, "displacement-one-bit-pld", "{half:?}");
        assert!((0.1094..0.1096).contains(&value), "{half:?}: {value}");
    }
    for (any, by, printed) in [
        (Any { local_epsilon }, "displacement-any-pld", 0.1376),
        (Laplace { local_epsilon }, "displacement-profile-pld", 0.1212),
        (DiscreteLaplace { local_epsilon }, "displacement-profile-pld", 0.1323),
    ] {
        let survey = ask_all(any);
        assert!(
            survey
                .not_applicable
                .iter()
                .any(|silent| silent.id == "two-level-pld" && silent.reason.contains("two values")),
            "{any:?}"
        );
        let (id, value) = best(any);
        assert_eq!(id, by, "{any:?}");
        assert!(value <= printed && value >= 0.999 * printed, "{any:?}: {value}");
    }
    // m-RR: q = 1/m, so two values are the q = 1/2 family, and more values hide better.
    let krr = |categories| best(Krr { local_epsilon, categories }).1;
    let (two, three, ten) = (krr(2), krr(3), krr(10));
    assert!(two < 0.1096 && three < 0.1376 && ten < three, "{two} {three} {ten}");
    for none in [Gaussian { sigma: 5.0 }, Approximate { local_epsilon, local_delta: 1e-9 }] {
        let survey = ask_all(none);
        for id in ["any-ldp-rdp", "any-ldp-pld", "two-level-rdp", "two-level-pld"] {
            assert!(
                survey.not_applicable.iter().any(|silent| silent.id == id && !silent.reason.is_empty()),
                "{none:?}: {id}"
            );
        }
    }
}

fn delta(id: &str, question: &Question, epsilon: f64) -> f64 {
    let method = method(id).expect("a registered method");
    ask(method, question, Target::DeltaAt { epsilon }, &Options::default()).expect("an answer").value
}

/// Everything from ε0 = 1e-3 to 20 and δ from 1e-15 up has an answer that the bound itself stands
/// by: no ε of 0 that δ(0) does not allow, no ε below the one at a larger δ, nothing capped.
#[test]
fn the_whole_range_answers() {
    for local_epsilon in [1e-3, 0.03, 0.3, 1.0, 4.0, 8.0, 12.0, 20.0] {
        for (scheme, rounds) in [
            (Scheme::shuffle(10_000), 1),
            (Scheme::subsampled(1_000_000, 1_000), 1_000),
            (Scheme::subsampled(50, 3), 40),
            (Scheme::check_in(3_000, 0.01, 0.2), 300),
        ] {
            for (id, mechanism) in [
                ("any-ldp-pld", Mechanism::Any { local_epsilon }),
                ("two-level-pld", Mechanism::Krr { local_epsilon, categories: 4 }),
            ] {
                let asked = question(scheme.clone(), mechanism, rounds);
                let mut last = f64::INFINITY;
                for target in [1e-15, 1e-12, 1e-8, 1e-5, 1e-2] {
                    let value = epsilon(id, &asked, target).value;
                    let case = format!("{asked:?}, {id}, δ = {target}: {value}");
                    // The two are read from differently tilted compositions; lattices resolve 1e-4
                    // of ε.
                    assert!(value.is_finite() && value <= last * (1.0 + 1e-4), "{case} after {last}");
                    assert!(value <= rounds as f64 * local_epsilon * (1.0 + 1e-2), "{case}: above local composition");
                    let back = delta(id, &asked, value * (1.0 + 1e-3));
                    assert!(back <= target, "{case}: its own δ is {back:e}");
                    if value == 0.0 {
                        assert!(delta(id, &asked, 0.0) <= target * (1.0 + 1e-9), "{case}: clamped");
                    }
                    last = value;
                }
            }
        }
    }
}

/// A sum that cannot be computed is refused with a reason, and the question still has a rigorous
/// answer.
#[test]
fn what_cannot_be_summed_is_refused_with_a_reason() {
    for (asked, id) in [
        (question(Scheme::shuffle(1000), Mechanism::Any { local_epsilon: 40.0 }, 10), "any-ldp-pld"),
        (question(Scheme::subsampled(1 << 50, 1 << 49), Mechanism::Any { local_epsilon: 0.1 }, 10), "any-ldp-pld"),
        (question(Scheme::shuffle(1000), Mechanism::Krr { local_epsilon: 1e6, categories: 3 }, 10), "two-level-pld"),
    ] {
        let survey = everything(&asked, 1e-6);
        let silent = survey.not_applicable.iter().find(|silent| silent.id == id).expect("refused");
        assert!(silent.reason.len() > 20, "{asked:?}: {}", silent.reason);
        assert!(survey.best_upper(Standing::Rigorous).is_some(), "{asked:?}");
    }
}

/// A thousand million clients, ten million rounds, ε of 1e-4 and of 10.
#[test]
fn large_questions_answer() {
    let cases = [
        (Scheme::shuffle(1_000_000_000), 1.0, 1, 1e-8, 1e-5, 1e-3),
        (Scheme::subsampled(1_000_000_000, 1_000_000), 2.0, 10_000_000, 1e-8, 1e-3, 0.1),
        (Scheme::subsampled(1_000_000, 1_000), 2.0, 10_000_000, 1e-8, 1.0, 5.0),
        (Scheme::check_in(1_000_000_000, 1e-3, 0.0), 1.0, 1_000, 1e-10, 1e-6, 1e-2),
        // ε of 1e-4 and of 10.
        (Scheme::subsampled(1_000_000, 1_000), 0.1, 100, 1e-8, 5e-5, 5e-4),
        (Scheme::subsampled(60_000, 2_000), 4.0, 60_000, 1e-5, 5.0, 30.0),
    ];
    for (scheme, local_epsilon, rounds, target, least, most) in cases {
        for (id, mechanism) in
            [("any-ldp-pld", Mechanism::Any { local_epsilon }), ("two-level-pld", Mechanism::LdpSgd { local_epsilon })]
        {
            let asked = question(scheme.clone(), mechanism, rounds);
            let value = epsilon(id, &asked, target).value;
            assert!((least..most).contains(&value), "{asked:?}, {id}: {value}");
        }
    }
}
