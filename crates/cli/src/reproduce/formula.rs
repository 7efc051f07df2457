//! Formulas that a paper computed for its figure only. They are not bounds of their own, so they
//! are here and not in the catalogue.

use anyhow::{Result, bail};
use shuffledp_accounting::bound::{About, Kind, Standing};
use shuffledp_accounting::catalogue::Target;
use shuffledp_accounting::published::fmt21;
use shuffledp_accounting::scheme::Mechanism;
use shuffledp_question::Asked;

/// A computation that only one figure or table knows.
pub(super) struct Formula {
    pub(super) about: About,
    pub(super) value: fn(&Asked) -> Result<f64>,
}

/// All of them.
pub(super) const FORMULAS: &[Formula] = &[Formula { about: TABLE_1_CLONES, value: table_1_clones }];

const TABLE_1_CLONES: About = About {
    id: "gaussian-table-1-clones",
    name: "Clones as in Table 1",
    kind: Kind::Upper,
    standing: Standing::Rigorous,
    citation: "Liew, Takahashi 2022 (arXiv 2206.09569), Table 1, row \"Clones\": Feldman, McMillan, Talwar 2021 in closed form",
    note: "the same δ and δ0 for every round, found by halving; ε adds up",
};

/// The row "Clones" of Table 1 of *Gaussian*.
///
/// The text says: fix σ, take δ = δ0, scan over δ0 until δ + (e^ε + 1)(1 + e^(−ε0)/2)nδ0 is at most
/// 1/n, then compose strongly. The printed digits follow if ε0 = √(2 ln(1.25/δ0))·Δ/σ, the textbook
/// Gaussian; δ0 = 10^(−10) halved until T rounds together are within δ; and strong composition is
/// T·ε, which it is for these few rounds. Direction: none promised, it is the paper's computation.
fn table_1_clones(asked: &Asked) -> Result<f64> {
    let (Target::EpsilonAt { delta }, Mechanism::Gaussian { sigma }) =
        (asked.target, asked.question.round().randomizer.mechanism())
    else {
        bail!("{} is about ε of Gaussian noise", TABLE_1_CLONES.id);
    };
    let (clients, rounds) = (asked.question.scheme().clients(), asked.question.rounds());
    let share = delta / rounds as f64;
    let mut local_delta = 1e-10;
    loop {
        // σ is in units of half the sensitivity.
        let local_epsilon = (2.0 * (1.25_f64 / local_delta).ln()).sqrt() * 2.0 / sigma;
        let epsilon = fmt21::epsilon_upper(local_epsilon, clients, local_delta);
        let addition = fmt21::delta_addition_upper(epsilon, local_epsilon, local_delta, clients);
        if local_delta + addition <= share {
            return Ok(rounds as f64 * epsilon);
        }
        local_delta /= 2.0;
        if local_delta < f64::MIN_POSITIVE {
            bail!("{} finds no δ0 for δ = {delta}", TABLE_1_CLONES.id);
        }
    }
}
