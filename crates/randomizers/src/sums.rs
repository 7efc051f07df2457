//! Running sums over the coordinates of vector reports.

use crate::error::Result;
use crate::randomizer::Aggregator;
use crate::running_sums;
use crate::saved_sums;

/// A coordinate of a report, and the number in which sums of it are kept.
pub trait Coordinate: Copy {
    /// The type of the sums.
    type Sum: saved_sums::Sum + Default + std::ops::AddAssign + From<Self>;

    /// A sum as f64.
    fn sum_to_f64(sum: Self::Sum) -> f64;
}

/// Whole numbers add up exactly, whatever the order, and 2^32 reports do not overflow.
macro_rules! whole_coordinate {
    ($name:ty) => {
        impl Coordinate for $name {
            type Sum = i64;

            fn sum_to_f64(sum: i64) -> f64 {
                sum as f64
            }
        }
    };
}

whole_coordinate!(i8);
whole_coordinate!(i16);
whole_coordinate!(i32);

/// Floating point adds up to within rounding.
impl Coordinate for f32 {
    type Sum = f64;

    fn sum_to_f64(sum: f64) -> f64 {
        sum
    }
}

/// Per coordinate, the sum of the reports; the mean is `scale` times their average.
#[derive(Debug, Clone, PartialEq)]
pub struct CoordinateSums<T: Coordinate> {
    sums: Vec<T::Sum>,
    count: u64,
    scale: f64,
}

impl<T: Coordinate> CoordinateSums<T> {
    /// No reports yet, of `dimension` coordinates that decode to `scale` times what is sent.
    pub(crate) fn new(dimension: u32, scale: f64) -> Self {
        Self { sums: vec![T::Sum::default(); dimension as usize], count: 0, scale }
    }
}

impl<T: Coordinate> Aggregator for CoordinateSums<T> {
    type Report = Box<[T]>;

    /// # Panics
    ///
    /// If the report has another dimension.
    fn add(&mut self, report: &Box<[T]>) {
        assert_eq!(report.len(), self.sums.len(), "a report of another dimension");
        self.sums.iter_mut().zip(report).for_each(|(sum, &x)| *sum += x.into());
        self.count += 1;
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let is_same_mechanism = self.scale.to_bits() == other.scale.to_bits();
        running_sums::merge(&mut self.sums, other.sums, is_same_mechanism)?;
        self.count += other.count;
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        saved_sums::save(self.count, &self.sums)
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        (self.count, self.sums) = saved_sums::load(saved, self.sums.len(), |_, _| true)?;
        Ok(())
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn mean(&self) -> Result<Vec<f64>> {
        let scale = self.scale / running_sums::divisor(self.count)?;
        Ok(self.sums.iter().map(|&sum| T::sum_to_f64(sum) * scale).collect())
    }
}
