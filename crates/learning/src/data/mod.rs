//! Examples and who has them: files, generated digits, populations larger than the data, principal
//! components.

mod bootstrap;
pub mod csv;
pub mod digits;
pub mod directory;
mod examples;
pub mod fashion_mnist;
mod gzip;
pub mod idx;
mod mirror;
pub mod mnist;
mod normalisation;
mod npm;
pub mod npz;
mod npz_sizes;
mod pca;
mod published;
pub mod scattering;
mod whitening;

pub use bootstrap::Bootstrap;
pub use examples::{Clients, Dataset, Examples};
pub use normalisation::Normalisation;
pub use pca::Pca;
pub use scattering::Scattering;
pub use whitening::{PublicWhitening, Whitening};

/// Names a dataset after its file.
pub(crate) fn name_of(path: &std::path::Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
