//! Where everything goes.

use super::canvas::{Canvas, Height};
use super::curve::{self, Omitted, Stretch};
use super::font::{self, Weight};
use super::legend::Legend;
use super::range::Range;
use super::ticks::{self, Label, Ticks};
use super::{Plot, Scale};
use crate::ReportError;
use crate::wrap::wrap_by;

/// Sizes of letters in a picture of 1200 × 800, pixels to the em.
pub(super) const TITLE: f64 = 25.0;
pub(super) const SUBTITLE: f64 = 17.5;
pub(super) const HEADING: f64 = 19.0;
pub(super) const TICK: f64 = 17.0;
pub(super) const CAPTION: f64 = 15.5;
/// An exponent is this much smaller than its base.
pub(super) const EXPONENT: f64 = 0.72;
/// From one baseline to the next, in ems.
pub(super) const LEADING: f64 = 1.38;
/// Length of a tick, and its distance to the label.
pub(super) const TICK_LENGTH: f64 = 7.0;
pub(super) const TICK_GAP: f64 = 6.0;
/// Between the frame and a legend beside it.
const BESIDE_GAP: f64 = 26.0;

/// The rectangle that holds the curves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// A finished plan of the picture.
#[derive(Debug)]
pub(super) struct Layout {
    /// Width and height of the whole picture.
    pub(super) size: (f64, f64),
    /// Pixels to the unit in which all sizes are given: 1 at 1200 × 800.
    pub(super) unit: f64,
    pub(super) frame: Frame,
    pub(super) x: Range,
    pub(super) y: Range,
    pub(super) x_ticks: Ticks,
    pub(super) y_ticks: Ticks,
    /// Per series, its drawable stretches.
    pub(super) curves: Vec<Vec<Stretch>>,
    pub(super) title: Vec<String>,
    pub(super) subtitle: Vec<String>,
    pub(super) caption: Vec<String>,
    pub(super) title_top: f64,
    /// Where title and caption begin on the left.
    pub(super) words_left: f64,
    /// Baselines and lines of the axes' headings, the first line first; both are anchored in their
    /// middle.
    pub(super) x_heading: Heading,
    pub(super) y_heading: Heading,
    pub(super) caption_top: f64,
    pub(super) legend: Option<(Legend, (f64, f64))>,
}

/// The heading of an axis, in one line or two.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) lines: Vec<String>,
    /// The middle of the first line's baseline.
    pub(super) at: (f64, f64),
}

