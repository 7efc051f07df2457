//! The order in which a batch leaves is uniform, and depends on nothing but the permutation.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use rand::rngs::ChaCha20Rng;
use rand::{Rng, SeedableRng};
use shuffledp_shuffler::permutation::{FisherYates, Permute};
use shuffledp_shuffler::store::{OpaqueReport, RoundStore, RoundTerms, SqliteStore};
use std::collections::HashMap;
use std::ops::ControlFlow;

const REPORTS: u8 = 4;
const ORDERS: usize = 24;
const BATCHES: usize = 4000;
/// χ² with 23 degrees of freedom is above 72.5 with probability 5e-7 (scipy.stats.chi2.isf(5e-7,
/// 23) = 72.49).
const CRITICAL: f64 = 72.5;

/// A common faulty shuffle: every place is swapped with *any* place. 4^4 = 256 paths cannot fall
/// evenly on 24 orders.
struct SwapWithAny(ChaCha20Rng);

impl Permute for SwapWithAny {
    fn permute(&mut self, order: &mut [u32]) {
        for place in 0..order.len() {
            let other = self.0.next_u64() as usize % order.len();
            order.swap(place, other);
        }
    }
}

/// Forgets the last place.
struct OffByOne(FisherYates<ChaCha20Rng>);

impl Permute for OffByOne {
    fn permute(&mut self, order: &mut [u32]) {
        let all_but_last = order.len() - 1;
        self.0.permute(&mut order[..all_but_last]);
    }
}

/// Stores reports in the given order, seals, and returns the order in which they leave.
fn leave(arrival: &[u8], permute: &mut dyn Permute) -> Vec<u8> {
    let record = RoundTerms { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 2 };
    let mut store = SqliteStore::in_memory(&record).unwrap();
    for &number in arrival {
        // Digests in no particular order, as those of ciphertexts are.
        let digest = [number.wrapping_mul(89); 32];
        store.add(vec![OpaqueReport { digest, body: vec![number; 100] }]).unwrap();
    }
    store.seal(2, permute).unwrap();
    let mut order = Vec::new();
    let visit = &mut |record: &[u8]| {
        order.push(record[0]);
        ControlFlow::Continue(())
    };
    store.visit(visit).unwrap();
    order
}

/// χ² of the orders of many small batches against the uniform law.
fn chi_square(permute: &mut dyn Permute) -> f64 {
    let arrival: Vec<u8> = (0..REPORTS).collect();
    let mut counts: HashMap<Vec<u8>, u32> = HashMap::new();
    for _ in 0..BATCHES {
        *counts.entry(leave(&arrival, permute)).or_default() += 1;
    }
    let expected = BATCHES as f64 / ORDERS as f64;
    let seen: f64 = counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    // Orders that never came.
    seen + (ORDERS - counts.len()) as f64 * expected
}

#[test]
fn every_order_is_equally_likely() {
    let statistic = chi_square(&mut FisherYates(ChaCha20Rng::seed_from_u64(1)));
    assert!(statistic < CRITICAL, "{statistic}");
}

#[test]
fn a_biased_shuffle_is_caught() {
    let statistic = chi_square(&mut SwapWithAny(ChaCha20Rng::seed_from_u64(2)));
    assert!(statistic > CRITICAL, "{statistic}");
    let statistic = chi_square(&mut OffByOne(FisherYates(ChaCha20Rng::seed_from_u64(3))));
    assert!(statistic > CRITICAL, "{statistic}");
}

#[test]
fn the_order_of_arrival_changes_nothing() {
    let mut arrival: Vec<u8> = (0..40).collect();
    let with_seed = |arrival: &[u8]| leave(arrival, &mut FisherYates(ChaCha20Rng::seed_from_u64(4)));
    let first = with_seed(&arrival);
    assert_ne!(first, arrival);
    let mut mix = FisherYates(ChaCha20Rng::seed_from_u64(5));
    for _ in 0..50 {
        let mut order: Vec<u32> = arrival.iter().map(|&number| u32::from(number)).collect();
        mix.permute(&mut order);
        arrival = order.into_iter().map(|number| number as u8).collect();
        assert_eq!(with_seed(&arrival), first);
    }
}
