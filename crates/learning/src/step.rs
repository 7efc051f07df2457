//! The server's update: how an estimated gradient changes the weights.

use crate::decay::WeightDecay;
use crate::models::Architecture;
use crate::schedule::Schedule;
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};

/// How the weights move. All of it is post-processing of the shuffled reports, and free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRule {
    /// How long the steps are.
    pub schedule: Schedule,
    /// How much of the last step is taken again.
    #[serde(default)]
    pub momentum: f64,
    /// How fast weights shrink without a gradient.
    #[serde(default, skip_serializing_if = "WeightDecay::is_none")]
    pub weight_decay: WeightDecay,
    /// Radius of the ℓ2 ball around 0 on which weights are projected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<f64>,
    /// From this round on the mean of the weights so far is what is evaluated and kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_from: Option<u64>,
}

impl StepRule {
    /// Whether it makes sense, for so many `rounds`, as far as can be said without the network; the
    /// rest says [`check_layers`](Self::check_layers).
    pub fn check(&self, rounds: u64) -> Result<()> {
        self.schedule.check(rounds)?;
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(LearningError::out_of_range("momentum", "in [0, 1)", self.momentum));
        }
        self.weight_decay.check(self.schedule.largest())?;
        match self.projection {
            Some(radius) if !(radius > 0.0 && radius.is_finite()) => {
                Err(LearningError::out_of_range("projection", "a finite number above 0", radius))
            }
            _ => Ok(()),
        }
    }

    /// Whether it fits this network.
    pub fn check_layers(&self, architecture: &Architecture) -> Result<()> {
        self.weight_decay.check_layers(architecture)
    }
}

/// The state that the server keeps from round to round.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerState {
    /// Rounds done.
    pub round: u64,
    /// The weights that the next round's gradients are taken at.
    pub weights: Vec<f32>,
    /// The last step over its size, for momentum.
    pub velocity: Vec<f32>,
    /// The mean of the weights of the last `averaged` rounds; empty before there are any.
    pub average: Vec<f64>,
    /// How many rounds are in the mean.
    pub averaged: u64,
}

impl ServerState {
    /// Before the first round, in the ball if there is one.
    pub fn started(mut weights: Vec<f32>, rule: &StepRule) -> Self {
        if let Some(radius) = rule.projection {
            project(&mut weights, radius);
        }
        Self::new(weights)
    }

    /// Before the first round.
    pub fn new(weights: Vec<f32>) -> Self {
        let velocity = vec![0.0; weights.len()];
        Self { round: 0, weights, velocity, average: Vec::new(), averaged: 0 }
    }

    /// The model to use: the mean of the weights where they are averaged, else the weights.
    pub fn answer(&self) -> Vec<f32> {
        match self.averaged {
            0 => self.weights.clone(),
            _ => self.average.iter().map(|&mean| mean as f32).collect(),
        }
    }

    /// One round further, with this estimate of the mean gradient; `None` if nobody was heard, and
    /// then the weights stay. `architecture` says which weights are of which layer.
    pub fn advance(&mut self, estimate: Option<&[f64]>, rule: &StepRule, architecture: &Architecture) -> Result<()> {
        if let Some(estimate) = estimate {
            self.descend(estimate, rule, architecture)?;
            if let Some(radius) = rule.projection {
                project(&mut self.weights, radius);
            }
        }
        self.round += 1;
        if rule.average_from.is_some_and(|from| from <= self.round) {
            self.average_in();
        }
        Ok(())
    }

    fn descend(&mut self, estimate: &[f64], rule: &StepRule, architecture: &Architecture) -> Result<()> {
        if estimate.len() != self.weights.len() {
            let (needed, given) = (self.weights.len(), estimate.len());
            return Err(LearningError::Data(format!(
                "the model has {needed} weights, but the estimate {given} coordinates"
            )));
        }
        if architecture.parameters() != self.weights.len() {
            let (needed, given) = (architecture.parameters(), self.weights.len());
            return Err(LearningError::Data(format!("the model has {needed} weights, but the server {given}")));
        }
        rule.check_layers(architecture)?;
        let rate = rule.schedule.rate(self.round + 1);
        let (mut weights, mut velocity) = (self.weights.clone(), self.velocity.clone());
        let decays = rule.weight_decay.of_each_weight(architecture);
        for (((weight, velocity), gradient), decay) in weights.iter_mut().zip(&mut velocity).zip(estimate).zip(decays) {
            *velocity = (rule.momentum * f64::from(*velocity) + gradient) as f32;
            *weight = (f64::from(*weight) - rate * (f64::from(*velocity) + decay * f64::from(*weight))) as f32;
        }
        // A step out of the finite numbers is not taken.
        if !weights.iter().all(|weight| weight.is_finite()) {
            let round = self.round + 1;
            return Err(LearningError::Data(format!(
                "the step of round {round} makes weights that are not finite: the training has diverged; take smaller steps or clip harder"
            )));
        }
        (self.weights, self.velocity) = (weights, velocity);
        Ok(())
    }

