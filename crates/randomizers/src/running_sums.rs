//! The common part of aggregators: sums that can be merged, and the number of reports.

use crate::error::{RandomizerError, Result};
use std::ops::AddAssign;

/// Adds the sums of another aggregate, if both are of one mechanism.
pub(crate) fn merge<T: AddAssign>(sums: &mut [T], others: Vec<T>, is_same_mechanism: bool) -> Result<()> {
    if sums.len() != others.len() || !is_same_mechanism {
        return Err(RandomizerError::aggregate("the two aggregates are of different mechanisms"));
    }
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
    Ok(())
}

/// The number of reports, to divide by. None: no estimate.
pub(crate) fn divisor(count: u64) -> Result<f64> {
    if count == 0 { Err(RandomizerError::aggregate("there are no reports yet")) } else { Ok(count as f64) }
}
