//! Tests: each allowance that keeps a bound on its side, on lattices where leaving it out shows.
//!
//! The lattices have few points and are written down here; the truth is a sum over all outcomes of
//! all rounds. What other tests make small, so that bounds are tight, is large here: mass at
//! infinity, errors of masses and losses, what windows cut off.

use super::compose::{Rounds, compose};
use super::discretise::PROBABILITY_ERROR;
use super::tilted::Tilted;
use super::{Down, LossLattice, Rounding, Up};
use crate::numerics::elementary::{exp, exp_m1, ln_1p, powi};
use crate::pair::{Direction, LinearPair, Resolution, upper};
use crate::scheme::Scheme;
use std::marker::PhantomData;
use std::sync::Arc;

/// Losses `first·h, (first + 1)·h, …`, with nothing to be charged.
fn lattice<D: Rounding>(spacing: f64, first: i64, masses: &[f64]) -> LossLattice<D> {
    LossLattice {
        rounding: PhantomData,
        spacing,
        first,
        masses: masses.to_vec(),
        infinity: 0.0,
        relative_error: 0.0,
        loss_error: 0.0,
        remainder: None,
    }
}

/// Exact floats that sum to 15/16.
const MASSES: [f64; 4] = [0.25, 0.375, 0.1875, 0.125];

fn rounds<D: Rounding>(lattice: LossLattice<D>, count: u64) -> Rounds<D> {
    Rounds::new(vec![(Arc::new(lattice), count)])
}

/// Σ over all outcomes of all rounds: (loss, mass).
fn outcomes<D: Rounding>(lattice: &LossLattice<D>, count: u64) -> Vec<(f64, f64)> {
    let mut all = vec![(0.0, 1.0)];
    for _ in 0..count {
        all = all.iter().flat_map(|(loss, mass)| lattice.iter().map(move |(l, m)| (loss + l, mass * m))).collect();
    }
    all
}

fn divergence(outcomes: &[(f64, f64)], epsilon: f64) -> f64 {
    outcomes.iter().filter(|(loss, _)| *loss > epsilon).map(|(loss, mass)| -mass * exp_m1(epsilon - loss)).sum()
}

/// More than the rounding of a transform of a few points.
const FFT: f64 = 1e-12;

/// Where bounds are read.
const EPSILONS: [f64; 6] = [0.0, 0.2, 0.5, 0.8, 1.0, 1.4];

#[test]
fn mass_at_infinity_is_charged_for_every_round() {
    for count in [1, 2, 5, 300] {
        let mut one = lattice::<Up>(0.125, -1, &MASSES);
        one.infinity = 1.0 / 1024.0;
        // Of so many rounds one is infinite with probability 1 − (1 − i)^T, and the finite ones are
        // never above T·0.25.
        let truth = -exp_m1(count as f64 * ln_1p(-one.infinity));
        let rounds = rounds(one, count);
        for epsilon in [0.25 * count as f64, 0.25 * count as f64 + 5.0, 1e6] {
            let delta = rounds.delta(epsilon).unwrap();
            assert!((truth..=1.2 * truth).contains(&delta), "{count} rounds, ε = {epsilon}: {delta} {truth}");
        }
        // No ε has a smaller δ, and a slightly larger one has.
        assert!(rounds.epsilon(0.999 * truth).unwrap() == f64::INFINITY, "{count}");
        assert!(rounds.epsilon(0.999 * count as f64 / 1024.0).unwrap() == f64::INFINITY, "{count}");
        assert!(rounds.epsilon(1.01 * count as f64 / 1024.0).unwrap() <= 0.25 * count as f64 + 1e-9, "{count}");
        let infinity = rounds.distribution().unwrap().infinity;
        assert!(infinity >= truth && infinity <= 1.2 * truth, "{count}: {infinity} {truth}");
    }
}

#[test]
fn mass_at_infinity_counts_for_every_kind_of_round() {
    let [mut often, mut rare] = [lattice::<Up>(0.125, -1, &MASSES), lattice::<Up>(0.25, -1, &MASSES)];
    (often.infinity, rare.infinity) = (1.0 / 4096.0, 1.0 / 256.0);
    let rounds = Rounds::new(vec![(Arc::new(often), 40), (Arc::new(rare), 2)]);
    let truth = -exp_m1(40.0 * ln_1p(-1.0_f64 / 4096.0) + 2.0 * ln_1p(-1.0_f64 / 256.0));
    for epsilon in [11.0, 100.0] {
        let delta = rounds.delta(epsilon).unwrap();
        assert!((truth..=1.1 * truth).contains(&delta), "{delta} {truth}");
    }
}

