//! The panels of a figure: plots that align and share a legend.

use super::canvas::{Canvas, Height};
use super::font::Weight;
use super::layout::{self, CAPTION, LEADING, Layout, SUBTITLE, TITLE};
use super::legend::Legend;
use super::palette::{Colour, PAPER};
use super::picture::Picture;
use super::surface::{Surface, Text};
use super::{MAX_SIDE, MIN_SIDE, Plot, curve, draw, pdf, png, svg};
use crate::{Format, ReportError};

/// Plots beside each other, with one legend below them.
///
/// Frames have one size and stand in line. Panels with the same vertical axis have the same range.
/// A panel's subtitle stands above its frame; its own title and caption are not shown. A curve
/// looks alike in every panel if it has a [`key`](crate::Series::key), which the legend goes by.
///
/// ```
/// use shuffledp_report::{Axis, Panels, Plot, Series};
///
/// let panel = |name: &str, factor: f64| {
///     let points = [1.0, 10.0, 100.0].map(|t: f64| (t, factor * t.sqrt()));
///     let plot = Plot::new("", Axis::log("rounds"), Axis::log("ε")).subtitle(name);
///     plot.series(Series::new("clones", points).key(3))
/// };
/// let svg = Panels::new("Composition", [panel("(a)", 0.1), panel("(b)", 0.2)]).to_svg()?;
/// assert_eq!(svg.matches("clones").count(), 1);
/// # Ok::<(), shuffledp_report::ReportError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Panels {
    /// The title of the figure.
    pub title: String,
    /// The setting: what is held fixed.
    pub subtitle: String,
    /// The panels, from left to right.
    pub panels: Vec<Plot>,
    /// Remarks below the figure; what had to be left out of the panels follows them.
    pub caption: String,
    /// The width of the picture in pixels. Its height follows.
    pub width: u32,
}

/// How panels are set.
#[derive(Debug, Clone, Copy)]
struct Sheet {
    width: f64,
    columns: usize,
    frame: f64,
    unit: f64,
    margin: f64,
    words: bool,
}

/// A picture of one panel is this wide, and each further panel adds to it.
const FIRST: u32 = 900;
const FURTHER: u32 = 350;
/// More panels than this go into further rows.
const MOST_IN_A_ROW: usize = 3;

impl Panels {
    /// A figure of these panels, as wide as their number asks for.
    pub fn new(title: impl Into<String>, panels: impl IntoIterator<Item = Plot>) -> Self {
        let panels: Vec<Plot> = panels.into_iter().collect();
        let further = panels.len().clamp(1, MOST_IN_A_ROW) as u32 - 1;
        let (title, width) = (title.into(), FIRST + FURTHER * further);
        Self { title, subtitle: String::new(), panels, caption: String::new(), width }
    }

