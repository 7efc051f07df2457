//! Putting the plan on a surface, from back to front.

use super::font::{self, Weight};
use super::layout::{CAPTION, EXPONENT, Frame, HEADING, LEADING, Layout, SUBTITLE, TICK, TICK_GAP, TICK_LENGTH, TITLE};
use super::marker::{self, Look};
use super::palette::{self, FAINT_INK, GRID, INK, MINOR_GRID, PAPER};
use super::surface::{Anchor, Surface, Text};
use super::ticks::{Label, Ticks};
use super::{Plot, Series, Style, dash};
use crate::ReportError;

/// Radius of a marker.
pub(super) const MARKER: f64 = 5.0;
/// A curve with at most this many points shows each of them; one with more shows [`MARKERS`].
const FEW_POINTS: usize = 12;
const MARKERS: usize = 7;

/// Draws a plot as planned.
pub(super) fn draw(plot: &Plot, layout: &Layout, surface: &mut dyn Surface) -> Result<(), ReportError> {
    surface.background(layout.size, PAPER)?;
    grid(layout, surface)?;
    axes(layout, surface)?;
    curves(plot, layout, surface)?;
    words(layout, surface)?;
    if let Some((legend, corner)) = &layout.legend {
        legend.draw(plot, layout.unit, *corner, surface)?;
    }
    Ok(())
}

/// How thick a curve is.
pub(super) fn stroke_width(series: &Series) -> f64 {
    if series.emphasis { 4.2 } else { 2.3 }
}

/// The dashes of a curve: those of its key, or another rhythm than the curves of its style before
/// it.
pub(super) fn pattern(plot: &Plot, index: usize) -> &'static [f64] {
    let series = &plot.series[index];
    let before = || plot.series[..index].iter().filter(|other| other.style == series.style).count();
    dash::pattern(series.style, series.key.unwrap_or_else(before))
}

fn grid(layout: &Layout, surface: &mut dyn Surface) -> Result<(), ReportError> {
    let Frame { left, top, right, bottom } = layout.frame;
    for major in [false, true] {
        let (colour, width) = if major { (GRID, 1.0) } else { (MINOR_GRID, 0.8) };
        let places = |ticks: &Ticks| -> Vec<f64> {
            ticks.marks.iter().filter(|tick| tick.label.is_some() == major).map(|tick| tick.place).collect()
        };
        for place in places(&layout.x_ticks) {
            let x = left + place * (right - left);
            surface.stroke(&[(x, top), (x, bottom)], width * layout.unit, colour)?;
        }
        for place in places(&layout.y_ticks) {
            let y = bottom - place * (bottom - top);
            surface.stroke(&[(left, y), (right, y)], width * layout.unit, colour)?;
        }
    }
    Ok(())
}

fn axes(layout: &Layout, surface: &mut dyn Surface) -> Result<(), ReportError> {
    let (unit, Frame { left, top, right, bottom }) = (layout.unit, layout.frame);
    let line = 1.4 * unit;
    surface.stroke(&[(left, top), (left, bottom), (right, bottom)], line, INK)?;
    for tick in &layout.x_ticks.marks {
        let x = left + tick.place * (right - left);
        let length = if tick.label.is_some() { TICK_LENGTH } else { 0.6 * TICK_LENGTH } * unit;
        surface.stroke(&[(x, bottom), (x, bottom + length)], line, INK)?;
        if let Some(label) = &tick.label {
            let baseline = bottom + (TICK_LENGTH + TICK_GAP + 0.8 * TICK) * unit;
            tick_label(label, (x, baseline), 0.5, unit, surface)?;
        }
    }
    for tick in &layout.y_ticks.marks {
        let y = bottom - tick.place * (bottom - top);
        let length = if tick.label.is_some() { TICK_LENGTH } else { 0.6 * TICK_LENGTH } * unit;
        surface.stroke(&[(left - length, y), (left, y)], line, INK)?;
        if let Some(label) = &tick.label {
            let end = left - (TICK_LENGTH + TICK_GAP) * unit;
            tick_label(label, (end, y + 0.36 * TICK * unit), 1.0, unit, surface)?;
        }
    }
    let size = HEADING * unit;
    for (heading, upright) in [(&layout.x_heading, false), (&layout.y_heading, true)] {
        for (line, text) in heading.lines.iter().enumerate() {
            let down = line as f64 * LEADING * size;
            let at = if upright { (heading.at.0 + down, heading.at.1) } else { (heading.at.0, heading.at.1 + down) };
            let (anchor, weight, colour) = (Anchor::Middle, Weight::Regular, INK);
            surface.text(&Text { text, at, anchor, size, weight, colour, upright })?;
        }
    }
    Ok(())
}

