//! Published bounds against 60-digit evaluations of the same formulas, and never on the wrong side
//! of them.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{assert_lower, assert_upper, vectors};
use shuffledp_accounting::published::{check_in, fmt21, gdp, girgis, kov15};
use shuffledp_accounting::rdp::{RenyiCurve, epsilon_from_renyi};

/// The formulas multiply up to a hundred factors, each to an ulp or two, and say so upward.
const TOLERANCE: f64 = 1e-12;

#[test]
fn girgis_theorem_1() {
    for v in vectors("girgis_upper") {
        let value =
            girgis::renyi_upper(v.real("local_epsilon"), v.count("sampled"), v.count("clients"), v.real("order"));
        assert_upper(value, &v, TOLERANCE);
    }
}

#[test]
fn girgis_theorem_2_both_directions() {
    for v in vectors("girgis_lower") {
        let moments =
            girgis::TwoRrMoments::new(v.real("local_epsilon"), v.count("sampled"), v.count("clients")).unwrap();
        assert_lower(moments.renyi_forward(v.real("order")), &v, TOLERANCE);
    }
    for v in vectors("girgis_lower_reverse") {
        let moments =
            girgis::TwoRrMoments::new(v.real("local_epsilon"), v.count("sampled"), v.count("clients")).unwrap();
        assert_lower(moments.renyi_reverse(v.real("order")), &v, TOLERANCE);
    }
}

#[test]
fn reverse_direction_is_larger_without_sampling() {
    // The theorem states one direction; at γ = 1 the other one is the divergence.
    let moments = girgis::TwoRrMoments::new(3.0, 100, 100).unwrap();
    let (forward, reverse) = (moments.renyi_forward(4.0), moments.renyi_reverse(4.0));
    assert!(reverse > 2.0 * forward, "{reverse} against {forward}");
    assert!((moments.epsilon(4.0).unwrap() - reverse).abs() < 1e-15);
}

#[test]
fn renyi_to_epsilon() {
    for v in vectors("rdp_to_dp") {
        let value = epsilon_from_renyi(v.real("rdp"), v.real("order"), v.real("delta"));
        if v.value > 0.05 {
            assert_upper(value, &v, TOLERANCE);
        } else {
            // At order 1024 and δ = 1e-5 the two logarithms nearly cancel: a few ulps of their size
            // are left.
            assert!(value >= v.value && value - v.value < 1e-15, "{}: {value} against {}", v.label(), v.value);
        }
    }
}

#[test]
fn clones_closed_form() {
    for v in vectors("clones_closed_form") {
        let value = fmt21::epsilon_upper(v.real("local_epsilon"), v.count("clients"), v.real("delta"));
        assert_upper(value, &v, TOLERANCE);
    }
}

#[test]
fn kov_strong_composition() {
    for v in vectors("kov_strong_composition") {
        let value = kov15::epsilon_upper(v.real("epsilon"), v.count("rounds"), v.real("slack"));
        assert_upper(value, &v, TOLERANCE);
    }
}

#[test]
fn gaussian_differential_privacy() {
    for v in vectors("gdp_delta") {
        let (mu, epsilon) = (v.real("mu"), v.real("epsilon"));
        if v.value > 0.0 {
            assert_upper(gdp::delta_upper(mu, epsilon), &v, TOLERANCE);
        } else {
            // δ is no float any more; its logarithm is.
            let (mantissa, exponent) = v.digits.split_once('e').expect("an exponent");
            let ln = mantissa.parse::<f64>().unwrap().ln() + exponent.parse::<f64>().unwrap() * std::f64::consts::LN_10;
            let value = gdp::ln_delta_upper(mu, epsilon);
            // The reference logarithm itself is rounded to an ulp of 3211.
            assert!(value >= ln - 1e-12 && value - ln < 1e-10, "{}: {value} against {ln}", v.label());
            assert!(gdp::delta_upper(mu, epsilon) > 0.0, "an underflow must not claim δ = 0");
        }
    }
}

#[test]
fn check_in_theorems_as_printed() {
    for v in vectors("checkin_upper_published") {
        let (clients, rate, order) = (v.count("clients"), v.real("rate"), v.real("order"));
        let value = check_in::renyi_as_printed(v.real("local_epsilon"), clients, rate, order, 0.5);
        assert_upper(value, &v, TOLERANCE);
    }
    for v in vectors("checkin_lower_published") {
        let (clients, rate, order) = (v.count("clients"), v.real("rate"), v.real("order"));
        let value = check_in::renyi_lower_as_printed(v.real("local_epsilon"), clients, rate, order, 0.5);
        assert_lower(value, &v, TOLERANCE);
    }
}
