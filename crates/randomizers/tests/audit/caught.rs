//! Planted mistakes are found.

use super::audit;
use super::planted::{Identity, Lazy, OwnSeed, SameCoins, SometimesSameCoins, Unclipped, Understated};
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec, Scheme};
use shuffledp_randomizers::audit::{Audit, Options, RawInput, Simulated};
use shuffledp_randomizers::{
    DiscreteGaussian, DiscreteLaplace, Duchi, Gaussian, Krr, Laplace, Likelihood, PrivUnit, R1, RInf, RoundedGaussian,
    TopSet,
};

fn options() -> Options {
    Options::new(4_000, 0.99, 1e-5).unwrap()
}

fn right() -> RInf {
    RInf::new(1.0, 8, 1.0).unwrap()
}

#[test]
fn what_is_right_passes() {
    let report = audit(&right(), Some(&Scheme::shuffle(50).unwrap()), 1, options());
    assert!(report.passed(), "{report:?}");
    assert!(report.local.measured.epsilon_lower > 0.8, "{report:?}");
}

#[test]
fn a_doubled_local_epsilon() {
    let said = RandomizerSpec::new(Mechanism::RInf { local_epsilon: 1.0 }).unwrap();
    let doubled = Understated { inside: RInf::new(2.0, 8, 1.0).unwrap(), said };
    let report = audit(&doubled, None, 1, options());
    assert!(!report.local.passed() && !report.passed(), "{report:?}");
}

#[test]
fn less_noise_than_said_whatever_the_mechanism() {
    fn assert_caught<M>(said: Mechanism, inside: M)
    where
        M: Likelihood + Sync,
        M::Input: RawInput + Sync,
    {
        // Right by its own word, wrong by another's.
        assert!(audit(&inside, None, 1, options()).passed(), "{said:?}");
        let understated = Understated { inside, said: RandomizerSpec::new(said).unwrap() };
        let report = audit(&understated, None, 1, options());
        assert!(!report.local.passed() && !report.passed(), "{said:?}: {report:?}");
    }
    let local_epsilon = 1.0;
    assert_caught(Mechanism::Rr { local_epsilon }, Krr::binary(2.0).unwrap());
    assert_caught(Mechanism::Krr { local_epsilon, categories: 4 }, Krr::new(2.0, 4).unwrap());
    assert_caught(Mechanism::R1 { local_epsilon }, R1::new(2.0, 3, 1.0).unwrap());
    assert_caught(Mechanism::R2 { local_epsilon }, Duchi::new(2.0, 3, 1.0).unwrap());
    assert_caught(Mechanism::PrivUnit { local_epsilon, dimension: 3 }, PrivUnit::new(2.0, 3, 1.0).unwrap());
    let top_set = Mechanism::TopSet { local_epsilon, dimension: 3, share: 0.25 };
    assert_caught(top_set, TopSet::new(2.0, 3, 1.0, 0.25).unwrap());
    assert_caught(Mechanism::Laplace { local_epsilon }, Laplace::new(2.0, 3, 1.0).unwrap());
    assert_caught(Mechanism::DiscreteLaplace { local_epsilon }, DiscreteLaplace::new(2.0, 3, 1.0).unwrap());
    assert_caught(Mechanism::Gaussian { sigma: 8.0 }, Gaussian::new(1.0, 3, 1.0).unwrap());
    assert_caught(Mechanism::RoundedGaussian { sigma: 8.0 }, RoundedGaussian::new(1.0, 3, 1.0).unwrap());
    assert_caught(Mechanism::DiscreteGaussian { sigma: 16.0 }, DiscreteGaussian::new(1.0, 3, 1.0).unwrap());
}

#[test]
fn clipping_left_out() {
    let unclipped = Unclipped { inside: right(), local_epsilon: 1.0 };
    let report = audit(&unclipped, None, 1, options());
    assert!(!report.local.passed() && !report.passed(), "{report:?}");
}

#[test]
fn a_shuffle_that_shuffles_nothing_or_not_always() {
    let mechanism = right();
    let simulated = Simulated { seed: 1 };
    for scheme in [Scheme::shuffle(100), Scheme::subsampled(150, 100), Scheme::check_in(120, 0.9, 0.1)] {
        let scheme = scheme.unwrap();
        let new = || Audit::new(&mechanism, &simulated, options());
        assert!(new().run(Some(&scheme), &|| ()).unwrap().passed());
        let identity = new().with_shuffle(&Identity).run(Some(&scheme), &|| ()).unwrap();
        let round = identity.round.unwrap();
        assert!(identity.local.passed() && !round.passed() && round.measured.by_order, "{identity:?}");
    }
    let scheme = Scheme::shuffle(100).unwrap();
    let lazy = Audit::new(&mechanism, &simulated, options()).with_shuffle(&Lazy).run(Some(&scheme), &|| ()).unwrap();
    assert!(!lazy.passed(), "{lazy:?}");
}

#[test]
fn coins_that_come_back() {
    let mechanism = right();
    for report in [
        Audit::new(&mechanism, &SameCoins, options()).run(None, &|| ()).unwrap(),
        Audit::new(&mechanism, &SometimesSameCoins, options()).run(None, &|| ()).unwrap(),
    ] {
        assert!(report.freshness.generator_repeats && !report.passed(), "{report:?}");
    }
    assert!(!audit(&mechanism, None, 7, options()).freshness.generator_repeats);
}

#[test]
fn a_client_that_seeds_itself_whatever_the_seed() {
    for seed in 0..20 {
        for local_epsilon in [0.1, 1.0, 4.0] {
            let report =
                audit(&OwnSeed { inside: RInf::new(local_epsilon, 1, 1.0).unwrap(), seed }, None, 1, options());
            assert!(!report.passed() && report.freshness.report_never_changes, "{report:?}");
        }
    }
}