    /// The same figure with a subtitle.
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// The same figure with a caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Caption, and what had to be left out.
    pub(crate) fn remarks(&self) -> String {
        let mut notes: Vec<String> = Vec::new();
        for note in self.panels.iter().flat_map(Plot::notes) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let remarks = std::iter::once(self.caption.clone()).chain(notes);
        remarks.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The sheet of a picture that stands alone.
    fn sheet(&self) -> Result<Sheet, ReportError> {
        if !(MIN_SIDE..=MAX_SIDE).contains(&self.width) {
            return Err(ReportError::PictureSize { width: self.width, height: self.width });
        }
        let columns = self.panels.len().clamp(1, MOST_IN_A_ROW);
        let natural = f64::from(FIRST + FURTHER * (columns as u32 - 1));
        let unit = 0.9 * f64::from(self.width) / natural;
        let (frame, margin) = (400.0 * unit, 22.0 * unit);
        Ok(Sheet { width: f64::from(self.width), columns, frame, unit, margin, words: true })
    }

    /// The figure as an SVG document.
    ///
    /// # Errors
    /// [`ReportError::NothingToDraw`] if a panel has no drawable point, or there is no panel;
    /// [`ReportError::PictureSize`] for an absurd width.
    pub fn to_svg(&self) -> Result<String, ReportError> {
        svg::render(&Laid::of(self, self.sheet()?)?, None)
    }

    /// The figure for a page, which says title, subtitle and caption itself: for wide screens and
    /// for narrow ones.
    pub(crate) fn to_page_svgs(&self) -> Result<[String; 2], ReportError> {
        let columns = self.panels.len().clamp(1, MOST_IN_A_ROW);
        // Letters of side-by-side panels are a little smaller than those of a single plot, and not
        // below 14 pixels.
        let (unit, frame) = if columns == 1 { (0.95, 400.0) } else { (0.86, 290.0) };
        let broad = Sheet { width: 952.0, columns, frame, unit, margin: 4.0, words: false };
        let narrow = Sheet { width: 350.0, columns: 1, frame: 260.0, unit: 0.92, margin: 2.0, words: false };
        let on = |sheet, class| svg::render(&Laid::of(self, sheet)?, Some(class));
        Ok([on(broad, "broad")?, on(narrow, "narrow")?])
    }

    /// The figure as the contents of a file. CSV has the rows of every panel, with the panel's
    /// number in front.
    ///
    /// # Errors
    /// As [`Panels::to_svg`].
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>, ReportError> {
        match format {
            Format::Svg => self.to_svg().map(String::into_bytes),
            Format::Png => png::render(&Laid::of(self, self.sheet()?)?),
            Format::Pdf => pdf::render(&Laid::of(self, self.sheet()?)?),
            Format::Csv => Ok(self.to_csv().into_bytes()),
        }
    }

    /// The data of all panels as CSV: that of [`Plot::to_csv`] with the panel's number in front,
    /// under a head of its own where panels differ in what they vary.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        let mut head = String::new();
        for (index, panel) in self.panels.iter().enumerate() {
            let csv = panel.to_csv();
            let (first, rows) = csv.split_once('\n').unwrap_or((&csv, ""));
            if first != head {
                out.push_str(&format!("panel,{first}\n"));
                first.clone_into(&mut head);
            }
            rows.lines().for_each(|row| out.push_str(&format!("{},{row}\n", index + 1)));
        }
        out
    }
}

/// A figure with its plan.
struct Laid<'a> {
    figure: &'a Panels,
    sheet: Sheet,
    size: (f64, f64),
    title: Vec<String>,
    subtitle: Vec<String>,
    caption: Vec<String>,
    caption_top: f64,
    /// Panels as they are drawn, their plans and their upper left corners.
    panels: Vec<(Plot, Layout, (f64, f64))>,
    /// Every curve once, the legend of them, and its upper left corner.
    legend: Option<(Plot, Legend, (f64, f64))>,
}

impl<'a> Laid<'a> {
    fn of(figure: &'a Panels, sheet: Sheet) -> Result<Self, ReportError> {
        let Sheet { width, columns, unit, margin, .. } = sheet;
        if figure.panels.is_empty() {
            return Err(ReportError::NothingToDraw { title: figure.title.clone(), series: 0, left_out: 0 });
        }
        let room = width - 2.0 * margin;
        let words = |text: &str, most: usize, size: f64, weight: Weight| {
            if sheet.words { layout::lines(text, most, room, size * unit, weight) } else { Vec::new() }
        };
        let title = words(&figure.title, 2, TITLE, Weight::Bold);
        let subtitle = words(&figure.subtitle, 3, SUBTITLE, Weight::Regular);
        let caption = words(&figure.remarks(), 8, CAPTION, Weight::Regular);
        let mut y = 0.8 * margin + (title.len() as f64 * TITLE + subtitle.len() as f64 * SUBTITLE) * LEADING * unit;
        if sheet.words {
            y += 6.0 * unit;
        }
        let gap = 14.0 * unit;
        let panel_width = (room + gap) / columns as f64 - gap;
        let plots = with_common_range(&figure.panels);
        let plans = aligned(&plots, panel_width, sheet)?;
        let height = plans.iter().map(|plan| plan.size.1).fold(0.0, f64::max);
        let count = plots.len();
        let panels = plots.into_iter().zip(plans).enumerate();
        let panels = panels
            .map(|(index, (plot, plan))| {
                let (column, row) = (index % columns, index / columns);
                (plot, plan, (margin + column as f64 * (panel_width + gap), y + row as f64 * height))
            })
            .collect();
        y += count.div_ceil(columns) as f64 * height + 8.0 * unit;
        let every = every_curve(&figure.panels);
        let legend = Legend::of(&every, unit, (room, None), false).map(|legend| {
            let corner = (margin.max((width - legend.width) / 2.0), y);
            y += legend.height;
            (every, legend, corner)
        });
        let caption_top = y + 10.0 * unit;
        let below = if caption.is_empty() { y } else { caption_top + caption.len() as f64 * CAPTION * LEADING * unit };
        let size = (width, below + 0.8 * margin);
        Ok(Self { figure, sheet, size, title, subtitle, caption, caption_top, panels, legend })
    }
}

