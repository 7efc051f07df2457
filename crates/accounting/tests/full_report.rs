//! The losses of whole reports: the values that were foreseen, and that the bound stays below what
//! is proven from above.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::AccountingError;
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::numerics::normal;
use shuffledp_accounting::scheme::{Adjacency, Mechanism, Question, RandomizerSpec, Round, Scheme};

fn question(scheme: Scheme, mechanism: Mechanism, rounds: u64) -> Question {
    let round = Round { scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() };
    Question::new(round, rounds).unwrap()
}

fn answer(id: &str, question: &Question, target: Target) -> Result<f64, AccountingError> {
    ask(method(id).unwrap(), question, target, &Options::default()).map(|bound| bound.value)
}

fn epsilon(id: &str, question: &Question, delta: f64) -> f64 {
    answer(id, question, Target::EpsilonAt { delta }).unwrap()
}

fn headline(mechanism: Mechanism) -> Question {
    question(Scheme::subsampled(1_000_000, 1_000).unwrap(), mechanism, 100_000)
}

/// Two independent computations in numpy, not certified (`docs/theory/lower.md`): reached to 1 %,
/// and not exceeded by more than their own last digit.
#[test]
fn reaches_what_was_foreseen() {
    let check_in = question(Scheme::check_in(60_000, 0.1, 0.0).unwrap(), Mechanism::Gaussian { sigma: 5.0 }, 5_540);
    for (question, delta, foreseen) in [
        (headline(Mechanism::Laplace { local_epsilon: 2.0 }), 1e-8, 0.0908),
        (headline(Mechanism::Gaussian { sigma: 5.0 }), 1e-8, 0.0177),
        (check_in, 1e-5, 0.1256),
    ] {
        let lower = epsilon("full-report-pld", &question, delta);
        assert!(lower >= 0.99 * foreseen && lower <= foreseen + 5e-5, "{question:?}: {lower}");
        let one_bit = epsilon("one-bit-pld", &question, delta);
        assert!(lower > 1.1 * one_bit, "{question:?}: {lower} {one_bit}");
    }
}

/// A third cap hides less than one of the victim's own.
#[test]
fn priv_unit_loses_more_among_orthogonal_caps() {
    let question = headline(Mechanism::PrivUnit { local_epsilon: 2.0, dimension: 1000 });
    let [bit, full, cap, upper] = ["one-bit-pld", "full-report-pld", "third-cap-pld", "displacement-profile-pld"]
        .map(|id| epsilon(id, &question, 1e-8));
    assert!(bit < full && full < cap && cap < upper, "{bit} {full} {cap} {upper}");
    assert!(cap > 0.87 * upper, "{cap} {upper}");
}

/// On any grid the discrete Laplace loses at least what the continuous one does.
#[test]
fn discrete_laplace_has_the_bound_of_the_continuous() {
    let [discrete, continuous] =
        [Mechanism::DiscreteLaplace { local_epsilon: 2.0 }, Mechanism::Laplace { local_epsilon: 2.0 }]
            .map(|mechanism| epsilon("full-report-pld", &headline(mechanism), 1e-8));
    let upper = epsilon("displacement-profile-pld", &headline(Mechanism::DiscreteLaplace { local_epsilon: 2.0 }), 1e-8);
    assert!((discrete - continuous).abs() < 1e-8 && discrete < upper, "{discrete} {continuous} {upper}");
}

/// The probabilities of rounded reports from a record at `position` deviations, in cells of half a
/// deviation about the multiples of it.
fn cells(position: f64) -> Vec<f64> {
    let cell = |y: i32| {
        let [from, to] = [-0.25, 0.25].map(|edge| f64::from(y) / 2.0 + edge - position);
        if from > 0.0 { normal::cdf(-from) - normal::cdf(-to) } else { normal::cdf(to) - normal::cdf(from) }
    };
    (-60..=60).map(cell).collect()
}

