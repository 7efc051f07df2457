//! Where everything goes.

use super::curve::{self, Omitted, Stretch};
use super::font::{self, Weight};
use super::legend::Legend;
use super::range::Range;
use super::ticks::{self, Label, Ticks};
use super::{MAX_SIDE, MIN_SIDE, Plot};
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
const MARGIN: f64 = 24.0;

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
    /// Baseline of the horizontal axis's heading.
    pub(super) x_heading: f64,
    /// Baseline of the vertical axis's heading.
    pub(super) y_heading: f64,
    pub(super) caption_top: f64,
    pub(super) legend: Option<(Legend, (f64, f64))>,
}

impl Layout {
    pub(super) fn of(plot: &Plot) -> Result<Self, ReportError> {
        let (width, height) = plot.size;
        if ![width, height].iter().all(|side| (MIN_SIDE..=MAX_SIDE).contains(side)) {
            return Err(ReportError::PictureSize { width, height });
        }
        let curves: Vec<Vec<Stretch>> = plot.series.iter().map(|series| curve::stretches(plot, series)).collect();
        let points = || curves.iter().flatten().flatten();
        let ranges = (
            Range::around(plot.x.scale, points().map(|point| point.0)),
            Range::around(plot.y.scale, points().map(|point| point.1)),
        );
        let (Some(x), Some(mut y)) = ranges else {
            let (title, series) = (plot.title.clone(), plot.series.len());
            return Err(ReportError::NothingToDraw { title, series, left_out: Omitted::of(plot).total() });
        };

        // A curve that was cut ends at the frame.
        y.end_at(plot.shown);

        let (width, height) = (f64::from(width), f64::from(height));
        let unit = (width / 1200.0).min(height / 800.0);
        let margin = MARGIN * unit;
        let room = width - 2.0 * margin;

        // From the top: title and subtitle.
        let title = lines(&plot.title, 2, room, TITLE * unit, Weight::Bold);
        let subtitle = lines(&plot.subtitle, 3, room, SUBTITLE * unit, Weight::Regular);
        let title_top = 0.8 * margin;
        let top = title_top
            + (title.len() as f64 * TITLE + subtitle.len() as f64 * SUBTITLE) * LEADING * unit
            + if title.is_empty() && subtitle.is_empty() { 6.0 } else { 18.0 } * unit;

        // From the bottom: caption, legend if it is too wide for the side, heading and ticks of the axis.
        let remarks = std::iter::once(plot.caption.clone()).chain(plot.notes()).filter(|text| !text.is_empty());
        let caption = lines(&remarks.collect::<Vec<_>>().join(" "), 6, room, CAPTION * unit, Weight::Regular);
        let caption_top = height - 0.8 * margin - caption.len() as f64 * CAPTION * LEADING * unit;
        let mut bottom = caption_top - if caption.is_empty() { 0.0 } else { 8.0 * unit };
        let legend = Legend::of(plot, unit, (room, bottom - top));
        let below = legend.filter(|legend| !legend.beside);
        if let Some(legend) = below {
            bottom -= legend.height;
        }
        let legend_below = bottom;
        if below.is_some() {
            bottom -= 10.0 * unit;
        }
        let x_heading = bottom - 0.3 * HEADING * unit;
        bottom = x_heading - (1.05 * HEADING + 0.45 * TICK + TICK_GAP + TICK_LENGTH + TICK) * unit;

        // From the left: heading, labels. From the right: legend.
        let y_ticks = ticks::ticks(&y, ((bottom - top) / (52.0 * unit)) as usize);
        let labels = y_ticks.marks.iter().filter_map(|tick| tick.label.as_ref());
        let widest = labels.map(|label| label_width(label, unit)).fold(0.0, f64::max);
        let y_heading = margin + 0.85 * HEADING * unit;
        let left = y_heading + 0.9 * HEADING * unit + widest + (TICK_GAP + TICK_LENGTH) * unit;
        let beside = legend.filter(|legend| legend.beside);
        let right = width - margin - beside.map_or(12.0 * unit, |legend| legend.width + 26.0 * unit);
        let frame = Frame { left, top, right: right.max(left + 40.0 * unit), bottom: bottom.max(top + 40.0 * unit) };
        let x_ticks = fitting_ticks(&x, frame.right - frame.left, unit);

        let corner = |legend: Legend| {
            if legend.beside {
                (frame.right + 26.0 * unit, frame.top)
            } else {
                (margin.max((width - legend.width) / 2.0), legend_below)
            }
        };
        let legend = legend.map(|legend| (legend, corner(legend)));
        Ok(Self {
            unit,
            frame,
            x,
            y,
            x_ticks,
            y_ticks,
            curves,
            title,
            subtitle,
            caption,
            title_top,
            x_heading,
            y_heading,
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
fn lines(text: &str, most: usize, room: f64, size: f64, weight: Weight) -> Vec<String> {
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

/// As many ticks on a horizontal axis as have room for their labels.
fn fitting_ticks(range: &Range, length: f64, unit: f64) -> Ticks {
    let gap = 16.0 * unit;
    let most = ((length / (62.0 * unit)) as usize).clamp(2, 14);
    let overlap = |ticks: &Ticks| {
        let labelled: Vec<(f64, f64)> = ticks
            .marks
            .iter()
            .filter_map(|tick| Some((tick.place * length, label_width(tick.label.as_ref()?, unit))))
            .collect();
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
        let half = label_width(label, unit) / 2.0;
        if tick.place * length - half < free {
            tick.label = None;
        } else {
            free = tick.place * length + half + gap;
        }
    }
    ticks
}
