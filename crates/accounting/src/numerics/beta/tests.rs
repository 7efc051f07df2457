use super::*;
use proptest::prelude::*;

fn relative(value: f64, truth: f64) -> f64 {
    (value / truth - 1.0).abs()
}

#[test]
fn closed_forms() {
    // I_x(a, 1) = x^a, I_x(1, b) = 1 − (1−x)^b, I_x(½, ½) = (2/π) asin √x; exponents up to 200 cost
    // 200 ulps.
    for a in [0.5, 1.0, 3.0, 29.0, 31.0, 200.0_f64] {
        for x in [0.05, 0.2, 0.5, 0.9_f64] {
            assert!(relative(regularised_beta(a, 1.0, x).0, x.powf(a)) < 2e-15 * (1.0 + a * -x.ln()), "{a} {x}");
            assert!(relative(regularised_beta(1.0, a, 1.0 - x).1, x.powf(a)) < 1e-13 * (1.0 + a), "{a} {x}");
        }
    }
    assert!(relative(regularised_beta(0.5, 0.5, 0.3).0, 0.3_f64.sqrt().asin() * std::f64::consts::FRAC_2_PI) < 1e-15);
}

#[test]
fn integral_and_fraction_agree_where_they_meet() {
    for (a, b) in [(30.0, 30.0), (30.5, 1000.0), (1e4, 31.0), (400.0, 300.0), (35.0, 1e8)] {
        for sigmas in [0.0, 0.5, 3.0, 10.0_f64] {
            let mean = a / (a + b);
            let x = mean * (-sigmas / f64::sqrt(a)).exp();
            let split = Proportion::from_value(x);
            let lambda = a - (a + b) * x;
            let difference = relative(integrated(a, b, split, lambda), continued_fraction(a, b, split, lambda));
            // The fraction gathers a rounding per step, some hundreds near the mean.
            assert!(difference < 2e-14, "{a} {b} {x}: {difference:e}");
        }
    }
}

#[test]
fn edges() {
    assert_eq!(regularised_beta(2.0, 3.0, 0.0), (0.0, 1.0));
    assert_eq!(regularised_beta(2.0, 3.0, -1.0), (0.0, 1.0));
    assert_eq!(regularised_beta(2.0, 3.0, 1.0), (1.0, 0.0));
    assert_eq!(regularised_beta(2.0, 3.0, f64::INFINITY), (1.0, 0.0));
    assert_eq!(ln_regularised_beta(2.0, 3.0, 0.0), (f64::NEG_INFINITY, 0.0));
    for (a, b, x) in
        [(f64::NAN, 1.0, 0.5), (1.0, f64::NAN, 0.5), (1.0, 1.0, f64::NAN), (0.0, 1.0, 0.5), (1.0, -1.0, 0.5)]
    {
        let (lower, upper) = regularised_beta(a, b, x);
        assert!(lower.is_nan() && upper.is_nan(), "{a} {b} {x}");
    }
    let (x, y) = inverse_regularised_beta(2.0, 3.0, f64::NAN);
    assert!(x.is_nan() && y.is_nan());
    assert!(inverse_regularised_beta(2.0, 3.0, 1.5).0.is_nan() && inverse_regularised_beta(-2.0, 3.0, 0.5).0.is_nan());
    assert_eq!(inverse_regularised_beta(2.0, 3.0, 0.0), (0.0, 1.0));
    assert_eq!(inverse_regularised_beta(2.0, 3.0, 1.0), (1.0, 0.0));
    assert_eq!(inverse_regularised_beta_upper(2.0, 3.0, 0.0), (1.0, 0.0));
    assert_eq!(inverse_regularised_beta(0.5, 3.0, 1e-300), (0.0, 1.0));
}

#[test]
fn logarithm_goes_on_where_the_tail_underflows() {
    let (ln_lower, ln_upper) = ln_regularised_beta(1e6, 1e6, 0.4);
    assert!(ln_lower < -20_000.0 && ln_lower.is_finite() && ln_upper == 0.0);
    assert_eq!(regularised_beta(1e6, 1e6, 0.4).0, 0.0);
}

