//! Zero-out adjacency: who may answer, and that the answers fit to those for replace-one.

use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::calibrate::Unknown;
use shuffledp_accounting::catalogue::{Options, Survey, Target, ask, method, methods, survey};
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::{Adjacency, Mechanism, Question, RandomizerSpec, Round, Scheme};

const DELTA: f64 = 1e-6;

fn mechanisms() -> Vec<Mechanism> {
    let local_epsilon = 1.0;
    let profile = ProfilePoints::new(&[(0.0, 0.3), (1.0, 1e-3), (2.0, 0.0)]).expect("valid");
    vec![
        Mechanism::Any { local_epsilon },
        Mechanism::Rr { local_epsilon },
        Mechanism::Krr { local_epsilon, categories: 4 },
        Mechanism::RInf { local_epsilon },
        Mechanism::R1 { local_epsilon },
        Mechanism::R2 { local_epsilon },
        Mechanism::LdpSgd { local_epsilon },
        Mechanism::PrivUnit { local_epsilon, dimension: 20 },
        Mechanism::Approximate { local_epsilon, local_delta: 1e-9 },
        Mechanism::Gaussian { sigma: 5.0 },
        Mechanism::DiscreteGaussian { sigma: 5.0 },
        Mechanism::RoundedGaussian { sigma: 5.0 },
        Mechanism::Laplace { local_epsilon },
        Mechanism::DiscreteLaplace { local_epsilon },
        Mechanism::Profile { profile },
        Mechanism::Sequential { local_epsilon },
    ]
}

fn schemes() -> [Scheme; 4] {
    [
        Scheme::shuffle(2_000).expect("valid"),
        Scheme::subsampled(2_000, 200).expect("valid"),
        Scheme::check_in(2_000, 0.1, 0.0).expect("valid"),
        Scheme::shuffle(20).expect("valid"),
    ]
}

fn question(mechanism: Mechanism, scheme: Scheme, rounds: u64) -> Question {
    Question::new(Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("valid") }, rounds).expect("valid")
}

fn zero_out(question: Question) -> Question {
    question.with_adjacency(Adjacency::ZeroOut).expect("valid")
}

fn surveyed(question: &Question) -> Survey {
    survey(question, Target::EpsilonAt { delta: DELTA }, &Options::default()).expect("valid")
}

fn is_response(mechanism: Mechanism) -> bool {
    matches!(mechanism, Mechanism::Rr { .. } | Mechanism::Krr { .. })
}

#[test]
fn a_question_is_about_replace_one_unless_it_says_otherwise() {
    for mechanism in mechanisms() {
        let asked = question(mechanism, schemes()[1], 3);
        assert_eq!(asked.adjacency(), Adjacency::ReplaceOne);
        assert_eq!(asked.with_adjacency(Adjacency::ReplaceOne).unwrap(), asked);
        match asked.with_adjacency(Adjacency::ZeroOut) {
            Ok(zero) => {
                assert!(!is_response(mechanism), "{mechanism:?}");
                assert_eq!(zero.adjacency(), Adjacency::ZeroOut);
                assert_eq!((zero.round(), zero.rounds()), (asked.round(), asked.rounds()));
            }
            Err(error) => {
                assert!(is_response(mechanism), "{mechanism:?}");
                assert!(error.to_string().contains("use replace-one"), "{error}");
            }
        }
    }
}

