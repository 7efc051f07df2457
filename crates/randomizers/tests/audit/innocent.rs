//! Correct mechanisms fail the audit no more often than its confidence allows.

use shuffledp_accounting::numerics::beta::regularised_beta;
use shuffledp_accounting::scheme::Scheme;
use shuffledp_randomizers::audit::{Audit, Finding, Options, RawInput, Simulated};
use shuffledp_randomizers::{
    DiscreteGaussian, DiscreteLaplace, Duchi, Gaussian, Krr, Laplace, Likelihood, PrivUnit, R1, RInf, RoundedGaussian,
    TopSet,
};

const REPETITIONS: u64 = 200;

/// Low, so that accusations occur and can be counted.
const CONFIDENCE: f64 = 0.7;

/// An innocent auditor's accusations are at most this many, except once in a million times.
fn most(repetitions: u64, probability: f64) -> u64 {
    // P(Bin(n, p) > c) = I_p(c + 1, n − c).
    let exceeds = |count: u64| regularised_beta(count as f64 + 1.0, (repetitions - count) as f64, probability).0;
    (0..repetitions).find(|&count| exceeds(count) < 1e-6).unwrap()
}

/// How often, of all repetitions, each of the claims was exceeded: local, two reports, round.
fn accusations<M>(mechanism: &M, scheme: &Scheme, is_exceeded: impl Fn(&Finding) -> bool) -> [u64; 3]
where
    M: Likelihood + Sync,
    M::Input: RawInput + Sync,
{
    let options = Options::new(240, CONFIDENCE, 0.01).unwrap();
    // Asked once: accounting does not depend on the seed.
    let claims = Audit::new(mechanism, &Simulated { seed: 0 }, options).claims(Some(scheme)).unwrap();
    let mut counts = [0; 3];
    for seed in 0..REPETITIONS {
        let generators = Simulated { seed };
        let report = Audit::new(mechanism, &generators, options).run_against(claims, Some(scheme), &|| ()).unwrap();
        assert!(!report.freshness.generator_repeats && !report.freshness.report_never_changes, "{report:?}");
        let findings = [report.local, report.freshness.two_reports, report.round.unwrap()];
        counts.iter_mut().zip(&findings).for_each(|(count, finding)| *count += u64::from(is_exceeded(finding)));
    }
    counts
}

/// A third of what the confidence leaves belongs to each claim.
fn assert_innocent<M>(name: &str, mechanism: &M, scheme: shuffledp_accounting::Result<Scheme>)
where
    M: Likelihood + Sync,
    M::Input: RawInput + Sync,
{
    let scheme = scheme.unwrap();
    let most = most(REPETITIONS, (1.0 - CONFIDENCE) / 3.0);
    let accused = accusations(mechanism, &scheme, |finding| !finding.passed());
    assert!(accused.iter().all(|&count| count <= most), "{name}, {scheme:?}: {accused:?} of {REPETITIONS}");
}

#[test]
fn r_inf_in_every_scheme() {
    for (local_epsilon, dimension) in [(1.0, 4), (3.0, 1)] {
        let mechanism = RInf::new(local_epsilon, dimension, 1.0).unwrap();
        for scheme in [Scheme::shuffle(4), Scheme::subsampled(6, 4), Scheme::check_in(6, 0.8, 0.1)] {
            assert_innocent("r-inf", &mechanism, scheme);
        }
    }
}

#[test]
fn mechanisms_over_categories() {
    assert_innocent("rr", &Krr::binary(2.0).unwrap(), Scheme::shuffle(4));
    assert_innocent("krr", &Krr::new(1.5, 4).unwrap(), Scheme::subsampled(6, 4));
    assert_innocent("krr of two", &Krr::new(0.5, 2).unwrap(), Scheme::check_in(6, 0.8, 0.1));
}

#[test]
fn mechanisms_of_two_levels() {
    assert_innocent("r-1", &R1::new(1.0, 3, 1.0).unwrap(), Scheme::subsampled(6, 4));
    assert_innocent("r-2", &Duchi::new(2.0, 2, 1.0).unwrap(), Scheme::check_in(6, 0.8, 0.1));
    assert_innocent("top-set", &TopSet::new(1.5, 4, 1.0, 0.25).unwrap(), Scheme::subsampled(6, 4));
    assert_innocent("priv-unit", &PrivUnit::new(2.0, 3, 1.0).unwrap(), Scheme::shuffle(4));
}

#[test]
fn noise() {
    assert_innocent("gaussian", &Gaussian::new(1.5, 2, 1.0).unwrap(), Scheme::shuffle(3));
    assert_innocent("laplace", &Laplace::new(2.0, 2, 1.0).unwrap(), Scheme::subsampled(4, 3));
    assert_innocent("discrete-gaussian", &DiscreteGaussian::new(2.0, 1, 1.0).unwrap(), Scheme::check_in(4, 0.8, 0.1));
    assert_innocent("rounded-gaussian", &RoundedGaussian::new(1.5, 2, 1.0).unwrap(), Scheme::shuffle(3));
    assert_innocent("discrete-laplace", &DiscreteLaplace::new(1.0, 2, 1.0).unwrap(), Scheme::shuffle(3));
}

/// The tests above can fail: an auditor who takes frequencies for probabilities accuses the
/// innocent half of the time.
#[test]
fn a_careless_auditor_is_noticed() {
    let careless = |finding: &Finding| {
        let ratio = finding.measured.true_positives as f64 / finding.measured.false_positives as f64;
        ratio.ln() > finding.claim.epsilon
    };
    let scheme = Scheme::shuffle(1).unwrap();
    let [local, ..] = accusations(&RInf::new(1.0, 4, 1.0).unwrap(), &scheme, careless);
    assert!(local > most(REPETITIONS, (1.0 - CONFIDENCE) / 3.0), "{local}");
}
