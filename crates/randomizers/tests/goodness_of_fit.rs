//! Every sampler follows its law, and a broken one is caught by the same check.
#![allow(clippy::unwrap_used)]

mod common;

use common::statistics::{FALSE_ALARM, REJECTED, fit_p};
use shuffledp_randomizers::coin::PrivateCoin;
use shuffledp_randomizers::duchi::SignedSeed;
use shuffledp_randomizers::signed_index::SignedIndex;
use shuffledp_randomizers::{Duchi, Krr, Likelihood, R1, RInf, Randomizer, Randomness, SimulationRng, uniform};

fn accept(p: f64, what: &str) {
    assert!(p > FALSE_ALARM, "{what} refused, p = {p:e}");
}

fn reject(p: f64, what: &str) {
    assert!(p < REJECTED, "{what} not noticed, p = {p:e}");
}

#[test]
fn whole_numbers_below_a_count() {
    let mut rng = SimulationRng::from_seed(1);
    assert!((0..100).all(|_| uniform::below(1, &mut rng) == 0));
    for count in [2, 3, 7, 10, 64, 1000_u64] {
        let probabilities = vec![1.0 / count as f64; count as usize];
        accept(fit_p(&probabilities, 200_000, || uniform::below(count, &mut rng) as usize), "below");
    }
    // At three quarters of 2^32 and of 2^64 a sampler that does not draw again shows at once: a
    // product gives every third number twice (cells: the number mod 3, then its sixth of the
    // range), a modulo gives the lowest third twice.
    let cell = |x: u64, count: u64| (x % 3) as usize + 3 * (u128::from(x) * 6 / u128::from(count)) as usize;
    let law = [1.0 / 18.0; 18];
    for count in [3 << 30, (1 << 32) + 8, 3 << 62] {
        accept(fit_p(&law, 200_000, || cell(uniform::below(count, &mut rng), count)), "below a large count");
    }
    let count = 3 << 62;
    reject(fit_p(&law, 200_000, || cell(rng.bits() % count, count)), "a modulo");
    let product = |x: u64| ((u128::from(x) * u128::from(count)) >> 64) as u64;
    reject(fit_p(&law, 200_000, || cell(product(rng.bits()), count)), "a product");
    let (count, product) = (3 << 30, |x: u32| (u64::from(x) * (3 << 30)) >> 32);
    reject(fit_p(&law, 200_000, || cell(product(rng.half_bits()), count)), "a product of 32 bits");
}

#[test]
fn coins() {
    let mut rng = SimulationRng::from_seed(2);
    let private = PrivateCoin::new(1.0).unwrap();
    for x in [-1.0, -0.3, 0.0, 1e-3, 0.8, 1.0] {
        let coin = private.leaning(x);
        let law = [coin.probability_of(false), coin.probability_of(true)];
        accept(fit_p(&law, 1_000_000, || usize::from(coin.flip(&mut rng))), "coin");
        // Another coin, off by 1 %: one flip in a hundred is always heads.
        reject(
            fit_p(&law, 1_000_000, || usize::from(uniform::below(100, &mut rng) == 0 || coin.flip(&mut rng))),
            "a coin off by 1 %",
        );
    }
}

/// A sampler's reports against the law that its likelihood states.
fn signed_index_p<M: Likelihood<Input = [f32], Report = SignedIndex>>(
    mechanism: &M,
    indices: u32,
    input: &[f32],
    mut sample: impl FnMut() -> SignedIndex,
) -> f64 {
    let law: Vec<f64> = (0..2 * indices)
        .map(|cell| SignedIndex { index: cell / 2, is_positive: cell % 2 == 1 })
        .map(|report| mechanism.ln_likelihood(&report, input).exp() / f64::from(indices))
        .collect();
    fit_p(&law, 400_000, || {
        let report = sample();
        2 * report.index as usize + usize::from(report.is_positive)
    })
}

