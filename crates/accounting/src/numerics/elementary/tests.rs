#![allow(clippy::float_cmp, reason = "edge values are exact")]

use super::*;
use crate::numerics::compensated::{two_product, two_sum};

/// An unevaluated sum of two floats: about 32 digits. The oracle of this file.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn new(x: f64) -> Self {
        Self(x, 0.0)
    }

    fn plus(self, other: Self) -> Self {
        let (high, low) = two_sum(self.0, other.0);
        let (more, rest) = two_sum(self.1, other.1);
        let (high, low) = two_sum(high, low + more);
        let (high, low) = two_sum(high, low + rest);
        Self(high, low)
    }

    fn negated(self) -> Self {
        Self(-self.0, -self.1)
    }

    fn times(self, other: Self) -> Self {
        let (high, low) = two_product(self.0, other.0);
        let (high, low) = two_sum(high, low + (self.0 * other.1 + self.1 * other.0));
        Self(high, low)
    }

    fn over(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self.plus(other.times(Self::new(first)).negated());
        let second = rest.0 / other.0;
        let rest = rest.plus(other.times(Self::new(second)).negated());
        Self::new(first).plus(Self::new(second)).plus(Self::new(rest.0 / other.0))
    }
}

const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17];
const PI: Double = Double(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);

/// `Σ x^k/k!` for odd k, even k or all k ≥ 1, with alternating signs if asked for: |x| ≤ 1.
fn series(x: Double, first: i32, step: i32, sign: f64) -> Double {
    let mut term = Double::new(1.0);
    let mut sum = Double::new(0.0);
    let mut k = 0;
    let mut sign_now = 1.0;
    while k < 30 && term.0.abs() > 1e-36 {
        k += 1;
        term = term.times(x).over(Double::new(f64::from(k)));
        if k >= first && (k - first) % step == 0 {
            sum = sum.plus(Double(sign_now * term.0, sign_now * term.1));
            sign_now *= sign;
        }
    }
    sum
}

/// `e^x − 1`: the series next to 0; else `e^x = 2^k·(e^{r/64})^64`.
fn exp_m1_of(x: Double) -> Double {
    if x.0.abs() < 0.5 {
        return series(x, 1, 1, 1.0);
    }
    exp_of(x).plus(Double::new(-1.0))
}

fn exp_of(x: Double) -> Double {
    let k = (x.0 / LN_2[0]).round();
    // k·ln 2 to 106 bits: both products exact, and what follows them below 1e-30.
    let rest = x.plus(Double::new(k).times(Double(LN_2[0], LN_2[1])).negated());
    let mut growth = series(Double(rest.0 / 64.0, rest.1 / 64.0), 1, 1, 1.0);
    for _ in 0..6 {
        // (1 + g)² − 1 = 2g + g²
        growth = Double(2.0 * growth.0, 2.0 * growth.1).plus(growth.times(growth));
    }
    let power = Double::new(1.0).plus(growth);
    let scale = |x: f64| x * 2.0_f64.powi((k / 2.0) as i32) * 2.0_f64.powi((k - (k / 2.0).trunc()) as i32);
    Double(scale(power.0), scale(power.1))
}

/// `ln(1 + x)`: next to 0 the series of `2·artanh(x/(2 + x))`; else a step of Halley's from a guess
/// that is good to 1e-16, which cubes the error.
fn ln_1p_of(x: Double) -> Double {
    if x.0.abs() < 0.1 {
        let z = x.over(Double::new(2.0).plus(x));
        let square = z.times(z);
        let sum = (0..20).rev().fold(Double::new(0.0), |sum, k| {
            sum.times(square).plus(Double::new(1.0).over(Double::new(f64::from(2 * k + 1))))
        });
        let product = z.times(sum);
        return Double(2.0 * product.0, 2.0 * product.1);
    }
    let one_more = Double::new(1.0).plus(x);
    let guess = Double::new(one_more.0.ln());
    let power = exp_of(guess);
    let change = one_more.plus(power.negated()).over(one_more.plus(power));
    guess.plus(Double(2.0 * change.0, 2.0 * change.1))
}

