//! Numbers that begin on a cache line, so that no SIMD load straddles two.

use std::ops::{Deref, DerefMut};

/// 64 bytes in numbers.
const LINE: usize = 16;

/// A slice of zeros to begin with, aligned to a cache line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aligned {
    numbers: Vec<f32>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub(crate) fn zeros(length: usize) -> Self {
        // A line more than needed, and begin at the first number of a line. `align_offset` may
        // decline; then loads are slower.
        let numbers = vec![0.0f32; length + LINE];
        let start = numbers.as_ptr().align_offset(LINE * size_of::<f32>());
        Self { numbers, start: if start < LINE { start } else { 0 }, length }
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.numbers[self.start..self.start + self.length]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.numbers[self.start..self.start + self.length]
    }
}
