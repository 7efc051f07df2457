//! How far from the optimum a run may end: Girgis et al. 2021 (arXiv 2107.08763), Theorem 3, for
//! convex models.
//!
//! The theorem is Shamir and Zhang 2013, Theorem 2, applied to CLDP-SGD: for convex F on a set of
//! diameter D, unbiased estimates of its gradients with E‖g‖² ≤ G², and steps η_t = c/√t with
//! projection,
//!
//! > E F(θ_T) − min F ≤ (D²/c + c·G²)·(2 + ln T)/√T,
//!
//! which is least, 2DG(2 + ln T)/√T, at c = D/G: the schedule `inverse-sqrt`. θ_T is the *last*
//! iterate. Theirs counts the starting point as θ_1; after T rounds ours is one further, and the
//! bound falls with T.
//!
//! # What is different from the paper
//!
//! - The constants are kept; the theorem is printed as O(DG·ln T/√T).
//! - Lemma 8 bounds E‖ḡ‖² by ‖∇F‖² + (variance of one randomizer)/k and so forgets that *who*
//!   participates is random. What it states is nevertheless right: given the sample, ‖mean of k
//!   gradients‖ ≤ the longest gradient, and the randomizers' noise adds its variance/k. So
//!   G² = L₂² + V/k, with L₂ the longest gradient there can be.
//! - V is the exact largest variance of our randomizers, not the paper's c·d·L²((e^ε0+1)/(e^ε0−1))²
//!   with c = 4 or 14.
//! - Unbiased estimates need gradients that are not clipped. The paper clips at C and calls the
//!   Lipschitz constant L; the theorem is about C ≥ L. Here a run whose clipping may bite is not
//!   covered.
//! - Statements are about expectations and exact arithmetic.

use crate::Result;
use crate::data::Clients;
use crate::models::ModelConfig;
use crate::schedule::Schedule;
use crate::training::{Algorithm, TrainingConfig};
use shuffledp_accounting::scheme::Mechanism;
use shuffledp_randomizers::clip::{self, Norm};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::vector_randomizer;
use shuffledp_randomizers::norms;

/// The result of Theorem 3 for a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Convergence {
    /// A bound.
    Bounded(ConvergenceBound),
    /// Nothing, and why.
    NotCovered(String),
}

/// The constants of the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConvergenceBound {
    /// D, of the ball that weights are projected on.
    pub diameter: f64,
    /// G², at least the expected squared length of an estimated gradient.
    pub second_moment: f64,
    /// c of the steps c/√t.
    pub step: f64,
}

impl ConvergenceBound {
    /// At least the expected distance of the mean loss from its minimum on the ball, after so many
    /// `rounds`. Infinite before the first.
    pub fn gap_after(&self, rounds: u64) -> f64 {
        if rounds == 0 {
            return f64::INFINITY;
        }
        let rounds = rounds as f64;
        let factor = self.diameter * self.diameter / self.step + self.step * self.second_moment;
        factor * (2.0 + rounds.ln()) / rounds.sqrt()
    }

    /// The G that makes it least, as `gradient_bound` of the schedule.
    pub fn best_gradient_bound(&self) -> f64 {
        self.second_moment.sqrt()
    }
}

/// Returns the bound of Theorem 3 on the last weights of this run.
pub fn convergence(config: &TrainingConfig, population: &impl Clients) -> Result<Convergence> {
    let not_covered = |why: &str| Ok(Convergence::NotCovered(why.to_owned()));
    let ModelConfig::Linear { bias } = config.model else {
        return not_covered("the model is not convex: only kind = \"linear\" is");
    };
    let Schedule::InverseSqrt { diameter, gradient_bound } = config.step.schedule else {
        return not_covered("the schedule is not inverse-sqrt");
    };
    let Some(radius) = config.step.projection else { return not_covered("weights are not projected on a ball") };
    if config.step.momentum != 0.0 {
        return not_covered("there is momentum");
    }
    if !config.step.weight_decay.is_none() {
        return not_covered("weights decay");
    }
    let longest = longest_gradients(population, bias);
    let noise = match config.algorithm {
        Algorithm::NoPrivacy { .. } => 0.0,
        Algorithm::CldpSgd { sampled, randomizer, clip } => {
            let dimension = config.model.architecture(population.shape(), population.classes())?.dimension()?;
            let randomizer = randomizer.of_dimension(u64::from(dimension))?;
            if matches!(randomizer.mechanism(), Mechanism::TopSet { .. }) {
                return not_covered("the estimates of top-set are biased");
            }
            let mechanism = vector_randomizer(randomizer, VectorShape { dimension, clip })?;
            let lipschitz = longest.in_norm(mechanism.norm());
            if lipschitz > f64::from(clip) {
                let why = format!(
                    "gradients up to {lipschitz:.4} long are clipped to {clip}: a clip of at least that is needed"
                );
                return Ok(Convergence::NotCovered(why));
            }
            f64::from(dimension) * mechanism.report_variance() / sampled as f64
        }
        Algorithm::CheckIn { .. } => {
            return not_covered("the number of participants is random: the theorem is about a fixed one");
        }
        Algorithm::ShuffledNoisySgd { .. } => return not_covered("blocks are visited in turn, not sampled afresh"),
    };
    let second_moment = longest.l2.powi(2) + noise;
    Ok(Convergence::Bounded(ConvergenceBound {
        diameter: 2.0 * radius,
        second_moment,
        step: diameter / gradient_bound,
    }))
}

/// Norms of the longest gradient of logistic regression.
struct Longest {
    l1: f64,
    l2: f64,
    linf: f64,
}

impl Longest {
    fn in_norm(&self, norm: Norm) -> f64 {
        match norm {
            Norm::L1 => self.l1,
            Norm::L2 => self.l2,
            Norm::Linf => self.linf,
        }
    }
}

/// The gradient is the outer product of p − y, probabilities less the label's indicator, and the
/// input, with a 1 for the bias if there is one; its norms are products of norms. ‖p − y‖ is at
/// most 2, √2 and 1 in ℓ1, ℓ2 and ℓ∞, at any weights.
fn longest_gradients(population: &impl Clients, bias: bool) -> Longest {
    let one = if bias { 1.0 } else { 0.0 };
    let mut example = vec![0.0; population.shape().len()];
    let mut longest = Longest { l1: 0.0, l2: 0.0, linf: 0.0 };
    for client in 0..population.count() {
        population.example(client, &mut example);
        longest.l1 = longest.l1.max(2.0 * (norms::l1_norm(&example) + one));
        longest.l2 = longest.l2.max((2.0 * (norms::l2_norm(&example).powi(2) + one)).sqrt());
        longest.linf = longest.linf.max(f64::from(clip::linf_norm(&example)).max(one));
    }
    longest
}
