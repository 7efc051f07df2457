//! Every client's gradient, one at a time.

use super::Model;
use super::engine::all_finite;
use super::model::check;
use crate::collect::{Clipping, Segments, VectorSum};
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

/// The clipped gradients of clients, added up, and their losses.
#[derive(Debug, Clone, PartialEq)]
pub struct ClippedSum {
    /// Σ clipped gradients.
    pub sum: VectorSum,
    /// Σ losses.
    pub loss: f64,
}

impl ClippedSum {
    pub(super) fn new(dimension: usize) -> Self {
        Self { sum: VectorSum::new(dimension), loss: 0.0 }
    }

    pub(super) fn merge(&mut self, more: Self) {
        self.sum.merge(more.sum);
        self.loss += more.loss;
    }
}

/// The treatment of a loss or gradient that is not finite.
#[derive(Debug, Clone, Copy)]
pub(super) enum NotFinite {
    Refused,
    Zeros,
}

/// [`Model::fold_gradients`] and [`Model::fold_gradients_or_zeros`].
#[allow(clippy::too_many_arguments, reason = "those of the two methods, and which of them it is")]
pub(super) fn fold<M: Model, A: Send>(
    model: &M,
    weights: &[f32],
    population: &impl Clients,
    clients: &[u64],
    not_finite: NotFinite,
    empty: impl Fn() -> A + Sync,
    visit: impl Fn(&mut A, ClientGradient<'_>) -> Result<()> + Sync,
    merge: impl Fn(&mut A, A) -> Result<()> + Sync,
) -> Result<A> {
    check(model, weights, population)?;
    check_clients(population, clients)?;
    let segment = |tools: &mut M::Tools, places: Range<usize>| {
        let mut gathered = empty();
        let mut position = places.start;
        for group in clients[places].chunks(model.group_len()) {
            model.gradients(tools, weights, population, group, |place, loss, gradient| {
                let client = group[place];
                make_finite(client, loss, gradient, not_finite)?;
                visit(&mut gathered, ClientGradient { position: position + place, client, loss, gradient })
            })?;
            position += group.len();
        }
        Ok(gathered)
    };
    let mut sum = Segments::default();
    sum.add(clients.len(), || model.tools(), segment, merge)?;
    Ok(sum.into_merged().unwrap_or_else(empty))
}

/// [`Model::sum_of_clipped_gradients`], gradient by gradient.
pub(super) fn clipped_sum(
    model: &impl Model,
    weights: &[f32],
    population: &impl Clients,
    clients: &[u64],
    clipping: Clipping,
) -> Result<ClippedSum> {
    let dimension = model.parameters();
    let gathered = model.fold_gradients(
        weights,
        population,
        clients,
        || (ClippedSum::new(dimension), vec![0.0; dimension]),
        |(sum, clipped), client| {
            sum.loss += f64::from(client.loss);
            clipping.clip_into(client.gradient, clipped);
            sum.sum.add(clipped);
            Ok(())
        },
        |(all, _), (more, _)| {
            all.merge(more);
            Ok(())
        },
    )?;
    Ok(gathered.0)
}

/// Whether all of them are in the population.
pub(super) fn check_clients(population: &impl Clients, clients: &[u64]) -> Result<()> {
    let count = population.count();
    match clients.iter().find(|client| **client >= count) {
        Some(client) => Err(LearningError::Data(format!("there is no client {client}: the population has {count}"))),
        None => Ok(()),
    }
}

/// The error of a client whose `what` is not finite.
pub(super) fn diverged(what: &'static str, client: u64) -> LearningError {
    let advice = "the training has diverged; take smaller steps, clip harder, or normalise examples that are too large";
    LearningError::NotFinite { what, client, advice }
}

fn make_finite(client: u64, loss: f32, gradient: &mut [f32], not_finite: NotFinite) -> Result<()> {
    let wrong = match (loss.is_finite(), all_finite(gradient)) {
        (false, _) => Some("loss"),
        (true, false) => Some("gradient"),
        (true, true) => None,
    };
    match (wrong, not_finite) {
        (Some(what), NotFinite::Refused) => return Err(diverged(what, client)),
        (Some(_), NotFinite::Zeros) => gradient.fill(0.0),
        (None, _) => {}
    }
    Ok(())
}
