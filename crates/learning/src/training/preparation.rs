//! The preparation of examples before training.

use crate::data::scattering::Tell;
use crate::data::{Dataset, Examples, Normalisation, Pca, PublicWhitening, Scattering, Whitening, directory};
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

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
        if self.whitening.is_some() && self.normalise.is_some() {
            // The public pictures would not be normalised in the same way.
            let requirement = "left out where there is a whitening, which scales features itself";
            return Err(LearningError::out_of_range("preparation.normalise", requirement, "given"));
        }
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
        let features = |pictures| self.features(pictures, whitening.as_deref(), data_directory, tell);
        let dataset = Dataset::new(name, features(train)?, features(test)?)?;
        let Some(count) = self.pca else { return Ok(dataset) };
        let pca = Pca::fit(&dataset.train, count)?;
        Dataset::new(dataset.name, pca.apply(&dataset.train)?, pca.apply(&dataset.test)?)
    }

    /// Prepares examples by themselves, as a client does; what [`check_public`](Self::check_public)
    /// refuses is an error. Scattering features of many examples are kept in the data directory,
    /// those of a single one never.
    pub fn apply_alone(&self, examples: Examples, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Examples> {
        self.check_public()?;
        let examples = match self.normalise {
            Some(Normalisation::Constant { mean, deviation }) => examples.scaled(mean, deviation)?,
            _ => examples,
        };
        let whitening = self.fit_whitening(data_directory, tell)?;
        self.features(examples, whitening.as_deref(), data_directory, tell)
    }

    /// Fits the whitening, if one is asked for, on the scattering features of public pictures. A
    /// process that plays several roles fits it once.
    fn fit_whitening(&self, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Option<Arc<Whitening>>> {
        static LAST: LastWhitening = LastWhitening::none();
        let Some(whitening) = self.whitening else { return Ok(None) };
        let fit = || whitening.fit(&self.scattered(PublicWhitening::pictures()?, data_directory, tell)?);
        LAST.or_fit((self.scattering, whitening), fit).map(Some)
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

/// Everything that a whitening depends on: the public pictures are always the same.
type Asked = (Option<Scattering>, PublicWhitening);

/// The whitening that was fitted last.
struct LastWhitening(Mutex<Option<(Asked, Arc<Whitening>)>>);

impl LastWhitening {
    const fn none() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the last whitening if it is the one asked for; else fits it, and it becomes the
    /// last.
    fn or_fit(&self, asked: Asked, fit: impl FnOnce() -> Result<Whitening>) -> Result<Arc<Whitening>> {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, whitening)) = last().as_ref().filter(|(key, _)| *key == asked) {
            return Ok(Arc::clone(whitening));
        }
        // Not locked while it works: two threads that ask at once both fit, and get the same.
        let whitening = Arc::new(fit()?);
        *last() = Some((asked, Arc::clone(&whitening)));
        Ok(whitening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::TensorShape;

    #[test]
    fn a_whitening_is_fitted_again_only_for_other_settings() {
        let floats = (0..40).map(|i| (i * i % 17) as f32).collect();
        let public = Examples::from_floats(TensorShape::vector(2), 2, floats, vec![0; 20]).unwrap();
        let (last, fits) = (LastWhitening::none(), std::cell::Cell::new(0));
        let ask = |scattering, components, shrinkage| {
            let whitening = PublicWhitening { components, shrinkage };
            let fit = || {
                fits.set(fits.get() + 1);
                whitening.fit(&public)
            };
            let fitted = last.or_fit((scattering, whitening), fit).unwrap();
            assert_eq!(*fitted, whitening.fit(&public).unwrap());
            fits.get()
        };
        let scattering = |angles| Some(Scattering { scales: 1, angles, order: 1, groups: None });
        assert_eq!([ask(None, 2, 0.1), ask(None, 2, 0.1)], [1, 1]);
        assert_eq!([ask(None, 1, 0.1), ask(None, 1, 0.2), ask(scattering(1), 1, 0.2)], [2, 3, 4]);
        assert_eq!([ask(scattering(2), 1, 0.2), ask(scattering(2), 1, 0.2), ask(None, 2, 0.1)], [5, 5, 6]);
        // A failure is not kept, and leaves the last one as it was.
        let missing = || Err(LearningError::Missing("public pictures".to_owned()));
        let asked = (None, PublicWhitening { components: 1, shrinkage: 0.5 });
        assert!(last.or_fit(asked, missing).is_err());
        assert_eq!(ask(None, 2, 0.1), 6);
    }
}