/// The panels without titles and captions; those with the same vertical axis reach from the lowest
/// of their values to the highest.
fn with_common_range(panels: &[Plot]) -> Vec<Plot> {
    let ends = |plot: &Plot| {
        let drawn = plot.series.iter().flat_map(|series| curve::stretches(plot, series));
        let values: Vec<f64> = drawn.flatten().map(|point| point.1).collect();
        (values.iter().copied().fold(f64::INFINITY, f64::min), values.into_iter().fold(f64::NEG_INFINITY, f64::max))
    };
    let of = |plot: &Plot| {
        let alike = panels.iter().filter(|other| other.y == plot.y).map(ends);
        alike.fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)))
    };
    let bare = |plot: &Plot| {
        let reach = Some(of(plot)).filter(|(least, most)| least <= most);
        let mut bare = Plot { title: String::new(), caption: String::new(), reach, ..plot.clone() };
        for series in &mut bare.series {
            // A gap in the curve, of which the figure's own caption tells.
            let gaps = series.points.iter().filter(|point| !curve::is_drawable(plot, point)).map(|point| point.0);
            series.breaks.extend(gaps.collect::<Vec<_>>());
            series.points.retain(|point| curve::is_drawable(plot, point));
        }
        bare
    };
    panels.iter().map(bare).collect()
}

/// The plans of the panels, all frames beginning in the same place of their panel.
fn aligned(plots: &[Plot], width: f64, sheet: Sheet) -> Result<Vec<Layout>, ReportError> {
    let Sheet { frame, unit, .. } = sheet;
    let on = |least: (f64, f64)| {
        let canvas =
            Canvas { width, height: Height::Frame(frame), unit, margin: 2.0 * unit, words: true, legend: false, least };
        plots.iter().map(|plot| Layout::of(plot, &canvas)).collect::<Result<Vec<_>, _>>()
    };
    let plans = on((0.0, 0.0))?;
    let widest = plans.iter().map(|plan| plan.frame.left).fold(0.0, f64::max);
    on((widest, plans.iter().map(|plan| plan.frame.top).fold(0.0, f64::max)))
}

/// A plot of every curve that occurs in a panel, once: what the legend names. It has no points.
fn every_curve(panels: &[Plot]) -> Plot {
    let mut every = Plot::new("", panels[0].x.clone(), panels[0].y.clone());
    for series in panels.iter().flat_map(|plot| &plot.series) {
        match every.series.iter_mut().find(|known| known.label == series.label && known.key == series.key) {
            Some(known) => known.emphasis |= series.emphasis,
            None => every.series.push(series.clone()),
        }
    }
    every
}

impl Picture for Laid<'_> {
    fn title(&self) -> &str {
        &self.figure.title
    }

    fn size(&self) -> (f64, f64) {
        self.size
    }

    fn draw(&self, surface: &mut dyn Surface) -> Result<(), ReportError> {
        let Sheet { unit, margin, .. } = self.sheet;
        surface.background(self.size, PAPER)?;
        let below = draw::block(&self.title, (margin, 0.8 * margin), (TITLE, unit), Weight::Bold, surface)?;
        draw::block(&self.subtitle, (margin, below), (SUBTITLE, unit), Weight::Regular, surface)?;
        for (plot, plan, corner) in &self.panels {
            draw::draw(plot, plan, &mut Moved { surface, by: *corner })?;
        }
        if let Some((every, legend, corner)) = &self.legend {
            legend.draw(every, unit, *corner, surface)?;
        }
        draw::block(&self.caption, (margin, self.caption_top), (CAPTION, unit), Weight::Regular, surface)?;
        Ok(())
    }
}

/// A part of a surface, with its own upper left corner. It has no background of its own.
struct Moved<'a> {
    surface: &'a mut dyn Surface,
    by: (f64, f64),
}