/// A tick's label, `before` of its width to the left of `at`.
///
/// Base and exponent meet at one point, which both are anchored to: they touch in every font, also
/// where the letters of a browser are narrower than ours.
fn tick_label(
    label: &Label,
    at: (f64, f64),
    before: f64,
    unit: f64,
    surface: &mut dyn Surface,
) -> Result<(), ReportError> {
    let size = TICK * unit;
    let text = |text, at, anchor, size| Text {
        text,
        at,
        anchor,
        size,
        weight: Weight::Regular,
        colour: FAINT_INK,
        upright: false,
    };
    let Some(exponent) = &label.exponent else {
        let anchor = if before > 0.75 { Anchor::End } else { Anchor::Middle };
        return surface.text(&text(&label.base, at, anchor, size));
    };
    let base_width = font::width(&label.base, size, Weight::Regular);
    let exponent_width = font::width(exponent, EXPONENT * size, Weight::Regular);
    let meet = at.0 - before * (base_width + exponent_width) + base_width;
    surface.text(&text(&label.base, (meet, at.1), Anchor::End, size))?;
    surface.text(&text(exponent, (meet + 0.04 * size, at.1 - 0.42 * size), Anchor::Start, EXPONENT * size))
}

fn curves(plot: &Plot, layout: &Layout, surface: &mut dyn Surface) -> Result<(), ReportError> {
    let slots = palette::slots(plot);
    // Solid under dashed under dotted, thick under thin: where curves coincide, each shows through
    // the next.
    let mut order: Vec<usize> = (0..plot.series.len()).collect();
    order.sort_by_key(|&index| (plot.series[index].style, !plot.series[index].emphasis));
    let pixels: Vec<Vec<Vec<(f64, f64)>>> = layout
        .curves
        .iter()
        .map(|curve| curve.iter().map(|stretch| stretch.iter().map(|&point| layout.pixel(point)).collect()).collect())
        .collect();
    let company: Vec<Company> = (0..order.len()).map(|position| Company::of(position, &order, &pixels)).collect();
    for (&index, company) in order.iter().zip(&company) {
        let series = &plot.series[index];
        let width = stroke_width(series) * layout.unit * (1.0 + 0.8 * company.above.min(4) as f64);
        let pattern = pattern(plot, index);
        let lines = if series.style == Style::Points { &[][..] } else { &pixels[index][..] };
        for line in lines {
            for piece in dash::dashes(line, pattern, layout.unit) {
                surface.stroke(&piece, width, palette::curve(slots[index]))?;
            }
        }
    }
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (&index, company) in order.iter().zip(&company) {
        for at in marked_points(&plot.series[index], &pixels[index], index, company, layout.frame) {
            // A marker on top of another is smaller and without rim, so that both are seen.
            let near = |other: &&(f64, f64)| (other.0 - at.0).hypot(other.1 - at.1) < 2.0 * layout.unit;
            let below = taken.iter().filter(near).count();
            let grown = if plot.series[index].emphasis { 1.25 } else { 1.0 };
            let radius = MARKER * grown * layout.unit * 0.6f64.powi(below.min(3) as i32);
            let (colour, open) = (palette::curve(slots[index]), plot.series[index].open_markers);
            marker::draw(surface, slots[index], at, Look { radius, colour, open, rim: below == 0 })?;
            taken.push(at);
        }
    }
    Ok(())
}

