//! Binary randomized response, sharper: the worst of all datasets, because nothing need be
//! revealed.
//!
//! The other clients' bits are all there is to know, divergences are jointly convex, and each other
//! client enters both hypotheses linearly with the same law: so the worst others hold bits, h of
//! them a 1. With everyone participating the count of ones is
//! `Bin(h,1−p) + Bin(n−1−h,p) + Bern(victim)`. With k of n participating, k−1 others are surely in
//! and the last slot is the victim with probability γ = k/n, else another client whose bit is 1
//! with probability m' ∈ {p, 1−p}. Flipping all bits exchanges the directions, h and K−h, and the
//! two m': one direction over all h and both m' covers both. The pointwise maximum of hockey-stick
//! curves is a hockey-stick curve, and *that* is composed: the worst h may change from round to
//! round. Proofs: `docs/theory/binary.md`.

use super::binary_sum::{self, BinarySum};
use super::window::Binomial;
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, exp_m1, ln_1p, tanh};
use crate::pld::{Curve, LossLattice, power_of_two};
use crate::scheme::Scheme;
use rayon::prelude::*;

/// More clients than this may not participate: windows would be long enough for their rounding to
/// show.
const MAX_SPEAKING: u64 = 1_000_000;

/// Outcomes that are looked at for one number of participating clients, or for all sizes of a
/// check-in together. Beyond it, neighbouring datasets are put together.
pub(crate) const OUTCOMES: f64 = 1e7;

/// The same for a sketch: costs some 1e-3 of ε.
pub(crate) const FEW_OUTCOMES: f64 = 5e5;

/// From here on, many participate.
const MANY: f64 = 20_000.0;

/// Lattice points to a standard deviation of the loss.
const PER_DEVIATION: f64 = 64.0;

/// Logarithm of the mass that windows cut off.
const LN_CUT: f64 = -69.0;

/// Relative error of the curve's values: seeds to 1e-12, and for every outcome of the window the
/// roundings of a step of a recurrence and of a sum.
fn relative_error(speaking: u64, p: f64) -> f64 {
    2e-12 + 12.0 * f64::EPSILON * 2.0 * binary_sum::reach(speaking, p, LN_CUT)
}

/// A randomized bit: it is wrong with probability p, and right with probability p + gap.
#[derive(Clone, Copy)]
struct Bit {
    p: f64,
    /// 1 − 2p, without cancellation, rounded up.
    gap: f64,
}

impl Bit {
    fn new(local_epsilon: f64) -> Result<Self> {
        let e = super::upper::exponentials(local_epsilon)?.0;
        Ok(Self { p: 1.0 / (1.0 + e), gap: tanh(local_epsilon / 2.0) * (1.0 + 1e-15) })
    }
}

/// How many datasets are scanned: each has a window of outcomes, and as many points of the curve as
/// are typical. Where many participate, putting datasets together costs little, and fewer are
/// looked at.
fn affordable_scans(speaking: u64, p: f64, outcomes: f64) -> f64 {
    let outcomes = outcomes / (speaking as f64 / MANY).max(1.0);
    outcomes / (2.0 * binary_sum::reach(speaking, p, LN_CUT) + 2000.0) + 100.0
}

/// A number of participating clients, the probability that the victim is one of them, how likely
/// this size is, and how many datasets of it to scan.
struct Size {
    speaking: u64,
    presence: f64,
    weight: f64,
    scans: u64,
}

