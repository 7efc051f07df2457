//! Examples and who has them: files, generated digits, populations larger than the data, principal components.

pub mod csv;
pub mod digits;
pub mod directory;
mod examples;
pub mod idx;
pub mod mnist;
mod normalisation;
pub mod npz;
mod pca;
mod population;

pub use examples::{Clients, Dataset, Examples};
pub use normalisation::Normalisation;
pub use pca::Pca;
pub use population::Bootstrap;
