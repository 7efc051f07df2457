//! Forward and backward through a network for a *group* of examples at once, one per SIMD lane.
//!
//! Number v of lane l lies at `v · lanes + l`. So every layer is vectorised the same way, the
//! arithmetic of an example does not depend on its neighbours nor on how wide the machine's
//! registers are, and no gradient but the one being looked at is ever whole: convolutions keep
//! theirs lane by lane, dense layers make theirs on demand.

mod activation;
mod aligned;
mod convolution;
mod dense;
mod loss;
mod pooling;
mod stage;
mod stride;
mod transpose;
mod window;

pub(crate) use dense::OuterProduct;
pub use loss::Judgement;
pub(crate) use loss::judge;
pub(crate) use stride::Stride;

use super::Architecture;
use aligned::Aligned;
use pulp::{Arch, Simd, WithSimd};
use stage::{Buffers, Stage};

/// A network made ready for this machine.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    arch: Arch,
    lanes: usize,
    inputs: usize,
    stages: Vec<Stage>,
}

/// The buffers that one thread needs to run an [`Engine`].
#[derive(Debug)]
pub(crate) struct Workspace {
    input: Aligned,
    stages: Vec<Buffers>,
    /// One example's input of a dense layer, and its deltas there.
    row: Vec<f32>,
    deltas: Vec<f32>,
}

struct CountLanes;

impl WithSimd for CountLanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

impl Engine {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        let arch = Arch::new();
        let lanes = arch.dispatch(CountLanes);
        Self { arch, lanes, inputs: architecture.input().len(), stages: Stage::chain(architecture) }
    }

    /// How many examples make a group.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace {
            input: Aligned::zeros(self.inputs * self.lanes),
            stages: self.stages.iter().map(|stage| stage.buffers(self.lanes)).collect(),
            row: Vec::new(),
            deltas: Vec::new(),
        }
    }

    /// Puts an example into a lane.
    pub(crate) fn load(&self, workspace: &mut Workspace, lane: usize, example: &[f32]) {
        for (place, &value) in workspace.input.iter_mut().skip(lane).step_by(self.lanes).zip(example) {
            *place = value;
        }
    }

    /// Runs the group through the network.
    pub(crate) fn forward(&self, weights: &[f32], workspace: &mut Workspace) {
        for (index, stage) in self.stages.iter().enumerate() {
            let (before, rest) = workspace.stages.split_at_mut(index);
            let input = before.last().map_or(&workspace.input, |buffers| &buffers.values);
            if let Some(buffers) = rest.first_mut() {
                stage.forward(self.arch, self.lanes, weights, input, buffers);
            }
        }
    }

    /// The scores of the group, after [`forward`](Self::forward).
    fn scores<'a>(&self, workspace: &'a Workspace) -> &'a [f32] {
        workspace.stages.last().map_or(&[], |buffers| &buffers.values)
    }

    /// Judges a lane's scores.
    pub(crate) fn judge(&self, workspace: &Workspace, lane: usize, label: usize) -> Judgement {
        judge(self.scores(workspace), self.lanes, lane, label, None)
    }

    /// Judges the scores of the first lanes, which have these labels, and runs the derivatives back
    /// through the network. The other lanes' gradients mean nothing.
    pub(crate) fn backward(
        &self,
        weights: &[f32],
        workspace: &mut Workspace,
        labels: &[usize],
        judged: &mut Vec<Judgement>,
    ) {
        judged.clear();
        if let Some(last) = workspace.stages.last_mut() {
            judged.extend(
                labels
                    .iter()
                    .enumerate()
                    .map(|(lane, &label)| judge(&last.values, self.lanes, lane, label, Some(&mut last.deltas))),
            );
        }
        for (index, stage) in self.stages.iter().enumerate().rev() {
            let (before, rest) = workspace.stages.split_at_mut(index);
            let Some(buffers) = rest.first_mut() else { continue };
            match before.last_mut() {
                Some(previous) => {
                    let (values, deltas) = (&previous.values, &mut previous.deltas);
                    stage.backward(self.arch, self.lanes, weights, values, buffers, Some(deltas));
                }
                None => stage.backward(self.arch, self.lanes, weights, &workspace.input, buffers, None),
            }
        }
    }

    /// Writes the gradient of a lane's example, after [`backward`](Self::backward).
    pub(crate) fn gradient(&self, workspace: &mut Workspace, lane: usize, gradient: &mut [f32]) {
        let Workspace { input, stages, row, deltas } = workspace;
        for (index, stage) in self.stages.iter().enumerate() {
            let input = if index == 0 { &*input } else { &stages[index - 1].values };
            stage.gradient(self.arch, self.lanes, lane, input, &stages[index], row, deltas, gradient);
        }
    }
}

/// Whether no number of the slice is infinite or NaN.
pub(crate) fn all_finite(numbers: &[f32]) -> bool {
    Arch::new().dispatch(LargestBits(numbers)) < f32::INFINITY.to_bits()
}

/// The largest absolute value as bits: their order is that of the numbers, with infinity and NaN on
/// top.
struct LargestBits<'a>(&'a [f32]);

impl WithSimd for LargestBits<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u32 {
        let (numbers, left) = S::as_simd_f32s(self.0);
        let mut most = simd.splat_u32s(0);
        for &number in numbers {
            most = simd.max_u32s(most, simd.transmute_u32s_f32s(simd.abs_f32s(number)));
        }
        let mut lanes = [0; 64];
        simd.partial_store_u32s(&mut lanes[..S::U32_LANES], most);
        let left = left.iter().map(|number| number.abs().to_bits());
        lanes.into_iter().chain(left).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_that_is_not_finite_is_found_wherever_it_is() {
        for length in [1, 7, 8, 31, 100] {
            let mut numbers = vec![-1e38; length];
            assert!(all_finite(&numbers));
            for place in 0..length {
                for wrong in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let kept = std::mem::replace(&mut numbers[place], wrong);
                    assert!(!all_finite(&numbers), "{wrong} at {place} of {length}");
                    numbers[place] = kept;
                }
            }
        }
    }
}
