//! Calibration: answers are fed back through the catalogue, their neighbours too, and impossible
//! targets are told.
//!
//! `make calibrate-check` draws a thousand targets and says how long they took; the default is a
//! share of them. Both are seeded, so a failure repeats.

use shuffledp_accounting::AccountingError;
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::calibrate::{Calibrated, Calibration, Goal, Unknown, calibrate};
use shuffledp_accounting::catalogue::{self, Method, Options, Target};
use shuffledp_accounting::scheme::{Mechanism, Participation, Question, RandomizerSpec, Round, Scheme};
use std::time::{Duration, Instant};

fn question(scheme: Scheme, mechanism: Mechanism, rounds: u64) -> Question {
    let randomizer = RandomizerSpec::new(mechanism).expect("a valid mechanism");
    Question::new(Round { scheme, randomizer }, rounds).expect("a valid question")
}

/// Returns the answer of `shuffledp epsilon`. Bounds that cannot be its answer are not asked.
fn asked(question: &Question, delta: f64) -> f64 {
    let may_answer = |method: &&'static dyn Method| {
        let about = method.about();
        about.kind == Kind::Upper && about.standing == Standing::Rigorous
    };
    let (methods, target) = (catalogue::methods().filter(may_answer), Target::EpsilonAt { delta });
    let survey = catalogue::survey_of(methods, question, target, &Options::default()).expect("a valid target");
    survey.best_upper(Standing::Rigorous).map_or(f64::INFINITY, |bound| bound.value)
}

fn solve(question: &Question, unknown: Unknown, goal: &Goal) -> Calibrated {
    match calibrate(question, unknown, goal) {
        Ok(Calibration::Solved(solved)) => *solved,
        other => panic!("{unknown:?} of {question:?} for {goal:?}: {other:?}"),
    }
}

/// Feeds the answer and its neighbour back.
fn assert_edge(question: &Question, unknown: Unknown, goal: &Goal, solved: &Calibrated) {
    let label = || format!("{unknown:?} of {question:?} for {goal:?}: {solved:?}");
    let at = unknown.put(question, solved.value).expect("a valid value");
    assert_eq!(at, solved.question, "{}", label());
    let epsilon = asked(&at, goal.delta);
    assert!(epsilon <= goal.target_epsilon, "{epsilon}: {}", label());
    assert!(epsilon.total_cmp(&solved.bound.value).is_eq(), "{epsilon}: {}", label());
    let Some((next, beyond)) = solved.next else { return };
    let epsilon = asked(&unknown.put(question, next).expect("a valid value"), goal.delta);
    assert!(epsilon > goal.target_epsilon && epsilon.total_cmp(&beyond).is_eq(), "{epsilon}: {}", label());
    let outward = if unknown.is_largest() { next - solved.value } else { solved.value - next };
    // Both are rounded to doubles: their difference is off by some ulps of theirs, of which a step
    // has 1e10.
    assert!((outward / solved.tolerance - 1.0).abs() < 1e-9, "{}", label());
    if unknown.is_count() {
        assert!(solved.value.fract() == 0.0 && solved.tolerance.total_cmp(&1.0).is_eq(), "{}", label());
    } else {
        assert!(solved.tolerance <= 1.001e-4 * solved.value, "{}", label());
        // Five digits say it all.
        let printed: f64 = format!("{:.4e}", solved.value).parse().expect("a number");
        assert!(printed.total_cmp(&solved.value).is_eq(), "{}", label());
    }
}

const HEADLINE: Mechanism = Mechanism::Any { local_epsilon: 2.0 };