/// Every method and every randomizer, for all targets: an answer is that of a method that covers
/// zero-out, is no larger than the one for replace-one where it is an upper bound, and a lower
/// bound is never above an upper one.
#[test]
fn only_methods_that_cover_it_answer() {
    for mechanism in mechanisms().into_iter().filter(|mechanism| !is_response(*mechanism)) {
        for (scheme, rounds) in schemes().into_iter().zip([1, 10, 10, 2]) {
            let asked = question(mechanism, scheme, rounds);
            let zero = zero_out(asked);
            let label = format!("{mechanism:?} {scheme:?} {rounds}");
            let mut answered = 0;
            let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
            for method in methods() {
                let target = Target::EpsilonAt { delta: DELTA };
                let about = method.about();
                let answer = ask(method, &zero, target, &Options::default());
                if !method.covers(Adjacency::ZeroOut) {
                    let error = answer.expect_err(about.id).to_string();
                    let is_sequential = mechanism == Mechanism::Sequential { local_epsilon: 1.0 };
                    assert!(is_sequential || error.contains("zero-out"), "{label} {}: {error}", about.id);
                    continue;
                }
                assert_eq!(about.standing, Standing::Rigorous, "{}", about.id);
                let Ok(answer) = answer else { continue };
                answered += 1;
                let other = ask(method, &asked, target, &Options::default()).expect(about.id).value;
                match about.kind {
                    Kind::Upper => smallest = smallest.min(answer.value),
                    Kind::Lower => largest = largest.max(answer.value),
                }
                // Lattices are chosen from profiles that differ: 2e-3 is what two of them may.
                assert!(answer.value <= other * 1.002, "{label} {}: {} above {other}", about.id, answer.value);
            }
            assert!(answered > 0, "{label}: nobody answers");
            assert!(largest <= smallest, "{label}: {largest} above {smallest}");
        }
    }
}

/// Noise that hides a distance of C instead of 2C: about half of ε where many reports add up.
#[test]
fn noise_hides_zero_twice_as_well() {
    let scheme = Scheme::subsampled(100_000, 1_000).unwrap();
    for (mechanism, most) in [
        (Mechanism::Gaussian { sigma: 5.0 }, 0.53),
        (Mechanism::DiscreteGaussian { sigma: 5.0 }, 0.56),
        (Mechanism::RoundedGaussian { sigma: 5.0 }, 0.53),
        (Mechanism::Laplace { local_epsilon: 1.0 }, 0.57),
        (Mechanism::DiscreteLaplace { local_epsilon: 1.0 }, 0.62),
    ] {
        let asked = question(mechanism, scheme, 1_000);
        let [replaced, zeroed] = [asked, zero_out(asked)].map(|asked| {
            let survey = surveyed(&asked);
            let upper = survey.best_upper(Standing::Rigorous).unwrap();
            assert_eq!(upper.id, "displacement-profile-pld");
            (upper.value, survey.best_lower().unwrap().value)
        });
        println!("{mechanism:?}: replace-one {replaced:?}, zero-out {zeroed:?}");
        assert!(zeroed.0 < most * replaced.0, "{mechanism:?}: {zeroed:?} {replaced:?}");
        assert!(zeroed.1 > 0.4 * replaced.1 && zeroed.1 <= zeroed.0, "{mechanism:?}: {zeroed:?} {replaced:?}");
    }
}

/// The two are asked in turn: what was remembered for one does not answer the other.
#[test]
fn answers_do_not_depend_on_what_was_asked_before() {
    let asked = question(Mechanism::Gaussian { sigma: 4.0 }, Scheme::subsampled(5_000, 300).unwrap(), 20);
    let displacement = method("displacement-profile-pld").unwrap();
    let epsilon = |asked: &Question| {
        ask(displacement, asked, Target::EpsilonAt { delta: DELTA }, &Options::default()).unwrap().value
    };
    let first = (epsilon(&asked), epsilon(&zero_out(asked)));
    let again = (epsilon(&asked), epsilon(&zero_out(asked)));
    assert_eq!(first, again);
    assert!(first.1 < 0.6 * first.0, "{first:?}");
}

#[test]
fn calibration_keeps_the_adjacency() {
    let gaussian = question(Mechanism::Gaussian { sigma: 5.0 }, Scheme::subsampled(1_000, 100).unwrap(), 3);
    let laplace = question(Mechanism::Laplace { local_epsilon: 1.0 }, Scheme::check_in(1_000, 0.1, 0.0).unwrap(), 3);
    for asked in [gaussian, laplace] {
        for adjacency in Adjacency::ALL {
            let asked = asked.with_adjacency(adjacency).unwrap();
            let put = Unknown::ALL.into_iter().filter_map(|unknown| unknown.put(&asked, 1.0).ok());
            let kept: Vec<Adjacency> = put.map(|question| question.adjacency()).collect();
            assert!(kept.len() >= 3 && kept.iter().all(|kept| *kept == adjacency), "{kept:?}");
        }
    }
}
