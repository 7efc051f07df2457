//! A sweep as a picture, as JSON and for a person to read.

mod json;
mod picture;
mod text;

pub(crate) use json::document;
pub(crate) use picture::{data, omissions, picture};
pub(super) use picture::{dressed, reading};
pub(crate) use text::{answer, silence};
pub(super) use text::{answers, sources};
