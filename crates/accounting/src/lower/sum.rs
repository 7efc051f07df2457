//! The likelihood ratio of a whole round: `1 + X/n`, X a sum of independent lattice laws, one for
//! each participant.
//!
//! Masses are wanted from below, so everything that is not known for sure is subtracted: rounding,
//! what a window leaves outside, frequencies that are not computed. The transform of one report is
//! summed directly at the few frequencies that matter to the sum of many, so neither time nor error
//! grows with the number of participants as a convolution's would.

use super::blocks::{Blocks, Kernel};
use super::lattice_law::LatticeLaw;
use super::tilted_slot::TiltedSlot;
use crate::numerics::elementary::{exp, exp_m1, exp2, ln_1p, log2, powi};

/// Blocks of the sum to a standard deviation, about.
const PER_DEVIATION: f64 = 96.0;

/// No window is longer than this many blocks.
const LONGEST: f64 = 65_536.0;

/// The tilts reach so many deviations apart: what one resolves overlaps with what the next does.
const STEP: f64 = 9.0;

/// The sum over the slots of a round. Each has a report with some probability, and is empty else.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    /// Distance of neighbouring points of the lattice of X.
    pub(super) spacing: f64,
    pub(super) slots: u64,
    /// (j, mass) of one slot, 0 not among them: the probability of a report is included.
    pub(super) slot: Vec<(i64, f64)>,
}

