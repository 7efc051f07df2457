//! Networks as models: the engine, fed with the examples of clients.

use super::engine::{Engine, Workspace};
use super::{Architecture, Judgement, Model};
use crate::Result;
use crate::data::Clients;

/// A network, without its weights: those are a vector of [`parameters`](Model::parameters) numbers
/// that the caller keeps.
///
/// The vector is ordered as PyTorch's `parameters()`: layer by layer, weights before biases, a
/// convolution's as \[filter\]\[channel\]\[row\]\[column\], a dense layer's as \[unit\]\[input\].
#[derive(Debug, Clone)]
pub struct Network {
    architecture: Architecture,
    engine: Engine,
}

/// The buffers that one thread needs to run a [`Network`].
#[derive(Debug)]
pub struct NetworkTools {
    workspace: Workspace,
    example: Vec<f32>,
    gradient: Vec<f32>,
    labels: Vec<usize>,
    judged: Vec<Judgement>,
}

impl Network {
    /// Makes an architecture ready for this machine.
    pub fn new(architecture: Architecture) -> Self {
        let engine = Engine::new(&architecture);
        Self { architecture, engine }
    }

    /// Puts the examples of a group into their lanes and runs them through the network.
    fn forward(&self, tools: &mut NetworkTools, weights: &[f32], population: &impl Clients, group: &[u64]) {
        tools.labels.clear();
        for (lane, &client) in group.iter().enumerate() {
            tools.labels.push(population.example(client, &mut tools.example));
            self.engine.load(&mut tools.workspace, lane, &tools.example);
        }
        self.engine.forward(weights, &mut tools.workspace);
    }
}

impl Model for Network {
    type Tools = NetworkTools;

    fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    fn group_len(&self) -> usize {
        self.engine.lanes()
    }

    fn tools(&self) -> NetworkTools {
        NetworkTools {
            workspace: self.engine.workspace(),
            example: vec![0.0; self.architecture.input().len()],
            gradient: vec![0.0; self.parameters()],
            labels: Vec::with_capacity(self.engine.lanes()),
            judged: Vec::with_capacity(self.engine.lanes()),
        }
    }

    fn gradients(
        &self,
        tools: &mut NetworkTools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        mut visit: impl FnMut(usize, f32, &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        self.forward(tools, weights, population, group);
        let NetworkTools { workspace, gradient, labels, judged, .. } = tools;
        self.engine.backward(weights, workspace, labels, judged);
        for (lane, judgement) in judged.iter().enumerate() {
            self.engine.gradient(workspace, lane, gradient);
            visit(lane, judgement.loss, gradient)?;
        }
        Ok(())
    }

    fn judge(
        &self,
        tools: &mut NetworkTools,
        weights: &[f32],
        population: &impl Clients,
        group: &[u64],
        mut visit: impl FnMut(Judgement),
    ) {
        self.forward(tools, weights, population, group);
        for (lane, &label) in tools.labels.iter().enumerate() {
            visit(self.engine.judge(&tools.workspace, lane, label));
        }
    }
}
