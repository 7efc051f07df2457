//! Numbers of about the same size, which is what models learn from best.

use super::{Clients, Dataset, Examples};
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};

/// The numbers that are subtracted from the features, and those that they are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Normalisation {
    /// The same two numbers for every feature, known in advance.
    Constant {
        /// Is subtracted.
        mean: f32,
        /// Divides what is left.
        deviation: f32,
    },
    /// Each feature's mean and standard deviation over the training examples. A feature that never
    /// changes becomes 0.
    ///
    /// **Not private**, as [`Pca`](super::Pca) is not: means and deviations tell something about
    /// the clients that no ε covers.
    Features,
}

impl Normalisation {
    /// Whether it makes sense.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Constant { mean, deviation } if !(mean.is_finite() && deviation.is_finite() && deviation > 0.0) => {
                let given = format!("{mean} and {deviation}");
                let requirement = "a finite mean and a positive deviation";
                Err(LearningError::out_of_range("normalise", requirement, given))
            }
            _ => Ok(()),
        }
    }

    /// Normalises both parts, with what is fitted on the training part alone.
    pub fn apply(&self, dataset: Dataset) -> Result<Dataset> {
        self.check()?;
        let Dataset { name, train, test } = dataset;
        match *self {
            Self::Constant { mean, deviation } => {
                Dataset::new(name, train.scaled(mean, deviation)?, test.scaled(mean, deviation)?)
            }
            Self::Features => {
                let scales = scales(&train);
                Dataset::new(name, rescaled(&train, &scales)?, rescaled(&test, &scales)?)
            }
        }
    }
}

/// Mean and deviation of every feature; for one that never changes itself and 1, so that rounding
/// is not taken for change.
fn scales(examples: &Examples) -> Vec<(f64, f64)> {
    let features = examples.shape().len();
    let count = examples.len() as f64;
    let (mut least, mut most) = (vec![f32::INFINITY; features], vec![f32::NEG_INFINITY; features]);
    let mut means = vec![0.0f64; features];
    visit(examples, |values| {
        for (index, &value) in values.iter().enumerate() {
            (least[index], most[index]) = (least[index].min(value), most[index].max(value));
            means[index] += f64::from(value) / count;
        }
    });
    let mut variances = vec![0.0f64; features];
    visit(examples, |values| {
        for ((variance, mean), value) in variances.iter_mut().zip(&means).zip(values) {
            *variance += (f64::from(*value) - mean).powi(2) / count;
        }
    });
    let scale = |index: usize| match least[index] < most[index] {
        true => (means[index], variances[index].sqrt()),
        false => (f64::from(least[index]), 1.0),
    };
    (0..features).map(scale).collect()
}

fn rescaled(examples: &Examples, scales: &[(f64, f64)]) -> Result<Examples> {
    let mut floats = Vec::with_capacity(examples.len() * scales.len());
    visit(examples, |values| {
        let scaled = values.iter().zip(scales).map(|(value, (mean, deviation))| (f64::from(*value) - mean) / deviation);
        floats.extend(scaled.map(|value| value as f32));
    });
    Examples::from_floats(examples.shape(), examples.classes(), floats, examples.labels().to_vec())
}

fn visit(examples: &Examples, mut with: impl FnMut(&[f32])) {
    let mut values = vec![0.0; examples.shape().len()];
    for client in 0..examples.count() {
        examples.example(client, &mut values);
        with(&values);
    }
}
