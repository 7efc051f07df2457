//! Reproduced figures and tables: for a terminal, a program, a browser and the repository's docs.

mod json;
mod markdown;
mod page;
mod picture;
mod text;

pub(crate) use json::{document, item_document, list_document};
pub(crate) use markdown::markdown;
pub(crate) use page::gallery;
pub(crate) use picture::{Figure, figures, panels};
pub(crate) use text::{answer, list};
