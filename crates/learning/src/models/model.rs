//! The interface that training needs of a model.

use super::evaluate::{self, Evaluation};
use super::gradients::{self, ClientGradient, ClippedSum, NotFinite};
use super::{Architecture, Judgement};
use crate::collect::Clipping;
use crate::data::Clients;
use crate::{LearningError, Result};

/// A model without its weights: those are a vector of [`parameters`](Self::parameters) numbers that
/// the caller keeps.
///
/// Another kind of model says how it judges a group of examples and how it makes their gradients;
/// rounds of clients, evaluation and training are the same for all.
pub trait Model: Sync {
    /// The buffers of one thread.
    type Tools;

    /// Which weights there are, layer by layer, and what goes in and comes out.
    fn architecture(&self) -> &Architecture;

    /// How many examples it does at a time, at the most.
    fn group_len(&self) -> usize;

    /// For one thread.
    fn tools(&self) -> Self::Tools;

    /// Shows the loss and the gradient of each client of a group to `visit`, in order, with the
    /// client's place in the group. The gradient may be overwritten, and is forgotten afterwards.
    fn gradients(
        &self,
        tools: &mut Self::Tools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        visit: impl FnMut(usize, f32, &mut [f32]) -> Result<()>,
    ) -> Result<()>;

    /// Shows what it makes of the example of each client of a group to `visit`, in order.
    fn judge(
        &self,
        tools: &mut Self::Tools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        visit: impl FnMut(Judgement),
    );

    /// d, the number of weights and biases.
    fn parameters(&self) -> usize {
        self.architecture().parameters()
    }

    /// Makes the gradient of every client in the list and shows it to `visit`, which adds what it
    /// makes of it to an `empty()`; what the threads gathered is merged.
    ///
    /// `visit` sees the clients of a [segment](crate::collect::segments) in order, and `merge` gets
    /// the segments in order, so sums are the same whatever the number of threads. No more than one
    /// gradient per thread exists at any time. A loss or gradient that is not finite is an error.
    fn fold_gradients<A: Send>(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        empty: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, ClientGradient<'_>) -> Result<()> + Sync,
        merge: impl Fn(&mut A, A) -> Result<()> + Sync,
    ) -> Result<A>
    where
        Self: Sized,
    {
        gradients::fold(self, weights, population, clients, NotFinite::Refused, empty, visit, merge)
    }

    /// The same for a client's program, whose server may be hostile: a gradient that is not finite,
    /// or whose loss is not, is all zeros.
    ///
    /// There are finite weights at which the gradient overflows for some records and not for
    /// others. Whoever stops at such a record, or says anything about it that is not randomized,
    /// has told which kind it is.
    fn fold_gradients_or_zeros<A: Send>(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        empty: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, ClientGradient<'_>) -> Result<()> + Sync,
        merge: impl Fn(&mut A, A) -> Result<()> + Sync,
    ) -> Result<A>
    where
        Self: Sized,
    {
        gradients::fold(self, weights, population, clients, NotFinite::Zeros, empty, visit, merge)
    }

    /// The sum of the clients' clipped gradients, for collectors that need no more of a round.
    ///
    /// The same bits whatever the number of threads. A loss or gradient that is not finite is an
    /// error. A model that knows the sum without making every gradient has its own way here.
    fn sum_of_clipped_gradients(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        clipping: Clipping,
    ) -> Result<ClippedSum>
    where
        Self: Sized,
    {
        gradients::clipped_sum(self, weights, population, clients, clipping)
    }

    /// Judges every example of the population.
    fn evaluate(&self, weights: &[f32], population: &impl Clients) -> Result<Evaluation>
    where
        Self: Sized,
    {
        evaluate::evaluate(self, weights, population)
    }
}

/// Whether these weights and this population can meet: a clear sentence before the work instead of
/// nonsense after it.
pub(super) fn check(model: &impl Model, weights: &[f32], population: &impl Clients) -> Result<()> {
    let architecture = model.architecture();
    if weights.len() != model.parameters() {
        let (needed, given) = (model.parameters(), weights.len());
        return Err(LearningError::Data(format!("the model has {needed} weights, but {given} were given")));
    }
    if let Some(index) = weights.iter().position(|weight| !weight.is_finite()) {
        let weight = weights[index];
        return Err(LearningError::Data(format!(
            "weight {index} is {weight}: the training has diverged; take smaller steps"
        )));
    }
    if population.shape().len() != architecture.input().len() {
        let (wanted, given) = (architecture.input(), population.shape());
        return Err(LearningError::Data(format!("the model's input is {wanted}, but the examples are {given}")));
    }
    if population.classes() > architecture.classes() {
        let (outputs, classes) = (architecture.classes(), population.classes());
        return Err(LearningError::Data(format!(
            "the model tells {outputs} classes apart, but the data has {classes}"
        )));
    }
    Ok(())
}