#[test]
fn headline_settings_come_back() {
    let subsampled = Scheme::subsampled(1_000_000, 1_000).unwrap();
    let check_in = Scheme::check_in(60_000, 0.1, 0.0).unwrap();
    // ε rounded up to the digits shown, the unknown, what went in.
    for (scheme, mechanism, rounds, delta, epsilon, unknown, expected, accuracy) in [
        (subsampled, HEADLINE, 100_000, 1e-8, 0.13755, Unknown::LocalEpsilon, 2.0, 1e-3),
        (subsampled, HEADLINE, 100_000, 1e-8, 0.13755, Unknown::Rounds, 100_000.0, 1e-3),
        (subsampled, HEADLINE, 100_000, 1e-8, 0.13755, Unknown::Clients, 1_000_000.0, 1e-3),
        (subsampled, HEADLINE, 100_000, 1e-8, 0.13755, Unknown::Sampled, 1_000.0, 1e-2),
        (check_in, Mechanism::LdpSgd { local_epsilon: 2.0 }, 1_200, 1e-5, 0.36178, Unknown::CheckIn, 0.1, 3e-2),
        (check_in, Mechanism::Gaussian { sigma: 5.0 }, 5_540, 1e-5, 0.14579, Unknown::Sigma, 5.0, 1e-3),
    ] {
        let (question, goal) = (question(scheme, mechanism, rounds), Goal::new(epsilon, delta));
        let solved = solve(&question, unknown, &goal);
        assert_edge(&question, unknown, &goal, &solved);
        assert!(solved.next.is_some());
        assert!((solved.value / expected - 1.0).abs() < accuracy, "{unknown:?}: {} {expected}", solved.value);
    }
}

#[test]
fn random_targets_come_back() {
    let targets: u64 = std::env::var("CALIBRATE_TARGETS").map_or(60, |text| text.parse().expect("a whole number"));
    let (mut solved, mut edges) = (0, 0);
    let (mut total, mut slowest, mut slow) = (Duration::ZERO, (Duration::ZERO, String::new()), 0);
    for seed in 0..targets {
        let mut random = Random(seed);
        let (question, unknown) = random.problem(Unknown::ALL[(seed % 6) as usize]);
        let goal = Goal::new(random.log_uniform(0.02, 8.0), random.log_uniform(1e-10, 1e-4));
        let label = || format!("seed {seed}: {unknown:?} of {question:?} for {goal:?}");
        let started = Instant::now();
        let found = calibrate(&question, unknown, &goal).unwrap_or_else(|error| panic!("{}: {error}", label()));
        let taken = started.elapsed();
        total += taken;
        if taken > Duration::from_secs(1) {
            slow += 1;
            println!("{:.3} s: {}", taken.as_secs_f64(), label());
        }
        if taken > slowest.0 {
            slowest = (taken, label());
        }
        match found {
            Calibration::Solved(answer) => {
                assert_edge(&question, unknown, &goal, &answer);
                solved += 1;
                edges += u64::from(answer.next.is_some());
            }
            Calibration::Impossible { best_epsilon, at } => {
                let again = asked(&unknown.put(&question, at).expect("a valid value"), goal.delta);
                assert!(again > goal.target_epsilon && again.total_cmp(&best_epsilon).is_eq(), "{}", label());
            }
        }
    }
    println!("{solved} of {targets} solved, {edges} of them with a next value");
    println!(
        "{:.3} s on average, {slow} took more than a second, the longest {:.3} s: {}",
        total.as_secs_f64() / targets as f64,
        slowest.0.as_secs_f64(),
        slowest.1
    );
    // Most targets can be met, and not by everything: the comparison is not empty.
    assert!(solved * 10 > targets * 8 && edges * 10 > targets * 6, "{solved} {edges}");
}

#[test]
fn impossible_targets_are_told_with_the_best_there_is() {
    let alone = question(Scheme::shuffle(10).unwrap(), HEADLINE, 1);
    let Ok(Calibration::Impossible { best_epsilon, at }) = calibrate(&alone, Unknown::Rounds, &Goal::new(0.1, 1e-6))
    else {
        panic!("not told");
    };
    assert!(at <= 1.0 && best_epsilon.total_cmp(&asked(&alone, 1e-6)).is_eq(), "{best_epsilon} {at}");
    // No check-in rate helps when the δ0 alone is too much.
    let leaky = Mechanism::Approximate { local_epsilon: 1.0, local_delta: 0.1 };
    let leaky = question(Scheme::check_in(1000, 0.5, 0.0).unwrap(), leaky, 1000);
    let told = calibrate(&leaky, Unknown::LocalEpsilon, &Goal::new(0.5, 1e-9)).unwrap();
    assert!(matches!(told, Calibration::Impossible { .. }), "{told:?}");
}