/// H_t of one round of one or two clients by enumeration, the larger direction: the victim holds x
/// or z, the other one z.
fn enumerated(clients: u64, x: &[f64], z: &[f64], t: f64) -> f64 {
    let mut sums = [0.0, 0.0];
    let mut add = |p: f64, q: f64| {
        sums[0] += (p - t * q).max(0.0);
        sums[1] += (q - t * p).max(0.0);
    };
    for i in 0..x.len() {
        match clients {
            1 => add(x[i], z[i]),
            _ => (0..x.len()).for_each(|j| add(0.5 * (x[i] * z[j] + z[i] * x[j]), z[i] * z[j])),
        }
    }
    sums[0].max(sums[1])
}

/// Rounded reports tell less than those of the Gaussian: their own enumeration is not exceeded,
/// which the Gaussian's bounds would do.
#[test]
fn rounded_reports_lose_no_more_than_enumerated() {
    let mut is_exceeded_by_gaussian = false;
    for (clients, adjacency) in
        [(1, Adjacency::ReplaceOne), (2, Adjacency::ReplaceOne), (1, Adjacency::ZeroOut), (2, Adjacency::ZeroOut)]
    {
        for sigma in [0.4, 1.0, 3.0, 8.0] {
            let [x, z] = match adjacency {
                Adjacency::ReplaceOne => [1.0 / sigma, -1.0 / sigma],
                Adjacency::ZeroOut => [1.0 / sigma, 0.0],
            };
            let (x, z) = (cells(x), cells(z));
            let asked = |mechanism| {
                question(Scheme::shuffle(clients).unwrap(), mechanism, 1).with_adjacency(adjacency).unwrap()
            };
            let (rounded, gaussian) =
                (asked(Mechanism::RoundedGaussian { sigma }), asked(Mechanism::Gaussian { sigma }));
            for epsilon in [0.0, 0.3 / sigma, 1.0 / sigma, 3.0 / sigma, 6.0 / sigma] {
                let exact = enumerated(clients, &x, &z, f64::exp(epsilon));
                let target = Target::DeltaAt { epsilon };
                let [lower, others] = [&rounded, &gaussian]
                    .map(|question| ["full-report-pld", "one-bit-pld"].map(|id| answer(id, question, target).unwrap()));
                is_exceeded_by_gaussian |= others.iter().any(|other| *other > exact + 1e-6);
                let label = format!("{clients}, σ = {sigma}, ε = {epsilon}: {lower:?} {others:?} {exact:e}");
                // Differences of probabilities that add up to 1.
                assert!(lower.iter().all(|lower| *lower <= exact + 1e-14), "{label}");
                // And little less is lost than by the Gaussian: a cell is half a deviation wide.
                assert!(lower[0].max(lower[1]) >= 0.75 * others[0].max(others[1]).min(exact) - 2e-3, "{label}");
            }
        }
    }
    assert!(is_exceeded_by_gaussian);
}

/// The upper bounds are the Gaussian's, the lower bounds a little less.
#[test]
fn rounded_reports_lose_nearly_what_the_gaussians_do() {
    let [rounded, gaussian] =
        [Mechanism::RoundedGaussian { sigma: 5.0 }, Mechanism::Gaussian { sigma: 5.0 }].map(|mechanism| {
            ["displacement-profile-pld", "full-report-pld", "one-bit-pld"]
                .map(|id| epsilon(id, &headline(mechanism), 1e-8))
        });
    assert_eq!(rounded[0].to_bits(), gaussian[0].to_bits());
    assert!(rounded[1] < gaussian[1] && rounded[1] > 0.98 * gaussian[1], "{rounded:?} {gaussian:?}");
    assert!(rounded[2] <= gaussian[2] && rounded[2] > 0.97 * gaussian[2], "{rounded:?} {gaussian:?}");
}

