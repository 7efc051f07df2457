//! Something that can be drawn: a plot on its sheet, or the panels of a figure on theirs.

use super::canvas::Canvas;
use super::layout::Layout;
use super::surface::Surface;
use super::{Plot, draw};
use crate::ReportError;

/// A picture that is laid out and ready to be drawn.
pub(super) trait Picture {
    /// Its title, for those who hear it.
    fn title(&self) -> &str;
    /// Its width and height in pixels.
    fn size(&self) -> (f64, f64);
    /// Puts it on a surface, from back to front.
    fn draw(&self, surface: &mut dyn Surface) -> Result<(), ReportError>;

    /// Its size in whole pixels.
    fn pixels(&self) -> (u32, u32) {
        let (width, height) = self.size();
        (width.ceil() as u32, height.ceil() as u32)
    }
}

/// A plot with its plan.
pub(super) struct Planned<'a> {
    plot: &'a Plot,
    layout: Layout,
}

impl<'a> Planned<'a> {
    pub(super) fn on(plot: &'a Plot, canvas: &Canvas) -> Result<Self, ReportError> {
        Ok(Self { plot, layout: Layout::of(plot, canvas)? })
    }
}

impl Picture for Planned<'_> {
    fn title(&self) -> &str {
        &self.plot.title
    }

    fn size(&self) -> (f64, f64) {
        self.layout.size
    }

    fn draw(&self, surface: &mut dyn Surface) -> Result<(), ReportError> {
        draw::draw(self.plot, &self.layout, surface)
    }
}
