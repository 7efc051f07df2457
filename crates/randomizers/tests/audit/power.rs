//! The bounds are worth having: close to what is true where that is known, and the same again from
//! the same seed.

use super::audit;
use shuffledp_accounting::catalogue::{Options as Catalogue, Target, survey};
use shuffledp_accounting::scheme::{Question, Round, Scheme};
use shuffledp_randomizers::audit::{Audit, Options, Released, Simulated};
use shuffledp_randomizers::{RInf, Randomizer};

#[test]
fn one_report_is_measured_to_a_tenth() {
    for local_epsilon in [0.5, 1.0, 3.0] {
        let mechanism = RInf::new(local_epsilon, 16, 1.0).unwrap();
        let report = audit(&mechanism, None, 3, Options::new(20_000, 0.95, 1e-5).unwrap());
        let measured = report.local.measured.epsilon_lower;
        assert!(measured > 0.85 * local_epsilon && measured <= local_epsilon, "{local_epsilon}: {report:?}");
    }
}

/// At a δ that few rounds can resolve, the attack comes near what the best pair of datasets gives
/// away.
#[test]
fn a_round_is_measured_to_within_a_third() {
    let mechanism = RInf::new(2.0, 1, 1.0).unwrap();
    for scheme in [Scheme::shuffle(20), Scheme::subsampled(30, 20), Scheme::check_in(30, 0.7, 0.0)] {
        let scheme = scheme.unwrap();
        let report = audit(&mechanism, Some(&scheme), 3, Options::new(40_000, 0.95, 0.02).unwrap());
        let question = Question::new(Round { scheme, randomizer: mechanism.spec() }, 1).unwrap();
        let known = survey(&question, Target::EpsilonAt { delta: 0.02 }, &Catalogue::default()).unwrap();
        let attained = known.best_lower().unwrap().value;
        let measured = report.round.unwrap().measured.epsilon_lower;
        assert!(report.passed() && measured > 0.66 * attained, "{scheme:?}: {measured} of {attained}");
    }
}

#[test]
fn a_seed_repeats_the_audit_on_any_number_of_threads() {
    let mechanism = RInf::new(1.0, 3, 1.0).unwrap();
    let scheme = Scheme::check_in(20, 0.5, 0.0).unwrap();
    let options = Options::new(500, 0.95, 1e-3).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| audit(&mechanism, Some(&scheme), 11, options))
    };
    assert_eq!(on(1), on(3));
    assert_ne!(on(1), audit(&mechanism, Some(&scheme), 12, options));
}

#[test]
fn the_released_generator_is_audited_too() {
    let mechanism = RInf::new(1.0, 3, 1.0).unwrap();
    let report =
        Audit::new(&mechanism, &Released, Options::new(500, 1.0 - 1e-9, 1e-3).unwrap()).run(None, &|| ()).unwrap();
    assert!(report.passed(), "{report:?}");
}

#[test]
fn progress_is_as_announced() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let mechanism = RInf::new(1.0, 3, 1.0).unwrap();
    let simulated = Simulated { seed: 1 };
    for scheme in [None, Some(Scheme::shuffle(4).unwrap())] {
        let audit = Audit::new(&mechanism, &simulated, Options::new(503, 0.9, 1e-3).unwrap());
        let done = AtomicU64::new(0);
        audit.run(scheme.as_ref(), &|| _ = done.fetch_add(1, Ordering::Relaxed)).unwrap();
        assert_eq!(done.into_inner(), audit.rounds_to_run(scheme.as_ref()));
    }
}

#[test]
fn options_are_checked() {
    for (trials, confidence, delta) in
        [(10, 0.9, 0.1), (1000, 1.0, 0.1), (1000, 0.0, 0.1), (1000, f64::NAN, 0.1), (1000, 0.9, 0.0), (1000, 0.9, 1.0)]
    {
        assert!(Options::new(trials, confidence, delta).is_err(), "{trials} {confidence} {delta}");
    }
}
