//! Polynomials with non-negative coefficients, and sequences without zeros at their ends.

use crate::numerics::elementary::powi;

/// `Σ values[i]·factor^(last − i)` for a factor between 0 and 1, by Horner's rule in four chains at
/// once: each step of one waits for the step before.
pub(crate) fn horner(values: &[f64], factor: f64) -> f64 {
    let blocks = values.chunks_exact(4);
    let rest = blocks.remainder();
    let mut chains = [0.0; 4];
    let fourth = powi(factor, 4);
    for block in blocks {
        chains.iter_mut().zip(block).for_each(|(chain, value)| *chain = *chain * fourth + value);
    }
    joined(chains, rest.iter(), factor)
}

/// The same from the other end: `Σ values[i]·factor^i`.
pub(crate) fn horner_reversed(values: &[f64], factor: f64) -> f64 {
    let blocks = values.rchunks_exact(4);
    let rest = blocks.remainder();
    let mut chains = [0.0; 4];
    let fourth = powi(factor, 4);
    for block in blocks {
        chains.iter_mut().zip(block.iter().rev()).for_each(|(chain, value)| *chain = *chain * fourth + value);
    }
    joined(chains, rest.iter().rev(), factor)
}

fn joined<'a>(chains: [f64; 4], rest: impl Iterator<Item = &'a f64>, factor: f64) -> f64 {
    let (square, cube) = (factor * factor, factor * factor * factor);
    let sum = chains[0] * cube + chains[1] * square + chains[2] * factor + chains[3];
    rest.fold(sum, |sum, value| sum * factor + value)
}

/// The same values without zeros at either end, and where the first of them stands if the first
/// before stood at `first`. Sums that start from an end then start from something.
pub(crate) fn trimmed(first: i64, mut values: Vec<f64>) -> (i64, Vec<f64>) {
    let end = values.iter().rposition(|value| *value != 0.0).map_or(1, |last| last + 1);
    values.truncate(end);
    let start = values.iter().position(|value| *value != 0.0).unwrap_or(0);
    values.drain(..start);
    (first + start as i64, values)
}
