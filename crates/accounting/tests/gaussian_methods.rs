//! The Gaussian bounds as the catalogue gives them: what must be monotone, and what stays proven.
//!
//! The errors of the paper are in `literature`.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::bound::{Bound, Kind, Standing};
use shuffledp_accounting::catalogue::{Options, Target, ask, method, survey};
use shuffledp_accounting::gaussian::{LocalCurve, PairCurve, PairMoments, revealed_renyi};
use shuffledp_accounting::published::shuffle_gaussian::Shuffled;
use shuffledp_accounting::rdp::RenyiCurve;
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

fn question(scheme: Scheme, mechanism: Mechanism, rounds: u64) -> Question {
    let randomizer = RandomizerSpec::new(mechanism).expect("a valid mechanism");
    Question::new(Round { scheme, randomizer }, rounds).expect("a valid question")
}

fn epsilon(id: &str, question: &Question, delta: f64) -> Bound {
    let method = method(id).expect("a registered method");
    ask(method, question, Target::EpsilonAt { delta }, &Options::default()).expect("an answer")
}

#[test]
fn ten_million_clients_at_order_two() {
    // (e^s − 1)/n to first order, and what comes after it is −½(e^s − 1)²/n²: 10 digits and more.
    let s: f64 = (1.0 / 1.5_f64).powi(2);
    let excess = s.exp_m1() / 1e7;
    let shuffled = Shuffled::new(2.0 / 3.0, 10_000_000);
    let relative = shuffled.renyi_upper(2) / (excess - 0.5 * excess * excess) - 1.0;
    assert!(relative.abs() < 1e-13, "{relative:e}");
}

#[test]
fn more_clients_hide_better() {
    for order in [2, 3, 9, 40, 700] {
        for mu in [0.01, 0.4, 3.0] {
            let mut last = f64::INFINITY;
            for clients in [1, 2, 3, 5, 8, 100, 10_000, 100_000_000] {
                let value = PairMoments::shuffle(mu, clients).unwrap().ln_moment(order);
                assert!(value <= last * (1.0 + 1e-11) && value > 0.0, "μ = {mu}, n = {clients}, λ = {order}");
                last = value;
            }
        }
    }
}

#[test]
fn a_sample_of_all_is_no_sample_and_certain_check_in_is_a_shuffle() {
    for (clients, order) in [(1, 40), (4, 30), (700, 90), (1_000_000, 90)] {
        let shuffle = PairMoments::shuffle(0.7, clients).unwrap().ln_moment(order);
        let sample = PairMoments::subsampled(0.7, clients, clients).unwrap().ln_moment(order);
        let check_in = PairMoments::check_in(0.7, clients, 1.0).unwrap().ln_moment(order);
        assert!((sample / shuffle - 1.0).abs() < 1e-12 && (check_in / shuffle - 1.0).abs() < 1e-12, "n = {clients}");
    }
}

#[test]
fn check_in_is_the_mixture_over_who_came() {
    // E over k ~ Bin(n, r) of the fixed-size moments, by hand; also across the switch to repeated
    // squaring at λ = 2n + 2.
    let (clients, rate, mu) = (6_u64, 0.35_f64, 0.9);
    for order in [2, 5, 13, 14, 25] {
        let mut mixed = 0.0;
        for k in 0..=clients {
            let ways = (0..k).fold(1.0, |c, i| c * (clients - i) as f64 / (i + 1) as f64);
            let mass = ways * rate.powi(k as i32) * (1.0 - rate).powi((clients - k) as i32);
            let moment =
                if k == 0 { 0.0 } else { PairMoments::subsampled(mu, clients, k).unwrap().ln_moment(order).exp_m1() };
            mixed += mass * moment;
        }
        let direct = PairMoments::check_in(mu, clients, rate).unwrap().ln_moment(order).exp_m1();
        assert!((direct / mixed - 1.0).abs() < 1e-11, "λ = {order}: {direct} against {mixed}");
    }
}

#[test]
fn a_table_grown_in_steps_is_the_table() {
    for grown in [PairMoments::shuffle(0.5, 9), PairMoments::check_in(0.5, 9, 0.2), PairMoments::subsampled(0.5, 90, 9)]
    {
        let mut grown = grown.unwrap();
        let mut at_once = grown.clone();
        let last = at_once.ln_moment(100);
        for order in [3, 17, 19, 20, 64, 100] {
            grown.ln_moment(order);
        }
        assert!((grown.ln_moment(100) / last - 1.0).abs() < 1e-13);
    }
}