impl Layout {
    pub(super) fn of(plot: &Plot, canvas: &Canvas) -> Result<Self, ReportError> {
        let curves: Vec<Vec<Stretch>> = plot.series.iter().map(|series| curve::stretches(plot, series)).collect();
        let points = || curves.iter().flatten().flatten();
        let reach = plot.reach.into_iter().flat_map(|(least, most)| [least, most]);
        let ranges = (
            Range::around(plot.x.scale, points().map(|point| point.0)),
            Range::around(plot.y.scale, points().map(|point| point.1).chain(reach)),
        );
        let (Some(mut x), Some(mut y)) = ranges else {
            let (title, series) = (plot.title.clone(), plot.series.len());
            return Err(ReportError::NothingToDraw { title, series, left_out: Omitted::of(plot).total() });
        };
        x.judge_whole(points().map(|point| point.0));
        // A curve that was cut ends at the frame.
        y.end_at(plot.shown);

        let Canvas { width, unit, margin, .. } = *canvas;
        let room = width - 2.0 * margin;
        let words = |text: &str, most: usize, size: f64, weight: Weight| {
            if canvas.words { lines(text, most, room, size * unit, weight) } else { Vec::new() }
        };

        // Above the frame: title and subtitle.
        let title = words(&plot.title, 2, TITLE, Weight::Bold);
        let subtitle = words(&plot.subtitle, 3, SUBTITLE, Weight::Regular);
        let title_top = 0.8 * margin;
        let above = title_top
            + (title.len() as f64 * TITLE + subtitle.len() as f64 * SUBTITLE) * LEADING * unit
            + if title.is_empty() && subtitle.is_empty() { 10.0 } else { 18.0 } * unit;
        let top = above.max(canvas.least.1);

        // Below it: ticks and heading of the axis, the legend if it is too wide for the side, the
        // caption.
        let caption = words(&plot.remarks(), 6, CAPTION, Weight::Regular);
        let caption_height = caption.len() as f64 * CAPTION * LEADING * unit;
        let foot = 0.8 * margin + caption_height + if caption.is_empty() { 0.0 } else { 8.0 * unit };
        let limit = match canvas.height {
            Height::Whole(height) => Some(height - foot - top),
            Height::Frame(_) => None,
        };
        let legend = if canvas.legend { Legend::of(plot, unit, (room, limit), true) } else { None };
        let beside = legend.as_ref().filter(|legend| legend.beside).map(|legend| legend.width + BESIDE_GAP * unit);
        let legend_height = legend.as_ref().filter(|legend| !legend.beside).map_or(0.0, |legend| legend.height);
        let legend_gap = if legend_height > 0.0 { 10.0 * unit } else { 0.0 };
        // The power of ten that a heading may get is a matter of ticks, which depend on the size of
        // the frame: leave room.
        let x_multiplier = ticks::ticks(&x, 5).multiplier;
        let x_lines = heading(&plot.x.heading_with(x_multiplier), 0.85 * (room - beside.unwrap_or(0.0)), unit);
        let x_heading_height = (1.35 + LEADING * x_lines.len().saturating_sub(1) as f64) * HEADING * unit;
        let axis_height = x_heading_height + (0.45 * TICK + TICK_GAP + TICK_LENGTH + TICK) * unit;
        let below = axis_height + legend_gap + legend_height + foot;
        let least = 40.0 * unit;
        let (height, frame_height) = match canvas.height {
            Height::Whole(height) => (height, (height - top - below).max(least)),
            Height::Frame(frame) => {
                // A legend beside the frame needs its height too.
                let beside_height = legend.as_ref().filter(|legend| legend.beside).map_or(0.0, |legend| legend.height);
                let frame = frame.max(beside_height - axis_height);
                (top + frame + below, frame)
            }
        };
        let bottom = top + frame_height;
        let caption_top = height - 0.8 * margin - caption_height;
        let legend_top = bottom + axis_height + legend_gap;

        // From the left: heading, labels. From the right: legend.
        let high = |_: &Label| TICK * unit;
        let y_most = (frame_height / (52.0 * unit)) as usize;
        let y_ticks = fitting_ticks(&y, y_most.clamp(2, 14), frame_height, 0.25 * TICK * unit, &high);
        let y_lines = heading(&plot.y.heading_with(y_ticks.multiplier), frame_height.max(8.0 * HEADING * unit), unit);
        let labels = y_ticks.marks.iter().filter_map(|tick| tick.label.as_ref());
        let widest = labels.map(|label| label_width(label, unit)).fold(0.0, f64::max);
        let y_heading = margin + 0.85 * HEADING * unit;
        let more_lines = LEADING * HEADING * unit * y_lines.len().saturating_sub(1) as f64;
        let left = y_heading + more_lines + 0.65 * HEADING * unit + widest + (TICK_GAP + TICK_LENGTH) * unit;
        let left = left.max(canvas.least.0);
        let mut right = (width - margin - beside.unwrap_or(12.0 * unit)).max(left + least);
        let wide = |label: &Label| label_width(label, unit);
        let x_ticks = |length: f64| {
            // Powers of ten are short.
            let each = if x.scale == Scale::Log { 38.0 } else { 62.0 };
            let most = ((length / (each * unit)) as usize).clamp(2, 14);
            fitting_ticks(&x, most, length, 10.0 * unit, &wide)
        };
        // The last label may reach beyond the frame, and not beyond the picture.
        let mut x_marks = x_ticks(right - left);
        let end = x_marks
            .marks
            .iter()
            .filter_map(|tick| Some(tick.place * (right - left) + wide(tick.label.as_ref()?) / 2.0));
        let excess = left + end.fold(0.0, f64::max) - (width - 0.5 * margin);
        if excess > 0.0 && right - excess > left + least {
            right -= excess;
            x_marks = x_ticks(right - left);
        }
        let frame = Frame { left, top, right, bottom };

        let legend = legend.map(|legend| {
            let corner = if legend.beside {
                (frame.right + BESIDE_GAP * unit, frame.top)
            } else {
                (margin.max((width - legend.width) / 2.0), legend_top)
            };
            (legend, corner)
        });
        let x_width = x_lines.iter().map(|line| font::width(line, HEADING * unit, Weight::Regular)).fold(0.0, f64::max);
        let x_middle = ((left + right) / 2.0).min(width - margin - x_width / 2.0).max(margin + x_width / 2.0);
        let x_baseline = bottom + axis_height - x_heading_height + 1.05 * HEADING * unit;
        let y_width = y_lines.iter().map(|line| font::width(line, HEADING * unit, Weight::Regular)).fold(0.0, f64::max);
        let y_middle = ((top + bottom) / 2.0).max(top.min(y_width / 2.0 + title_top));
        Ok(Self {
            size: (width, height),
            unit,
            frame,
            x,
            y,
            x_ticks: x_marks,
            y_ticks,
            curves,
            title,
            subtitle,
            caption,
            title_top,
            words_left: margin,
            x_heading: Heading { lines: x_lines, at: (x_middle, x_baseline) },
            y_heading: Heading { lines: y_lines, at: (y_heading, y_middle) },
            caption_top,
            legend,
        })
    }

