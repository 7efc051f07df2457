//! A printed bound is never stronger than the computed one, and never more than one unit in the
//! last place weaker.

use proptest::prelude::*;
use shuffledp_number::shown::{given, nearest, round_down_significant, round_up_significant};

/// One unit in the last of `digits` significant digits of `x`, generously: the power of ten at or
/// above `|x|`, shifted.
fn unit_in_last_place(x: f64, digits: usize) -> f64 {
    10f64.powf(x.abs().log10().floor() + 1.0 - digits as f64)
}

/// Doubles of every magnitude, and of the magnitudes that privacy has.
fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL,
        1e-12..100.0,
        (1u32..10_000).prop_map(|k| f64::from(k) / 1000.0), // short decimals, just above or below what they print as
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn up_is_up(x in numbers(), digits in 1usize..20) {
        let shown: f64 = round_up_significant(x, digits).parse().unwrap();
        prop_assert!(shown >= x, "{x:e} shown as {shown:e}");
        if shown.is_finite() && x.abs() > 1e-290 {
            // 1e-15: the difference of two doubles that agree in up to 15 digits, and the power,
            // are themselves rounded.
            prop_assert!(shown - x <= unit_in_last_place(x, digits) * (1.0 + 1e-12) + x.abs() * 1e-15);
        }
    }

    #[test]
    fn down_is_down(x in numbers(), digits in 1usize..20) {
        let shown: f64 = round_down_significant(x, digits).parse().unwrap();
        prop_assert!(shown <= x, "{x:e} shown as {shown:e}");
        if shown.is_finite() && x.abs() > 1e-290 {
            prop_assert!(x - shown <= unit_in_last_place(x, digits) * (1.0 + 1e-12) + x.abs() * 1e-15);
        }
    }

    #[test]
    fn directions_mirror(x in numbers(), digits in 1usize..20) {
        let (down, up) = (round_down_significant(-x, digits), round_up_significant(x, digits));
        prop_assert_eq!(down.trim_start_matches('-'), up.trim_start_matches('-'));
    }

    #[test]
    fn nearest_lies_between(x in numbers(), digits in 1usize..20) {
        let read = |text: String| text.parse::<f64>().unwrap();
        let shown = read(nearest(x, digits));
        prop_assert!(read(round_down_significant(x, digits)) <= shown && shown <= read(round_up_significant(x, digits)));
    }

    #[test]
    fn seventeen_digits_are_enough_to_read_back(x in numbers()) {
        prop_assert_eq!(nearest(x, 17).parse::<f64>().unwrap().to_bits(), x.to_bits());
        prop_assert_eq!(given(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
    }

    #[test]
    fn a_text_that_is_exact_stays(k in 1u32..1_000_000, digits in 6usize..12) {
        // Integers have exact doubles: both directions must agree.
        let x = f64::from(k);
        prop_assert_eq!(round_up_significant(x, digits), round_down_significant(x, digits));
    }
}
