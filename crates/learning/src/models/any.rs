//! The model of an architecture, computed in the fastest way that there is for it.

use super::{Architecture, ClippedSum, Judgement, Linear, LinearTools, Model, Network, NetworkTools};
use crate::Result;
use crate::collect::Clipping;
use crate::data::Clients;

/// A [`Linear`] model if the architecture is one, else a [`Network`].
#[derive(Debug, Clone)]
pub enum AnyModel {
    /// One dense layer without biases.
    Linear(Linear),
    /// Any other chain of layers.
    Network(Network),
}

/// The buffers that one thread needs to run an [`AnyModel`]; allocated on first use.
#[derive(Debug, Default)]
pub struct AnyTools {
    linear: Option<LinearTools>,
    network: Option<NetworkTools>,
}

impl AnyModel {
    /// Makes an architecture ready for this machine.
    pub fn new(architecture: Architecture) -> Self {
        match Linear::new(architecture) {
            Ok(linear) => Self::Linear(linear),
            Err(architecture) => Self::Network(Network::new(architecture)),
        }
    }
}

/// Does the same with whichever model it is.
macro_rules! each {
    ($any:expr, $tools:expr, |$model:ident, $own:ident| $body:expr) => {
        match $any {
            AnyModel::Linear($model) => {
                let $own = $tools.linear.get_or_insert_with(|| $model.tools());
                $body
            }
            AnyModel::Network($model) => {
                let $own = $tools.network.get_or_insert_with(|| $model.tools());
                $body
            }
        }
    };
}

impl Model for AnyModel {
    type Tools = AnyTools;

    fn architecture(&self) -> &Architecture {
        match self {
            Self::Linear(linear) => linear.architecture(),
            Self::Network(network) => network.architecture(),
        }
    }

    fn group_len(&self) -> usize {
        match self {
            Self::Linear(linear) => linear.group_len(),
            Self::Network(network) => network.group_len(),
        }
    }

    fn tools(&self) -> AnyTools {
        AnyTools::default()
    }

    fn gradients(
        &self,
        tools: &mut AnyTools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        visit: impl FnMut(usize, f32, &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        each!(self, tools, |model, own| model.gradients(own, weights, population, group, visit))
    }

    fn judge(
        &self,
        tools: &mut AnyTools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        visit: impl FnMut(Judgement),
    ) {
        each!(self, tools, |model, own| model.judge(own, weights, population, group, visit));
    }

    fn sum_of_clipped_gradients(
        &self,
        weights: &[f32],
        population: &impl Clients,
        clients: &[u64],
        clipping: Clipping,
    ) -> Result<ClippedSum> {
        match self {
            Self::Linear(linear) => linear.sum_of_clipped_gradients(weights, population, clients, clipping),
            Self::Network(network) => network.sum_of_clipped_gradients(weights, population, clients, clipping),
        }
    }
}