#[test]
fn real_orders_lie_on_chords() {
    // Alone (n = 1) the curve is μ²λ/2 exactly, so the chords' excess is known:
    // share·(1 − share)·μ²/2 over λ − 1.
    let curve = PairCurve::new(&Scheme::shuffle(1).unwrap(), 0.3);
    for order in [1.25_f64, 2.0, 2.5, 7.75] {
        let (value, exact) = (curve.epsilon(order).unwrap(), 0.045 * order);
        assert!(
            value >= exact * (1.0 - 1e-15) && value <= exact * (1.0 + 1e-13),
            "λ = {order}: the local bound caps the chord"
        );
    }
    let curve = PairCurve::new(&Scheme::shuffle(50).unwrap(), 0.3);
    let phi = |order: f64| (order - 1.0) * curve.epsilon(order).unwrap();
    assert!((phi(2.5) / (0.5 * (phi(2.0) + phi(3.0))) - 1.0).abs() < 1e-13);
    assert!((phi(1.5) / (0.5 * phi(2.0)) - 1.0).abs() < 1e-13);
    // Beyond the table the divergence is still bounded, by what holds without a shuffler.
    assert!((curve.epsilon(1e6).unwrap() / 45_000.0 - 1.0).abs() < 1e-12);
}

#[test]
fn the_proven_bound_is_above_the_pair_and_below_no_sampling() {
    for mu in [0.05, 0.4, 2.0] {
        for (clients, sampled) in [(10, 3), (1000, 10), (60_000, 6000)] {
            let rate = sampled as f64 / clients as f64;
            for (proven, scheme) in [
                (LocalCurve::subsampled(mu, clients, sampled), Scheme::subsampled(clients, sampled).unwrap()),
                (LocalCurve::check_in(mu, clients, rate), Scheme::check_in(clients, rate, 0.0).unwrap()),
            ] {
                let pair = PairCurve::new(&scheme, mu);
                for order in [1.5, 2.0, 3.5, 10.0, 64.0, 300.0] {
                    let (upper, exact) = (proven.epsilon(order).unwrap(), pair.epsilon(order).unwrap());
                    assert!(upper >= exact, "{scheme:?}, μ = {mu}, λ = {order}: {upper} below {exact}");
                    assert!(upper <= 0.5 * mu * mu * order * (1.0 + 1e-14));
                }
            }
        }
    }
}

#[test]
fn sampling_pays_in_the_proven_bound() {
    // One round at a tenth: the order-2 divergence falls by about 4·γ² of the local one.
    let (mu, order) = (0.4, 2.0);
    let local = revealed_renyi(mu, 1.0, order);
    let sampled = LocalCurve::subsampled(mu, 60_000, 600).epsilon(order).unwrap();
    assert!(sampled < 5e-4 * local, "{sampled} against {local}");
    // At check-in the number of participants is nearly certain, and so is the value nearly that of
    // the sample.
    for order in [2.0, 3.0, 10.0] {
        let sampled = LocalCurve::subsampled(mu, 60_000, 600).epsilon(order).unwrap();
        let check_in = LocalCurve::check_in(mu, 60_000, 0.01).epsilon(order).unwrap();
        assert!(check_in > sampled && check_in < 1.1 * sampled, "λ = {order}: {check_in} against {sampled}");
    }
}

#[test]
fn check_in_average_covers_the_sum_over_who_came() {
    // e^((λ−1)ε) at rate k/n, averaged by hand.
    let (clients, mu) = (40_u64, 0.6);
    for rate in [0.05, 0.3, 0.9] {
        for order in [2.0, 3.0, 6.0, 20.0] {
            let mut average = (1.0_f64 - rate).powi(40);
            let mut ways = 1.0;
            for k in 1..=clients {
                ways *= (clients - k + 1) as f64 / k as f64;
                let mass = ways * rate.powi(k as i32) * (1.0 - rate).powi((clients - k) as i32);
                let exponent = (order - 1.0) * LocalCurve::subsampled(mu, clients, k).epsilon(order).unwrap();
                average += mass * exponent.exp();
            }
            let value = LocalCurve::check_in(mu, clients, rate).epsilon(order).unwrap();
            let direct = average.ln() / (order - 1.0);
            assert!(value >= direct * (1.0 - 1e-12), "r = {rate}, λ = {order}: {value} below {direct}");
        }
    }
}

