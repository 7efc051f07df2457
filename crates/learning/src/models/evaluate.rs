//! How good a model is on examples it may or may not have seen.

use super::Model;
use super::model::check;
use crate::Result;
use crate::collect::Segments;
use crate::data::Clients;
use std::ops::Range;

/// The loss and accuracy of a model on a set of examples.
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

/// [`Model::evaluate`].
pub(super) fn evaluate<M: Model>(model: &M, weights: &[f32], population: &impl Clients) -> Result<Evaluation> {
    check(model, weights, population)?;
    let segment = |tools: &mut M::Tools, places: Range<usize>| {
        let mut tally = Tally::default();
        let clients: Vec<u64> = places.map(|client| client as u64).collect();
        for group in clients.chunks(model.group_len()) {
            model.judge(tools, weights, population, group, |judgement| {
                tally.correct += u64::from(judgement.correct);
                tally.loss += f64::from(judgement.loss);
            });
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
    sum.add(examples as usize, || model.tools(), segment, merge)?;
    let tally = sum.into_merged().unwrap_or_default();
    Ok(Evaluation { examples, correct: tally.correct, loss: tally.loss / (examples.max(1)) as f64 })
}
