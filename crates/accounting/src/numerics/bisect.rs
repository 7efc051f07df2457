//! Bisection that returns the end which was checked, never a midpoint.
//!
//! Invariant of every search: one end was evaluated and is safe, the other was evaluated and is
//! not. The safe end is what comes back, so stopping early, a coarse tolerance or a predicate that
//! is not monotone cost tightness and not privacy.
//!
//! The predicate must answer `false` for NaN: write `delta(x) <= target`, which is false when
//! `delta` is NaN, and not `!(delta(x) > target)`.

/// The smallest safe point of `[lo, hi]`, to `relative_tolerance`, for a predicate that becomes
/// true as `x` grows.
///
/// Halves the logarithm while `hi/lo > 4` and the interval after that, so that `10⁻³⁰⁰ … 10³⁰⁰`
/// costs about ten evaluations more than `1 … 4`. Stops when `hi − lo ≤ relative_tolerance·hi` or
/// no float lies between; a tolerance that is negative or NaN means the latter. Edge cases:
/// `Ok(None)` when `hi` is not safe, and when the interval is not `0 ≤ lo ≤ hi < ∞`; `lo` itself
/// when that is safe. An error of the predicate is passed on.
pub fn smallest_safe<E>(
    lo: f64,
    hi: f64,
    relative_tolerance: f64,
    mut is_safe: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    if !is_interval(lo, hi) || !is_safe(hi)? {
        return Ok(None);
    }
    if is_safe(lo)? {
        return Ok(Some(lo));
    }
    let (mut unsafe_end, mut safe_end) = (lo, hi);
    while let Some(middle) = middle(unsafe_end, safe_end, relative_tolerance) {
        if is_safe(middle)? {
            safe_end = middle;
        } else {
            unsafe_end = middle;
        }
    }
    Ok(Some(safe_end))
}

/// The largest safe point of `[lo, hi]`, for a predicate that becomes false as `x` grows; the
/// mirror of [`smallest_safe`].
///
/// Edge cases: `Ok(None)` when `lo` is not safe, and when the interval is not `0 ≤ lo ≤ hi < ∞`;
/// `hi` itself when that is safe.
pub fn largest_safe<E>(
    lo: f64,
    hi: f64,
    relative_tolerance: f64,
    mut is_safe: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    if !is_interval(lo, hi) || !is_safe(lo)? {
        return Ok(None);
    }
    if is_safe(hi)? {
        return Ok(Some(hi));
    }
    let (mut safe_end, mut unsafe_end) = (lo, hi);
    while let Some(middle) = middle(safe_end, unsafe_end, relative_tolerance) {
        if is_safe(middle)? {
            safe_end = middle;
        } else {
            unsafe_end = middle;
        }
    }
    Ok(Some(safe_end))
}

/// The smallest safe integer of `lo ..= hi`, exactly, for a predicate that becomes true as `n`
/// grows.
///
/// Edge cases: `Ok(None)` when `hi` is not safe or `lo > hi`; `lo` when that is safe.
pub fn smallest_safe_u64<E>(
    lo: u64,
    hi: u64,
    mut is_safe: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    if lo > hi || !is_safe(hi)? {
        return Ok(None);
    }
    if is_safe(lo)? {
        return Ok(Some(lo));
    }
    let (mut unsafe_end, mut safe_end) = (lo, hi);
    while safe_end - unsafe_end > 1 {
        let middle = unsafe_end + (safe_end - unsafe_end) / 2;
        if is_safe(middle)? {
            safe_end = middle;
        } else {
            unsafe_end = middle;
        }
    }
    Ok(Some(safe_end))
}

/// The largest safe integer of `lo ..= hi`, exactly, for a predicate that becomes false as `n`
/// grows.
///
/// Edge cases: `Ok(None)` when `lo` is not safe or `lo > hi`; `hi` when that is safe.
pub fn largest_safe_u64<E>(
    lo: u64,
    hi: u64,
    mut is_safe: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    if lo > hi || !is_safe(lo)? {
        return Ok(None);
    }
    if is_safe(hi)? {
        return Ok(Some(hi));
    }
    let (mut safe_end, mut unsafe_end) = (lo, hi);
    while unsafe_end - safe_end > 1 {
        let middle = safe_end + (unsafe_end - safe_end) / 2;
        if is_safe(middle)? {
            safe_end = middle;
        } else {
            unsafe_end = middle;
        }
    }
    Ok(Some(safe_end))
}

pub(super) fn is_interval(lo: f64, hi: f64) -> bool {
    lo >= 0.0 && lo <= hi && hi.is_finite()
}