    fn average_in(&mut self) {
        self.averaged += 1;
        self.average.resize(self.weights.len(), 0.0);
        for (mean, weight) in self.average.iter_mut().zip(&self.weights) {
            *mean += (f64::from(*weight) - *mean) / self.averaged as f64;
        }
    }
}

/// The nearest point of the ball.
fn project(weights: &mut [f32], radius: f64) {
    let norm = weights.iter().map(|&weight| f64::from(weight).powi(2)).sum::<f64>().sqrt();
    if norm > radius {
        let shrink = radius / norm;
        weights.iter_mut().for_each(|weight| *weight = (f64::from(*weight) * shrink) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{Layer, TensorShape};

    fn rule(step: &str) -> StepRule {
        let rule: StepRule =
            toml::from_str(&format!("schedule = {{ kind = 'constant', rate = 0.5 }}\n{step}")).unwrap();
        rule.check(9).unwrap();
        rule.check_layers(&network()).unwrap();
        rule
    }

    /// Layers of two weights and of four.
    fn network() -> Architecture {
        Architecture::new(
            TensorShape::vector(1),
            vec![Layer::Dense { units: 1, bias: true }, Layer::Dense { units: 2, bias: true }],
        )
        .unwrap()
    }

    fn weights(first: [f32; 2]) -> Vec<f32> {
        [first.as_slice(), &[0.0; 4]].concat()
    }

    fn gradient(first: [f64; 2]) -> Vec<f64> {
        [first.as_slice(), &[0.0; 4]].concat()
    }

    #[test]
    fn steps_by_hand() {
        let rule = rule("momentum = 0.5");
        let mut state = ServerState::new(weights([1.0, 0.0]));
        state.advance(Some(&gradient([2.0, 0.0])), &rule, &network()).unwrap();
        assert_eq!(state.weights, weights([0.0, 0.0]));
        // The velocity is 0.5·2 + 0.
        state.advance(Some(&gradient([0.0, 4.0])), &rule, &network()).unwrap();
        assert_eq!(state.weights, weights([-0.5, -2.0]));
        assert_eq!((state.round, state.answer()), (2, weights([-0.5, -2.0])));
        let before = state.clone();
        assert!(state.advance(Some(&[0.0]), &rule, &network()).is_err());
        let other = Architecture::new(TensorShape::vector(1), vec![Layer::Dense { units: 2, bias: true }]).unwrap();
        let error = state.advance(Some(&gradient([0.0, 0.0])), &rule, &other).unwrap_err().to_string();
        assert!(error.contains("has 4 weights, but the server 6"), "{error}");
        for wild in [f64::NAN, f64::INFINITY, 1e300] {
            let error = state.advance(Some(&gradient([1.0, wild])), &rule, &network()).unwrap_err().to_string();
            assert!(error.contains("round 3") && error.contains("smaller steps"), "{error}");
        }
        assert_eq!(state, before);
    }

    #[test]
    fn projected_and_averaged() {
        let mut state = ServerState::new(weights([0.0, 0.0]));
        let rule = rule("projection = 5.0\naverage_from = 2");
        state.advance(Some(&gradient([-12.0, -16.0])), &rule, &network()).unwrap();
        assert_eq!((state.weights.clone(), state.averaged), (weights([3.0, 4.0]), 0));
        state.advance(Some(&gradient([2.0, 0.0])), &rule, &network()).unwrap();
        // Nobody came: a round without a step, which is averaged all the same.
        state.advance(None, &rule, &network()).unwrap();
        state.advance(Some(&gradient([-2.0, 0.0])), &rule, &network()).unwrap();
        assert_eq!(state.averaged, 3);
        let mean = state.answer();
        assert!((mean[0] - 7.0 / 3.0).abs() < 1e-6 && (mean[1] - 4.0).abs() < 1e-6, "{mean:?}");
    }

    #[test]
    fn weights_decay_beside_the_momentum() {
        let mut state = ServerState::new(vec![8.0; 6]);
        let rule = rule("momentum = 0.5\nweight_decay = [0.5, 0]");
        state.advance(Some(&gradient([0.0, 4.0])), &rule, &network()).unwrap();
        // 8 − 0.5·0.5·8, and another 0.5·4 where there is a gradient.
        assert_eq!(state.weights, [6.0, 4.0, 8.0, 8.0, 8.0, 8.0]);
        state.advance(Some(&gradient([0.0, 0.0])), &rule, &network()).unwrap();
        assert_eq!(state.weights, [4.5, 2.0, 8.0, 8.0, 8.0, 8.0]);
        // Nobody was heard: no step, and nothing decays.
        let before = state.weights.clone();
        state.advance(None, &rule, &network()).unwrap();
        assert_eq!(state.weights, before);
    }
}