/// The curve of binary randomized response with this ε0, an upper bound for every dataset and both
/// directions. `blanket` is the loss of its blanket pair, another such bound; about so many
/// `outcomes` are looked at.
pub(crate) fn curve(scheme: &Scheme, local_epsilon: f64, blanket: &LossLattice, outcomes: f64) -> Result<Curve> {
    let bit = Bit::new(local_epsilon)?;
    let sizes = sizes(scheme, bit.p, outcomes)?;
    let p = bit.p;
    if local_epsilon <= 0.0 {
        return Err(AccountingError::not_applicable("at a local epsilon of 0 there is nothing to sharpen"));
    }
    let presence = sizes.iter().map(|size| size.presence).fold(0.0, f64::max);
    let speaking = sizes.iter().map(|size| size.weight * size.speaking as f64).sum::<f64>().max(1.0);
    // About γ·(1−2p)/√(kpq), the standard deviation of the loss, and no more than ε0.
    let typical = (presence * bit.gap / (speaking * p * (1.0 - p)).sqrt()).min(local_epsilon);
    let spacing = power_of_two(typical / PER_DEVIATION);
    // A victim that is present with probability γ changes any probability by at most
    // 1 + γ(e^{ε0} − 1).
    let greatest = ln_1p(presence * exp_m1(local_epsilon));
    let reach = greatest.min(14.0 * typical + 64.0 * typical / speaking.sqrt());
    let points = (reach / spacing) as i64 + 2;
    let excesses: Vec<f64> = (-points..=points).map(|i| exp_m1(i as f64 * spacing)).collect();
    let mut deltas = vec![0.0; excesses.len()];
    for size in &sizes {
        let worst = worst_of_size(size, bit, &excesses);
        deltas.iter_mut().zip(worst).for_each(|(total, delta)| *total += size.weight * delta);
    }
    // What windows cut off, of all sizes, and what rounding may have lost.
    let most = sizes.iter().map(|size| size.speaking).max().unwrap_or(0);
    let (error, cut) = (relative_error(most, p), 8.0 * exp(LN_CUT));
    deltas.iter_mut().for_each(|delta| *delta = *delta * (1.0 + error) + cut);
    // Every dataset is below the blanket's curve as well, and where few of many clients participate
    // that is the lower one.
    let other = blanket.curve_upper(spacing, -points, deltas.len());
    deltas.iter_mut().zip(other).for_each(|(delta, other)| *delta = delta.min(other));
    Ok(Curve { spacing, first: -points, deltas, loss_error: 1e-12 * greatest })
}

/// At least the δ of one round of binary randomized response at `epsilon`, for every dataset and
/// both directions: exact for a plain shuffle.
pub fn delta_upper(scheme: &Scheme, local_epsilon: f64, epsilon: f64) -> Result<f64> {
    let bit = Bit::new(local_epsilon)?;
    let sizes = sizes(scheme, bit.p, OUTCOMES)?;
    let most = sizes.iter().map(|size| size.speaking).max().unwrap_or(0);
    // Moved down by what the roundings of one outcome's difference can be worth.
    let excess = exp_m1(epsilon);
    let excess = excess - 16.0 * f64::EPSILON * excess.abs();
    let delta: f64 = sizes.iter().map(|size| size.weight * worst_of_size(size, bit, &[excess])[0]).sum();
    Ok(delta * (1.0 + relative_error(most, bit.p)) + 8.0 * exp(LN_CUT))
}

/// The pointwise maximum over the datasets, for one number of participating clients, at the
/// increasing points e^ε − 1 of `excesses`.
fn worst_of_size(size: &Size, bit: Bit, excesses: &[f64]) -> Vec<f64> {
    let p = bit.p;
    let others = size.speaking.saturating_sub(1);
    let substitutes: &[f64] = if size.presence < 1.0 { &[p, 1.0 - p] } else { &[p] };
    // At ε < 0 no pair has less than 1 − e^ε.
    let floor = || excesses.iter().map(|excess| (-excess).max(0.0)).collect::<Vec<f64>>();
    if size.speaking == 0 {
        return floor();
    }
    // Datasets with h = from..=to have `from` ones and `others − to` zeros in common; what the rest
    // send is revealed.
    let width = (others + 1).div_ceil(size.scans);
    (0..(others + 1).div_ceil(width))
        .into_par_iter()
        .fold(floor, |mut worst, block| {
            let from = block * width;
            let to = (from + width - 1).min(others);
            let sum = BinarySum::new(others - (to - from), from, p, LN_CUT);
            for substitute in substitutes {
                let slot = |victim: f64| size.presence * victim + (1.0 - size.presence) * substitute;
                let bits = Slot { low: slot(p), gap: size.presence * bit.gap };
                raise_to_hockey_sticks(&sum, bits, excesses, &mut worst);
            }
            worst
        })
        .reduce(floor, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(x, y)| *x = x.max(y));
            a
        })
}

/// The last slot: 1 with probability `low` under Q, and more likely by `gap` under P.
#[derive(Clone, Copy)]
struct Slot {
    low: f64,
    gap: f64,
}

