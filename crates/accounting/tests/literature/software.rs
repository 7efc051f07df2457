//! Results of other software, where it evaluates a formula. The tests evaluate the formula and do
//! not run the software.

use crate::page::row;
use shuffledp_accounting::numerics::binomial;
use shuffledp_accounting::numerics::gamma::{ln_binomial, ln_gamma};
use shuffledp_accounting::pair::upper;
use shuffledp_accounting::published::shuffle_gaussian::{Shuffled, theorem_3_renyi, theorem_3_speakers};
use shuffledp_accounting::published::{gdp, girgis};
use shuffledp_accounting::rdp::epsilon_from_renyi;
use shuffledp_accounting::scheme::Scheme;

/// `ln Σ e^x`, the largest taken out first.
fn log_sum_exp(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + terms.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}

/// Theorem 1 of the shuffle Gaussian paper at order 2, sensitivity 1, its two partitions added in
/// log space with ln n! for factorials.
fn order_two_by_log_gamma(clients: f64, sigma: f64) -> f64 {
    let ln_factorial = |n: f64| ln_gamma(n + 1.0);
    let scale = -2.0 * clients.ln();
    let one = ln_factorial(clients) - ln_factorial(clients - 1.0) + 1.0 / (sigma * sigma) + scale;
    let two = ln_factorial(2.0) + ln_factorial(clients) - ln_factorial(clients - 2.0) - ln_factorial(2.0) + scale;
    log_sum_exp(&[one, two])
}

#[test]
fn log_gamma_loses_all_digits_of_many_clients() {
    let sigma = 9.48_f64;
    let exact = |clients: f64| ((1.0 / (sigma * sigma)).exp_m1() / clients).ln_1p();
    // Few clients: the same formula, and all is well.
    assert!((order_two_by_log_gamma(100.0, sigma) / exact(100.0) - 1.0).abs() < 1e-8);
    let (naive, ours) = (order_two_by_log_gamma(1e7, sigma), Shuffled::new(1.0 / sigma, 10_000_000).renyi_upper(2));
    row("shuffgauss-cancellation", naive, ours);
    assert!(naive < 0.0, "{naive:e}: a negative divergence");
    assert!((ours / exact(1e7) - 1.0).abs() < 1e-13, "{ours:e}");
}

#[test]
fn a_factor_of_two_is_missing_from_the_third_summand_on() {
    let (rate, order, shuffled) = (0.1_f64, 10_u64, Shuffled::new(1.0, 6000));
    let mut terms =
        vec![0.0, 2.0 * rate.ln() + ln_binomial(order as f64, 2.0) + (4.0 * shuffled.renyi_upper(2).exp_m1()).ln()];
    for j in 3..=order {
        let power = j as f64;
        terms.push(power * rate.ln() + ln_binomial(order as f64, power) + (power - 1.0) * shuffled.renyi_upper(j));
    }
    let without = log_sum_exp(&terms) / (order as f64 - 1.0);
    let with = shuffled.subsampled_renyi_upper(rate, order);
    row("shuffgauss-factor", without, with);
    assert!(without < with);
}

#[test]
fn the_chernoff_term_matters() {
    let (clients, rate, mu, order) = (1000, 0.01, 0.5, 10);
    let (single, most) = (Shuffled::new(mu, 1), Shuffled::new(mu, theorem_3_speakers(clients, rate)));
    let without = most.subsampled_renyi_upper(rate, order);
    let with = theorem_3_renyi(&single, &most, clients, rate, order);
    row("shuffgauss-chernoff", without, with);
    assert!(without < with);
}

#[test]
fn a_lower_bound_takes_the_lower_end_of_the_bracket() {
    // The smallest ε with δ(ε) below the target, of the clones' pair: ten halvings of [0, ε0].
    let (local_epsilon, target) = (1.0, 1e-6);
    let pair = upper::any_ldp(&Scheme::shuffle(10_000).unwrap(), local_epsilon).unwrap();
    let search = |steps: usize, delta: &dyn Fn(f64) -> f64| {
        let (mut low, mut high) = (0.0, local_epsilon);
        for _ in 0..steps {
            let middle = 0.5 * (low + high);
            if delta(middle) < target { high = middle } else { low = middle }
        }
        (low, high)
    };
    let (left, right) = search(10, &|epsilon| pair.delta_lower(epsilon));
    let (_, truth) = search(40, &|epsilon| pair.delta_upper(epsilon));
    row("bracket-end", right, truth);
    assert!(right > truth && left < truth, "{left} {truth} {right}");
}