#[test]
fn the_default_answer_stays_proven() {
    let schemes = [
        Scheme::shuffle(60_000).unwrap(),
        Scheme::subsampled(60_000, 600).unwrap(),
        Scheme::check_in(60_000, 0.1, 0.0).unwrap(),
    ];
    for scheme in schemes {
        let question = question(scheme, Mechanism::Gaussian { sigma: 5.0 }, 100);
        let survey = survey(&question, Target::EpsilonAt { delta: 1e-5 }, &Options::default()).unwrap();
        let proven = survey.best_upper(Standing::Rigorous).unwrap();
        assert!(proven.value.is_finite());
        for id in ["gaussian-pair", "gaussian-pair-pld"] {
            let pair = survey.bounds.iter().find(|bound| bound.id == id).unwrap();
            assert!(pair.standing == Standing::Conjectured && pair.kind == Kind::Upper);
            // Orders lose more than displacement does; the loss distribution does not.
            assert!(pair.value < proven.value || id == "gaussian-pair", "{id}: {} {proven:?}", pair.value);
        }
    }
}

#[test]
fn discrete_noise_has_the_proven_bound_and_no_pair() {
    let question = question(Scheme::subsampled(60_000, 600).unwrap(), Mechanism::DiscreteGaussian { sigma: 5.0 }, 10);
    assert!(epsilon("gaussian-local-rdp", &question, 1e-5).value > 0.0);
    let pair = ask(method("gaussian-pair").unwrap(), &question, Target::EpsilonAt { delta: 1e-5 }, &Options::default());
    assert!(pair.is_err());
}

#[test]
fn extreme_noise_gives_an_answer_or_infinity() {
    for sigma in [1e-300, 1e-160, 1e-3, 1e-2, 1e8, 1e160, 1e300] {
        for scheme in [Scheme::shuffle(10).unwrap(), Scheme::check_in(1 << 53, 0.5, 0.1).unwrap()] {
            let question = question(scheme, Mechanism::Gaussian { sigma }, 3);
            let survey = survey(&question, Target::EpsilonAt { delta: 1e-6 }, &Options::default()).unwrap();
            for bound in &survey.bounds {
                assert!(bound.value >= 0.0, "σ = {sigma}: {bound:?}");
                assert!(sigma > 1e-2 || bound.value > 100.0, "σ = {sigma}: {bound:?}");
            }
        }
    }
}

#[test]
fn the_loss_of_the_pair_is_what_an_fft_of_its_ratio_gives() {
    // numpy: the log-normal on 2^22 points with its mean kept, k-fold by FFT, losses with their
    // means kept, T-fold by FFT; the larger of both directions. What the bound adds: its lattices
    // (1/32 and 1/64 of a deviation) and what it charges for tails.
    let shuffle = |clients| Scheme::shuffle(clients).unwrap();
    let sample = || Scheme::subsampled(60_000, 600).unwrap();
    let check_in = || Scheme::check_in(60_000, 0.1, 0.0).unwrap();
    for (scheme, sigma, rounds, delta, fft) in [
        (shuffle(1_000), 2.0, 1, 1e-5, 0.138_847),
        (shuffle(1_000), 2.0, 1, 1e-6, 0.171_729),
        (shuffle(1_000), 2.0, 1, 1e-8, 0.293_203),
        (shuffle(1_000), 2.0, 10, 1e-6, 0.540_051),
        (shuffle(10), 2.0, 1, 1e-5, 2.188_848),
        (shuffle(10_000), 5.0, 1, 1e-6, 0.013_048_8),
        (sample(), 1.0, 1, 1e-5, 0.032_442_5),
        (sample(), 1.0, 100, 1e-5, 0.316_604),
        (check_in(), 2.0, 1, 1e-5, 0.003_728_57),
        (check_in(), 2.0, 100, 1e-5, 0.048_960_7),
    ] {
        let value = epsilon("gaussian-pair-pld", &question(scheme, Mechanism::Gaussian { sigma }, rounds), delta).value;
        assert!(value >= fft * (1.0 - 1e-5) && value <= 1.008 * fft, "{scheme:?}, T = {rounds}: {value} against {fft}");
    }
}

