//! Curves over two axes, as SVG, PNG, PDF and CSV.
//!
//! The way of a plot: `curve` sorts out what can be drawn, `range` and `ticks` make the axes,
//! `layout` decides where everything goes on a `canvas`, `draw` puts it on a `surface`, and `svg`,
//! `png` and `pdf` are the surfaces.

mod canvas;
mod csv;
mod curve;
mod dash;
mod draw;
mod font;
mod layout;
mod legend;
mod marker;
pub(crate) mod palette;
mod panels;
mod pdf;
mod picture;
mod png;
mod range;
mod surface;
mod svg;
mod ticks;

#[cfg(test)]
mod overlaps;

use std::path::Path;

use crate::ReportError;
use canvas::Canvas;
pub use panels::Panels;
use picture::Planned;

/// The smallest side of a picture, in pixels.
pub const MIN_SIDE: u32 = 160;
/// The largest side of a picture, in pixels.
pub const MAX_SIDE: u32 = 8000;

/// The file format of a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A picture that scales.
    Svg,
    /// A picture in pixels.
    Png,
    /// A picture that scales, on one page, with its fonts inside.
    Pdf,
    /// The numbers.
    Csv,
}

impl Format {
    /// The format that a file's name ends in: `.svg`, `.png`, `.pdf` or `.csv`.
    ///
    /// # Errors
    /// [`ReportError::UnknownExtension`].
    pub fn of(path: &Path) -> Result<Self, ReportError> {
        match crate::save::extension(path).as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "pdf" => Ok(Self::Pdf),
            "csv" => Ok(Self::Csv),
            _ => Err(ReportError::UnknownExtension { path: path.into(), known: ".svg, .png, .pdf or .csv" }),
        }
    }
}

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scale {
    /// Equal differences take equal lengths.
    #[default]
    Linear,
    /// Equal ratios take equal lengths. Only positive values have a place.
    Log,
}

/// An axis: what it measures, in which unit, on which scale. Its range follows from the data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axis {
    /// The measured quantity.
    pub label: String,
    /// Its unit, empty if it has none.
    pub unit: String,
    /// How values are spread.
    pub scale: Scale,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), unit: String::new(), scale: Scale::Linear }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), unit: String::new(), scale: Scale::Log }
    }

    /// The same axis with a unit.
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Label and unit, as the axis and the head of a CSV column show them.
    pub(crate) fn heading(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} ({})", self.label, self.unit) }
    }

    /// The heading, with the power of ten that the labels of the axis are to be multiplied by.
    fn heading_with(&self, multiplier: Option<i32>) -> String {
        let Some(exponent) = multiplier else { return self.heading() };
        let raised: String = exponent
            .to_string()
            .chars()
            .map(|c| match c {
                '-' => '⁻',
                digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize - '0' as usize],
            })
            .collect();
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        format!("{} (×10{raised}{unit})", self.label)
    }
}

/// How a curve is stroked.
///
/// Dashed curves are drawn over solid ones and dotted over both, so that curves which coincide all
/// remain visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Style {
    /// Without gaps.
    #[default]
    Solid,
    /// In dashes; the second dashed curve of a plot has another rhythm than the first.
    Dashed,
    /// In dots.
    Dotted,
    /// No line: a marker at every point, for single values such as those of a printed table.
    Points,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Its points in any order; they are joined by increasing x. A point that cannot be drawn
    /// (infinite, not a number, not positive on a logarithmic axis) is a gap in the curve.
    pub points: Vec<(f64, f64)>,
    /// Where the curve has no value: points on either side of such an x are not joined.
    pub breaks: Vec<f64>,
    /// How it is stroked.
    pub style: Style,
    /// Whether it is the one to look at: thicker, its name in bold.
    pub emphasis: bool,
    /// Whether its markers are open, to tell two families of curves apart.
    pub open_markers: bool,
    /// Its place in a table of everything that is ever drawn: decides colour, marker and rhythm;
    /// see [`Series::key`].
    pub key: Option<usize>,
    /// Its name in CSV; the label if empty.
    pub id: String,
    /// Its name for people, for CSV.
    pub name: String,
    /// Of which kind it is ("upper", "lower"), for CSV.
    pub kind: String,
    /// The status of its values ("rigorous", "conjectured"), for CSV.
    pub standing: String,
}

impl Series {
    /// A solid curve.
    pub fn new(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { label: label.into(), points: points.into_iter().collect(), ..Self::default() }
    }

    /// The same curve in another style.
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The same curve, interrupted at these x.
    pub fn broken_at(mut self, breaks: impl IntoIterator<Item = f64>) -> Self {
        self.breaks = breaks.into_iter().collect();
        self
    }

    /// The same curve with open markers.
    pub fn open_markers(mut self) -> Self {
        self.open_markers = true;
        self
    }

    /// The same curve with the colour, the marker and the rhythm of dashes that belong to `key`, in
    /// this picture and in every other.
    ///
    /// The caller keeps a fixed table, such as the list of all bounds, and passes a curve's
    /// position in it. Colour and marker are read off two fixed lists, of 12 colours and 7 shapes:
    /// `key % 12` and `key % 7`, so that 84 keys look different, and two keys with the same colour
    /// have different markers. Curves without a key take the first looks that no key of the picture
    /// has taken.
    pub fn key(mut self, key: usize) -> Self {
        self.key = Some(key);
        self
    }

