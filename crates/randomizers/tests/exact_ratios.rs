//! Likelihood ratios never exceed e^ε0: every report and every pair of inputs of small mechanisms,
//! in whole numbers.
#![allow(clippy::unwrap_used)]

mod common;

use common::exact::{EXPONENTIALS, ratio_is_within, weight};
use proptest::prelude::*;
use shuffledp_randomizers::clip::LinfClip;
use shuffledp_randomizers::coin::{Coin, PrivateCoin};
use shuffledp_randomizers::duchi::SignedSeed;
use shuffledp_randomizers::signed_index::SignedIndex;
use shuffledp_randomizers::{Duchi, Krr, Likelihood, R1, RInf};

const DIMENSION: u32 = 5;
const BOUND: f32 = 0.3;

/// Inside, at the edge, outside, tiny, huge; in one coordinate and in all.
fn inputs() -> Vec<[f32; DIMENSION as usize]> {
    let sizes = [0.0, 1e-45, 1e-3, 0.1, 0.299_999_98, BOUND, 0.300_000_04, 0.7, 1e30, f32::MAX];
    let mut all = Vec::new();
    for size in sizes {
        for x in [size, -size] {
            all.push([x; 5]);
            all.push([x, 0.0, 0.0, 0.0, 0.0]);
            all.push([x, -x / 3.0, x / 7.0, 0.0, -x / 11.0]);
        }
    }
    all
}

/// Checks all pairs of coins that two inputs give one report.
fn check_pairs(coins: &[Coin], bits: u32, exponential: u128, what: &str) {
    for heads in [true, false] {
        let weights = coins.iter().map(|&coin| weight(coin, heads));
        let (least, most) = (weights.clone().min().unwrap(), weights.max().unwrap());
        assert!(ratio_is_within(most, least, bits, exponential), "{what}: {most}/{least}");
    }
}

#[test]
fn the_band_of_coins_is_within_and_nearly_full() {
    for (epsilon, bits, exponential) in EXPONENTIALS {
        let coin = PrivateCoin::new(epsilon).unwrap();
        let ends = [coin.leaning(1.0), coin.leaning(-1.0)];
        check_pairs(&ends, bits, exponential, &format!("ε0 = {epsilon}"));
        // Not private for nothing: 4 units in the last place of tanh are given away, which at ratio
        // E count E/2-fold.
        let ratio = weight(ends[0], true) as f64 / weight(ends[1], true) as f64;
        let lost = 1.0 - ratio / epsilon.exp();
        assert!(epsilon > 36.0 || lost < 1e-15 * (1.0 + epsilon.exp()), "ε0 = {epsilon}: {lost:e} lost");
    }
}

#[test]
fn a_band_that_is_too_wide_by_the_least_bit_of_a_double_is_seen() {
    for (epsilon, bits, exponential) in EXPONENTIALS.into_iter().filter(|row| row.0 < 30.0) {
        // tanh rounded up by eight units in the last place, or to the next whole threshold; and ε0
        // off by 1 %.
        for half_width in [(epsilon / 2.0).tanh() * (1.0 + 8.0 * f64::EPSILON), (1.01 * epsilon / 2.0).tanh()] {
            let offset = (half_width * 2.0_f64.powi(63)).ceil() as u128;
            let (high, low) = ((1 << 63) + offset, (1 << 63) - offset);
            assert!(!ratio_is_within(high, low, bits, exponential), "ε0 = {epsilon}: {high}/{low} was let through");
        }
    }
}

proptest! {
    #[test]
    fn no_number_leans_a_coin_out_of_its_band(x in any::<f64>(), row in 0..EXPONENTIALS.len()) {
        let coin = PrivateCoin::new(EXPONENTIALS[row].0).unwrap();
        let threshold = coin.leaning(x).threshold();
        prop_assert!((coin.leaning(-1.0).threshold()..=coin.leaning(1.0).threshold()).contains(&threshold));
        // Symmetric: heads at x as likely as tails at −x.
        prop_assert_eq!(weight(coin.leaning(x), true), weight(coin.leaning(-x), false));
    }
}

#[test]
fn r_inf_over_all_reports_and_inputs() {
    for (epsilon, bits, exponential) in EXPONENTIALS {
        for clip in [LinfClip::Clamp, LinfClip::Scale] {
            let mechanism = RInf::new(epsilon, DIMENSION, BOUND).unwrap().with_clip(clip);
            for index in 0..DIMENSION {
                // The index is uniform whatever the input, so the sign is all there is.
                let coins: Vec<Coin> = inputs().iter().map(|x| mechanism.sign_coin(x, index)).collect();
                check_pairs(&coins, bits, exponential, &format!("ε0 = {epsilon}, j = {index}"));
            }
        }
    }
}

#[test]
fn r_1_over_all_reports_and_inputs() {
    for (epsilon, bits, exponential) in EXPONENTIALS {
        let mechanism = R1::new(epsilon, DIMENSION, BOUND).unwrap();
        for index in 0..mechanism.padded_dimension() {
            let coins: Vec<Coin> = inputs().iter().map(|x| mechanism.sign_coin(x, index)).collect();
            check_pairs(&coins, bits, exponential, &format!("ε0 = {epsilon}, j = {index}"));
        }
    }
}