/// δ and ε of a bound against the truth, in its direction.
fn check<D: Rounding>(rounds: &Rounds<D>, truth: impl Fn(f64) -> f64, within: f64, what: &str) {
    for epsilon in EPSILONS {
        let (delta, truth_there) = (rounds.delta(epsilon).unwrap(), truth(epsilon));
        let is_safe = match D::DIRECTION {
            Direction::Up => delta >= truth_there && delta <= truth_there * (1.0 + within) + FFT,
            Direction::Down => delta <= truth_there && delta >= truth_there * (1.0 - within) - FFT,
        };
        assert!(is_safe, "{what}, {:?}, ε = {epsilon}: {delta} against {truth_there}", D::DIRECTION);
    }
    for delta in [0.2, 1e-2, 1e-3] {
        let epsilon = rounds.epsilon(delta).unwrap();
        let is_safe = match D::DIRECTION {
            Direction::Up => truth(epsilon) <= delta * (1.0 + 1e-12),
            Direction::Down => epsilon <= 0.0 || truth(epsilon) >= delta * (1.0 - 1e-12),
        };
        assert!(is_safe, "{what}, {:?}, δ = {delta}: ε = {epsilon}", D::DIRECTION);
    }
}

/// Nothing to be charged but rounding: next to the truth on either side.
#[test]
fn rounds_without_errors_are_exact() {
    for count in 1..=5 {
        let exact = outcomes(&lattice::<Up>(0.125, -1, &MASSES), count);
        let truth = |epsilon: f64| divergence(&exact, epsilon);
        check(&rounds(lattice::<Up>(0.125, -1, &MASSES), count), truth, 1e-8, "exact");
        check(&rounds(lattice::<Down>(0.125, -1, &MASSES), count), truth, 1e-8, "exact");
    }
}

/// Every mass may be off by a share: over T rounds that is (1 + e)^T.
#[test]
fn errors_of_masses_are_charged_for_every_round() {
    for count in 1..=5 {
        let error: f64 = 1.0 / 64.0;
        let exact = outcomes(&lattice::<Up>(0.125, -1, &MASSES), count);
        let off = |sign: f64| exp(count as f64 * ln_1p(sign * error));
        let mut up = lattice::<Up>(0.125, -1, &MASSES);
        up.relative_error = error;
        check(&rounds(up, count), |epsilon| divergence(&exact, epsilon) * off(1.0), 1e-2, "masses");
        let mut down = lattice::<Down>(0.125, -1, &MASSES);
        down.relative_error = error;
        check(&rounds(down, count), |epsilon| divergence(&exact, epsilon) / off(1.0), 1e-2, "masses");
    }
}

/// Masses that may be too large by much, all together, multiply what is at infinity.
#[test]
fn mass_at_infinity_grows_with_the_other_masses() {
    let mut one = lattice::<Up>(0.125, -1, &MASSES);
    (one.infinity, one.relative_error) = (1e-9, 0.01);
    let composed = rounds(one, 300).composed(0.0, 8.0);
    assert!(composed.infinity >= 300.0 * 1e-9 * powi(1.01_f64, 300), "{}", composed.infinity);
}

/// Every loss may be off: over T rounds that is T times as much.
#[test]
fn errors_of_losses_are_charged_for_every_round() {
    for count in 1..=5 {
        let error = 1.0 / 64.0;
        let exact = outcomes(&lattice::<Up>(0.125, -1, &MASSES), count);
        let moved = |epsilon: f64, sign: f64| divergence(&exact, epsilon - sign * error * count as f64);
        let mut up = lattice::<Up>(0.125, -1, &MASSES);
        up.loss_error = error;
        check(&rounds(up, count), |epsilon| moved(epsilon, 1.0), 1e-8, "losses");
        let mut down = lattice::<Down>(0.125, -1, &MASSES);
        down.loss_error = error;
        check(&rounds(down, count), |epsilon| moved(epsilon, -1.0), 1e-8, "losses");
    }
}

/// The masses of `Bin(count, 1/2)`, exact to some ulps.
fn halves(count: u64) -> Vec<f64> {
    let mut masses = vec![powi(0.5_f64, count as i32)];
    for k in 0..count {
        masses.push(masses[k as usize] * (count - k) as f64 / (k + 1) as f64);
    }
    masses
}

