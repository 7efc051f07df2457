//! How far one round is from its ideal.

use crate::numerics::directed::inflate;
use crate::scheme::Scheme;

/// Covers the eight roundings of [`variation_upper`].
const SLACK: f64 = 16.0 * f64::EPSILON;

/// At least the total variation between one round of an (ε0, δ0)-LDP randomizer and the ideal round that the any-LDP pair at ε0 dominates:
///
/// `τ = ρ·δ0 + 2ρ(n−1)·e^{−ε0}·δ0`, ρ the probability that a given client speaks: k/n, or the rate of check-in.
///
/// The victim's law moves by δ0 at the most and the law of each of the others by `2e^{−ε0}δ0`, each only if it speaks
/// (`docs/theory/approximate.md`). **Direction: up.** All terms are positive, so one inflation pays for them. May exceed 1, which claims nothing.
pub(super) fn variation_upper(scheme: &Scheme, local_epsilon: f64, local_delta: f64) -> f64 {
    let clients = scheme.clients() as f64;
    let speaks = match (scheme.fixed_size(), scheme.check_in_rate()) {
        (_, Some(rate)) => rate,
        (Some(sampled), None) => sampled as f64 / clients,
        (None, None) => 1.0,
    };
    if local_delta <= 0.0 {
        return 0.0;
    }
    inflate(speaks * local_delta * (1.0 + 2.0 * (clients - 1.0) * (-local_epsilon).exp()), SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_the_formula_says() {
        let e = f64::exp(-1.5);
        for (scheme, expected) in [
            (Scheme::shuffle(10), 1e-6 + 2.0 * 9.0 * e * 1e-6),
            (Scheme::subsampled(10, 4), 0.4e-6 + 2.0 * 4.0 * 0.9 * e * 1e-6),
            (Scheme::check_in(10, 0.3, 0.5), 0.15e-6 + 2.0 * 0.15 * 9.0 * e * 1e-6),
            (Scheme::shuffle(1), 1e-6),
        ] {
            let value = variation_upper(&scheme.unwrap(), 1.5, 1e-6);
            assert!(value >= expected * (1.0 - 1e-15) && value <= expected * (1.0 + 1e-14), "{value} {expected}");
        }
    }

    #[test]
    fn without_delta_nothing_differs() {
        assert!(variation_upper(&Scheme::shuffle(10).unwrap(), 1.0, 0.0) <= 0.0);
    }
}
