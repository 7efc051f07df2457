//! Group normalisation of one picture's coefficients, and unit length.

/// As PyTorch's `GroupNorm` has it.
const EPSILON: f64 = 1e-5;

/// Normalises each of `groups` groups of consecutive channels, `[channel][position]`: subtracts the
/// mean and divides by √(variance + 1e-5) over the group. Then divides all by their Euclidean
/// length; zeros stay zeros. Sums are in double precision.
pub(super) fn normalise(coefficients: &mut [f32], groups: usize) {
    let each = coefficients.len() / groups;
    let mut squares = 0.0;
    for group in coefficients.chunks_exact_mut(each) {
        let mean = group.iter().map(|&value| f64::from(value)).sum::<f64>() / each as f64;
        let variance = group.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum::<f64>() / each as f64;
        let scale = 1.0 / (variance + EPSILON).sqrt();
        for value in group.iter_mut() {
            *value = ((f64::from(*value) - mean) * scale) as f32;
        }
        squares += variance * scale * scale * each as f64;
    }
    if squares > 0.0 {
        let scale = (1.0 / squares.sqrt()) as f32;
        coefficients.iter_mut().for_each(|value| *value *= scale);
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what is normalised to 0 is exactly 0")]
mod tests {
    use super::*;

    #[test]
    fn groups_have_no_mean_and_the_whole_has_length_one() {
        let mut values = [1.0, 3.0, 10.0, 10.0, -5.0, 5.0];
        normalise(&mut values, 3);
        for group in values.chunks(2) {
            assert!((group[0] + group[1]).abs() < 1e-6);
        }
        assert_eq!(values[2..4], [0.0, 0.0]);
        let squares: f32 = values.iter().map(|value| value * value).sum();
        // Six numbers in single precision.
        assert!((squares - 1.0).abs() < 6.0 * f32::EPSILON, "{squares}");
    }

    #[test]
    fn zeros_stay_zeros() {
        let mut values = [0.0; 6];
        normalise(&mut values, 2);
        assert_eq!(values, [0.0; 6]);
        // A group of one number is its own mean.
        let mut single = [7.0, -3.0];
        normalise(&mut single, 2);
        assert_eq!(single, [0.0, 0.0]);
    }
}
