//! Properties of bounds by displacement, whatever is asked: fall and rise with what they are asked
//! about, and answer, or say why not, at every extreme.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::Result;
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::catalogue::{Options, Target, ask, method, methods, survey_of};
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

const ANY: &str = "displacement-any-pld";
const ONE_BIT: &str = "displacement-one-bit-pld";
const PROFILE: &str = "displacement-profile-pld";

/// Two neighbouring questions are resolved on different lattices: each costs up to this share of ε.
const TOLERANCE: f64 = 4e-3;

fn question(scheme: Scheme, mechanism: Mechanism, rounds: u64) -> Question {
    Question::new(Round { scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() }, rounds).unwrap()
}

fn epsilon(id: &str, scheme: Scheme, mechanism: Mechanism, rounds: u64, delta: f64) -> Result<f64> {
    let asked = question(scheme, mechanism, rounds);
    Ok(ask(method(id).unwrap(), &asked, Target::EpsilonAt { delta }, &Options::default())?.value)
}

/// The bounds, each with a randomizer of this strength: ε0, or 2/σ.
fn bounds(strength: f64) -> [(&'static str, Mechanism); 4] {
    [
        (ANY, Mechanism::Any { local_epsilon: strength }),
        (ONE_BIT, Mechanism::Rr { local_epsilon: strength }),
        (PROFILE, Mechanism::Laplace { local_epsilon: strength }),
        (PROFILE, Mechanism::Gaussian { sigma: 2.0 / strength }),
    ]
}

/// Values that do not fall from one to the next.
fn rises(what: &str, values: &[f64]) {
    for pair in values.windows(2) {
        assert!(pair[1] >= pair[0] * (1.0 - TOLERANCE), "{what}: {} after {}", pair[1], pair[0]);
    }
    // And the last is not the first: the comparison says something.
    assert!(values[values.len() - 1] > values[0] * 1.02, "{what}: {values:?}");
}

#[test]
fn more_of_anything_that_leaks_is_not_less() {
    for i in 0..4 {
        let (id, mechanism) = bounds(1.0)[i];
        let what = |of: &str| format!("{id}, {mechanism:?}, by {of}");
        let of = |scheme: Result<Scheme>, rounds| epsilon(id, scheme.unwrap(), mechanism, rounds, 1e-6).unwrap();
        let sampled = [1, 2, 11, 12, 13, 100, 998, 999].map(|k| of(Scheme::subsampled(1_000, k), 20));
        rises(&what("k"), &sampled);
        let clients = [20_000, 1_000, 200, 101].map(|n| of(Scheme::subsampled(n, 100), 20));
        rises(&what("n, falling"), &clients);
        let rounds = [1, 2, 30, 300].map(|rounds| of(Scheme::subsampled(1_000, 50), rounds));
        rises(&what("T"), &rounds);
        let strengths = [0.1, 1.0, 3.0].map(|strength| {
            let (id, mechanism) = bounds(strength)[i];
            epsilon(id, Scheme::subsampled(1_000, 50).unwrap(), mechanism, 20, 1e-6).unwrap()
        });
        rises(&what("ε0 or 1/σ"), &strengths);
        if matches!(mechanism, Mechanism::Gaussian { .. }) {
            // Its tails take long where all may come: what follows is asked of the others.
            continue;
        }
        let shuffled = [10_000, 1_000, 100].map(|n| of(Scheme::shuffle(n), 1));
        rises(&what("n of a shuffle, falling"), &shuffled);
        let rates = [0.01, 0.2, 0.9].map(|rate| of(Scheme::check_in(1_000, rate, 0.0), 20));
        rises(&what("r"), &rates);
    }
}

/// At k = n another theorem applies: it costs a spare client or two, and nothing else; of Gaussian
/// noise, whose spares are far more, it is only asked that all are not better than all but one.
#[test]
fn all_but_one_is_next_to_all() {
    for (i, most) in [1.06, 1.06, 1.06, f64::INFINITY].into_iter().enumerate() {
        let (id, mechanism) = bounds(1.0)[i];
        let of = |k: u64| epsilon(id, Scheme::subsampled(1_000, k).unwrap(), mechanism, 1, 1e-6).unwrap();
        let (but_one, all) = (of(999), of(1_000));
        assert!(all >= but_one * (1.0 - TOLERANCE) && all <= but_one * most, "{id}, {mechanism:?}: {but_one} {all}");
    }
}

/// A check-in at which everybody comes is a shuffle.
#[test]
fn a_certain_check_in_is_a_shuffle() {
    for (id, mechanism) in bounds(1.0).into_iter().take(3) {
        let of = |scheme: Result<Scheme>| epsilon(id, scheme.unwrap(), mechanism, 1, 1e-6).unwrap();
        let (all, nearly) = (of(Scheme::shuffle(1_000)), of(Scheme::check_in(1_000, 1.0 - 1e-9, 0.0)));
        // Blocks say nothing of a population in which somebody may be missing: the profile does,
        // for 13 % more.
        let ratio = nearly / all;
        assert!((1.0 - TOLERANCE..=1.15).contains(&ratio), "{id}, {mechanism:?}: {nearly} {all}");
        // Drop-outs only change the rate.
        let (dropped, rare) = (of(Scheme::check_in(1_000, 0.4, 0.5)), of(Scheme::check_in(1_000, 0.2, 0.0)));
        assert!((dropped / rare - 1.0).abs() < 1e-9, "{id}, {mechanism:?}: {dropped} {rare}");
    }
}

/// A profile that is given by points is the built-in one, but for the chords between the points.
#[test]
fn points_of_a_profile_are_the_profile() {
    let schemes = [Scheme::subsampled(10_000, 100), Scheme::check_in(1_000, 0.1, 0.0), Scheme::shuffle(2_000)];
    for scheme in schemes.map(|scheme| scheme.unwrap()) {
        for mechanism in [Mechanism::Laplace { local_epsilon: 1.0 }, Mechanism::Gaussian { sigma: 4.0 }] {
            let built_in = RandomizerSpec::new(mechanism).unwrap().local_profile();
            let end = if built_in.end().is_finite() { 1.0 } else { 6.0 };
            let count = 600;
            let points: Vec<(f64, f64)> = (0..=count)
                .map(|i| f64::from(i) / f64::from(count) * end)
                .map(|epsilon| (epsilon, built_in.delta_upper(epsilon.exp_m1())))
                .collect();
            let given = Mechanism::Profile { profile: ProfilePoints::new(&points).unwrap() };
            let of = |mechanism| epsilon(PROFILE, scheme, mechanism, 10, 1e-6).unwrap();
            let (given, built_in) = (of(given), of(mechanism));
            assert!(
                given >= built_in * (1.0 - 1e-3) && given <= built_in * (1.0 + 1e-2),
                "{scheme:?}, {mechanism:?}: {given} {built_in}"
            );
        }
    }
}

/// Whatever is asked, an answer is a number that is not below what no analysis can go below, or
/// infinite.
#[test]
fn extremes_answer_or_say_why_not() {
    let schemes = [
        Scheme::shuffle(1),
        Scheme::shuffle(2),
        Scheme::shuffle(3),
        Scheme::shuffle(1_000_000_000),
        Scheme::subsampled(2, 1),
        Scheme::subsampled(1_000_000_000, 1),
        Scheme::subsampled(1_000_000_000, 999_999_999),
        Scheme::check_in(3, 1e-9, 0.0),
        Scheme::check_in(3, 1.0 - 1e-9, 0.0),
        Scheme::check_in(1_000_000_000, 1e-9, 0.0),
    ];
    let mut infinite = 0;
    for scheme in schemes.map(|scheme| scheme.unwrap()) {
        // Where a check-in may be complete, its curve takes seconds: once is enough.
        let rounds = if scheme.check_in_rate().is_some() { [1, 1] } else { [1, 10_000_000] };
        for (rounds, delta) in rounds.into_iter().zip([1e-6, 1e-10]) {
            // At ε0 = 20 a shuffle of 1e9 takes a minute, and so does a check-in.
            let is_slow = scheme.clients() == 1_000_000_000 || scheme.check_in_rate().is_some();
            for strength in [1e-6, if is_slow { 5.0 } else { 20.0 }] {
                for (id, mechanism) in bounds(strength) {
                    // σ from 0.3 to 1000; weaker noise is refused, weaker still is what ε0 = 1e-6
                    // is for.
                    let mechanism = match mechanism {
                        Mechanism::Gaussian { sigma } => Mechanism::Gaussian { sigma: sigma.clamp(0.3, 1_000.0) },
                        other => other,
                    };
                    // Where all may come, tails that never end take seconds.
                    if scheme.fixed_size().is_none_or(|k| k + 1 >= scheme.clients() && k > 1)
                        && matches!(mechanism, Mechanism::Gaussian { .. })
                    {
                        continue;
                    }
                    let asked = question(scheme, mechanism, rounds);
                    let target = Target::EpsilonAt { delta };
                    let value = match ask(method(id).unwrap(), &asked, target, &Options::default()) {
                        Ok(bound) => bound.value,
                        Err(error) => {
                            println!("{asked:?}, {id}: {error}");
                            assert!(error.to_string().len() > 20, "{error}");
                            infinite += 1;
                            continue;
                        }
                    };
                    let case = format!("{asked:?}, {id}, δ = {delta:e}: {value}");
                    assert!(value >= 0.0, "{case}");
                    infinite += usize::from(value.is_infinite());
                    // No more than what the rounds leak without any shuffling.
                    let local = |mechanism: &Mechanism| match mechanism {
                        Mechanism::Gaussian { .. } => f64::INFINITY,
                        _ => strength * rounds as f64,
                    };
                    assert!(value <= local(&mechanism) * (1.0 + 1e-2) || value.is_infinite(), "{case}");
                    if scheme.clients() <= 3 {
                        let below = methods().filter(|method| method.about().kind == Kind::Lower);
                        let lower = survey_of(below, &asked, target, &Options::default()).unwrap();
                        let least = lower.best_lower().map_or(0.0, |lower| lower.value);
                        assert!(value >= least, "{case} below {least}");
                    }
                }
            }
        }
    }
    // Ten million rounds of one client at ε0 = 20 may have no answer, or a reason instead; most
    // questions have one.
    assert!(infinite < 30, "{infinite}");
}

/// Small δ, as far as floats go.
#[test]
fn the_smallest_deltas_answer() {
    for scheme in [Scheme::subsampled(1_000, 10), Scheme::check_in(500, 0.1, 0.0)].map(|scheme| scheme.unwrap()) {
        for (id, mechanism) in bounds(1.0).into_iter().take(if scheme.check_in_rate().is_some() { 1 } else { 4 }) {
            let values = [1e-3, 1e-15, 1e-300].map(|delta| epsilon(id, scheme, mechanism, 5, delta).unwrap());
            // At the very last nothing may be left to say.
            assert!(
                values[0].is_finite() && values[1].is_finite() && !values[2].is_nan(),
                "{id}, {mechanism:?}, {scheme:?}: {values:?}"
            );
            rises(&format!("{id}, {mechanism:?}, {scheme:?}, by δ, falling"), &values);
        }
    }
    // A shuffle of pure randomizers: there is a spare client but for 1 in e^5000.
    let many = Scheme::shuffle(10_000).unwrap();
    let value = epsilon(ANY, many, Mechanism::Any { local_epsilon: 1.0 }, 1, 1e-30).unwrap();
    assert!(value < 0.2, "{value}");
}

#[test]
fn randomizers_that_hide_nothing_are_refused_with_a_reason() {
    let scheme = Scheme::subsampled(1_000, 10).unwrap();
    for (i, (id, mechanism)) in bounds(32.0).into_iter().take(3).enumerate() {
        assert!(epsilon(id, scheme, mechanism, 2, 1e-6).unwrap() > 0.0);
        let (_, more) = bounds(33.0)[i];
        let reason = epsilon(id, scheme, more, 2, 1e-6).unwrap_err().to_string();
        assert!(reason.contains("33") && reason.contains("hides nothing"), "{reason}");
    }
    assert!(epsilon(PROFILE, scheme, Mechanism::Gaussian { sigma: 0.05 }, 2, 1e-6).is_err());
    for id in [ANY, ONE_BIT, PROFILE] {
        let about = method(id).unwrap().about();
        assert_eq!((about.kind, about.standing), (Kind::Upper, Standing::Rigorous));
    }
}
