//! One round's privacy loss on a lattice.

use super::Direction;
use crate::pair::Remainder;

/// The privacy loss of one round: P-masses at the losses `(first + i)·spacing`, and at infinity.
///
/// Every mass is within `relative_error` of, and every loss within `loss_error` of, those of a distribution that exactly dominates
/// (or is dominated by) the pair. So for T rounds `δ_true(ε) ≤ (1+relative_error)^T · δ_lattice(ε − T·loss_error)`, and conversely.
#[derive(Debug, Clone, PartialEq)]
pub struct LossLattice {
    pub(super) direction: Direction,
    pub(super) spacing: f64,
    pub(super) first: i64,
    pub(super) masses: Vec<f64>,
    pub(super) infinity: f64,
    pub(super) relative_error: f64,
    pub(super) loss_error: f64,
    pub(super) remainder: Option<Remainder>,
}

impl LossLattice {
    /// Distance between neighbouring losses.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// (loss, P-mass) of every lattice point; what lies at infinity is not among them.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> {
        self.masses.iter().enumerate().map(|(i, mass)| ((self.first + i as i64) as f64 * self.spacing, *mass))
    }

    /// P-mass whose loss is unbounded, or was cut off and is charged as if it were.
    pub fn infinity(&self) -> f64 {
        self.infinity
    }

    /// At least the absolute value of every finite loss.
    pub(super) fn reach(&self) -> f64 {
        let last = self.first + self.masses.len() as i64 - 1;
        self.first.unsigned_abs().max(last.unsigned_abs()) as f64 * self.spacing
    }

    /// `ln Σ mass·e^{θ·loss}` over the finite part, by Horner's rule. Chooses orders; nothing rests on it.
    pub(super) fn cumulant(&self, theta: f64) -> f64 {
        let last = self.first + self.masses.len() as i64 - 1;
        let factor = (-theta * self.spacing).exp();
        // Σ m_i e^{θ(i − last)h}: terms decrease from the top, so the sum neither overflows nor vanishes.
        // Four chains at once: each step of one waits for the step before.
        let (square, cube, fourth) = (factor * factor, factor * factor * factor, factor.powi(4));
        let mut chains = [0.0; 4];
        let blocks = self.masses.chunks_exact(4);
        let rest = blocks.remainder();
        for block in blocks {
            chains.iter_mut().zip(block).for_each(|(chain, mass)| *chain = *chain * fourth + mass);
        }
        let sum = chains[0] * cube + chains[1] * square + chains[2] * factor + chains[3];
        let sum = rest.iter().fold(sum, |sum, mass| sum * factor + mass);
        sum.ln() + theta * last as f64 * self.spacing
    }

    /// At least the hockey-stick divergence of the round at the losses `(first + i)·spacing`, in one pass from the top.
    ///
    /// With A the mass above ε and G the divergence there, `G(ε−h) = e^{−h}G + (1−e^{−h})A` plus what the masses in between contribute: no term is negative.
    pub(crate) fn curve_upper(&self, spacing: f64, first: i64, count: usize) -> Vec<f64> {
        let (keep, add) = ((-spacing).exp(), -(-spacing).exp_m1());
        let factor = (1.0 + self.relative_error) * (1.0 + 1e-11);
        let mut curve = vec![0.0; count];
        let (mut above, mut divergence) = (0.0, 0.0);
        let mut next = self.masses.len();
        for (i, value) in curve.iter_mut().enumerate().rev() {
            let epsilon = (first + i as i64) as f64 * spacing - self.loss_error;
            divergence = keep * divergence + add * above;
            while next > 0 {
                let loss = (self.first + next as i64 - 1) as f64 * self.spacing;
                if loss <= epsilon {
                    break;
                }
                divergence += self.masses[next - 1] * -(epsilon - loss).exp_m1();
                above += self.masses[next - 1];
                next -= 1;
            }
            *value = divergence * factor + self.infinity;
        }
        curve
    }

    /// At least the Rényi divergence of the round at `order`; `+∞` for a lattice that was rounded down.
    ///
    /// The windows are the same for P and Q, so `E_P[1 − e^{−ℓ}; kept] = P(kept) − Q(kept) = 0`, and the moment's excess over 1 is `Σ m·(e^{(λ−1)ℓ} − 1 − (λ−1)(1 − e^{−ℓ}))`, whose terms are all
    /// non-negative: nothing cancels.
    pub(crate) fn renyi_upper(&self, order: f64) -> f64 {
        let Some(remainder) = &self.remainder else { return f64::INFINITY };
        let theta = order - 1.0;
        // The common factor must come from a point that has mass: relative to any other, nothing that matters can vanish.
        let greatest = self.iter().filter(|(_, mass)| *mass > 0.0).map(|(loss, _)| loss).fold(0.0, f64::max);
        let shift = (theta * greatest - 600.0).max(0.0);
        let scale = (-shift).exp();
        let mut sum = 0.0;
        for (loss, mass) in self.iter().filter(|(_, mass)| *mass > 0.0) {
            let term = if (theta * loss).abs() < 1e-2 && loss.abs() < 1e-2 {
                excess_series(theta, loss) * scale
            } else if shift > 0.0 {
                (theta * loss - shift).exp() - scale * (1.0 - theta * (-loss).exp_m1())
            } else {
                // Close to order 1 both are about θℓ, and their sum is of the order of θℓ²: the ones must not come in.
                (theta * loss).exp_m1() + theta * (-loss).exp_m1()
            };
            sum += mass * term;
        }
        let ln_excess = crate::numerics::log_sum::log_add(sum.ln() + shift, remainder.ln_renyi_moment(order));
        let divergence = crate::numerics::log_sum::log_add(0.0, ln_excess) / theta;
        // Masses that are off by a share e change the excess by that share; losses that are off by η change the divergence by η.
        divergence * (1.0 + 1e-11 + 2.0 * self.relative_error) + self.loss_error
    }
}

/// The same masses without zeros at either end: sums that start from an end then start from something.
pub(super) fn trimmed(first: i64, mut masses: Vec<f64>) -> (i64, Vec<f64>) {
    let end = masses.iter().rposition(|mass| *mass != 0.0).map_or(1, |last| last + 1);
    masses.truncate(end);
    let start = masses.iter().position(|mass| *mass != 0.0).unwrap_or(0);
    masses.drain(..start);
    (first + start as i64, masses)
}

/// `e^{θℓ} − 1 − θ(1 − e^{−ℓ})` for small θℓ and ℓ: the sum over j ≥ 2 of `(θ^j + (−1)^j θ)·ℓ^j/j!`.
fn excess_series(theta: f64, loss: f64) -> f64 {
    let (mut power, mut term, mut sign, mut sum) = (theta, loss, -1.0, 0.0);
    for j in 2..12 {
        power *= theta;
        term *= loss / f64::from(j);
        sign = -sign;
        sum += (power + sign * theta) * term;
    }
    sum
}
