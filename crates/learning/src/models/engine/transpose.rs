//! From one number of every lane after the other to one lane after the other.

use pulp::{Simd, WithSimd};

/// rows\[l\]\[v\] = interleaved\[v\]\[l\].
pub(crate) struct Transpose<'a> {
    pub(crate) interleaved: &'a [f32],
    pub(crate) rows: &'a mut [f32],
}

/// Numbers of a row at once: two cache lines, so that every line read or written is used whole
/// while it is near.
const TILE: usize = 32;

impl WithSimd for Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { interleaved, rows } = self;
        let lanes = S::F32_LANES;
        let length = interleaved.len() / lanes;
        for first in (0..length).step_by(TILE) {
            let tile = &interleaved[first * lanes..interleaved.len().min((first + TILE) * lanes)];
            for (lane, row) in rows.chunks_exact_mut(length).enumerate() {
                let places = &mut row[first..length.min(first + TILE)];
                for (place, numbers) in places.iter_mut().zip(tile.chunks_exact(S::F32_LANES)) {
                    *place = numbers[lane];
                }
            }
        }
    }
}