#[test]
fn where_every_value_meets_the_target_there_is_no_next_one() {
    let question = question(Scheme::subsampled(1_000_000, 1).unwrap(), Mechanism::Rr { local_epsilon: 0.5 }, 1);
    let solved = solve(&question, Unknown::Sampled, &Goal::new(0.6, 1e-6));
    assert!(solved.next.is_none() && (solved.value - 1e6).abs() < 0.5, "{solved:?}");
}

#[test]
fn unknowns_that_the_question_does_not_have_are_refused() {
    let any = question(Scheme::shuffle(1000).unwrap(), HEADLINE, 10);
    let gaussian = question(Scheme::shuffle(1000).unwrap(), Mechanism::Gaussian { sigma: 3.0 }, 10);
    let goal = Goal::new(1.0, 1e-6);
    for (question, unknown) in [(&any, Unknown::Sigma), (&gaussian, Unknown::LocalEpsilon), (&any, Unknown::CheckIn)] {
        let refused = calibrate(question, unknown, &goal);
        assert!(matches!(refused, Err(AccountingError::NotApplicable { .. })), "{unknown:?}: {refused:?}");
    }
    for (goal, parameter) in [
        (Goal::new(0.0, 1e-6), "target-epsilon"),
        (Goal::new(f64::NAN, 1e-6), "target-epsilon"),
        (Goal::new(f64::INFINITY, 1e-6), "target-epsilon"),
        (Goal::new(1.0, 0.0), "delta"),
    ] {
        let refused = calibrate(&any, Unknown::Rounds, &goal);
        assert!(
            matches!(refused, Err(AccountingError::OutOfRange { parameter: p, .. }) if p == parameter),
            "{refused:?}"
        );
    }
}

/// SplitMix64: for drawing problems only.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53)
    }

    fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + (high / low).ln() * self.unit()).exp()
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    fn problem(&mut self, unknown: Unknown) -> (Question, Unknown) {
        let clients = self.log_uniform(100.0, 1e7) as u64;
        let sampled = ((clients as f64 * self.log_uniform(1e-3, 1.0)) as u64).max(1);
        let drop_out = if self.below(3) == 0 { 0.2 } else { 0.0 };
        let participation = match unknown {
            Unknown::Sampled => Participation::FixedSize { sampled: 1 },
            Unknown::CheckIn => Participation::CheckIn { rate: 1.0, drop_out },
            _ => match self.below(3) {
                0 => Participation::Everyone,
                1 => Participation::FixedSize { sampled },
                _ => Participation::CheckIn { rate: self.log_uniform(1e-3, 1.0), drop_out },
            },
        };
        let mechanism = self.mechanism(unknown);
        let rounds = self.log_uniform(1.0, 1e5) as u64;
        let scheme = Scheme::new(clients, participation).expect("a valid scheme");
        let randomizer = RandomizerSpec::new(mechanism).expect("a valid mechanism");
        (Question::new(Round { scheme, randomizer }, rounds).expect("a valid question"), unknown)
    }

    fn mechanism(&mut self, unknown: Unknown) -> Mechanism {
        let (local_epsilon, sigma) = (self.log_uniform(0.05, 6.0), self.log_uniform(0.5, 50.0));
        let which = match unknown {
            Unknown::Sigma => 9 + self.below(2),
            Unknown::LocalEpsilon => self.below(9),
            _ => self.below(11),
        };
        match which {
            0 => Mechanism::Any { local_epsilon },
            1 => Mechanism::Rr { local_epsilon },
            2 => Mechanism::Krr { local_epsilon, categories: 2 + self.below(19) as u64 },
            3 => Mechanism::RInf { local_epsilon },
            4 => Mechanism::LdpSgd { local_epsilon },
            5 => Mechanism::PrivUnit { local_epsilon, dimension: 2 + self.below(1000) as u64 },
            6 => Mechanism::Approximate { local_epsilon, local_delta: self.log_uniform(1e-18, 1e-12) },
            7 => Mechanism::Laplace { local_epsilon },
            8 => Mechanism::DiscreteLaplace { local_epsilon },
            9 => Mechanism::Gaussian { sigma },
            _ => Mechanism::DiscreteGaussian { sigma },
        }
    }
}