#[test]
fn the_loss_of_the_pair_is_below_its_orders_and_below_what_is_proven() {
    let schemes = [
        Scheme::shuffle(10_000).unwrap(),
        Scheme::subsampled(1_000_000, 1_000).unwrap(),
        Scheme::check_in(60_000, 0.1, 0.0).unwrap(),
    ];
    for scheme in schemes {
        for (sigma, rounds) in [(5.0, 1), (5.0, 100), (20.0, 5_000)] {
            let question = question(scheme, Mechanism::Gaussian { sigma }, rounds);
            let of = |id| epsilon(id, &question, 1e-6).value;
            let (loss, orders, proven) = (of("gaussian-pair-pld"), of("gaussian-pair"), of("displacement-profile-pld"));
            assert!(
                loss <= orders && loss <= proven,
                "{scheme:?}, σ = {sigma}, T = {rounds}: {loss} {orders} {proven}"
            );
        }
    }
}

#[test]
fn renyi_orders_lose_most_of_a_heavy_tail() {
    // σ = 1 at sensitivity 1, the paper's units.
    let question = question(Scheme::shuffle(1_000).unwrap(), Mechanism::Gaussian { sigma: 2.0 }, 1);
    assert_eq!(format!("{:.3}", epsilon("gaussian-pair", &question, 1e-5).value), "0.678");
    assert_eq!(format!("{:.3}", epsilon("gaussian-pair-pld", &question, 1e-5).value), "0.139");
}

#[test]
fn epsilon_and_delta_of_the_loss_belong_to_each_other() {
    for rounds in [1, 50] {
        let question = question(Scheme::shuffle(1_000).unwrap(), Mechanism::Gaussian { sigma: 4.0 }, rounds);
        let at = epsilon("gaussian-pair-pld", &question, 1e-7).value;
        let back =
            ask(method("gaussian-pair-pld").unwrap(), &question, Target::DeltaAt { epsilon: at }, &Options::default());
        // δ is asked for before it is known how small it is: another floor, other chords.
        let delta = back.unwrap().value;
        assert!((delta / 1e-7 - 1.0).abs() < 0.02, "T = {rounds}: {delta:e}");
    }
}

#[test]
fn all_of_a_sample_and_certain_check_in_have_the_loss_of_a_shuffle() {
    let of =
        |scheme| epsilon("gaussian-pair-pld", &question(scheme, Mechanism::Gaussian { sigma: 3.0 }, 4), 1e-6).value;
    let shuffle = of(Scheme::shuffle(500).unwrap());
    let (sample, check_in) = (of(Scheme::subsampled(500, 500).unwrap()), of(Scheme::check_in(500, 1.0, 0.0).unwrap()));
    assert!(
        (sample / shuffle - 1.0).abs() < 1e-9 && (check_in / shuffle - 1.0).abs() < 1e-9,
        "{shuffle} {sample} {check_in}"
    );
    // More clients hide better, and a sample better than all.
    assert!(of(Scheme::shuffle(600).unwrap()) < shuffle && of(Scheme::subsampled(600, 500).unwrap()) < shuffle);
}

#[test]
fn a_billion_clients_and_weak_noise_are_answered() {
    let of = |scheme, sigma, rounds| {
        epsilon("gaussian-pair-pld", &question(scheme, Mechanism::Gaussian { sigma }, rounds), 1e-8).value
    };
    let billion = of(Scheme::shuffle(1_000_000_000).unwrap(), 5.0, 100);
    assert!(billion > 4.5e-4 && billion < 4.6e-4, "{billion}");
    // Where the log-normal's tail fits no lattice, Rényi orders answer.
    for sigma in [0.01, 0.1, 0.5, 0.7, 1.0] {
        let weak = question(Scheme::shuffle(100).unwrap(), Mechanism::Gaussian { sigma }, 3);
        assert!(epsilon("gaussian-pair-pld", &weak, 1e-8).value <= epsilon("gaussian-pair", &weak, 1e-8).value);
    }
}
