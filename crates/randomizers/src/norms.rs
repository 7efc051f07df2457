//! Lengths of vectors, the same bits on every machine.
//!
//! Sums run in f64, in a fixed number of lanes that are added up in a fixed order, so the compiler
//! may use vector instructions and the result does not depend on which. No square of an f32
//! overflows or vanishes in f64, so no scaling is needed.

use pulp::Arch;

/// Lanes of every sum here: part of what the functions return, not only of how fast they are.
pub(crate) const LANES: usize = 16;

/// Σ|x_j|. Relative error below (d/16 + 5)·2^−53.
pub fn l1_norm(x: &[f32]) -> f64 {
    sum_of(x, x, |x, _| f64::from(x.abs()))
}

/// √Σx_j². Relative error below (d/32 + 4)·2^−53.
pub fn l2_norm(x: &[f32]) -> f64 {
    dot(x, x).sqrt()
}

/// Σ x_j·y_j, over as many coordinates as both have. Error below (d/16 + 5)·2^−53·Σ|x_j·y_j|.
pub fn dot(x: &[f32], y: &[f32]) -> f64 {
    // The product of two f32 is exact in f64.
    sum_of(x, y, |x, y| f64::from(x) * f64::from(y))
}

#[inline]
fn sum_of(x: &[f32], y: &[f32], term: impl Fn(f32, f32) -> f64) -> f64 {
    let length = x.len().min(y.len());
    let (x, x_rest) = x[..length].as_chunks::<LANES>();
    let (y, y_rest) = y[..length].as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    Arch::new().dispatch(|| {
        // In registers until the end.
        let mut sums = lanes;
        for (x, y) in x.iter().zip(y) {
            for i in 0..LANES {
                sums[i] += term(x[i], y[i]);
            }
        }
        lanes = sums;
    });
    for (lane, (&x, &y)) in lanes.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *lane += term(x, y);
    }
    fold(lanes)
}

/// The lanes' sum, in halves: lane i with lane i + 8, then with i + 4, and so on.
pub(crate) fn fold(mut lanes: [f64; LANES]) -> f64 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these sums are exact")]
mod tests {
    use super::*;

    #[test]
    fn small_whole_numbers_are_exact_at_every_length() {
        for length in 0..100_u16 {
            let x: Vec<f32> = (1..=length).map(|j| if j % 3 == 0 { -f32::from(j) } else { f32::from(j) }).collect();
            let n = f64::from(length);
            assert_eq!(l1_norm(&x), n * (n + 1.0) / 2.0);
            assert_eq!(l2_norm(&x), (n * (n + 1.0) * (2.0 * n + 1.0) / 6.0).sqrt());
        }
    }

    #[test]
    fn nothing_overflows_or_vanishes() {
        assert_eq!(l2_norm(&[f32::MAX; 4]), 2.0 * f64::from(f32::MAX));
        let tiny = f32::from_bits(1);
        assert_eq!(l2_norm(&[tiny; 4]), 2.0 * f64::from(tiny));
        assert_eq!(l1_norm(&[-0.0; 3]), 0.0);
        assert!(l1_norm(&[f32::NAN]).is_nan() && l2_norm(&[1.0, f32::INFINITY]) == f64::INFINITY);
    }
}