/// Two losses that are far apart in spacings, so that the support is long and windows cut it.
///
/// Mass above a window is charged as infinite loss. Mass below it is charged as mass at any place.
/// A lower bound drops both.
#[test]
fn what_windows_cut_off_is_charged() {
    const APART: usize = 256;
    const COUNT: u64 = 200;
    let mut masses = vec![0.0; APART + 1];
    (masses[0], masses[APART]) = (0.5, 0.5);
    let spacing = 1.0 / 4096.0;
    let truth = |epsilon: f64| -> f64 {
        let loss = |k: usize| (k * APART) as f64 * spacing - COUNT as f64 / 32.0;
        let terms = halves(COUNT).into_iter().enumerate().filter(|(k, _)| loss(*k) > epsilon);
        terms.map(|(k, mass)| -mass * exp_m1(epsilon - loss(k))).sum()
    };
    let (up, down) =
        (rounds(lattice::<Up>(spacing, -128, &masses), COUNT), rounds(lattice::<Down>(spacing, -128, &masses), COUNT));
    let mut has_cut = [false; 2];
    for theta in [0.0, 0.5, 2.0, 8.0] {
        for deviations in [0.05, 0.5, 1.0, 2.0, 8.0] {
            let (above, below) = (up.composed(theta, deviations), down.composed(theta, deviations));
            has_cut[0] |= above.infinity > 1e-3;
            has_cut[1] |= above.lost > 1e-3;
            for epsilon in [0.0, 0.3, 0.7, 1.2, 2.0, 3.0] {
                let exact = truth(epsilon);
                let most = up.read_delta(&above, epsilon).unwrap();
                // A lower bound of which nothing is left says nothing.
                let least = down.read_delta(&below, epsilon).unwrap_or(0.0);
                let at = format!("θ = {theta}, {deviations} deviations, ε = {epsilon}");
                assert!(most >= exact.min(1.0) * (1.0 - 1e-12), "{at}: {most} below {exact}");
                assert!(least <= exact * (1.0 + 1e-12), "{at}: {least} above {exact}");
            }
        }
    }
    assert!(has_cut == [true, true], "windows must cut something off on either side: {has_cut:?}");
}

/// Mass that was lost below a window at an earlier stage stays lost, in every repetition.
#[test]
fn lost_mass_is_remembered() {
    let part = |lost: f64| {
        let mut tilted = Tilted::new(&lattice::<Up>(0.125, -1, &MASSES), 1.0);
        tilted.lost = lost;
        tilted
    };
    for (lost, count) in [(0.01_f64, 2), (0.01, 5), (1e-4, 300), (1e-3, 1_000)] {
        let least = exp_m1(count as f64 * ln_1p(lost));
        let composed = compose(vec![(part(lost), count)], 8.0, Direction::Up);
        // In the unit of the parts: rounding has grown the masses.
        let lost_in_all = composed.lost * exp(composed.ln_scale - part(lost).ln_scale * count as f64);
        assert!(lost_in_all >= least * (1.0 - 1e-11), "{count} times {lost}: {lost_in_all} below {least}");
    }
    let both = compose(vec![(part(0.01), 3), (part(0.02), 2)], 8.0, Direction::Up);
    assert!(both.lost >= powi(1.01_f64, 3) * powi(1.02_f64, 2) - 1.0 - 1e-12, "{}", both.lost);
    // It is counted in the unit of the masses.
    let mut halved = part(0.01);
    halved.masses.iter_mut().for_each(|mass| *mass *= 0.5);
    halved.normalise();
    assert!((halved.lost - 0.02).abs() < 1e-15, "{}", halved.lost);
}

/// Coarser lattices dominate, or are dominated, by any ratio.
#[test]
fn coarser_lattices_stay_on_their_side() {
    let width = 0.25;
    for theta in [0.0, 1.0, 3.0] {
        for ratio in [2.0, 4.0, 16.0, 1024.0, powi(2.0_f64, 100), powi(2.0_f64, 600)] {
            for first in [-7, -1, 0, 5] {
                let fine = lattice::<Up>(width / ratio, first, &MASSES);
                let exact: Vec<(f64, f64)> = fine.iter().collect();
                let tilted = Tilted::new(&fine, theta);
                let [up, down] = [Direction::Up, Direction::Down].map(|way| outcomes_of(&tilted.coarsened(ratio, way)));
                assert!(up.len() <= 6 && down.len() <= 6);
                for epsilon in [-0.3, -0.1, 0.0, 0.05, 0.1, 0.2, 0.5, 1.0] {
                    let truth = divergence(&exact, epsilon);
                    let (most, least) = (divergence(&up, epsilon), divergence(&down, epsilon));
                    let at = format!("θ = {theta}, ×{ratio:e}, first {first}, ε = {epsilon}");
                    // The charge is 16 units of roundoff for each mass; the sums here have as many.
                    assert!(most >= truth * (1.0 - 1e-14), "{at}: {most} below {truth}");
                    assert!(least <= truth * (1.0 + 1e-14), "{at}: {least} above {truth}");
                }
            }
        }
    }
}

