//! The likelihood ratio of a whole round: `1 + X/n`, X a sum of independent lattice laws, one for each speaker.
//!
//! Masses are wanted from below, so everything that is not known for sure is subtracted: rounding, what a window leaves
//! outside, frequencies that are not computed. The transform of one report is summed directly at the few frequencies that
//! matter to the sum of many, so neither time nor error grows with the number of speakers as a convolution's would.

use super::blocks::{Blocks, Kernel};
use super::lattice_law::LatticeLaw;
use super::tilted_slot::TiltedSlot;

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

/// Part of the mass of a block of neighbouring points, and between which points its barycentre lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Atom {
    pub(super) mass: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Sum {
    /// Of so many slots, each with a report with probability `rate`, which must not be larger than in truth.
    pub(super) fn new(law: &LatticeLaw, slots: u64, rate: f64) -> Self {
        let share = (rate * (1.0 - law.dilution)) * (1.0 - 2.0 * f64::EPSILON);
        let slot = law.iter().filter(|(_, mass)| *mass > 0.0).map(|(j, mass)| (j, share * mass)).collect();
        Self { spacing: law.spacing, slots, slot }
    }

    /// The standard deviation of the sum, in points.
    pub(super) fn deviation(&self) -> f64 {
        (self.slots as f64 * self.slot.iter().map(|(j, mass)| mass * (*j as f64).powi(2)).sum::<f64>()).sqrt()
    }

    /// The sum in blocks, as far out as `deviations` of a normal law.
    ///
    /// A transform resolves masses down to some 10⁻¹³ of the largest. Tilted by e^{θj}, other masses become the largest. All tilts bound the same
    /// masses from below, so each block takes what is largest.
    pub(super) fn atoms(&self, deviations: f64) -> Vec<Atom> {
        let block = (self.deviation() / PER_DEVIATION).max(1.0).log2().floor().exp2();
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
                cumulant += mass * x.exp_m1();
                slope += mass * *j as f64 * x.exp();
            }
            self.slots as f64 * (theta * slope / (1.0 + cumulant) - cumulant.ln_1p())
        };
        // Depth grows with θ: bisection on its logarithm.
        let (mut low, mut high) = (1e-12 / reach, 300.0 / reach);
        let at = |size: f64| depth_of(sign * size);
        if !(at(high) > depth) {
            return None;
        }
        while high > low * 1.001 {
            let middle = (low * high).sqrt();
            if at(middle) < depth { low = middle } else { high = middle }
        }
        Some(sign * low)
    }
}