/// How many curves run where this one runs, point for point: drawn before it, and after it.
///
/// Those drawn first are made wider, so that they are seen on both sides of the later ones, and all
/// take turns with markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Company {
    below: usize,
    above: usize,
}

impl Company {
    fn of(position: usize, order: &[usize], pixels: &[Vec<Vec<(f64, f64)>>]) -> Self {
        let this = &pixels[order[position]];
        // Less than a pixel apart is the same to the eye.
        let near = |(a, b): (&(f64, f64), &(f64, f64))| (a.0 - b.0).abs() < 0.8 && (a.1 - b.1).abs() < 0.8;
        let same = |other: &&usize| {
            let other = &pixels[**other];
            !this.is_empty()
                && this.len() == other.len()
                && this.iter().zip(other).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(near))
        };
        let count = |part: &[usize]| part.iter().filter(same).count();
        Self { below: count(&order[..position]), above: count(&order[position + 1..]) }
    }
}

/// The points of a curve that carry a marker: all of a few; of many, some at even distances, which
/// differ from curve to curve so that markers seldom meet; and points with a gap on both sides,
/// which have nothing else to be seen by.
fn marked_points(
    series: &Series,
    stretches: &[Vec<(f64, f64)>],
    index: usize,
    company: &Company,
    frame: Frame,
) -> Vec<(f64, f64)> {
    let pixels: Vec<(f64, f64)> = stretches.iter().flatten().copied().collect();
    let together = company.below + company.above + 1;
    if series.style == Style::Points || series.points.len() <= FEW_POINTS || pixels.len() <= 2 {
        // Curves that coincide take turns, if there are points enough.
        let turns = if pixels.len() >= 2 * together { together } else { 1 };
        return pixels.into_iter().skip(company.below % turns).step_by(turns).collect();
    }
    let mut marked: Vec<(f64, f64)> =
        stretches.iter().filter(|stretch| stretch.len() == 1).map(|stretch| stretch[0]).collect();
    // Multiples of the golden ratio never bunch up.
    let phase = (0.5 + 0.618_034 * index as f64).fract();
    let step = (frame.right - frame.left) / MARKERS as f64;
    let (first, last) = (pixels[0].0, pixels[pixels.len() - 1].0);
    let targets = (0..MARKERS).map(|k| frame.left + (k as f64 + phase) * step);
    let mut targets: Vec<f64> = targets.filter(|target| (first..=last).contains(target)).collect();
    if targets.is_empty() {
        targets.push((first + last) / 2.0);
    }
    for target in targets {
        let nearest = pixels.iter().min_by(|a, b| (a.0 - target).abs().total_cmp(&(b.0 - target).abs()));
        if let Some(&point) = nearest.filter(|point| !marked.contains(point)) {
            marked.push(point);
        }
    }
    marked
}

/// Title, subtitle and caption.
fn words(layout: &Layout, surface: &mut dyn Surface) -> Result<(), ReportError> {
    let (left, unit) = (layout.words_left, layout.unit);
    let below = block(&layout.title, (left, layout.title_top), (TITLE, unit), Weight::Bold, surface)?;
    block(&layout.subtitle, (left, below), (SUBTITLE, unit), Weight::Regular, surface)?;
    block(&layout.caption, (left, layout.caption_top), (CAPTION, unit), Weight::Regular, surface)?;
    Ok(())
}

/// Lines of text, their upper left corner at `corner`; bold ones in ink, others fainter. Returns
/// where the next line would begin.
pub(super) fn block(
    lines: &[String],
    corner: (f64, f64),
    (size, unit): (f64, f64),
    weight: Weight,
    surface: &mut dyn Surface,
) -> Result<f64, ReportError> {
    let (mut y, colour) = (corner.1, if weight == Weight::Bold { INK } else { FAINT_INK });
    for line in lines {
        y += size * LEADING * unit;
        let at = (corner.0, y - 0.3 * size * unit);
        let (anchor, size) = (Anchor::Start, size * unit);
        surface.text(&Text { text: line, at, anchor, size, weight, colour, upright: false })?;
    }
    Ok(y)
}