    /// The same curve with what CSV says about it: its identifier and its name for people.
    pub fn named(mut self, id: impl Into<String>, name: impl Into<String>) -> Self {
        (self.id, self.name) = (id.into(), name.into());
        self
    }

    /// The same curve with what CSV says about it: its kind and what its values are worth.
    pub fn judged(mut self, kind: impl Into<String>, standing: impl Into<String>) -> Self {
        (self.kind, self.standing) = (kind.into(), standing.into());
        self
    }

    /// The same curve as the one to look at.
    pub fn emphasized(mut self) -> Self {
        self.emphasis = true;
        self
    }
}

/// A picture of curves over two axes.
///
/// ```
/// use shuffledp_report::{Axis, Plot, Series};
///
/// let rounds = [1.0, 10.0, 100.0, 1000.0];
/// let svg = Plot::new("Composition", Axis::log("rounds"), Axis::log("ε"))
///     .series(Series::new("any-ldp-pld", rounds.map(|t: f64| (t, 0.01 * t.sqrt()))))
///     .to_svg()?;
/// assert!(svg.starts_with("<svg"));
/// # Ok::<(), shuffledp_report::ReportError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// The title of the picture.
    pub title: String,
    /// The setting: what is held fixed.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
    /// The smallest and the largest y that is shown: curves are cut where they leave this stretch.
    /// CSV holds everything.
    pub shown: (f64, f64),
    /// Remarks below the picture; [`Plot::notes`] follow them.
    pub caption: String,
    /// Width and height in pixels; 1200 × 800 unless told. Text and lines grow with it.
    pub size: (u32, u32),
    /// The name of the x column in CSV; the heading of the axis if empty.
    pub x_id: String,
    /// Values that the vertical axis reaches, whatever the curves do: panels of a figure have one
    /// range.
    pub(crate) reach: Option<(f64, f64)>,
}

impl Plot {
    /// A plot without curves.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            x,
            y,
            series: Vec::new(),
            shown: (f64::NEG_INFINITY, f64::INFINITY),
            caption: String::new(),
            size: (1200, 800),
            x_id: String::new(),
            reach: None,
        }
    }

    /// The same plot with a subtitle.
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// The same plot with one more curve.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The same plot, curves cut where they leave this stretch of y.
    pub fn shown(mut self, least: f64, most: f64) -> Self {
        self.shown = (least, most);
        self
    }

    /// The same plot with a caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// The same plot in another size.
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width, height);
        self
    }

    /// The same plot, its column of x in CSV called so.
    pub fn x_id(mut self, id: impl Into<String>) -> Self {
        self.x_id = id.into();
        self
    }

    /// Lists the data left out of the picture, such as "3 values are infinite and not drawn."
    pub fn notes(&self) -> Vec<String> {
        curve::Omitted::of(self).notes()
    }

    /// Caption and notes.
    pub(crate) fn remarks(&self) -> String {
        let remarks = std::iter::once(self.caption.clone()).chain(self.notes()).filter(|text| !text.is_empty());
        remarks.collect::<Vec<_>>().join(" ")
    }

    /// The picture as an SVG document.
    ///
    /// # Errors
    /// [`ReportError::NothingToDraw`] without a drawable point, [`ReportError::PictureSize`] for an
    /// absurd size.
    pub fn to_svg(&self) -> Result<String, ReportError> {
        svg::render(&Planned::on(self, &Canvas::of(self)?)?, None)
    }

    /// The picture for a page, which says title, subtitle and caption itself: once for wide screens
    /// and once for narrow ones.
    pub(crate) fn to_page_svgs(&self) -> Result<[String; 2], ReportError> {
        let on = |canvas, class| svg::render(&Planned::on(self, canvas)?, Some(class));
        Ok([on(&canvas::BROAD, "broad")?, on(&canvas::NARROW, "narrow")?])
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// As [`Plot::to_svg`].
    pub fn to_png(&self) -> Result<Vec<u8>, ReportError> {
        png::render(&Planned::on(self, &Canvas::of(self)?)?)
    }

    /// The picture as a PDF file of one page, a pixel being 1/96 inch. Its fonts are in it, and
    /// letters remain letters: they can be searched and copied. It carries no date: the same plot
    /// gives the same bytes.
    ///
    /// # Errors
    /// As [`Plot::to_svg`].
    pub fn to_pdf(&self) -> Result<Vec<u8>, ReportError> {
        pdf::render(&Planned::on(self, &Canvas::of(self)?)?)
    }

    /// The data as CSV, one row for every point: x, which series ("bound" if the series have
    /// identifiers, else "series"), what is known about it (name, kind, standing, each if any
    /// series has it) and the value. Series come in their order, their points by increasing x.
    /// Every value is written in full, those that a picture leaves out too.
    pub fn to_csv(&self) -> String {
        csv::render(self)
    }

    /// The plot as the contents of a file.
    ///
    /// # Errors
    /// As [`Plot::to_svg`].
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>, ReportError> {
        match format {
            Format::Svg => self.to_svg().map(String::into_bytes),
            Format::Png => self.to_png(),
            Format::Pdf => self.to_pdf(),
            Format::Csv => Ok(self.to_csv().into_bytes()),
        }
    }

    /// Writes the plot in the format its name ends in: `.svg`, `.png`, `.pdf` or `.csv`.
    ///
    /// # Errors
    /// [`ReportError::UnknownExtension`], [`ReportError::Write`], and those of [`Plot::to_svg`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        crate::save::write(path, &self.to_bytes(Format::of(path)?)?)
    }
}