/// A float strictly between `low` and `high`, or `None` when they are close enough to stop.
pub(super) fn middle(low: f64, high: f64, relative_tolerance: f64) -> Option<f64> {
    if high - low <= relative_tolerance * high {
        return None;
    }
    let middle = if high > 4.0 * low {
        // Zero has no logarithm: start from the smallest float. √·√ cannot overflow.
        low.max(f64::from_bits(1)).sqrt() * high.sqrt()
    } else {
        low + 0.5 * (high - low)
    };
    (low < middle && middle < high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn answer<T>(result: Result<T, Infallible>) -> T {
        result.unwrap_or_else(|never| match never {})
    }

    #[test]
    fn nothing_safe_is_none() {
        assert_eq!(answer(smallest_safe(1.0, 2.0, 1e-9, |_| Ok(false))), None);
        assert_eq!(answer(largest_safe(1.0, 2.0, 1e-9, |_| Ok(false))), None);
        assert_eq!(answer(smallest_safe_u64(1, 2, |_| Ok(false))), None);
        assert_eq!(answer(largest_safe_u64(1, 2, |_| Ok(false))), None);
        for (lo, hi) in [(2.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY)] {
            assert_eq!(answer(smallest_safe(lo, hi, 1e-9, |_| Ok(true))), None, "{lo} {hi}");
            assert_eq!(answer(largest_safe(lo, hi, 1e-9, |_| Ok(true))), None, "{lo} {hi}");
        }
    }

    #[test]
    fn everything_safe_is_the_far_end() {
        assert_eq!(answer(smallest_safe(0.0, 2.0, 1e-9, |_| Ok(true))), Some(0.0));
        assert_eq!(answer(largest_safe(0.0, 2.0, 1e-9, |_| Ok(true))), Some(2.0));
        assert_eq!(answer(smallest_safe_u64(0, u64::MAX, |_| Ok(true))), Some(0));
        assert_eq!(answer(largest_safe_u64(0, u64::MAX, |_| Ok(true))), Some(u64::MAX));
    }

    #[test]
    fn errors_are_passed_on() {
        assert_eq!(smallest_safe(1.0, 2.0, 1e-9, |x| if x < 2.0 { Err("no") } else { Ok(true) }), Err("no"));
    }

    #[test]
    fn nan_counts_as_unsafe() {
        // sqrt(x − 2) is NaN below 2: a comparison that is false for NaN keeps the answer at 2 or
        // above.
        let found = answer(smallest_safe(1.0, 10.0, 1e-12, |x: f64| Ok((x - 2.0).sqrt() <= 100.0)));
        assert!(found.is_some_and(|x| (2.0..2.0 + 1e-10).contains(&x)));
    }

    #[test]
    fn the_answer_was_evaluated_even_if_the_predicate_is_wild() {
        let mut seen = Vec::new();
        let wild = |x: f64| x.to_bits().count_ones().is_multiple_of(2);
        let hi = (1..100).map(f64::from).find(|&x| wild(x)).unwrap();
        let found = answer(smallest_safe(1e-9, hi, 0.0, |x| {
            seen.push(x);
            Ok(wild(x))
        }));
        assert!(found.is_some_and(|x| wild(x) && seen.contains(&x)));
    }

    #[test]
    fn full_range_takes_few_evaluations() {
        let mut count = 0;
        let found = answer(smallest_safe(0.0, 1e300, 1e-12, |x| {
            count += 1;
            Ok(x >= 1e-200)
        }));
        // 2000 binary orders of magnitude: 11 halvings of the exponent, then 40 of the interval.
        assert!(found.is_some_and(|x| (1e-200..1.000_000_000_001e-200).contains(&x)), "{found:?}");
        assert!(count <= 2 + 11 + 42, "{count}");
    }

    proptest! {
        #[test]
        fn exact_threshold(ln in -690.0_f64..690.0) {
            let threshold = ln.exp();
            // Tolerance 0 bisects down to neighbouring floats.
            prop_assert_eq!(answer(smallest_safe(1e-305, 1e305, 0.0, |x| Ok(x >= threshold))), Some(threshold));
            prop_assert_eq!(answer(largest_safe(1e-305, 1e305, 0.0, |x| Ok(x <= threshold))), Some(threshold));
        }

        #[test]
        fn exact_integer(threshold in any::<u64>()) {
            prop_assert_eq!(answer(smallest_safe_u64(0, u64::MAX, |x| Ok(x >= threshold))), Some(threshold));
            prop_assert_eq!(answer(largest_safe_u64(0, u64::MAX, |x| Ok(x <= threshold))), Some(threshold));
        }
    }
}