/// How many units in its last place `value` is off.
fn ulps_off(value: f64, truth: Double) -> f64 {
    let unit = truth.0.abs().next_up() - truth.0.abs();
    ((value - truth.0) - truth.1).abs() / unit
}

/// Points of the interval, denser next to its ends, and next to 0 if that is one.
fn points(from: f64, to: f64) -> impl Iterator<Item = f64> {
    // A fixed sequence without structure in the binary digits.
    let golden = 0.618_033_988_749_894_9_f64;
    (0..4_000).map(move |i| {
        let share = (f64::from(i) * golden).fract();
        let share = if i % 2 == 0 { share } else { share.powi(8) };
        if i % 3 == 0 { to - (to - from) * share } else { from + (to - from) * share }
    })
}

#[track_caller]
fn assert_below(ulps: f64, ranges: &[(f64, f64)], of: impl Fn(f64) -> f64, truth: impl Fn(f64) -> Double) {
    let mut worst = (0.0, 0.0);
    for x in ranges.iter().flat_map(|(from, to)| points(*from, *to)) {
        let off = ulps_off(of(x), truth(x));
        // Written such that NaN counts as worse.
        if off <= worst.0 {
            continue;
        }
        worst = (off, x);
    }
    assert!(worst.0 < ulps, "{} ulps at {:e}", worst.0, worst.1);
    // An oracle that repeats the function's own rounding would show nothing.
    assert!(worst.0 > 0.5, "only {} ulps: is the oracle one?", worst.0);
}

#[test]
fn powers_of_e() {
    let ranges = [(-700.0, 700.0), (-2.0, 2.0), (-1e-3, 1e-3), (-40.0, 0.0)];
    assert_below(1.0, &ranges, exp, |x| exp_of(Double::new(x)));
    assert_below(1.0, &ranges, exp_m1, |x| exp_m1_of(Double::new(x)));
    assert_below(1.0, &[(0.0, 1e-12), (-1e-12, 0.0), (0.2, 0.5)], exp_m1, |x| exp_m1_of(Double::new(x)));
}

#[test]
fn logarithms() {
    let minus_one = |x: f64| Double::new(x).plus(Double::new(-1.0));
    let ranges = [(1e-300, 1e-3), (1e-3, 2.0), (0.99, 1.01), (1.0, 1e9), (1e200, 1e300)];
    assert_below(1.0, &ranges, ln, |x| ln_1p_of(minus_one(x)));
    let ranges = [(-0.999_999, 1.0), (-1e-4, 1e-4), (0.0, 1e-12), (0.0, 1e12)];
    assert_below(1.0, &ranges, ln_1p, |x| ln_1p_of(Double::new(x)));
}

#[test]
fn powers() {
    // x^y = e^{y·ln x}: the oracle's logarithm has 100 bits, of which y·ln x ≤ 300 costs nine.
    for y in [0.25, 1.2, -1.5, 37.3] {
        let truth = |x: f64| {
            let ln = ln_1p_of(Double::new(x).plus(Double::new(-1.0)));
            exp_of(ln.times(Double::new(y)))
        };
        assert_below(1.0, &[(0.01, 3.0), (0.9, 1.1)], |x| powf(x, y), truth);
    }
    assert_eq!((powi(1.5, 3), powi(2.0, -3), powi(0.0, 0), powi(-2.0, 5)), (3.375, 0.125, 1.0, -32.0));
    for n in [2, 7, 50, -13] {
        let exact = exp_of(Double::new(f64::from(n)).times(ln_1p_of(Double::new(0.1))));
        assert!(ulps_off(powi(1.1, n), exact) < 2.0 * f64::from(n.abs()) + f64::from(n.abs()) * 0.5, "{n}");
    }
}

