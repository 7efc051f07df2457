//! What is done to examples before training.

use crate::data::scattering::Tell;
use crate::data::{Dataset, Examples, Normalisation, Pca, PublicWhitening, Scattering, Whitening, directory};
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Normalisation first, then scattering features, then public whitening, then principal components.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// Brings the numbers to about the same size. (MNIST and the generated digits already are.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalise: Option<Normalisation>,
    /// Replaces each picture by its scattering features, a fixed function of the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scattering: Option<Scattering>,
    /// Replaces features by whitened components, fitted on public pictures: the generated digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whitening: Option<PublicWhitening>,
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
        self.normalise.map_or(Ok(()), |normalise| normalise.check())?;
        self.scattering.map_or(Ok(()), |scattering| scattering.check())?;
        self.whitening.map_or(Ok(()), |whitening| whitening.check())
    }

    /// Checks that each client can do it alone: that nothing is fitted on the examples.
    pub fn check_public(&self) -> Result<()> {
        self.check()?;
        let requirement = "left out or of kind constant, which a client can do alone";
        match (self.normalise, self.pca) {
            (Some(Normalisation::Features), _) => {
                Err(LearningError::out_of_range("preparation.normalise", requirement, "of kind features"))
            }
            (_, Some(count)) => {
                let requirement = "left out: a client cannot fit principal components alone";
                Err(LearningError::out_of_range("preparation.pca", requirement, count))
            }
            _ => Ok(()),
        }
    }

    /// Prepares both parts, with what is fitted on the training part alone. Scattering features are
    /// kept in the data directory, found as in [`directory::data_directory`].
    pub fn apply(&self, dataset: Dataset, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Dataset> {
        let dataset = match self.normalise {
            Some(normalise) => normalise.apply(dataset)?,
            None => dataset,
        };
        let whitening = self.fit_whitening(data_directory, tell)?;
        let Dataset { name, train, test } = dataset;
        let features = |pictures| self.features(pictures, whitening.as_ref(), data_directory, tell);
        let dataset = Dataset::new(name, features(train)?, features(test)?)?;
        let Some(count) = self.pca else { return Ok(dataset) };
        let pca = Pca::fit(&dataset.train, count)?;
        Dataset::new(dataset.name, pca.apply(&dataset.train)?, pca.apply(&dataset.test)?)
    }

    /// Prepares examples by themselves, as a client does; what [`check_public`](Self::check_public)
    /// refuses is an error. Scattering features of many examples are kept in the data directory, those
    /// of a single one never.
    pub fn apply_alone(&self, examples: Examples, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Examples> {
        self.check_public()?;
        let examples = match self.normalise {
            Some(Normalisation::Constant { mean, deviation }) => examples.scaled(mean, deviation)?,
            _ => examples,
        };
        let whitening = self.fit_whitening(data_directory, tell)?;
        self.features(examples, whitening.as_ref(), data_directory, tell)
    }

    /// Fits the whitening, if one is asked for, on the scattering features of public pictures.
    fn fit_whitening(&self, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Option<Whitening>> {
        let Some(whitening) = self.whitening else { return Ok(None) };
        let public = self.scattered(PublicWhitening::pictures()?, data_directory, tell)?;
        Ok(Some(whitening.fit(&public)?))
    }

    /// Does what is a function of each picture alone.
    fn features(
        &self,
        pictures: Examples,
        whitening: Option<&Whitening>,
        data_directory: Option<&Path>,
        tell: Tell<'_>,
    ) -> Result<Examples> {
        let scattered = self.scattered(pictures, data_directory, tell)?;
        match whitening {
            Some(whitening) => whitening.apply(&scattered),
            None => Ok(scattered),
        }
    }

    fn scattered(&self, pictures: Examples, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Examples> {
        let Some(scattering) = self.scattering else { return Ok(pictures) };
        // Black is 0 and white is 1, whatever the dataset's normalisation: padding is black, and
        // pictures of different datasets have features of one kind.
        let pictures = pictures.brightness();
        // Where there is no data directory nothing is kept, and nothing fails.
        let directory = directory::data_directory(data_directory).ok();
        scattering.apply(&pictures, directory.as_deref(), tell)
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