/// (loss, mass) without the tilt.
fn outcomes_of(tilted: &Tilted) -> Vec<(f64, f64)> {
    let untilted = |(i, mass): (usize, &f64)| {
        let loss = (tilted.first + i as i64) as f64 * tilted.spacing;
        (loss, mass * exp(tilted.ln_scale - tilted.theta * loss))
    };
    tilted.masses.iter().enumerate().map(untilted).collect()
}

/// A pair whose windows cut off most of what there is: what is left out of the lattice is at
/// infinity.
#[test]
fn what_a_pairs_windows_cut_off_is_at_infinity() {
    let pair = upper::any_ldp(&Scheme::shuffle(60).unwrap(), 1.0).unwrap();
    let exact = |epsilon: f64| pair.delta_upper(epsilon);
    for ln_cut in [-1.0, -3.0, -6.0, -12.0] {
        let resolution = Resolution { ln_cut, ..Resolution::FINE };
        let lattice = LossLattice::<Up>::resolved(&pair, 256.0, resolution);
        let kept: f64 = lattice.iter().map(|(_, mass)| mass).sum();
        assert!(kept + lattice.infinity >= 1.0 - PROBABILITY_ERROR * 10.0, "{ln_cut}: {kept} {}", lattice.infinity);
        assert!(kept < 1.0 - 1e-9 || ln_cut < -10.0, "windows must cut something off: {kept}");
        let down = LossLattice::<Down>::resolved(&pair, 256.0, resolution);
        let (up, down) = (rounds(lattice, 1), rounds(down, 1));
        for epsilon in [0.0, 0.2, 0.4, 0.6, 0.8, 0.95] {
            let (most, least) = (up.delta(epsilon).unwrap(), down.delta(epsilon).unwrap());
            let truth = exact(epsilon);
            assert!(least <= truth && truth <= most * (1.0 + 1e-9), "{ln_cut}, {epsilon}: {least} {truth} {most}");
        }
        // Beyond what is kept, all that is left is charged.
        let largest = 0.999;
        assert!(up.delta(largest).unwrap() >= exact(largest), "{ln_cut}");
    }
    let single: &LinearPair = &pair;
    // Over many rounds all of it is charged every time.
    let coarse = LossLattice::<Up>::resolved(single, 64.0, Resolution { ln_cut: -6.0, ..Resolution::FINE });
    let (once, fine) = (coarse.infinity, LossLattice::<Up>::new(single, 64.0));
    let many = rounds(coarse, 50).delta(200.0).unwrap();
    assert!(many >= 0.999 * (50.0 * once).min(1.0), "{many} {once}");
    assert!(fine.infinity < 1e-25);
}

/// Leaving out rare losses charges them.
#[test]
fn rare_losses_are_charged_as_infinite() {
    let full = Arc::new(lattice::<Up>(0.125, 0, &[0.5, 0.25, 0.0, 0.125, 0.0625, 0.03125]));
    for (most, kept, infinity) in
        [(0.0, 6, 0.0), (0.03, 6, 0.0), (0.032, 5, 0.03125), (0.1, 4, 0.09375), (0.3, 2, 0.21875), (2.0, 1, 0.46875)]
    {
        let cut = LossLattice::without_rare(&full, most);
        assert_eq!(cut.masses.len(), kept, "{most}");
        assert!((infinity..=infinity * (1.0 + 1e-14)).contains(&cut.infinity), "{most}: {}", cut.infinity);
        let down = LossLattice::without_rare(&Arc::new(lattice::<Down>(0.125, 0, &full.masses)), most);
        assert!(down.infinity <= 0.0 && down.masses == cut.masses, "{most}");
    }
    // Known to a relative error, they may be more.
    let mut rough = LossLattice::clone(&full);
    rough.relative_error = 0.5;
    assert!(LossLattice::without_rare(&Arc::new(rough), 0.05).infinity >= 1.5 * 0.03125);
}