/// Parameters and a point a few deviations from the mean, where no tail underflows.
fn parameters() -> impl Strategy<Value = (f64, f64, f64)> {
    (-0.69_f64..20.0, -0.69_f64..20.0, -15.0_f64..15.0).prop_map(|(ln_a, ln_b, sigmas)| {
        let (a, b) = (ln_a.exp(), ln_b.exp());
        let deviation = (1.0 / a + 1.0 / b).sqrt();
        let odds = (a / b) * (sigmas * deviation.min(3.0)).exp();
        (a, b, odds / (1.0 + odds))
    })
}

proptest! {
    #[test]
    fn symmetric((a, b, x) in parameters()) {
        let (lower, upper) = regularised_beta(a, b, x);
        let (mirrored_upper, mirrored_lower) = regularised_beta_of_complement(b, a, x);
        prop_assert_eq!(lower.to_bits(), mirrored_lower.to_bits());
        prop_assert_eq!(upper.to_bits(), mirrored_upper.to_bits());
        prop_assert!((lower + upper - 1.0).abs() <= f64::EPSILON);
    }

    #[test]
    fn increasing((a, b, x) in parameters(), gap in 1e-6_f64..0.1) {
        // A gap of 1e-6 deviations moves a tail by more than its rounding, 1e-15·(1 + 120).
        let further = x + gap * x * (1.0 - x) * (1.0 / a + 1.0 / b).sqrt().min(1.0);
        prop_assert!(regularised_beta(a, b, x).0 <= regularised_beta(a, b, further).0);
        prop_assert!(regularised_beta(a, b, x).1 >= regularised_beta(a, b, further).1);
    }

    #[test]
    fn recurrence((a, b, x) in parameters()) {
        // I_x(a, b) = I_x(a+1, b) + power term/a (DLMF 8.17.20): the three are computed
        // independently.
        let term = ln_power_term(a, b, Proportion::from_value(x));
        let step = scaled_exp(term.exponent, term.scale.sqrt()) / a;
        let here = regularised_beta(a, b, x).0;
        let next = regularised_beta(a + 1.0, b, x).0;
        prop_assume!(here > 1e-280);
        let tolerance = 2e-14 * (1.0 - here.ln()) * here;
        prop_assert!((here - next - step).abs() <= tolerance, "{} {} {}", here, next, step);
    }

    #[test]
    fn inverse_round_trip((a, b, _) in parameters(), ln_p in -690.0_f64..-1e-3) {
        let p = ln_p.exp();
        let (x, y) = inverse_regularised_beta(a, b, p);
        prop_assert!(x > 0.0 || x == 0.0 && a < 1.0, "{} {} {}: {}", a, b, p, x);
        prop_assume!(x > 0.0);
        let back = if x < y { regularised_beta(a, b, x).0 } else { regularised_beta_of_complement(a, b, y).0 };
        // x is only known to an ulp, and ln I moves by up to (a + |ln p|) times as much.
        let (small, large) = if x < y { (a, b) } else { (b, a) };
        let slope = small.min(large * x / y + small) + 700.0;
        let tolerance = 4.0 * f64::EPSILON * (slope + a.min(b) + (a * b / (a + b)).sqrt() * 40.0);
        prop_assert!(relative(back, p) <= tolerance, "{} {} {}: {} {} off {:e} of {:e}", a, b, p, x, y, relative(back, p), tolerance);
    }

    #[test]
    fn never_panics(a in any::<f64>(), b in any::<f64>(), x in any::<f64>()) {
        let (lower, upper) = regularised_beta(a, b, x);
        prop_assert!(lower.is_nan() && upper.is_nan() || (0.0..=1.0).contains(&lower) && (0.0..=1.0).contains(&upper));
        let (x, _) = inverse_regularised_beta(a, b, x);
        prop_assert!(x.is_nan() || (0.0..=1.0).contains(&x));
    }
}
