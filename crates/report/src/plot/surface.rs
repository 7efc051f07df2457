//! The surface that a plot is drawn on.

use super::font::Weight;
use super::palette::Colour;
use crate::ReportError;

/// Which part of a text stands at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Debug, Clone)]
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    /// The anchor's place on the baseline.
    pub(super) at: (f64, f64),
    pub(super) anchor: Anchor,
    /// Pixels to the em.
    pub(super) size: f64,
    pub(super) weight: Weight,
    pub(super) colour: Colour,
    /// Whether it runs upwards instead of to the right.
    pub(super) upright: bool,
}

/// The few things a plot is made of, in pixels from the upper left corner.
pub(super) trait Surface {
    /// Covers everything; comes first.
    fn background(&mut self, size: (f64, f64), colour: Colour) -> Result<(), ReportError>;
    /// An open line through some points.
    fn stroke(&mut self, points: &[(f64, f64)], width: f64, colour: Colour) -> Result<(), ReportError>;
    /// A full polygon.
    fn polygon(&mut self, corners: &[(f64, f64)], colour: Colour) -> Result<(), ReportError>;
    /// A full circle.
    fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) -> Result<(), ReportError>;
    /// A line of text.
    fn text(&mut self, text: &Text<'_>) -> Result<(), ReportError>;
}