/// Part of the mass of a block of neighbouring points, and between which points its barycentre
/// lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Atom {
    pub(super) mass: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Sum {
    /// Of so many slots, each with a report with probability `rate`, which must not be larger than
    /// in truth.
    pub(super) fn new(law: &LatticeLaw, slots: u64, rate: f64) -> Self {
        let share = (rate * (1.0 - law.dilution)) * (1.0 - 2.0 * f64::EPSILON);
        let slot = law.iter().filter(|(_, mass)| *mass > 0.0).map(|(j, mass)| (j, share * mass)).collect();
        Self { spacing: law.spacing, slots, slot }
    }

    /// The standard deviation of the sum, in points.
    pub(super) fn deviation(&self) -> f64 {
        (self.slots as f64 * self.slot.iter().map(|(j, mass)| mass * powi(*j as f64, 2)).sum::<f64>()).sqrt()
    }

    /// The sum in blocks, as far out as `deviations` of a normal law.
    ///
    /// A transform resolves masses down to some 10⁻¹³ of the largest. Tilted by e^{θj}, other
    /// masses become the largest. All tilts bound the same masses from below, so each block takes
    /// what is largest.
    pub(super) fn atoms(&self, deviations: f64) -> Vec<Atom> {
        let block = exp2(log2((self.deviation() / PER_DEVIATION).max(1.0)).floor());
        let mut blocks = Blocks::new(block as i64);
        self.add(0.0, &mut blocks);
        for sign in [-1.0, 1.0] {
            let mut out = STEP;
            while out - STEP < deviations {
                if let Some(theta) = self.tilt_of_depth(sign, 0.5 * out * out) {
                    self.add(theta, &mut blocks);
                }
                out += STEP;
            }
        }
        blocks.into_atoms()
    }

    /// Adds what the tilt θ shows.
    fn add(&self, theta: f64, blocks: &mut Blocks) {
        let tilted = TiltedSlot::new(self, theta);
        if let Some(window) = tilted.window(blocks.size, LONGEST) {
            let kernel = Kernel::new(theta, blocks.size);
            let found = tilted.blocks(&window, &kernel);
            blocks.take(window.first_block, found);
        }
    }

    /// The tilt at which the sum is about as improbable as e^−depth. `None` if it cannot be.
    fn tilt_of_depth(&self, sign: f64, depth: f64) -> Option<f64> {
        let reach = self.slot.iter().map(|(j, _)| j.abs()).max()? as f64;
        let depth_of = |theta: f64| {
            let (mut cumulant, mut slope) = (0.0, 0.0);
            for (j, mass) in &self.slot {
                let x = theta * *j as f64;
                cumulant += mass * exp_m1(x);
                slope += mass * *j as f64 * exp(x);
            }
            self.slots as f64 * (theta * slope / (1.0 + cumulant) - ln_1p(cumulant))
        };
        // Depth grows with θ: bisection on its logarithm.
        let (mut low, mut high) = (1e-12 / reach, 300.0 / reach);
        let at = |size: f64| depth_of(sign * size);
        let is_reached = at(high) > depth;
        if !is_reached {
            return None;
        }
        while high > low * 1.001 {
            let middle = (low * high).sqrt();
            if at(middle) < depth { low = middle } else { high = middle }
        }
        Some(sign * low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of all slots by plain convolution: (first point, masses).
    fn convolved(sum: &Sum) -> (i64, Vec<f64>) {
        let (low, high) = (sum.slot[0].0.min(0), sum.slot[sum.slot.len() - 1].0.max(0));
        let mut one = vec![0.0; (high - low + 1) as usize];
        one[(-low) as usize] = 1.0 - sum.slot.iter().map(|(_, mass)| mass).sum::<f64>();
        sum.slot.iter().for_each(|(j, mass)| one[(j - low) as usize] = *mass);
        let all = (0..sum.slots).fold(vec![1.0], |law, _| {
            let mut grown = vec![0.0; law.len() + one.len() - 1];
            for (i, a) in law.iter().enumerate() {
                for (j, b) in one.iter().enumerate() {
                    grown[i + j] += a * b;
                }
            }
            grown
        });
        (low * sum.slots as i64, all)
    }

    /// A law of mean 0 with an atom, a slope and a tail.
    fn slot(slots: u64) -> Sum {
        let mut slot = vec![(-2, 0.2), (-1, 0.1)];
        slot.extend((1..=20).map(|j| (j, 0.5 / (j as f64) / 20.0)));
        Sum { spacing: 0.1, slots, slot }
    }

    /// Every block has at most its true mass, and its barycentre is between the points that are
    /// given. Tails of 10⁻⁴⁰ are among them, which without tilts, or without the subtraction of
    /// noise, would be rounding of numbers of size 1.
    #[test]
    fn blocks_have_no_more_than_their_mass() {
        for slots in [1, 2, 7, 60, 200] {
            let sum = slot(slots);
            let (first, exact) = convolved(&sum);
            let size = (sum.deviation() / PER_DEVIATION).max(1.0).log2().floor().exp2() as i64;
            let (mut total, mut least) = (0.0, 1.0_f64);
            for Atom { mass, from, to } in sum.atoms(20.0) {
                let start = (from / size as f64).floor() as i64 * size;
                let points =
                    (start..start + size).filter_map(|x| exact.get((x - first) as usize).map(|m| (x as f64, *m)));
                let (truth, moment) =
                    points.fold((0.0, 0.0), |sum, (x, m)| (sum.0 + m, sum.1 + m * (x - start as f64)));
                assert!(mass <= truth * (1.0 + 1e-13), "{slots} slots, {from}: {mass:e} {truth:e}");
                let centre = start as f64 + moment / truth;
                assert!(from <= centre + 1e-9 && centre <= to + 1e-9, "{slots} slots: {from} {centre} {to}");
                total += mass;
                least = least.min(mass);
            }
            assert!(total > 1.0 - 1e-8 && total <= 1.0 + 1e-13, "{slots} slots: {total}");
            assert!(slots < 60 || least < 1e-30, "{slots} slots: {least:e}");
        }
    }

    /// The same with so many slots that blocks hold many points and frequencies are left out; the
    /// normal law is the oracle.
    #[test]
    fn many_slots_are_nearly_normal() {
        let sum = slot(1_000_000_000);
        let (mut total, mut squares) = (0.0, 0.0);
        for Atom { mass, from, to } in sum.atoms(0.0) {
            total += mass;
            squares += mass * (0.5 * (from + to) / sum.deviation()).powi(2);
            assert!(to - from < 2e-4 * sum.deviation() || mass < 1e-9, "{mass:e} between {from} and {to}");
        }
        assert!(total <= 1.0 + 1e-9 && total > 1.0 - 1e-6, "{total}");
        assert!((squares - 1.0).abs() < 1e-4, "{squares}");
    }
}
