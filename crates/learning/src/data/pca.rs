//! Principal components.

use super::{Clients, Examples};
use crate::models::TensorShape;
use crate::{LearningError, Result, ordered};
use nalgebra::{DMatrix, SymmetricEigen};

/// The directions in which examples differ most.
///
/// **Not private.** The directions are computed from the examples themselves. Fitted on the
/// clients' data, as the paper that uses them does, they tell something about it that no ε of the
/// training covers; fit them on public data to avoid that.
#[derive(Debug, Clone, PartialEq)]
pub struct Pca {
    mean: Vec<f32>,
    /// Unit vectors, one after the other, the one of largest variance first.
    components: Vec<f32>,
    variances: Vec<f64>,
}

/// Examples whose products are summed in single precision before they are added in double.
const BLOCK: usize = 512;
/// An eigenproblem of this size takes minutes and its matrix half a gigabyte.
const MOST_FEATURES: usize = 8192;

impl Pca {
    /// The first `count` components of the examples' covariance matrix.
    pub fn fit(examples: &Examples, count: usize) -> Result<Self> {
        let features = examples.shape().len();
        if features > MOST_FEATURES {
            return Err(LearningError::out_of_range("features", format!("at most {MOST_FEATURES} for PCA"), features));
        }
        if count == 0 || count > features {
            return Err(LearningError::out_of_range("components", format!("1 to {features}"), count));
        }
        let mean = mean(examples)?;
        let covariance = covariance(examples, &mean)?;
        let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::new(covariance);
        let mut order: Vec<usize> = (0..features).collect();
        order.sort_by(|a, b| eigenvalues[*b].total_cmp(&eigenvalues[*a]));
        let mut components = Vec::with_capacity(count * features);
        for index in order.iter().take(count) {
            let vector = eigenvectors.column(*index);
            // v and −v are equally right; the one whose largest entry is positive is chosen.
            let sign = vector[vector.icamax()].signum();
            components.extend(vector.iter().map(|entry| (entry * sign) as f32));
        }
        let variances = order.iter().take(count).map(|index| eigenvalues[*index].max(0.0)).collect();
        Ok(Self { mean, components, variances })
    }

    /// How many components.
    pub fn count(&self) -> usize {
        self.variances.len()
    }

    /// Variance along each component, largest first.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// Component `index`, a unit vector.
    pub fn component(&self, index: usize) -> &[f32] {
        &self.components[index * self.mean.len()..(index + 1) * self.mean.len()]
    }

    /// The examples' coordinates along the components, measured from the mean.
    pub fn apply(&self, examples: &Examples) -> Result<Examples> {
        if examples.shape().len() != self.mean.len() {
            let (fitted, given) = (self.mean.len(), examples.shape().len());
            return Err(LearningError::Data(format!(
                "components were fitted on {fitted} features, but the examples have {given}"
            )));
        }
        let work = |block: usize| {
            let rows = centred(examples, block, &self.mean);
            let components = DMatrix::from_column_slice(self.mean.len(), self.count(), &self.components);
            (components.transpose() * rows).as_slice().to_vec()
        };
        let append = |all: &mut Vec<f32>, mut more: Vec<f32>| {
            all.append(&mut more);
            Ok(())
        };
        let values = ordered::fold(None, examples.len().div_ceil(BLOCK), || (), |(), block| Ok(work(block)), append)?
            .unwrap_or_default();
        Examples::from_floats(TensorShape::vector(self.count()), examples.classes(), values, examples.labels().to_vec())
    }
}

fn mean(examples: &Examples) -> Result<Vec<f32>> {
    let features = examples.shape().len();
    let work = |_: &mut (), block: usize| {
        let mut sum = vec![0.0f64; features];
        let mut values = vec![0.0; features];
        for client in clients(examples, block) {
            examples.example(client, &mut values);
            sum.iter_mut().zip(&values).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        Ok(sum)
    };
    let add = |all: &mut Vec<f64>, more: Vec<f64>| {
        all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        Ok(())
    };
    let sum = ordered::fold(None, examples.len().div_ceil(BLOCK), || (), work, add)?.unwrap_or_default();
    Ok(sum.into_iter().map(|sum| (sum / examples.len() as f64) as f32).collect())
}

/// (1/N) Σ (x − mean)(x − mean)ᵀ.
fn covariance(examples: &Examples, mean: &[f32]) -> Result<DMatrix<f64>> {
    let work = |_: &mut (), block: usize| {
        let rows = centred(examples, block, mean);
        Ok((&rows * rows.transpose()).map(f64::from))
    };
    let merge = |all: &mut DMatrix<f64>, more: DMatrix<f64>| {
        *all += more;
        Ok(())
    };
    let sum = ordered::fold(None, examples.len().div_ceil(BLOCK), || (), work, merge)?;
    Ok(sum.unwrap_or_default() / examples.len() as f64)
}

/// A block of examples as columns, less the mean.
fn centred(examples: &Examples, block: usize, mean: &[f32]) -> DMatrix<f32> {
    let clients = clients(examples, block);
    let mut columns = DMatrix::zeros(mean.len(), (clients.end - clients.start) as usize);
    for (column, client) in columns.as_mut_slice().chunks_exact_mut(mean.len()).zip(clients) {
        examples.example(client, column);
        column.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
    }
    columns
}

fn clients(examples: &Examples, block: usize) -> std::ops::Range<u64> {
    let first = block * BLOCK;
    first as u64..examples.len().min(first + BLOCK) as u64
}
