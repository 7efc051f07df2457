//! How good a model is on examples it may or may not have seen.

use super::Model;
use super::engine::Workspace;
use crate::Result;
use crate::collect::Segments;
use crate::data::Clients;
use std::ops::Range;

/// What a model makes of a set of examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// How many examples.
    pub examples: u64,
    /// How many of them get the highest score for their label.
    pub correct: u64,
    /// Mean cross-entropy.
    pub loss: f64,
}

impl Evaluation {
    /// The share of correct answers; 0 without examples.
    pub fn accuracy(&self) -> f64 {
        if self.examples == 0 { 0.0 } else { self.correct as f64 / self.examples as f64 }
    }
}

#[derive(Default)]
struct Tally {
    correct: u64,
    loss: f64,
}

impl Model {
    /// Judges every example of the population.
    pub fn evaluate(&self, weights: &[f32], population: &impl Clients) -> Result<Evaluation> {
        self.check(weights, population)?;
        let tools = || (self.engine.workspace(), vec![0.0; population.shape().len()]);
        let segment = |(workspace, example): &mut (Workspace, Vec<f32>), places: Range<usize>| {
            let mut tally = Tally::default();
            let clients: Vec<u64> = places.map(|client| client as u64).collect();
            for group in clients.chunks(self.engine.lanes()) {
                let mut labels = Vec::with_capacity(group.len());
                for (lane, &client) in group.iter().enumerate() {
                    labels.push(population.example(client, example));
                    self.engine.load(workspace, lane, example);
                }
                self.engine.forward(weights, workspace);
                for (lane, &label) in labels.iter().enumerate() {
                    let judgement = self.engine.judge(workspace, lane, label);
                    tally.correct += u64::from(judgement.correct);
                    tally.loss += f64::from(judgement.loss);
                }
            }
            Ok(tally)
        };
        let merge = |all: &mut Tally, more: Tally| {
            all.correct += more.correct;
            all.loss += more.loss;
            Ok(())
        };
        let examples = population.count();
        let mut sum = Segments::default();
        sum.add(examples as usize, tools, segment, merge)?;
        let tally = sum.into_merged().unwrap_or_default();
        Ok(Evaluation { examples, correct: tally.correct, loss: tally.loss / (examples.max(1)) as f64 })
    }
}
