//! Newton's iteration for the logarithm of a log-concave tail, which cannot diverge.

/// Evaluations after which the search is declared failed.
const MAX_STEPS: u32 = 200;

/// Finds `w` in `[low, high]` with `ln_tail(w) = target`, for `ln_tail` increasing and concave;
/// `evaluate` answers `(ln_tail(w), ln_tail'(w))`.
///
/// A concave function lies under its tangents, so the first Newton step lands left of the root (or
/// on it) and the following ones climb towards it without overshooting: no start is too bad, also
/// for targets of `−690`. It may be slow: where the tail is `exp(−e^−w)`, a step moves `w` by 1
/// only. So the bracket is kept, and halved whenever a step leaves it or the last one gained less
/// than a factor of ten. Returns the last iterate when steps fall below rounding, an end of the
/// interval if the root is beyond it, and NaN if an evaluation is NaN or the steps do not settle.
pub(super) fn log_concave_root(
    start: f64,
    low: f64,
    high: f64,
    target: f64,
    evaluate: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let (mut low, mut high) = (low, high);
    let (mut low_seen, mut high_seen) = (false, false);
    let mut last = f64::INFINITY;
    let mut w = start.clamp(low, high);
    for _ in 0..MAX_STEPS {
        let (value, slope) = evaluate(w);
        let excess = value - target;
        if excess.is_nan() || slope.is_nan() {
            return f64::NAN;
        }
        if excess > 0.0 {
            if w <= low {
                return low;
            }
            (high, high_seen) = (w, true);
        } else {
            if w >= high {
                return high;
            }
            (low, low_seen) = (w, true);
        }
        let newton = w - excess / slope;
        let slow = excess.abs() > 0.1 * last;
        last = excess.abs();
        // An end that was never evaluated may be tried; one that was cannot be the root.
        let next = if slow || newton.is_nan() {
            0.5 * (low + high)
        } else if newton <= low {
            if low_seen { 0.5 * (low + high) } else { low }
        } else if newton >= high {
            if high_seen { 0.5 * (low + high) } else { high }
        } else {
            newton
        };
        let settled = excess.abs() <= 2.0 * f64::EPSILON * target.abs().max(1.0);
        if settled || (next - w).abs() <= 2.0 * f64::EPSILON * w.abs().max(1e-3) {
            return if settled { w } else { next };
        }
        w = next;
    }
    f64::NAN
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;

    fn parabola(w: f64) -> (f64, f64) {
        // −½w² for w < 0, flat from there: the logarithm of a normal tail, roughly.
        if w < 0.0 { (-0.5 * w * w, -w) } else { (0.0, 0.0) }
    }

    #[test]
    fn finds_the_root_from_either_side() {
        for start in [-1e-3, -1.0, -500.0] {
            let root = log_concave_root(start, -1e6, 1.0, -690.0, parabola);
            assert!((root + 1380.0_f64.sqrt()).abs() < 1e-12, "{start}: {root}");
        }
    }

    #[test]
    fn a_double_exponential_does_not_crawl() {
        // Ten halvings of 1416, each at worst after one wasted step, and the last quadratic ones.
        use std::cell::Cell;
        let count = Cell::new(0);
        let root = log_concave_root(0.0, -708.0, 708.0, -690.0, |w| {
            count.set(count.get() + 1);
            (-(-w).exp(), (-w).exp())
        });
        assert!((root + 690.0_f64.ln()).abs() < 1e-14 && count.get() < 40, "{root} after {}", count.get());
    }

    #[test]
    fn a_root_outside_gives_the_end() {
        assert_eq!(log_concave_root(-1.0, -10.0, 1.0, -690.0, parabola), -10.0);
        assert_eq!(log_concave_root(-1.0, -10.0, 1.0, 5.0, parabola), 1.0);
    }

    #[test]
    fn nan_is_not_hidden() {
        assert!(log_concave_root(-1.0, -10.0, 1.0, -1.0, |_| (f64::NAN, 1.0)).is_nan());
        assert!(log_concave_root(-1.0, -10.0, 1.0, f64::NAN, parabola).is_nan());
    }
}