impl Moved<'_> {
    fn point(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x + self.by.0, y + self.by.1)
    }

    fn points(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().map(|&point| self.point(point)).collect()
    }
}

impl Surface for Moved<'_> {
    fn background(&mut self, _: (f64, f64), _: Colour) -> Result<(), ReportError> {
        Ok(())
    }

    fn stroke(&mut self, points: &[(f64, f64)], width: f64, colour: Colour) -> Result<(), ReportError> {
        self.surface.stroke(&self.points(points), width, colour)
    }

    fn polygon(&mut self, corners: &[(f64, f64)], colour: Colour) -> Result<(), ReportError> {
        self.surface.polygon(&self.points(corners), colour)
    }

    fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) -> Result<(), ReportError> {
        self.surface.disc(self.point(centre), radius, colour)
    }

    fn text(&mut self, text: &Text<'_>) -> Result<(), ReportError> {
        self.surface.text(&Text { at: self.point(text.at), ..text.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Series, Style};

    fn panel(name: &str, factor: f64, style: Style) -> Plot {
        let points = [1.0, 10.0, 100.0, 1000.0].map(|t: f64| (t, factor * t));
        let series = Series::new("the same curve", points).key(5).style(style);
        Plot::new("unseen", Axis::log("rounds"), Axis::log("ε")).subtitle(name).series(series)
    }

    #[test]
    fn frames_align_and_ranges_agree() {
        let figure =
            Panels::new("f", [panel("(a)", 1e-9, Style::Solid), panel("(b)\nin two lines", 1e3, Style::Points)]);
        let laid = Laid::of(&figure, figure.sheet().unwrap()).unwrap();
        let [(_, a, at_a), (_, b, at_b)] = &laid.panels[..] else { panic!() };
        assert_eq!((a.frame.left, a.frame.top, a.frame.bottom), (b.frame.left, b.frame.top, b.frame.bottom));
        assert_eq!((a.frame.right, a.size), (b.frame.right, b.size));
        assert_eq!((a.y.low, a.y.high), (b.y.low, b.y.high));
        assert!(at_a.0 + a.size.0 <= at_b.0 && (at_a.1 - at_b.1).abs() < 1e-9);
        assert!(at_b.0 + b.size.0 <= laid.size.0);
    }

    #[test]
    fn the_legend_names_a_curve_once_and_below() {
        let figure = Panels::new("f", [panel("(a)", 1.0, Style::Solid), panel("(b)", 2.0, Style::Solid)]);
        let svg = figure.to_svg().unwrap();
        assert_eq!(svg.matches("the same curve").count(), 1);
        assert!(!svg.contains("unseen"));
        let narrow = &figure.to_page_svgs().unwrap()[1];
        assert!(narrow.contains("width=\"350\""));
    }

    #[test]
    fn csv_has_every_panel() {
        let figure = Panels::new("f", [panel("(a)", 1.0, Style::Solid), panel("(b)", 2.0, Style::Solid)]);
        let csv = figure.to_csv();
        assert!(csv.starts_with("panel,rounds,series,value\n1,1,the same curve,1\n"), "{csv}");
        assert!(csv.ends_with("2,1000,the same curve,2000\n"), "{csv}");
        assert_eq!(csv.lines().count(), 9);
    }

    #[test]
    fn what_is_left_out_is_told_once_and_below() {
        let mut broken = panel("(a)", 1.0, Style::Solid);
        broken.series[0].points[1].1 = f64::INFINITY;
        let figure = Panels::new("f", [broken.clone(), broken]).caption("All of it.");
        assert_eq!(figure.remarks(), "All of it. 1 value is infinite and not drawn.");
        assert_eq!(figure.to_svg().unwrap().matches("infinite").count(), 1);
    }

    #[test]
    fn no_panel_and_no_points_are_errors() {
        assert!(Panels::new("f", []).to_svg().is_err());
        assert!(Panels::new("f", [Plot::new("", Axis::log("x"), Axis::log("y"))]).to_svg().is_err());
        let mut tiny = Panels::new("f", [panel("(a)", 1.0, Style::Solid)]);
        tiny.width = 10;
        assert!(tiny.to_bytes(Format::Png).is_err());
    }
}
