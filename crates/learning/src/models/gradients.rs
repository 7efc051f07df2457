//! Every client's gradient, one at a time.

use super::Model;
use super::engine::{Workspace, all_finite};
use crate::collect::Segments;
use crate::data::Clients;
use crate::{LearningError, Result};
use std::ops::Range;

/// One client's gradient, for as long as it is looked at.
#[derive(Debug)]
pub struct ClientGradient<'a> {
    /// Place in the list of clients.
    pub position: usize,
    /// Which client.
    pub client: u64,
    /// Its loss.
    pub loss: f32,
    /// Derivative of the loss by each weight; may be overwritten, to clip it in place.
    pub gradient: &'a mut [f32],
}

/// What becomes of a loss or gradient that is not finite.
#[derive(Debug, Clone, Copy)]
enum NotFinite {
    Refused,
    Zeros,
}

/// What a thread needs.
struct Tools {
    workspace: Workspace,
    example: Vec<f32>,
    gradient: Vec<f32>,
    labels: Vec<usize>,
    judged: Vec<super::engine::Judgement>,
}

impl Model {
    /// Makes the gradient of every client in the list and shows it to `visit`, which adds what it makes of it to an `empty()`; what
    /// the threads gathered is merged.
    ///
    /// `visit` sees the clients of a [segment](crate::collect::segments) in order, and `merge` gets the segments in order, so sums are
    /// the same whatever the number of threads. No more than one gradient per thread exists at any time. A loss or gradient that is not finite is an error.
    pub fn fold_gradients<A: Send>(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        empty: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, ClientGradient<'_>) -> Result<()> + Sync,
        merge: impl Fn(&mut A, A) -> Result<()> + Sync,
    ) -> Result<A> {
        self.fold(weights, population, clients, NotFinite::Refused, empty, visit, merge)
    }

    /// The same for a client's program, whose server may be hostile: a gradient that is not finite, or whose loss is not, is all zeros.
    ///
    /// There are finite weights at which the gradient overflows for some records and not for others. Whoever stops at such a record, or says anything
    /// about it that is not randomized, has told which kind it is.
    pub fn fold_gradients_or_zeros<A: Send>(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        empty: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, ClientGradient<'_>) -> Result<()> + Sync,
        merge: impl Fn(&mut A, A) -> Result<()> + Sync,
    ) -> Result<A> {
        self.fold(weights, population, clients, NotFinite::Zeros, empty, visit, merge)
    }

    #[allow(clippy::too_many_arguments, reason = "those of the two functions above, and which of them it is")]
    fn fold<A: Send>(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        not_finite: NotFinite,
        empty: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, ClientGradient<'_>) -> Result<()> + Sync,
        merge: impl Fn(&mut A, A) -> Result<()> + Sync,
    ) -> Result<A> {
        self.check(weights, population)?;
        if let Some(client) = clients.iter().find(|client| **client >= population.count()) {
            let count = population.count();
            return Err(LearningError::Data(format!("there is no client {client}: the population has {count}")));
        }
        let tools = || Tools {
            workspace: self.engine.workspace(),
            example: vec![0.0; population.shape().len()],
            gradient: vec![0.0; weights.len()],
            labels: Vec::with_capacity(self.engine.lanes()),
            judged: Vec::with_capacity(self.engine.lanes()),
        };
        let segment = |tools: &mut Tools, places: Range<usize>| {
            let mut gathered = empty();
            let first = places.start;
            for (index, group) in clients[places].chunks(self.engine.lanes()).enumerate() {
                let position = first + index * self.engine.lanes();
                self.group(tools, weights, population, group, not_finite, |lane, loss, gradient| {
                    let client = group[lane];
                    visit(&mut gathered, ClientGradient { position: position + lane, client, loss, gradient })
                })?;
            }
            Ok(gathered)
        };
        let mut sum = Segments::default();
        sum.add(clients.len(), tools, segment, merge)?;
        Ok(sum.into_merged().unwrap_or_else(empty))
    }

    /// The gradients of at most as many clients as there are lanes.
    fn group(
        &self,
        tools: &mut Tools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        not_finite: NotFinite,
        mut visit: impl FnMut(usize, f32, &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        let Tools { workspace, example, gradient, labels, judged } = tools;
        labels.clear();
        for (lane, &client) in group.iter().enumerate() {
            labels.push(population.example(client, example));
            self.engine.load(workspace, lane, example);
        }
        self.engine.forward(weights, workspace);
        self.engine.backward(weights, workspace, labels, judged);
        for (lane, judgement) in judged.iter().enumerate() {
            self.engine.gradient(workspace, lane, gradient);
            let wrong = match (judgement.loss.is_finite(), all_finite(gradient)) {
                (false, _) => Some("loss"),
                (true, false) => Some("gradient"),
                (true, true) => None,
            };
            match (wrong, not_finite) {
                (Some(what), NotFinite::Refused) => {
                    let advice = "the training has diverged; take smaller steps, clip harder, or normalise examples that are too large";
                    return Err(LearningError::NotFinite { what, client: group[lane], advice });
                }
                (Some(_), NotFinite::Zeros) => gradient.fill(0.0),
                (None, _) => {}
            }
            visit(lane, judgement.loss, gradient)?;
        }
        Ok(())
    }
}
