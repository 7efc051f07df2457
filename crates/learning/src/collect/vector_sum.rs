//! Sums of vectors in a fixed order.

/// A sum of vectors, and of how many.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSum {
    sum: Vec<f64>,
    count: u64,
}

impl VectorSum {
    pub(super) fn new(dimension: u32) -> Self {
        Self { sum: vec![0.0; dimension as usize], count: 0 }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn add(&mut self, vector: &[f64]) {
        self.sum.iter_mut().zip(vector).for_each(|(sum, coordinate)| *sum += coordinate);
        self.count += 1;
    }

    pub(super) fn merge(&mut self, more: Self) {
        self.sum.iter_mut().zip(more.sum).for_each(|(sum, more)| *sum += more);
        self.count += more.count;
    }

    /// (the sum + `noise`)/count, of at least one vector.
    pub(super) fn mean_with(self, noise: &[f32]) -> Vec<f64> {
        let count = self.count as f64;
        self.sum.into_iter().zip(noise).map(|(sum, noise)| (sum + f64::from(*noise)) / count).collect()
    }

    /// The mean, `None` of nothing.
    pub(super) fn mean(self) -> Option<Vec<f64>> {
        let count = self.count as f64;
        (self.count > 0).then(|| self.sum.into_iter().map(|sum| sum / count).collect())
    }
}
