//! The sheets that a plot is laid out on.

use super::{MAX_SIDE, MIN_SIDE, Plot};
use crate::ReportError;

/// How high a sheet is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Height {
    /// As a whole: the frame gets what words and legend leave.
    Whole(f64),
    /// Of the frame: the sheet is as high as it must be for the rest.
    Frame(f64),
}

/// A sheet, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: Height,
    /// Pixels to the unit in which all sizes of letters and lines are given.
    pub(super) unit: f64,
    /// The free margin around the picture.
    pub(super) margin: f64,
    /// Whether title, subtitle and caption are part of the picture.
    pub(super) words: bool,
    /// Whether the legend is. The panels of a figure share one, which is drawn beside them.
    pub(super) legend: bool,
    /// The frame begins at least this far from the left and from the top, so that panels align.
    pub(super) least: (f64, f64),
}

/// In a page, on a screen of 56 rem and more: about as wide as the column of text, so that letters
/// keep their size.
pub(super) const BROAD: Canvas = Canvas {
    width: 952.0,
    height: Height::Frame(430.0),
    unit: 0.95,
    margin: 4.0,
    words: false,
    legend: true,
    least: (0.0, 0.0),
};

/// In a page, on a phone.
pub(super) const NARROW: Canvas = Canvas {
    width: 350.0,
    height: Height::Frame(290.0),
    unit: 0.92,
    margin: 2.0,
    words: false,
    legend: true,
    least: (0.0, 0.0),
};

impl Canvas {
    /// The sheet of a picture that stands alone; letters grow with it, 1 unit being a pixel at
    /// 1200 × 800.
    pub(super) fn of(plot: &Plot) -> Result<Self, ReportError> {
        let (width, height) = plot.size;
        if ![width, height].iter().all(|side| (MIN_SIDE..=MAX_SIDE).contains(side)) {
            return Err(ReportError::PictureSize { width, height });
        }
        let (width, height) = (f64::from(width), f64::from(height));
        let unit = (width / 1200.0).min(height / 800.0);
        Ok(Self {
            width,
            height: Height::Whole(height),
            unit,
            margin: 24.0 * unit,
            words: true,
            legend: true,
            least: (0.0, 0.0),
        })
    }
}
