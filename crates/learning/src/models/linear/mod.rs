//! Softmax regression without biases, at the speed of matrix products.
//!
//! With scores s = W·x the gradient of a client's loss is p ⊗ x, p = softmax(s) − \[label\]. Its ℓ1
//! and ℓ2 norms are products of those of p and x, so no gradient has to be made to be clipped: with
//! factors f_i the sum of the clipped gradients is Σ f_i·p_i ⊗ x_i. A round is two matrix products,
//! scores and sum, both taken of a block of examples while the block is in the cache.
//!
//! The scores of an example do not depend on its neighbours. Their last bits depend on how wide the
//! machine's registers are, because a sum over the inputs is taken in as many lanes.

mod kernels;

use super::engine::{OuterProduct, all_finite, judge};
use super::gradients::{self, ClippedSum, check_clients, diverged};
use super::model::check;
use super::{Architecture, Judgement, Model};
use crate::collect::Clipping;
use crate::data::Clients;
use crate::{Result, ordered};
use kernels::{Scores, WeightedSum};
use pulp::Arch;

/// Examples in the cache at a time: with 3,472 inputs, 10 classes and the sums they fill a
/// megabyte.
const BLOCK: usize = 32;

/// Clients that one thread adds up on its own, in f64, before their sum joins the others'. Fixed,
/// because the order of floating-point sums depends on it.
const SEGMENT: usize = 8 * BLOCK;

/// Softmax regression without biases; weights are ordered as \[class\]\[input\].
#[derive(Debug, Clone)]
pub struct Linear {
    architecture: Architecture,
    arch: Arch,
}

/// The buffers that one thread needs to run a [`Linear`] model.
#[derive(Debug)]
pub struct LinearTools {
    /// Room for the examples of a block that are not kept as floats.
    room: Vec<f32>,
    /// \[example\]\[class\]: scores, and what the loss's derivatives by them are.
    scores: Vec<f32>,
    deltas: Vec<f32>,
    /// One client's gradient, or a block's sum.
    gradient: Vec<f32>,
}

/// The examples of a block, and their labels.
struct Block<'a> {
    rows: Vec<&'a [f32]>,
    labels: Vec<usize>,
}

impl<'a> Block<'a> {
    fn new(population: &'a impl Clients, clients: &[u64], room: &'a mut [f32]) -> Self {
        let each = population.shape().len();
        let views = clients.iter().zip(room.chunks_exact_mut(each));
        let (rows, labels) = views.map(|(client, room)| population.view(*client, room)).unzip();
        Self { rows, labels }
    }
}

impl Linear {
    /// Makes an architecture of one dense layer without biases ready for this machine; returns any
    /// other as it is.
    pub fn new(architecture: Architecture) -> std::result::Result<Self, Architecture> {
        if architecture.is_linear() { Ok(Self { architecture, arch: Arch::new() }) } else { Err(architecture) }
    }

    fn classes(&self) -> usize {
        self.architecture.classes()
    }

    /// The scores of a block.
    fn forward(&self, weights: &[f32], block: &Block<'_>, scores: &mut [f32]) {
        self.arch.dispatch(Scores { weights, rows: &block.rows, scores });
    }

    /// Adds the clipped gradients of at most [`BLOCK`] clients to `sum`.
    fn add_block(
        &self,
        tools: &mut LinearTools,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        clipping: Clipping,
        sum: &mut ClippedSum,
    ) -> Result<()> {
        let LinearTools { room, scores, deltas, gradient } = tools;
        let block = Block::new(population, clients, room);
        self.forward(weights, &block, scores);
        let classes = self.classes();
        let examples = scores.chunks_exact(classes).zip(deltas.chunks_exact_mut(classes));
        let clients_of_block = block.rows.iter().zip(&block.labels).zip(clients);
        for ((scores, deltas), ((row, label), client)) in examples.zip(clients_of_block) {
            let loss = judge(scores, 1, 0, *label, Some(&mut *deltas)).loss;
            if !loss.is_finite() {
                return Err(diverged("loss", *client));
            }
            clipping.clip_outer(deltas, row);
            sum.loss += f64::from(loss);
        }
        self.arch.dispatch(WeightedSum { factors: deltas, classes, rows: &block.rows, sum: gradient });
        if !all_finite(gradient) {
            // Each gradient may be finite where their sum is not: of examples near the end of f32.
            return Err(diverged("gradient", clients[0]));
        }
        sum.sum.add_total(gradient, clients.len() as u64);
        Ok(())
    }
}

impl Model for Linear {
    type Tools = LinearTools;

    fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    fn group_len(&self) -> usize {
        BLOCK
    }

    fn tools(&self) -> LinearTools {
        let numbers = BLOCK * self.classes();
        LinearTools {
            room: vec![0.0; BLOCK * self.architecture.input().len()],
            scores: vec![0.0; numbers],
            deltas: vec![0.0; numbers],
            gradient: vec![0.0; self.parameters()],
        }
    }

    fn gradients(
        &self,
        tools: &mut LinearTools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        mut visit: impl FnMut(usize, f32, &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        let LinearTools { room, scores, deltas, gradient } = tools;
        let block = Block::new(population, group, room);
        self.forward(weights, &block, scores);
        let deltas = &mut deltas[..self.classes()];
        let examples = scores.chunks_exact(self.classes()).zip(block.rows.iter().zip(&block.labels));
        for (place, (scores, (row, label))) in examples.enumerate() {
            let loss = judge(scores, 1, 0, *label, Some(&mut *deltas)).loss;
            self.arch.dispatch(OuterProduct { deltas, input: row, gradient });
            visit(place, loss, gradient)?;
        }
        Ok(())
    }

    fn judge(
        &self,
        tools: &mut LinearTools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        mut visit: impl FnMut(Judgement),
    ) {
        let block = Block::new(population, group, &mut tools.room);
        self.forward(weights, &block, &mut tools.scores);
        for (scores, label) in tools.scores.chunks_exact(self.classes()).zip(&block.labels) {
            visit(judge(scores, 1, 0, *label, None));
        }
    }

    fn sum_of_clipped_gradients(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        clipping: Clipping,
    ) -> Result<ClippedSum> {
        if !clipping.scales() {
            return gradients::clipped_sum(self, weights, population, clients, clipping);
        }
        check(self, weights, population)?;
        check_clients(population, clients)?;
        let segment = |tools: &mut LinearTools, index: usize| {
            let mut sum = ClippedSum::new(self.parameters());
            let segment = &clients[index * SEGMENT..clients.len().min((index + 1) * SEGMENT)];
            for block in segment.chunks(BLOCK) {
                self.add_block(tools, weights, population, block, clipping, &mut sum)?;
            }
            Ok(sum)
        };
        let merge = |all: &mut ClippedSum, more: ClippedSum| {
            all.merge(more);
            Ok(())
        };
        let sum = ordered::fold(None, clients.len().div_ceil(SEGMENT), || self.tools(), segment, merge)?;
        Ok(sum.unwrap_or_else(|| ClippedSum::new(self.parameters())))
    }
}