#[test]
fn r_inf_and_r_1() {
    let input = [0.5_f32, -0.2, 0.0, 0.9, -0.4];
    let mut rng = SimulationRng::from_seed(3);
    let r_inf = RInf::new(1.5, 5, 0.5).unwrap();
    accept(signed_index_p(&r_inf, 5, &input, || r_inf.randomize(&input, &mut rng).unwrap()), "R_inf");
    let one_coordinate = |rng: &mut SimulationRng| {
        let index = r_inf.draw_index(rng);
        r_inf.randomize_coordinate(index, input[index as usize], rng).unwrap()
    };
    accept(signed_index_p(&r_inf, 5, &input, || one_coordinate(&mut rng)), "R_inf by coordinate");
    let r_1 = R1::new(1.5, 5, 2.5).unwrap();
    accept(signed_index_p(&r_1, 8, &input, || r_1.randomize(&input, &mut rng).unwrap()), "R_1");

    // Planted: another ε0; and a leak of one bit, for the index is drawn again once if its
    // coordinate is below 0.
    let other = RInf::new(1.6, 5, 0.5).unwrap();
    reject(signed_index_p(&r_inf, 5, &input, || other.randomize(&input, &mut rng).unwrap()), "another ε0");
    let leaky = |rng: &mut SimulationRng| {
        let first = r_inf.randomize(&input, rng).unwrap();
        if input[first.index as usize] < 0.0 { r_inf.randomize(&input, rng).unwrap() } else { first }
    };
    reject(signed_index_p(&r_inf, 5, &input, || leaky(&mut rng)), "an index that knows the input");
    let other = R1::new(1.5, 5, 3.0).unwrap();
    reject(signed_index_p(&r_1, 8, &input, || other.randomize(&input, &mut rng).unwrap()), "another clip");
}

#[test]
fn randomized_response() {
    let mut rng = SimulationRng::from_seed(4);
    for (mechanism, categories) in
        [(Krr::binary(0.8).unwrap(), 2), (Krr::new(0.8, 3).unwrap(), 3), (Krr::new(2.0, 20).unwrap(), 20)]
    {
        for input in [0, 1, categories - 1] {
            let law: Vec<f64> = (0..categories).map(|report| mechanism.ln_likelihood(&report, &input).exp()).collect();
            let n = 2_000_000;
            accept(fit_p(&law, n, || mechanism.randomize(&input, &mut rng).unwrap() as usize), "randomized response");
            // One report in a hundred is the truth for sure.
            let mut broken =
                || if uniform::below(100, &mut rng) == 0 { Ok(input) } else { mechanism.randomize(&input, &mut rng) };
            reject(fit_p(&law, n, || broken().unwrap() as usize), "1 % of truth");
        }
    }
}

/// Cells: does the sign agree with the likelier one, and three bits of the seed.
fn duchi_p(mechanism: &Duchi, input: &[f32], length: f64, bit: u32, mut sample: impl FnMut() -> SignedSeed) -> f64 {
    let keep = 0.5 + 0.5 * (0.5_f64).tanh() * length;
    let law: Vec<f64> = (0..16).map(|cell| if cell % 2 == 1 { keep / 8.0 } else { (1.0 - keep) / 8.0 }).collect();
    fit_p(&law, 40_000, || {
        let report = sample();
        let likelier = mechanism.sign_coin(input, report.seed).probability() > 0.5;
        2 * (report.seed >> bit & 7) as usize + usize::from(report.is_positive == likelier)
    })
}

#[test]
fn duchi() {
    let mut rng = SimulationRng::from_seed(5);
    let mechanism = Duchi::new(1.0, 6, 2.0).unwrap();
    // Of length 1.2, half of the bound and more; and one beyond the bound.
    for (input, length) in [([0.4_f32, -0.8, 0.0, 0.8, 0.0, 0.0], 0.6), ([3.0, 1.0, 0.0, 0.0, -9.0, 0.1], 1.0)] {
        for bit in [0, 30, 60] {
            accept(
                duchi_p(&mechanism, &input, length, bit, || mechanism.randomize(&input, &mut rng).unwrap()),
                "Duchi",
            );
        }
        // Planted: the seed's lowest bit tells something of the sign; and ε0 is another.
        let mut leaky = || {
            let mut report = mechanism.randomize(&input, &mut rng).unwrap();
            if report.is_positive && uniform::below(10, &mut rng) == 0 {
                report.seed |= 1;
            }
            report
        };
        reject(duchi_p(&mechanism, &input, length, 0, &mut leaky), "a seed that tells");
        let other = Duchi::new(1.2, 6, 2.0).unwrap();
        reject(duchi_p(&mechanism, &input, length, 0, || other.randomize(&input, &mut rng).unwrap()), "another ε0");
    }
    // No direction of its own: a fair sign.
    let zero = [0.0; 6];
    let mut is_positive = || usize::from(mechanism.randomize(&zero, &mut rng).unwrap().is_positive);
    accept(fit_p(&[0.5, 0.5], 40_000, &mut is_positive), "Duchi at 0");
}
