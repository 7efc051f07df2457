//! The shuffle Gaussian against mpmath: the vectors of the theory, and corners that the library's
//! own recurrences did not make.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{Vector, assert_upper, vectors};
use shuffledp_accounting::gaussian::{PairCurve, PairMoments};
use shuffledp_accounting::published::shuffle_gaussian::Shuffled;
use shuffledp_accounting::rdp::RenyiCurve;
use shuffledp_accounting::scheme::{LocalGuarantee, Mechanism, RandomizerSpec, Scheme};

/// μ as the library sees it. The vectors' σ is at sensitivity 1, half of the library's.
fn mu(vector: &Vector) -> f64 {
    let sigma = 2.0 * vector.real("sigma");
    match RandomizerSpec::new(Mechanism::Gaussian { sigma }).expect("a valid σ").local_guarantee() {
        LocalGuarantee::Gaussian { mu } => mu,
        other => panic!("{other:?}"),
    }
}

/// The moments pay for about 20 roundings an order; at moderate orders that is far below 1e-12.
fn tolerance(order: u64) -> f64 {
    1e-13 + 4e-15 * order as f64
}

#[test]
fn theorem_1() {
    for vector in vectors("shuffle_gaussian_rdp") {
        let order = vector.count("order");
        let shuffled = Shuffled::new(mu(&vector), vector.count("clients"));
        assert_upper(shuffled.renyi_upper(order), &vector, tolerance(order));
    }
}

#[test]
fn theorem_2() {
    for vector in vectors("subsampled_shuffle_gaussian_rdp") {
        let shuffled = Shuffled::new(mu(&vector), vector.count("sampled"));
        let value = shuffled.subsampled_renyi_upper(vector.real("rate"), vector.count("order"));
        assert_upper(value, &vector, 1e-12);
    }
}

#[test]
fn shuffle_at_the_corners() {
    for vector in vectors("../gaussian/shuffle") {
        let (n, order) = (vector.count("clients"), vector.count("order"));
        let curve = PairCurve::new(&Scheme::shuffle(n).unwrap(), mu(&vector));
        assert_upper(curve.epsilon(order as f64).unwrap(), &vector, tolerance(order));
    }
}

#[test]
fn subsampled_at_the_corners() {
    for vector in vectors("../gaussian/subsampled") {
        let (n, k, order) = (vector.count("clients"), vector.count("sampled"), vector.count("order"));
        let curve = PairCurve::new(&Scheme::subsampled(n, k).unwrap(), mu(&vector));
        assert_upper(curve.epsilon(order as f64).unwrap(), &vector, tolerance(order));
    }
}

#[test]
fn check_in_at_the_corners() {
    for vector in vectors("../gaussian/check_in") {
        let (n, rate, order) = (vector.count("clients"), vector.real("rate"), vector.count("order"));
        let curve = PairCurve::new(&Scheme::check_in(n, rate, 0.0).unwrap(), mu(&vector));
        // The rate's decimal is up to half an ulp from the float that was asked about, and counts
        // once per order.
        let relative = curve.epsilon(order as f64).unwrap() / vector.value - 1.0;
        assert!(relative >= -4e-16, "{}: below by {relative:e}", vector.label());
        assert!(relative <= tolerance(order), "{}: above by {relative:e}", vector.label());
    }
}

#[test]
fn orders_to_ten_thousand() {
    for vector in vectors("../gaussian/large_orders") {
        let order = vector.count("order");
        let mut moments = PairMoments::shuffle(mu(&vector), vector.count("clients")).unwrap();
        let epsilon = moments.ln_moment(order as usize) / (order as f64 - 1.0);
        assert_upper(epsilon, &vector, tolerance(order));
    }
}

#[test]
fn both_directions_against_plain_quadrature() {
    // The quadrature's own error: a trapezoidal rule whose cut-off tails are the coarsest part.
    const QUADRATURE: f64 = 1e-9;
    for vector in vectors("../gaussian/directions") {
        let (n, order) = (vector.count("clients"), vector.count("order"));
        let curve = PairCurve::new(&Scheme::shuffle(n).unwrap(), mu(&vector));
        let relative = curve.epsilon(order as f64).unwrap() / vector.value - 1.0;
        assert!(relative >= -QUADRATURE, "{}: {relative:e}", vector.label());
        // Alone, the two directions are one; with others around, the reverse is the smaller.
        if vector.label().contains("forward") || n == 1 {
            assert!(relative <= QUADRATURE, "{}: {relative:e}", vector.label());
        } else {
            assert!(relative > 1e-4, "{}: {relative:e}", vector.label());
        }
    }
}
