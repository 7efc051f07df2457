//! The features of many pictures: computed in parallel, or taken from the cache.

use super::cache::{Cache, Key};
use super::{Scattering, ScatteringTransform};
use crate::data::{Clients, Examples};
use crate::{LearningError, Result};
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The features of all pictures of a set may take so many bytes of memory: 8 GiB.
const MOST_BYTES: usize = 8 << 30;
/// Features of fewer pictures are computed each time: that takes less than a second.
const FEWEST_CACHED: usize = 1000;
/// Pictures between two reports of progress.
const BATCH: usize = 64;

/// A progress event while features are computed.
#[derive(Debug)]
pub enum Preparing {
    /// Features of `done` of `of` pictures are computed.
    Computed {
        /// Pictures so far.
        done: usize,
        /// All pictures of this set.
        of: usize,
    },
    /// The features were computed but could not be written to the cache, for this reason.
    NotCached(LearningError),
}

/// Is told what happens while examples are prepared, from any thread.
pub type Tell<'a> = &'a (dyn Fn(Preparing) + Sync);

/// Tells nobody.
pub fn quiet(_: Preparing) {}

impl Scattering {
    /// Returns the features of all pictures, as plain vectors with the same labels. Features that
    /// are in the folder `features` of `data_directory` are taken from there, and put there if not;
    /// without a directory they are always computed.
    pub fn apply(&self, pictures: &Examples, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Examples> {
        let (output, sizes) = (self.output(pictures.shape())?, self.sizes(pictures.shape())?);
        if sizes.groups == output.len() {
            let requirement = "fewer than features: a group of a single number is normalised to 0";
            return Err(LearningError::out_of_range("scattering.groups", requirement, sizes.groups));
        }
        let bytes = pictures.len().saturating_mul(output.len()).saturating_mul(size_of::<f32>());
        if bytes > MOST_BYTES {
            let gibibytes = |bytes: usize| (bytes as f64 / f64::from(1 << 30)).ceil();
            let (count, each) = (pictures.len(), output.len());
            return Err(LearningError::Data(format!(
                "scattering features of {count} pictures, {each} each, need {} GiB of memory, and the limit is {} \
                 GiB: use fewer angles, another number of scales, order = 1, or fewer pictures",
                gibibytes(bytes),
                gibibytes(MOST_BYTES)
            )));
        }
        let cache = data_directory
            .filter(|_| pictures.len() >= FEWEST_CACHED)
            .map(|directory| (Cache::in_directory(directory), Key::new(self, pictures)));
        let kept = cache.as_ref().and_then(|(cache, key)| cache.load(key, pictures.len() * output.len()));
        let floats = match (kept, &cache) {
            (Some(floats), _) => floats,
            (None, cache) => {
                let floats = self.compute(pictures, tell)?;
                if let Some((cache, key)) = cache
                    && let Err(error) = cache.store(key, &floats)
                {
                    tell(Preparing::NotCached(error));
                }
                floats
            }
        };
        Examples::from_floats(output, pictures.classes(), floats, pictures.labels().to_vec())
    }

    /// Computes the features of all pictures, one after the other.
    fn compute(&self, pictures: &Examples, tell: Tell<'_>) -> Result<Vec<f32>> {
        let transform = ScatteringTransform::new(*self, pictures.shape())?;
        let each = transform.features();
        let mut floats = vec![0.0; pictures.len() * each];
        let (done, of) = (AtomicUsize::new(0), pictures.len());
        let tools = || (transform.workspace(), vec![0.0; pictures.shape().len()]);
        floats.par_chunks_mut(BATCH * each).enumerate().for_each_init(
            tools,
            |(workspace, picture), (batch, floats)| {
                for (index, features) in floats.chunks_exact_mut(each).enumerate() {
                    pictures.example((batch * BATCH + index) as u64, picture);
                    transform.apply(workspace, picture, features);
                }
                let more = floats.len() / each;
                let done = done.fetch_add(more, Ordering::Relaxed) + more;
                tell(Preparing::Computed { done, of });
            },
        );
        Ok(floats)
    }
}
