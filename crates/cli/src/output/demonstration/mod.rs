//! The demonstration for people: lines as it goes, what each party saw, and a page at its end.

mod page;
mod text;
mod views;

pub(crate) use page::page;
pub(crate) use text::{end, heading, json, line, live};
