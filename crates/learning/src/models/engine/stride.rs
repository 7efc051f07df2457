//! Walking a range in blocks: large ones first, then what is left.

/// Where the next block begins.
pub(crate) struct Stride {
    at: usize,
    end: usize,
}

impl Stride {
    #[inline(always)]
    pub(crate) fn new(end: usize) -> Self {
        Self { at: 0, end }
    }

    /// The start of the next block of `size`, if it still fits.
    #[inline(always)]
    pub(crate) fn next(&mut self, size: usize) -> Option<usize> {
        let start = self.at;
        (start + size <= self.end).then(|| {
            self.at = start + size;
            start
        })
    }
}
