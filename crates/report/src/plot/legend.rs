//! The names of the curves, outside the frame so that they cover nothing.

use super::font::{self, Weight};
use super::marker::{self, Look};
use super::surface::{Anchor, Surface, Text};
use super::{Plot, Series, Style, draw, palette};
use crate::ReportError;
use crate::wrap::wrap_by;

/// Length of the piece of curve before a name.
const KEY: f64 = 52.0;
/// Between that piece and the name, and between two columns.
const GAP: f64 = 11.0;
const COLUMN_GAP: f64 = 34.0;
/// From one entry to the next, and from one line of an entry to the next.
const ROW: f64 = 29.0;
const LINE: f64 = 21.0;
const FONT: f64 = 16.5;
/// A legend beside the frame takes at most this part of the width; a wider one goes below.
const MOST_BESIDE: f64 = 0.36;
/// A legend below takes at most this part of the height.
const MOST_BELOW: f64 = 0.35;
/// A name takes at most this many lines; what is left of it then is cut.
const MOST_LINES: usize = 3;

/// Size of the legend, and how its entries are set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Legend {
    pub(super) beside: bool,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The names, column by column, broken into lines.
    names: Vec<Vec<String>>,
    /// How high each row is, before `shrunk`.
    rows: Vec<f64>,
    /// From one column to the next.
    column: f64,
    /// Rows move together, and their letters shrink, before a legend outgrows its place: by this
    /// factor.
    shrunk: f64,
}

fn weight(series: &Series) -> Weight {
    if series.emphasis { Weight::Bold } else { Weight::Regular }
}

impl Legend {
    /// The legend of a plot, unless it has nothing to tell apart; `unit` scales everything, `room`
    /// is what the picture has: its width, and its height if that is limited. `may_stand_beside`:
    /// next to the frame where that has room, else below.
    pub(super) fn of(plot: &Plot, unit: f64, room: (f64, Option<f64>), may_stand_beside: bool) -> Option<Self> {
        if plot.series.iter().all(|series| series.label.is_empty()) {
            return None;
        }
        let size = FONT * unit;
        let names = plot.series.iter().map(|series| font::width(&series.label, size, weight(series)));
        let widest = names.fold(0.0, f64::max);
        let key = (KEY + GAP) * unit;
        let entries = plot.series.len();
        let beside = may_stand_beside && key + widest <= MOST_BESIDE * room.0;
        let (columns, name) = if beside {
            (1, widest)
        } else {
            let columns = (room.0 + COLUMN_GAP * unit) / (key + widest + COLUMN_GAP * unit);
            (columns.floor().clamp(1.0, entries as f64) as usize, widest.min((room.0 - key).max(4.0 * size)))
        };
        let names: Vec<Vec<String>> =
            plot.series.iter().map(|series| lines(&series.label, name + 0.01, size, weight(series))).collect();
        let per_column = entries.div_ceil(columns);
        let rows: Vec<f64> = (0..per_column)
            .map(|row| {
                let most = names.iter().skip(row).step_by(per_column).map(Vec::len).max().unwrap_or(1);
                (ROW + LINE * most.saturating_sub(1) as f64) * unit
            })
            .collect();
        let natural: f64 = rows.iter().sum();
        let share = if beside { 0.8 } else { MOST_BELOW };
        let shrunk = room.1.map_or(1.0, |height| (share * height / natural).min(1.0));
        let column = key + name + COLUMN_GAP * unit;
        let width = column * columns as f64 - COLUMN_GAP * unit;
        Some(Self { beside, width, height: shrunk * natural, names, rows, column, shrunk })
    }

    /// Draws the legend with its upper left corner at `corner`.
    pub(super) fn draw(
        &self,
        plot: &Plot,
        unit: f64,
        corner: (f64, f64),
        surface: &mut dyn Surface,
    ) -> Result<(), ReportError> {
        let slots = palette::slots(plot);
        let font = FONT * unit * self.shrunk;
        for (index, (series, lines)) in plot.series.iter().zip(&self.names).enumerate() {
            let (column, row) = (index / self.rows.len(), index % self.rows.len());
            let x = corner.0 + column as f64 * self.column;
            let above: f64 = self.rows[..row].iter().sum();
            let y = corner.1 + (above + 0.5 * ROW * unit) * self.shrunk;
            let end = x + KEY * unit;
            let colour = palette::curve(slots[index]);
            let pattern = draw::pattern(plot, index);
            let line: &[(f64, f64)] = if series.style == Style::Points { &[] } else { &[(x, y), (end, y)] };
            for piece in super::dash::dashes(line, pattern, unit) {
                surface.stroke(&piece, draw::stroke_width(series) * unit, colour)?;
            }
            let look = Look { radius: draw::MARKER * unit, colour, open: series.open_markers, rim: true };
            marker::draw(surface, slots[index], ((x + end) / 2.0, y), look)?;
            for (line, name) in lines.iter().enumerate() {
                surface.text(&Text {
                    text: name,
                    at: (end + GAP * unit, y + 0.36 * font + line as f64 * LINE * unit * self.shrunk),
                    anchor: Anchor::Start,
                    size: font,
                    weight: weight(series),
                    colour: palette::INK,
                    upright: false,
                })?;
            }
        }
        Ok(())
    }
}

/// The text in at most [`MOST_LINES`] lines, or as much of its beginning as fits with an ellipsis.
fn lines(text: &str, room: f64, size: f64, weight: Weight) -> Vec<String> {
    let measure = |piece: &str| font::width(piece, size, weight);
    let mut lines = wrap_by(text, room, &measure);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        let last = &mut lines[MOST_LINES - 1];
        while !last.is_empty() && measure(&format!("{last}…")) > room {
            last.pop();
        }
        last.push('…');
    }
    lines
}
