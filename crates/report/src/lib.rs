//! Tables, plots and pages: how results are shown to a person.
//!
//! Data in, bytes out: nothing here knows about accounting, and the same input gives the same
//! bytes. Only the `save` functions touch the disk.
//!
//! - [`number`]: a printed upper bound is never smaller than the value, a printed lower bound never
//!   larger;
//! - [`Table`]: aligned text for a terminal, HTML, CSV;
//! - [`Plot`]: curves as SVG, PNG, PDF, CSV;
//! - [`Panels`]: plots that align and share a legend;
//! - [`Page`]: a self-contained HTML page of text, key figures, tables and plots;
//! - [`STYLE`]: how such a page looks, for other pages that should look alike.

mod error;
mod escape;
pub use shuffledp_number::shown as number;
mod page;
pub mod plot;
mod save;
mod table;
mod wrap;

pub use error::ReportError;
pub use page::{Card, KeyFigure, Page, Section};
pub use plot::{Axis, Format, Panels, Plot, Scale, Series, Style};
pub use table::{Align, Column, Table};

/// The style sheet of every page: light and dark, wide and narrow. It needs nothing from elsewhere.
pub const STYLE: &str = include_str!("style.css");
