//! The names of the curves, outside the frame so that they cover nothing.

use super::font::{self, Weight};
use super::marker::{self, Look};
use super::surface::{Anchor, Surface, Text};
use super::{Plot, Series, dash, draw, palette};
use crate::ReportError;

/// Length of the piece of curve before a name.
const KEY: f64 = 52.0;
/// Between that piece and the name, and between two columns.
const GAP: f64 = 11.0;
const COLUMN_GAP: f64 = 34.0;
const ROW: f64 = 29.0;
const FONT: f64 = 16.5;
/// A legend beside the frame takes at most this part of the width; a wider one goes below.
const MOST_BESIDE: f64 = 0.36;
/// A legend below takes at most this part of the height.
const MOST_BELOW: f64 = 0.35;

/// Size of the legend, and how its entries are set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Legend {
    pub(super) beside: bool,
    pub(super) width: f64,
    pub(super) height: f64,
    columns: usize,
    row: f64,
    font: f64,
}

fn weight(series: &Series) -> Weight {
    if series.emphasis { Weight::Bold } else { Weight::Regular }
}

impl Legend {
    /// The legend of a plot, unless it has nothing to tell apart; `unit` scales everything, `room` is what the picture has.
    pub(super) fn of(plot: &Plot, unit: f64, room: (f64, f64)) -> Option<Self> {
        if plot.series.iter().all(|series| series.label.is_empty()) {
            return None;
        }
        let names = plot.series.iter().map(|series| font::width(&series.label, FONT * unit, weight(series)));
        let entry = (KEY + GAP) * unit + names.fold(0.0, f64::max);
        let entries = plot.series.len();
        // Rows move together, and their letters shrink, before a legend outgrows its place.
        let fit = |rows: usize, height: f64| (height / rows as f64).min(ROW * unit);
        if entry <= MOST_BESIDE * room.0 {
            let row = fit(entries, 0.8 * room.1);
            let font = FONT * row / ROW;
            return Some(Self { beside: true, width: entry, height: row * entries as f64, columns: 1, row, font });
        }
        let columns = ((room.0 + COLUMN_GAP * unit) / (entry + COLUMN_GAP * unit)).floor().max(1.0) as usize;
        let rows = entries.div_ceil(columns);
        let row = fit(rows, MOST_BELOW * room.1);
        let width = room.0.min(entry * columns as f64 + COLUMN_GAP * unit * (columns - 1) as f64);
        Some(Self { beside: false, width, height: row * rows as f64, columns, row, font: FONT * row / ROW })
    }

    /// Draws the legend with its upper left corner at `corner`.
    pub(super) fn draw(
        &self,
        plot: &Plot,
        unit: f64,
        corner: (f64, f64),
        surface: &mut dyn Surface,
    ) -> Result<(), ReportError> {
        let rows = plot.series.len().div_ceil(self.columns);
        let column = (self.width + COLUMN_GAP * unit) / self.columns as f64;
        for (index, series) in plot.series.iter().enumerate() {
            let x = corner.0 + (index / rows) as f64 * column;
            let y = corner.1 + ((index % rows) as f64 + 0.5) * self.row;
            let end = x + KEY * unit;
            let colour = palette::curve(index);
            let pattern = dash::pattern(series.style, draw::rank(plot, index));
            for piece in dash::dashes(&[(x, y), (end, y)], pattern, unit) {
                surface.stroke(&piece, draw::stroke_width(series) * unit, colour)?;
            }
            let look = Look { radius: draw::MARKER * unit, colour, open: series.open_markers, rim: true };
            marker::draw(surface, index, ((x + end) / 2.0, y), look)?;
            let room = column - (KEY + GAP + if self.beside { 0.0 } else { COLUMN_GAP }) * unit;
            let name = shortened(&series.label, room.max(0.0) + 1.0, self.font, weight(series));
            surface.text(&Text {
                text: &name,
                at: (end + GAP * unit, y + 0.36 * self.font),
                anchor: Anchor::Start,
                size: self.font,
                weight: weight(series),
                colour: palette::INK,
                upright: false,
            })?;
        }
        Ok(())
    }
}

/// The text, or as much of its beginning as fits with an ellipsis.
fn shortened(text: &str, room: f64, size: f64, weight: Weight) -> String {
    if font::width(text, size, weight) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while !kept.is_empty() {
        kept.pop();
        let candidate: String = kept.iter().chain(['…'].iter()).collect();
        if font::width(&candidate, size, weight) <= room {
            return candidate;
        }
    }
    "…".to_owned()
}
