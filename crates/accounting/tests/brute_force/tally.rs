//! One comparison of truth and bound, and a record of how close they came.

use crate::divergence::Experiment;
use crate::dominating::Upper;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The bound may be this much below the truth, relatively: both are sums of a few thousand positive
/// floats.
const RELATIVE: f64 = 1e-12;

/// The rounding error of `Σ max(0, P − e^ε Q)` over the enumerated laws: each mass is a sum of
/// products of positive floats with an error of some tens of units in the last place, and
/// `Σ P + e^ε Σ Q = 1 + e^ε`.
fn rounding(epsilon: f64) -> f64 {
    64.0 * f64::EPSILON * (1.0 + epsilon.exp())
}

/// True if the truth exceeds the bound at this ε by more than rounding explains.
pub(crate) fn exceeds(truth: f64, bound: f64, epsilon: f64) -> bool {
    let allowed = bound * (1.0 + RELATIVE) + rounding(epsilon);
    // A NaN on either side counts as a failure.
    truth > allowed || truth.is_nan() || allowed.is_nan()
}

/// The points at which curves are compared: a grid over ±2.5 and points relative to ε0, where the
/// curves bend.
pub(crate) fn epsilons(local_epsilon: f64) -> Vec<f64> {
    let grid = (-5..=5).map(|i| f64::from(i) * 0.5);
    let relative = [0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97];
    let around = relative.iter().flat_map(|share| [share * local_epsilon, -share * local_epsilon]);
    grid.chain(around.filter(|epsilon| epsilon.abs() <= 2.5)).collect()
}

/// Rényi orders compared.
pub(crate) const ORDERS: [f64; 5] = [1.1, 1.5, 2.0, 4.5, 17.3];

/// Cases compared so far, and the largest ratio of truth to bound.
#[derive(Default)]
pub(crate) struct Tally {
    lines: BTreeMap<String, Line>,
}

#[derive(Default)]
struct Line {
    cases: usize,
    /// For 0 ≤ ε ≤ ε0/2, where bounds are used, and beyond, where only the rarest views count.
    delta: [f64; 2],
    /// For orders up to 2, and above.
    renyi: [f64; 2],
}

impl Tally {
    /// Asserts that the truth, in both directions, is nowhere above the bound.
    pub(crate) fn compare(
        &mut self,
        class: &str,
        local_epsilon: f64,
        truth: &Experiment,
        upper: &Upper,
        case: impl Display,
    ) {
        let (p, q) = truth.totals();
        assert!((p - 1.0).abs() < 1e-12 && (q - 1.0).abs() < 1e-12, "{case}: masses {p} {q}");
        let line = self.lines.entry(class.to_owned()).or_default();
        line.cases += 1;
        for truth in [truth, &truth.reversed()] {
            for epsilon in epsilons(local_epsilon) {
                let (exact, bound) = (truth.hockey_stick(epsilon), upper.delta(epsilon));
                assert!(!exceeds(exact, bound, epsilon), "{case}: ε = {epsilon}: exact δ {exact:e} above {bound:e}");
                // Below 0 every δ is at least 1 − e^ε, and below 1e-9 rounding shows.
                if epsilon >= 0.0 && bound > 1e-9 {
                    let far = usize::from(epsilon > 0.5 * local_epsilon);
                    line.delta[far] = line.delta[far].max(exact / bound);
                }
            }
            for order in ORDERS {
                let (exact, bound) = (truth.renyi(order), upper.renyi(order));
                // Moments, not their logarithms, have a relative error of a few units in the last
                // place.
                let (exact_moment, bound_moment) = (((order - 1.0) * exact).exp(), ((order - 1.0) * bound).exp());
                let holds = exact_moment <= bound_moment * (1.0 + RELATIVE);
                assert!(holds, "{case}: order {order}: exact Rényi divergence {exact:e} above {bound:e}");
                if bound > 1e-9 {
                    let far = usize::from(order > 2.0);
                    line.renyi[far] = line.renyi[far].max(exact / bound);
                }
            }
        }
    }

    /// Cases compared.
    pub(crate) fn cases(&self) -> usize {
        self.lines.values().map(|line| line.cases).sum()
    }

    /// Prints the record (seen with `--nocapture`).
    pub(crate) fn report(&self, title: &str) {
        println!(
            "{title}: {} cases; largest truth/bound of δ (ε ≤ ε0/2, above), Rényi (order ≤ 2, above)",
            self.cases()
        );
        for (class, Line { cases, delta, renyi }) in &self.lines {
            let ([near, far], [low, high]) = (delta, renyi);
            println!("  {class:<40} {cases:>6} cases  δ {near:.4} {far:.4}  Rényi {low:.4} {high:.4}");
        }
    }
}