#[test]
fn hyperbolic() {
    let ranges = [(-20.0, 20.0), (-1e-3, 1e-3), (-1.5, 1.5)];
    let half = |x: Double| Double(0.5 * x.0, 0.5 * x.1);
    let of_sinh = |x: f64| half(exp_m1_of(Double::new(x)).plus(exp_m1_of(Double::new(-x)).negated()));
    assert_below(ULPS, &ranges, sinh, of_sinh);
    let of_tanh = |x: f64| {
        let grown = exp_m1_of(Double::new(2.0 * x));
        grown.over(grown.plus(Double::new(2.0)))
    };
    assert_below(ULPS, &ranges, tanh, of_tanh);
    let of_atanh = |x: f64| {
        let (up, down) = (ln_1p_of(Double::new(x)), ln_1p_of(Double::new(-x)));
        half(up.plus(down.negated()))
    };
    assert_below(ULPS, &[(-0.999, 0.999), (-1e-3, 1e-3)], atanh, of_atanh);
}

#[test]
fn on_the_circle() {
    // Beyond 1 by the rules for multiples of π/2, here of small arguments times a power of two.
    let sine = |x: f64| series(Double::new(x), 1, 2, -1.0);
    let cosine = |x: f64| Double::new(1.0).plus(series(Double::new(x), 2, 2, -1.0).negated());
    let ranges = [(-1.0, 1.0), (-1e-3, 1e-3)];
    assert_below(1.0, &ranges, sin, sine);
    assert_below(1.0, &ranges, cos, cosine);
    // sin(2kπ + r) = sin r: π to 106 bits, k small.
    let folded = |x: f64| {
        let k = (x / PI.0).round();
        let rest = Double::new(x).plus(PI.times(Double::new(k)).negated());
        let value = series(rest, 1, 2, -1.0);
        if k % 2.0 == 0.0 { value } else { value.negated() }
    };
    for x in points(-40.0, 40.0).filter(|x| (x / PI.0 - (x / PI.0).round()).abs() < 0.3) {
        assert!(ulps_off(sin(x), folded(x)) < 1.0, "{x}");
        assert_eq!(sin_cos(x), (sin(x), cos(x)));
    }
    // acos and atan2, back through the functions above: e moves the angle by e over the slope.
    for x in points(-0.9, 0.9) {
        let angle = acos(x);
        let (back, slope) = (cos(angle), (1.0 - x * x).sqrt());
        assert!((back - x).abs() <= 2.0 * ULPS * f64::EPSILON * (1.0 + angle * slope), "{x}");
        let angle = atan2(x, 0.7);
        let residual = sin(angle) * 0.7 - cos(angle) * x;
        assert!(residual.abs() <= 2.0 * ULPS * f64::EPSILON, "{x}: {residual:e}");
    }
}

/// 2^n, its bits put together.
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(if n < -1022 { 1 << (n + 1074) } else { ((n + 1023) as u64) << 52 })
}

/// Where only a choice depends on them, they must at least be right where the choice turns.
#[test]
fn powers_of_two_and_ten_are_exact() {
    for n in -1074..1024 {
        let power = exp2(f64::from(n));
        assert_eq!((log2(power), power), (f64::from(n), power_of_two(n)), "{n}");
    }
    for n in 0..23 {
        assert_eq!(log10(powi(10.0, n)), f64::from(n));
    }
}

#[test]
fn directed_ones_enclose() {
    for x in points(-40.0, 40.0).chain(points(-1e-6, 1e-6)) {
        let (high, low) = (exp_m1_up(x), exp_m1_down(x));
        let truth = exp_m1_of(Double::new(x));
        assert!(low <= truth.0 && truth.0 <= high && (x == 0.0 || low < high), "{x}");
        assert!(exp_up(x) >= exp_of(Double::new(x)).0, "{x}");
    }
    assert_eq!((exp_m1_up(0.0), exp_m1_down(0.0), exp_m1_down(-800.0)), (0.0, 0.0, -1.0));
    assert_eq!(
        (exp_up(-1e4), exp_up(1e4), exp_m1_up(1e4), exp_m1_down(1e4)),
        (1e-323, f64::INFINITY, f64::INFINITY, f64::MAX.next_down())
    );
    assert!(exp_m1_down(f64::NAN).is_nan() && exp_m1_up(f64::NAN).is_nan() && exp_up(f64::NAN).is_nan());
}
