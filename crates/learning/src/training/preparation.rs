//! What is done to examples before training.

use crate::Result;
use crate::data::{Dataset, Normalisation, Pca};
use serde::{Deserialize, Serialize};

/// Normalisation first, then principal components.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// Brings the numbers to about the same size. (MNIST and the generated digits already are.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalise: Option<Normalisation>,
    /// Keeps so many principal components, fitted on the training examples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pca: Option<usize>,
}

impl Preparation {
    /// Whether examples stay as they are.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it makes sense, as far as can be said without the data.
    pub(crate) fn check(&self) -> Result<()> {
        self.normalise.map_or(Ok(()), |normalise| normalise.check())
    }

    /// Prepares both parts, with what is fitted on the training part alone.
    pub fn apply(&self, dataset: Dataset) -> Result<Dataset> {
        let dataset = match self.normalise {
            Some(normalise) => normalise.apply(dataset)?,
            None => dataset,
        };
        let Some(count) = self.pca else { return Ok(dataset) };
        let pca = Pca::fit(&dataset.train, count)?;
        Dataset::new(dataset.name, pca.apply(&dataset.train)?, pca.apply(&dataset.test)?)
    }

    /// A sentence of warning if something is fitted on the clients' data: ε does not cover that.
    pub fn warning(&self) -> Option<String> {
        let normalised = matches!(self.normalise, Some(Normalisation::Features));
        let what = match (normalised, self.pca) {
            (false, None) => return None,
            (true, None) => "means and deviations of features are",
            (false, Some(_)) => "principal components are",
            (true, Some(_)) => "means, deviations and principal components are",
        };
        Some(format!(
            "{what} fitted on the clients' examples, and no ε here covers that; in earnest, fit on public data"
        ))
    }
}
