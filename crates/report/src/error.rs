//! The errors of this crate.

use std::path::PathBuf;

/// Why a table, a plot or a page could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A row has more or fewer cells than the table has columns.
    #[error("row {row} has {found} cells, but the table has {expected} columns")]
    RowLength {
        /// Position of the row, counted from 0.
        row: usize,
        /// Number of columns.
        expected: usize,
        /// Number of cells given.
        found: usize,
    },
    /// A plot without a single point that can be drawn.
    #[error(
        "nothing to draw in the plot \"{title}\": {series} series, {left_out} values infinite, not a number or not positive on a logarithmic axis"
    )]
    NothingToDraw {
        /// Title of the plot.
        title: String,
        /// How many series it has.
        series: usize,
        /// How many of its values cannot be drawn.
        left_out: usize,
    },
    /// A picture too small to hold axes or too large to hold in memory.
    #[error("a picture of {width} x {height} pixels: each side must be between {min} and {max}", min = crate::plot::MIN_SIDE, max = crate::plot::MAX_SIDE)]
    PictureSize {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The extension of a file name does not say which format is wanted.
    #[error("cannot tell the format of {}: use a name ending in {known}", path.display())]
    UnknownExtension {
        /// The name as given.
        path: PathBuf,
        /// The extensions that are understood.
        known: &'static str,
    },
    /// The drawing library refused.
    #[error("drawing failed: {0}")]
    Drawing(String),
    /// The picture could not be compressed.
    #[error("encoding the PNG failed")]
    Png(#[from] png::EncodingError),
    /// The file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}
