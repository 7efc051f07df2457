//! Where a convolution's filters lie on their input: two tables that stand for the im2col matrix.

use super::super::TensorShape;

/// Where a convolution reads.
#[derive(Debug, Clone)]
pub(crate) struct Geometry {
    /// The input, without its padding.
    input: TensorShape,
    padding: usize,
    pub(super) filters: usize,
    /// First number under the filter, per output.
    pub(super) bases: Vec<usize>,
    /// Distance from there, per weight of a filter.
    pub(super) offsets: Vec<usize>,
}

impl Geometry {
    pub(crate) fn new(input: TensorShape, output: TensorShape, kernel: usize, stride: usize, padding: usize) -> Self {
        let padded = TensorShape::new(input.channels, input.height + 2 * padding, input.width + 2 * padding);
        let at = |channel: usize, y: usize, x: usize| (channel * padded.height + y) * padded.width + x;
        let bases =
            (0..output.height).flat_map(|y| (0..output.width).map(move |x| at(0, y * stride, x * stride))).collect();
        let offsets = (0..input.channels)
            .flat_map(|channel| (0..kernel).flat_map(move |y| (0..kernel).map(move |x| at(channel, y, x))))
            .collect();
        Self { input, padding, filters: output.channels, bases, offsets }
    }

    /// Whether the input has to be copied into zeros first.
    pub(crate) fn is_padded(&self) -> bool {
        self.padding > 0
    }

    /// Numbers of the padded input.
    pub(crate) fn padded_len(&self) -> usize {
        self.input.channels * (self.input.height + 2 * self.padding) * (self.input.width + 2 * self.padding)
    }

    pub(crate) fn weights(&self) -> usize {
        self.filters * self.offsets.len()
    }

    /// Copies the picture into the middle of the zeros.
    pub(crate) fn pad(&self, lanes: usize, picture: &[f32], padded: &mut [f32]) {
        for (plain, wide) in self.rows(lanes) {
            padded[wide..wide + self.input.width * lanes]
                .copy_from_slice(&picture[plain..plain + self.input.width * lanes]);
        }
    }

    /// Takes the picture out again.
    pub(crate) fn unpad(&self, lanes: usize, padded: &[f32], picture: &mut [f32]) {
        for (plain, wide) in self.rows(lanes) {
            picture[plain..plain + self.input.width * lanes]
                .copy_from_slice(&padded[wide..wide + self.input.width * lanes]);
        }
    }

    /// Where each row begins, without and with padding.
    fn rows(&self, lanes: usize) -> impl Iterator<Item = (usize, usize)> {
        let Self { input, padding, .. } = *self;
        let (height, width) = (input.height + 2 * padding, input.width + 2 * padding);
        (0..input.channels).flat_map(move |channel| {
            (0..input.height).map(move |y| {
                let plain = (channel * input.height + y) * input.width;
                (plain * lanes, ((channel * height + y + padding) * width + padding) * lanes)
            })
        })
    }
}