/// No question is too extreme for a sound answer, or for a plain refusal.
#[test]
fn extreme_questions_have_sound_answers() {
    let schemes = [
        Scheme::shuffle(1),
        Scheme::shuffle(2),
        Scheme::shuffle(30),
        Scheme::subsampled(1_000_000_000, 1),
        Scheme::subsampled(1_000_000_000, 1_000_000),
        Scheme::shuffle(1_000_000_000),
        Scheme::check_in(1_000_000_000, 1e-9, 0.0),
        Scheme::check_in(100_000, 1.0 - 1e-9, 0.3),
    ];
    let mechanisms = [
        Mechanism::Gaussian { sigma: 0.3 },
        Mechanism::Gaussian { sigma: 1.5 },
        Mechanism::Gaussian { sigma: 1000.0 },
        Mechanism::RoundedGaussian { sigma: 0.3 },
        Mechanism::Laplace { local_epsilon: 1e-6 },
        Mechanism::Laplace { local_epsilon: 20.0 },
        Mechanism::Krr { local_epsilon: 20.0, categories: 1_000_000 },
    ];
    for scheme in schemes {
        for mechanism in mechanisms {
            for (rounds, delta) in [(1, 1e-3), (1, 1e-300), (10_000_000, 1e-8)] {
                let question = question(scheme.clone().unwrap(), mechanism, rounds);
                for id in ["full-report-pld", "one-bit-pld"] {
                    match answer(id, &question, Target::EpsilonAt { delta }) {
                        Ok(lower) => {
                            let most = rounds as f64
                                * match mechanism {
                                    Mechanism::Laplace { local_epsilon } | Mechanism::Krr { local_epsilon, .. } => {
                                        local_epsilon
                                    }
                                    // The Gaussian profile at δ is below μ²/2 + 38μ for any δ that
                                    // floats can write.
                                    Mechanism::Gaussian { sigma } | Mechanism::RoundedGaussian { sigma } => {
                                        2.0 / sigma / sigma + 76.0 / sigma
                                    }
                                    _ => f64::INFINITY,
                                };
                            assert!((0.0..=most).contains(&lower), "{id} {question:?}: {lower}");
                        }
                        Err(error) => assert!(!error.to_string().is_empty()),
                    }
                }
            }
        }
    }
}

/// More rounds, more participants of a fixed population and a larger δ move the bound the way they
/// must, but for its rounding.
#[test]
fn grows_with_rounds_and_speakers() {
    let of = |sampled: u64, rounds: u64, delta: f64| {
        let scheme = Scheme::subsampled(100_000, sampled).unwrap();
        epsilon("full-report-pld", &question(scheme, Mechanism::Laplace { local_epsilon: 1.0 }, rounds), delta)
    };
    let base = of(1_000, 1_000, 1e-6);
    assert!(of(1_000, 2_000, 1e-6) > base && of(2_000, 1_000, 1e-6) > base && of(1_000, 1_000, 1e-5) < base);
}

/// splitmix64, mapped to a number between two others, evenly in its logarithm.
fn log_uniform(state: &mut u64, low: f64, high: f64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    low * (high / low).powf((z >> 11) as f64 / (1_u64 << 53) as f64)
}

/// Random questions: below what is proven from above of the same mechanism.
#[test]
fn stays_below_the_displacement_bound() {
    let mut state = 7;
    let mut compared = 0;
    for i in 0..60 {
        let clients = log_uniform(&mut state, 1e3, 1e7) as u64;
        let sampled = log_uniform(&mut state, 10.0, 0.9 * clients as f64) as u64;
        let scheme = match i % 2 {
            0 => Scheme::subsampled(clients, sampled).unwrap(),
            _ => Scheme::check_in(clients, sampled as f64 / clients as f64, 0.1).unwrap(),
        };
        let local_epsilon = log_uniform(&mut state, 0.01, 4.0);
        let mechanism = match i % 5 {
            0 => Mechanism::Gaussian { sigma: log_uniform(&mut state, 4.0, 100.0) },
            1 => Mechanism::RoundedGaussian { sigma: log_uniform(&mut state, 4.0, 100.0) },
            2 | 3 => Mechanism::Laplace { local_epsilon },
            _ => Mechanism::PrivUnit { local_epsilon, dimension: log_uniform(&mut state, 2.0, 1e4) as u64 },
        };
        let question = question(scheme, mechanism, log_uniform(&mut state, 1.0, 1e5) as u64);
        let target = Target::EpsilonAt { delta: log_uniform(&mut state, 1e-12, 1e-3) };
        let Ok(upper) = answer("displacement-profile-pld", &question, target) else { continue };
        for id in ["full-report-pld", "one-bit-pld", "third-cap-pld"] {
            let Ok(lower) = answer(id, &question, target) else { continue };
            compared += 1;
            assert!(lower <= upper, "{id}: {lower} above {upper} for {question:?} {target:?}");
        }
    }
    assert!(compared > 60, "{compared}");
}