    /// The pixel of a point.
    pub(super) fn pixel(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let Frame { left, top, right, bottom } = self.frame;
        (left + self.x.place(x) * (right - left), bottom - self.y.place(y) * (bottom - top))
    }
}

/// A text broken into at most `most` lines; none if it is empty.
pub(super) fn lines(text: &str, most: usize, room: f64, size: f64, weight: Weight) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut lines = wrap_by(text, room, &|piece| font::width(piece, size, weight));
    if lines.len() > most {
        lines.truncate(most);
        lines[most - 1].push('…');
    }
    lines
}

/// Width of a tick's label.
pub(super) fn label_width(label: &Label, unit: f64) -> f64 {
    let exponent = label.exponent.as_deref().unwrap_or("");
    font::width(&label.base, TICK * unit, Weight::Regular)
        + font::width(exponent, EXPONENT * TICK * unit, Weight::Regular)
}

/// The heading of an axis in at most two lines.
fn heading(text: &str, room: f64, unit: f64) -> Vec<String> {
    lines(text, 2, room, HEADING * unit, Weight::Regular)
}

/// At most `most` ticks, and as many as have room for their labels with a gap between two; `extent`
/// is a label's length along the axis.
fn fitting_ticks(range: &Range, most: usize, length: f64, gap: f64, extent: &dyn Fn(&Label) -> f64) -> Ticks {
    let overlap = |ticks: &Ticks| {
        let labelled: Vec<(f64, f64)> =
            ticks.marks.iter().filter_map(|tick| Some((tick.place * length, extent(tick.label.as_ref()?)))).collect();
        labelled.windows(2).any(|pair| pair[0].0 + pair[0].1 / 2.0 + gap > pair[1].0 - pair[1].1 / 2.0)
    };
    let candidates = (2..=most).rev().map(|most| ticks::ticks(range, most));
    if let Some(fits) = candidates.into_iter().find(|ticks| !overlap(ticks)) {
        return fits;
    }
    // Nothing fits: keep the labels that do not run into the one before.
    let mut ticks = ticks::ticks(range, 2);
    let mut free = f64::NEG_INFINITY;
    for tick in &mut ticks.marks {
        let Some(label) = &tick.label else { continue };
        let half = extent(label) / 2.0;
        if tick.place * length - half < free {
            tick.label = None;
        } else {
            free = tick.place * length + half + gap;
        }
    }
    ticks
}
