//! The picture as an SVG document.

use plotters::backend::SVGBackend;
use plotters::prelude::{DrawingBackend, IntoFont, RGBColor, ShapeStyle, TextStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, FontTransform};

use super::font::Weight;
use super::palette::Colour;
use super::picture::Picture;
use super::surface::{Anchor, Surface, Text};
use crate::ReportError;
use crate::escape;

/// plotters places everything at whole units. A unit of a tenth of a pixel keeps curves smooth.
const UNITS_PER_PIXEL: f64 = 10.0;
/// plotters divides font sizes by this.
const FONT_SIZE_DIVISOR: f64 = 1.24;
/// plotters sets the baseline of `VPos::Top` this many ems below the position.
const TOP_TO_BASELINE: f64 = 0.76;

/// The document, with a class for the style sheet of a page.
pub(super) fn render(picture: &dyn Picture, class: Option<&str>) -> Result<String, ReportError> {
    let (width, height) = picture.pixels();
    let units = |pixels: u32| pixels * UNITS_PER_PIXEL as u32;
    let mut body = String::new();
    let mut surface = Svg { backend: SVGBackend::with_string(&mut body, (units(width), units(height))) };
    picture.draw(&mut surface)?;
    surface.backend.present().map_err(drawing)?;
    drop(surface);
    // Replace the opening tag: shown in pixels, drawn in units, and named for those who hear it.
    let inside = body.split_once('\n').map_or("", |(_, rest)| rest);
    let class = class.map_or(String::new(), |class| format!(" class=\"{class}\""));
    Ok(format!(
        "<svg{class} width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n{inside}",
        units(width),
        units(height),
        escape::html(picture.title()),
    ))
}

struct Svg<'a> {
    backend: SVGBackend<'a>,
}

fn unit(pixels: f64) -> i32 {
    (pixels * UNITS_PER_PIXEL).round() as i32
}

fn point((x, y): (f64, f64)) -> (i32, i32) {
    (unit(x), unit(y))
}

fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}

fn drawing(error: impl std::fmt::Display) -> ReportError {
    ReportError::Drawing(error.to_string())
}

impl Surface for Svg<'_> {
    fn background(&mut self, size: (f64, f64), colour: Colour) -> Result<(), ReportError> {
        self.backend.draw_rect((0, 0), point(size), &rgb(colour), true).map_err(drawing)
    }

    fn stroke(&mut self, points: &[(f64, f64)], width: f64, colour: Colour) -> Result<(), ReportError> {
        let style = ShapeStyle { color: rgb(colour).into(), filled: false, stroke_width: unit(width).max(1) as u32 };
        self.backend.draw_path(points.iter().copied().map(point), &style).map_err(drawing)
    }

    fn polygon(&mut self, corners: &[(f64, f64)], colour: Colour) -> Result<(), ReportError> {
        self.backend.fill_polygon(corners.iter().copied().map(point), &rgb(colour)).map_err(drawing)
    }

    fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) -> Result<(), ReportError> {
        self.backend.draw_circle(point(centre), unit(radius).max(1) as u32, &rgb(colour), true).map_err(drawing)
    }

    fn text(&mut self, text: &Text<'_>) -> Result<(), ReportError> {
        let horizontal = match text.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let (transform, at) = if text.upright {
            (FontTransform::Rotate270, (text.at.0 - TOP_TO_BASELINE * text.size, text.at.1))
        } else {
            (FontTransform::None, (text.at.0, text.at.1 - TOP_TO_BASELINE * text.size))
        };
        let weight = match text.weight {
            Weight::Regular => FontStyle::Normal,
            Weight::Bold => FontStyle::Bold,
        };
        let font = ("sans-serif", text.size * UNITS_PER_PIXEL * FONT_SIZE_DIVISOR).into_font().style(weight);
        let colour = rgb(text.colour);
        let style =
            TextStyle::from(font.transform(transform)).color(&colour).pos(Pos { h_pos: horizontal, v_pos: VPos::Top });
        let printable: String = text.text.chars().map(escape::printable).collect();
        self.backend.draw_text(&printable, &style, point(at)).map_err(drawing)
    }
}
