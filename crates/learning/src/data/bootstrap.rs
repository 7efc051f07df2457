//! More clients than examples, without copies.

use super::{Clients, Examples};
use crate::models::TensorShape;
use crate::{LearningError, Result};
use std::borrow::Borrow;

/// n clients, each with an example drawn uniformly with replacement: a bootstrap sample of the
/// data, as the check-in paper makes its population of ten million.
///
/// Which example a client has is a hash of its number, so the population takes no memory and a
/// client has the same example in every round.
#[derive(Debug, Clone)]
pub struct Bootstrap<E> {
    examples: E,
    count: u64,
    seed: u64,
}

impl<E: Borrow<Examples>> Bootstrap<E> {
    /// `count` clients over `examples`, borrowed, shared or owned; another seed is another draw.
    pub fn new(examples: E, count: u64, seed: u64) -> Result<Self> {
        if count == 0 {
            return Err(LearningError::out_of_range("clients", "at least 1", count));
        }
        Ok(Self { examples, count, seed })
    }

    /// Which example the client has.
    pub fn example_of(&self, client: u64) -> usize {
        // The seed enters before and between two rounds of mixing, so that populations of different
        // seeds are not shifted copies of each other.
        let hash = mix(mix(client ^ self.seed).wrapping_add(mix(self.seed ^ GOLDEN)));
        // ⌊hash · N/2⁶⁴⌋: every example has the same number of hashes, to within one in 2⁶⁴.
        ((u128::from(hash) * self.examples.borrow().len() as u128) >> 64) as usize
    }
}

/// 2⁶⁴ over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's step: a bijection whose every output bit depends on every input bit.
fn mix(number: u64) -> u64 {
    let mut number = number.wrapping_add(GOLDEN);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl<E: Borrow<Examples> + Sync> Clients for Bootstrap<E> {
    fn shape(&self) -> TensorShape {
        self.examples.borrow().shape()
    }

    fn classes(&self) -> usize {
        self.examples.borrow().classes()
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn example(&self, client: u64, values: &mut [f32]) -> usize {
        self.examples.borrow().example(self.example_of(client) as u64, values)
    }

    fn view<'a>(&'a self, client: u64, room: &'a mut [f32]) -> (&'a [f32], usize) {
        self.examples.borrow().view(self.example_of(client) as u64, room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLES: usize = 1000;
    const CLIENTS: u64 = 1_000_000;

    fn examples() -> Examples {
        let labels = (0..EXAMPLES).map(|index| (index % 2) as u8).collect();
        Examples::from_floats(TensorShape::vector(1), 2, (0..EXAMPLES).map(|index| index as f32).collect(), labels)
            .unwrap()
    }

    /// Σ (observed − expected)²/expected, less its mean, in its standard deviations.
    fn surprise(owners: impl Iterator<Item = usize>) -> f64 {
        let mut counts = vec![0u64; EXAMPLES];
        owners.for_each(|example| counts[example] += 1);
        let expected = CLIENTS as f64 / EXAMPLES as f64;
        let statistic: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
        let freedom = EXAMPLES as f64 - 1.0;
        (statistic - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn examples_are_drawn_uniformly_and_independently() {
        let examples = examples();
        for seed in [0, 1, u64::MAX] {
            let population = Bootstrap::new(&examples, CLIENTS, seed).unwrap();
            assert!(surprise((0..CLIENTS).map(|client| population.example_of(client))).abs() < 4.0);
            // Neighbours, and the same client under another seed, have nothing to do with each
            // other.
            let other = Bootstrap::new(&examples, CLIENTS, seed ^ 1).unwrap();
            let apart = |a: usize, b: usize| (a + EXAMPLES - b) % EXAMPLES;
            let pairs =
                (0..CLIENTS).map(|client| apart(population.example_of(client), population.example_of(client + 1)));
            assert!(surprise(pairs).abs() < 4.0);
            let pairs = (0..CLIENTS).map(|client| apart(population.example_of(client), other.example_of(client)));
            assert!(surprise(pairs).abs() < 4.0);
        }
        // Dealing the examples out in turn is not a draw, and the test sees it.
        assert!(surprise((0..CLIENTS).map(|client| client as usize % EXAMPLES)) < -4.0);
        assert!(surprise((0..CLIENTS).map(|client| (client as usize % EXAMPLES).min(EXAMPLES - 2))) > 4.0);
    }

    #[test]
    fn a_client_keeps_its_example() {
        let examples = examples();
        let population = Bootstrap::new(&examples, u64::MAX, 7).unwrap();
        let mut value = [0.0];
        let label = population.example(u64::MAX - 1, &mut value);
        assert_eq!(value[0] as usize, population.example_of(u64::MAX - 1));
        assert_eq!(label, value[0] as usize % 2);
        assert!(Bootstrap::new(&examples, 0, 7).is_err());
    }
}
