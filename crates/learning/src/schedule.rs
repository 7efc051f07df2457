//! How long the steps are.

use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};

/// A step size for every round; rounds count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// Always the same.
    Constant {
        /// The step size.
        rate: f64,
    },
    /// Stages of constant step size, as in the papers' experiments.
    Stages {
        /// In order; the first begins at round 1.
        stages: Vec<Stage>,
    },
    /// η_t = D/(G√t), for which Girgis et al. 2021, Theorem 3, bounds the distance from the optimum
    /// of a convex problem: see [`convergence`](crate::convergence).
    InverseSqrt {
        /// D, the diameter of the set that weights are projected on.
        diameter: f64,
        /// G, at least the root of the expected squared length of an estimated gradient.
        gradient_bound: f64,
    },
    /// Half a cosine wave, from `rate` to nothing after `rounds`.
    Cosine {
        /// The step size at the beginning.
        rate: f64,
        /// When it has fallen to nothing.
        rounds: u64,
    },
}

/// A step size and since when.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Its first round.
    pub from: u64,
    /// The step size.
    pub rate: f64,
}

impl Schedule {
    /// The step size of `round`, the first of which is 1.
    pub fn rate(&self, round: u64) -> f64 {
        match self {
            Self::Constant { rate } => *rate,
            Self::Stages { stages } => {
                stages.iter().rev().find(|stage| stage.from <= round).map_or(0.0, |stage| stage.rate)
            }
            Self::InverseSqrt { diameter, gradient_bound } => diameter / (gradient_bound * (round as f64).sqrt()),
            Self::Cosine { rate, rounds } => {
                let progress = ((round - 1) as f64 / *rounds as f64).min(1.0);
                rate * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * progress))
            }
        }
    }

    /// The size of the longest step.
    pub(crate) fn largest(&self) -> f64 {
        match self {
            Self::Stages { stages } => stages.iter().map(|stage| stage.rate).fold(0.0, f64::max),
            // The others never rise.
            _ => self.rate(1),
        }
    }

    /// Whether it makes sense for so many `rounds`.
    pub fn check(&self, rounds: u64) -> Result<()> {
        let positive = |parameter: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(LearningError::out_of_range(parameter, "a finite number above 0", value))
        };
        match self {
            Self::Constant { rate } => positive("rate", *rate),
            Self::Stages { stages } => {
                if stages.first().is_none_or(|stage| stage.from != 1) {
                    return Err(LearningError::out_of_range("stages", "a list that begins with from = 1", "not so"));
                }
                if let Some(pair) = stages.windows(2).find(|pair| pair[0].from >= pair[1].from) {
                    return Err(LearningError::out_of_range("stages", "in order of their first rounds", pair[1].from));
                }
                stages.iter().try_for_each(|stage| positive("rate", stage.rate))
            }
            Self::InverseSqrt { diameter, gradient_bound } => {
                positive("diameter", *diameter)?;
                positive("gradient_bound", *gradient_bound)?;
                positive("diameter / gradient_bound", diameter / gradient_bound)
            }
            Self::Cosine { rate, rounds: last } => {
                positive("rate", *rate)?;
                if *last < rounds.max(1) {
                    let requirement = format!("at least the run's, {rounds}: steps of no length cost ε all the same");
                    return Err(LearningError::out_of_range("rounds of the schedule", requirement, last));
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these quotients are exact")]
mod tests {
    use super::*;

    fn parse(text: &str) -> Schedule {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn rates_follow_their_formulas() {
        let stages = parse("kind = 'stages'\nstages = [{ from = 1, rate = 0.3 }, { from = 421, rate = 0.18 }]");
        stages.check(5000).unwrap();
        assert_eq!([1, 420, 421, 5000].map(|round| stages.rate(round)), [0.3, 0.3, 0.18, 0.18]);
        let inverse = parse("kind = 'inverse-sqrt'\ndiameter = 2\ngradient_bound = 4");
        assert_eq!([1, 4, 25].map(|round| inverse.rate(round)), [0.5, 0.25, 0.1]);
        let cosine = parse("kind = 'cosine'\nrate = 2\nrounds = 10");
        assert_eq!(cosine.rate(1), 2.0);
        assert!((cosine.rate(6) - 1.0).abs() < 1e-15 && cosine.rate(11) < 1e-15);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "kind = 'constant'\nrate = 0",
            "kind = 'constant'\nrate = nan",
            "kind = 'stages'\nstages = []",
            "kind = 'stages'\nstages = [{ from = 2, rate = 1 }]",
            "kind = 'stages'\nstages = [{ from = 1, rate = 1 }, { from = 1, rate = 2 }]",
            "kind = 'inverse-sqrt'\ndiameter = 1\ngradient_bound = 0",
            "kind = 'inverse-sqrt'\ndiameter = 1e300\ngradient_bound = 1e-300",
            "kind = 'cosine'\nrate = 1\nrounds = 0",
        ] {
            assert!(parse(text).check(1).is_err(), "{text}");
        }
        let cosine = parse("kind = 'cosine'\nrate = 1\nrounds = 10");
        cosine.check(10).unwrap();
        assert!(cosine.check(11).unwrap_err().to_string().contains("at least the run's, 11"));
    }
}
