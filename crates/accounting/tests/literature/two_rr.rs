//! The exact privacy loss of binary randomized response: summed outcome by outcome.

use shuffledp_accounting::numerics::binomial;
use shuffledp_accounting::published::girgis;
use shuffledp_accounting::rdp::RenyiCurve;

/// The Rényi divergence of one shuffle, the others at one bit: a lower bound for every ε0-LDP class
/// that contains it.
pub(crate) fn renyi(local_epsilon: f64, clients: u64, order: f64) -> f64 {
    girgis::TwoRrMoments::new(local_epsilon, clients, clients).expect("applies").epsilon(order).expect("applies")
}

/// `E[(P/Q)^λ] − 1` for `reports` of which one is the victim's with probability `inclusion`, all
/// others at 0.
fn excess(local_epsilon: f64, reports: u64, inclusion: f64, order: f64) -> f64 {
    let p = 1.0 / (local_epsilon.exp() + 1.0);
    let slope = inclusion * 2.0 * local_epsilon.sinh() / reports as f64;
    (0..=reports)
        .map(|ones| {
            let u = slope * (ones as f64 - reports as f64 * p);
            binomial::pmf(ones, reports, p) * ((order * u.ln_1p()).exp_m1() - order * u)
        })
        .sum()
}

/// The Rényi divergence of one round of check-in, the others at one bit:
/// `D_λ(one holds 1 ‖ all hold 0)`.
///
/// Equation (6) of the check-in paper with the exact divergences; given that k came, the victim is
/// among them with probability `inclusion(k)`. It is the truth at k/n.
pub(crate) fn check_in(local_epsilon: f64, clients: u64, rate: f64, order: f64, inclusion: impl Fn(u64) -> f64) -> f64 {
    let mixed: f64 =
        (1..=clients).map(|k| binomial::pmf(k, clients, rate) * excess(local_epsilon, k, inclusion(k), order)).sum();
    mixed.ln_1p() / (order - 1.0)
}

/// The law of the number of ones among `zeros` clients with bit 0 and `ones` with bit 1.
fn count_law(zeros: u64, ones: u64, p: f64) -> Vec<f64> {
    (0..zeros + ones).fold(vec![1.0], |law, i| {
        let bit = if i < zeros { p } else { 1.0 - p };
        let mut grown = vec![0.0; law.len() + 1];
        for (count, mass) in law.iter().enumerate() {
            grown[count] += mass * (1.0 - bit);
            grown[count + 1] += mass * bit;
        }
        grown
    })
}

/// The exact ε at `delta` of one shuffle: the largest over all datasets of bits and both
/// directions.
///
/// Each other client enters both hypotheses linearly with the same law, so records between 0 and 1
/// are no worse.
pub(crate) fn epsilon(local_epsilon: f64, clients: u64, delta: f64) -> f64 {
    let p = 1.0 / (local_epsilon.exp() + 1.0);
    let laws: Vec<Vec<f64>> = (0..=clients).map(|ones| count_law(clients - ones, ones, p)).collect();
    let within = |epsilon: f64| {
        let hockey =
            |p: &[f64], q: &[f64]| -> f64 { p.iter().zip(q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum() };
        laws.windows(2).all(|pair| hockey(&pair[0], &pair[1]) <= delta && hockey(&pair[1], &pair[0]) <= delta)
    };
    let (mut low, mut high) = (0.0, local_epsilon);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if within(middle) { high = middle } else { low = middle }
    }
    high
}