#[test]
fn duchi_over_many_seeds_and_all_inputs() {
    for (epsilon, bits, exponential) in EXPONENTIALS {
        let mechanism = Duchi::new(epsilon, DIMENSION, BOUND).unwrap();
        for seed in (0..50).chain([u64::MAX >> 1]) {
            // The seed is uniform whatever the input.
            let coins: Vec<Coin> = inputs().iter().map(|x| mechanism.sign_coin(x, seed)).collect();
            check_pairs(&coins, bits, exponential, &format!("ε0 = {epsilon}, seed {seed}"));
        }
    }
}

#[test]
fn randomized_response_as_whole_numbers() {
    for (epsilon, bits, exponential) in EXPONENTIALS {
        for categories in [2, 3, 10, 1000, 1 << 28] {
            let mechanism = Krr::new(epsilon, categories).unwrap();
            let truth = u128::from(mechanism.truth_coin().threshold());
            // Over m·2^64: the truth, and any other category.
            let (high, low) = ((1 << 64) + truth * u128::from(categories - 1), (1 << 64) - truth);
            assert_eq!(high + u128::from(categories - 1) * low, u128::from(categories) << 64);
            assert!(ratio_is_within(high, low, bits, exponential), "ε0 = {epsilon}, m = {categories}");
            // One part in 2^64, or the four units in the last place, is all that is given away.
            let lost = 1.0 - high as f64 / low as f64 / epsilon.exp();
            let allowed = 1e-15 * (1.0 + epsilon.exp()) + categories as f64 * 2.0_f64.powi(-63) * (1.0 + epsilon.exp());
            assert!(epsilon > 36.0 || lost < allowed, "ε0 = {epsilon}, m = {categories}: {lost:e} lost");
            // Planted: eight units in the last place too many.
            let too_much = (truth as f64 * (1.0 + 10.0 * f64::EPSILON)) as u128 + 1;
            if epsilon < 30.0 && too_much < 1 << 64 {
                let (high, low) = ((1 << 64) + too_much * u128::from(categories - 1), (1 << 64) - too_much);
                assert!(!ratio_is_within(high, low, bits, exponential), "ε0 = {epsilon}, m = {categories} let through");
            }
        }
    }
    assert_eq!(Krr::binary(1.0).unwrap().truth_coin(), Krr::new(1.0, 2).unwrap().truth_coin());
}

/// The likelihoods of all reports of one index, sign by sign, are those of the coin, and the worst
/// inputs use up ε0.
#[test]
fn likelihoods_say_what_the_coins_do() {
    for epsilon in [0.1, 1.0, 5.0, 20.0] {
        let r_inf = RInf::new(epsilon, DIMENSION, BOUND).unwrap();
        let r_1 = R1::new(epsilon, DIMENSION, BOUND).unwrap();
        let duchi = Duchi::new(epsilon, DIMENSION, BOUND).unwrap();
        for x in inputs() {
            for index in 0..DIMENSION {
                for is_positive in [true, false] {
                    let (report, seeded) =
                        (SignedIndex { index, is_positive }, SignedSeed { seed: u64::from(index), is_positive });
                    for (coin, ln_likelihood) in [
                        (r_inf.sign_coin(&x, index), r_inf.ln_likelihood(&report, &x)),
                        (r_1.sign_coin(&x, index), r_1.ln_likelihood(&report, &x)),
                        (duchi.sign_coin(&x, seeded.seed), duchi.ln_likelihood(&seeded, &x)),
                    ] {
                        let exact = weight(coin, is_positive) as f64 * 2.0_f64.powi(-64);
                        assert!((ln_likelihood.exp() / exact - 1.0).abs() < 1e-13, "{ln_likelihood} {exact}");
                    }
                }
            }
        }
        let report = SignedIndex { index: 3, is_positive: true };
        let worst =
            |ratio: f64| assert!((ratio - epsilon).abs() < 1e-6, "ε0 = {epsilon}, the worst inputs show {ratio}");
        let [x, y] = r_inf.worst_case_inputs();
        worst(r_inf.ln_likelihood(&report, &x) - r_inf.ln_likelihood(&report, &y));
        let [x, y] = r_1.worst_case_inputs();
        worst(r_1.ln_likelihood(&report, &x) - r_1.ln_likelihood(&report, &y));
        let seeded = SignedSeed { seed: 8, is_positive: true };
        let [x, y] = duchi.worst_case_inputs();
        worst((duchi.ln_likelihood(&seeded, &x) - duchi.ln_likelihood(&seeded, &y)).abs());
        let krr = Krr::new(epsilon, 7).unwrap();
        let [x, y] = krr.worst_case_inputs();
        worst(krr.ln_likelihood(&x, &x) - krr.ln_likelihood(&x, &y));
        let total: f64 = (0..7).map(|report| krr.ln_likelihood(&report, &4).exp()).sum();
        assert!((total - 1.0).abs() < 1e-14);
    }
}