#[test]
fn renormalised_windows_forget_the_tail() {
    // 2-RR shuffled, n = 1000, ε0 = 1, the others at 0; counts within four deviations of the mean,
    // scaled back to mass 1.
    let (local_epsilon, clients, epsilon) = (1.0_f64, 1000_u64, 0.13_f64);
    let p = 1.0 / (local_epsilon.exp() + 1.0);
    let (mean, deviation) = (clients as f64 * p, (clients as f64 * p * (1.0 - p)).sqrt());
    let outcome = |ones: u64| {
        let mass = binomial::pmf(ones, clients, p);
        (mass * (1.0 + 2.0 * local_epsilon.sinh() / clients as f64 * (ones as f64 - mean)), mass)
    };
    let delta = |outcomes: &[(f64, f64)]| -> f64 {
        let totals = outcomes.iter().fold((0.0, 0.0), |sum, o| (sum.0 + o.0, sum.1 + o.1));
        outcomes.iter().map(|(p, q)| (p / totals.0 - epsilon.exp() * q / totals.1).max(0.0)).sum()
    };
    let all: Vec<_> = (0..=clients).map(outcome).collect();
    let cut: Vec<_> =
        (0..=clients).filter(|&ones| (ones as f64 - mean).abs() <= 4.0 * deviation).map(outcome).collect();
    row("renormalised", delta(&cut), delta(&all));
    assert!(delta(&cut) < delta(&all));
}

/// Girgis' Theorem 1 with the E − 1/E of its Υ multiplied by `share`.
fn girgis_with(share: f64, local_epsilon: f64, sampled: u64, clients: u64, order: u64) -> f64 {
    let printed = ((order as f64 - 1.0) * girgis::renyi_upper(local_epsilon, sampled, clients, order as f64)).exp_m1();
    let (e, rate, lambda) = (local_epsilon.exp(), sampled as f64 / clients as f64, order as f64);
    let upsilon = |x: f64| ((lambda * x.ln_1p()).exp_m1() - lambda * x) * (-(sampled as f64 - 1.0) / (8.0 * e)).exp();
    let x = rate * (e - 1.0 / e);
    (printed - upsilon(x) + upsilon(share * x)).ln_1p() / (lambda - 1.0)
}

#[test]
fn half_of_upsilon_is_another_bound() {
    // The setting of the script: n = 10^5, k = 1000, ε0 = 3, δ = 10^−5.
    let best = |share: f64, local_epsilon: f64, rounds: f64| {
        let at = |order: u64| {
            epsilon_from_renyi(rounds * girgis_with(share, local_epsilon, 1000, 100_000, order), order as f64, 1e-5)
        };
        (2..120).map(at).fold(f64::INFINITY, f64::min)
    };
    let (half, printed) = (best(0.5, 3.0, 10_000.0), best(1.0, 3.0, 10_000.0));
    row("girgis-code-half", half, printed);
    assert!(half < printed);
    let (half, printed) = (best(0.5, 3.5, 10_000.0), best(1.0, 3.5, 10_000.0));
    row("girgis-code-half-louder", half, printed);
    assert!(half < printed / 1.7);
}

#[test]
fn the_textbook_sigma_holds_for_small_epsilon_only() {
    // σ = s·√(2 ln(1.25/δ))/ε for sensitivity s: the δ that it really has.
    let delta = 1e-5_f64;
    let real = |epsilon: f64, sensitivity: f64| {
        gdp::delta_upper(sensitivity * epsilon / (2.0 * (1.25 / delta).ln()).sqrt(), epsilon)
    };
    assert!(real(0.5, 1.0) < delta && real(1.0, 1.0) < delta);
    row("flower-sigma-10", delta, real(10.0, 1.0));
    row("flower-sigma-20", delta, real(20.0, 1.0));
    // Updates clipped to C are up to 2C apart.
    row("flower-sensitivity", delta, real(1.0, 2.0));
    assert!(real(10.0, 1.0) > delta && real(1.0, 2.0) > delta);
}
