//! The size of the sets of k-subset selection.

use crate::numerics::elementary::exp;

/// How many of `categories` a report of k-subset selection holds: m/(e^ε0+1) to the nearest, the
/// size that is optimal (Ye and Barg 2018), at least 1 and at most half of them. Client and
/// accountant must both use *this* size, and then no privacy rests on how good it is.
pub fn subset_size(local_epsilon: f64, categories: u64) -> u64 {
    let best = categories as f64 / (exp(local_epsilon) + 1.0);
    (best.round() as u64).clamp(1, (categories / 2).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_near_the_best_and_never_more_than_half() {
        for (local_epsilon, categories, size) in
            [(0.0, 10, 5), (0.0, 3, 1), (1.0, 100, 27), (2.0, 1000, 119), (5.0, 10, 1), (800.0, 10, 1), (0.0, 2, 1)]
        {
            assert_eq!(subset_size(local_epsilon, categories), size, "{local_epsilon}, {categories}");
        }
    }
}