/// Raises `worst` to at least `Σ (P − e^ε Q)₊` at every point, P and Q the sum plus the slot's bit.
///
/// The loss increases with the count, so one pass from the top does. With x = e^ε − 1 and B the
/// Q-mass of the outcomes above, `G(x) = G(y) + (y−x)·B` down to where the next outcome counts,
/// which then adds `(P−Q) − x·Q ≥ 0`. Where that difference cancels, its rounding is that of a
/// point x moved by a few units in the last place: callers pay by moving ε.
fn raise_to_hockey_sticks(sum: &BinarySum, slot: Slot, excesses: &[f64], worst: &mut [f64]) {
    let masses = &sum.masses;
    let (mut divergence, mut at, mut above) = (0.0_f64, 0.0_f64, 0.0_f64);
    // Points from here on are done.
    let mut done = excesses.len();
    // One instruction, no branch: which dataset is the worst cannot be foretold.
    let raise = |worst: &mut f64, delta: f64| *worst = if delta > *worst { delta } else { *worst };
    for j in (0..=masses.len()).rev() {
        let stay = masses.get(j).copied().unwrap_or(0.0);
        let step = if j > 0 { masses[j - 1] } else { 0.0 };
        let (difference, mass) = (slot.gap * (step - stay), (1.0 - slot.low) * stay + slot.low * step);
        if mass <= 0.0 && difference <= 0.0 {
            continue;
        }
        // Points at which this outcome does not count yet.
        while done > 0 && difference <= excesses[done - 1] * mass {
            done -= 1;
            raise(&mut worst[done], divergence + (at - excesses[done]) * above);
        }
        if done == 0 {
            break;
        }
        let x = excesses[done - 1];
        divergence += (at - x) * above + (difference - x * mass);
        (at, above) = (x, above + mass);
    }
    for (x, worst) in excesses[..done].iter().zip(worst.iter_mut()) {
        raise(worst, divergence + (at - x) * above);
    }
    // Sums with a NaN in them compare false and have counted for nothing: they are taken for the
    // worst there is.
    if divergence.is_nan() || above.is_nan() {
        worst.fill(f64::INFINITY);
    }
}

/// How many may participate, and with what probability. At check-in, sizes are taken in blocks: all
/// but the smallest number of others are revealed, and the victim is as likely to be there as in
/// the largest.
fn sizes(scheme: &Scheme, p: f64, outcomes: f64) -> Result<Vec<Size>> {
    let clients = scheme.clients();
    let Some(rate) = scheme.check_in_rate() else {
        let speaking = scheme.fixed_size().unwrap_or(clients);
        let presence = speaking as f64 / clients as f64;
        return if speaking <= MAX_SPEAKING {
            let scans = affordable_scans(speaking, p, outcomes) as u64;
            Ok(vec![Size { speaking, presence, weight: 1.0, scans }])
        } else {
            too_many()
        };
    };
    let law = Binomial { trials: clients, p: rate, q: 1.0 - rate };
    let (low, high) = law.window(LN_CUT);
    if high > MAX_SPEAKING {
        return too_many();
    }
    let masses = law.masses(low, high);
    let scans = affordable_scans(high, p, outcomes);
    let width = masses.len().div_ceil(blocks(masses.len() as f64, high as f64, scans));
    let scans = (scans as u64 / masses.len().div_ceil(width) as u64).max(1);
    Ok(masses
        .chunks(width)
        .zip((low..=high).step_by(width))
        .map(|(block, first)| {
            let last = first + block.len() as u64 - 1;
            let presence = (last as f64 / clients as f64).min(1.0);
            Size { speaking: first.max(u64::from(last > 0)), presence, weight: block.iter().sum(), scans }
        })
        .collect())
}

fn too_many<T>() -> Result<T> {
    Err(AccountingError::not_applicable(
        "too many clients participate for a scan over the datasets; the blanket bound is used instead",
    ))
}

/// Refuses, in no time, a scheme in which more clients participate on average than may ever
/// participate.
pub(crate) fn check_size(scheme: &Scheme) -> Result<()> {
    let rate = scheme.check_in_rate().unwrap_or(1.0);
    let average = scheme.fixed_size().unwrap_or(scheme.clients()) as f64 * rate;
    if average > MAX_SPEAKING as f64 { too_many() } else { Ok(()) }
}

/// How many blocks to make of a window of sizes. A block of width w costs ε about 3w/(2k) of itself
/// (others revealed, and presence), s scans of it about 1/(2s): with `scans` for all blocks
/// together, the sum is smallest here.
fn blocks(window: f64, speaking: f64, scans: f64) -> usize {
    (3.0 * window / speaking.max(1.0) * scans).sqrt().clamp(1.0, window.min(scans)) as usize
}
