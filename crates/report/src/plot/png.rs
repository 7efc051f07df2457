//! The picture as a PNG file.
//!
//! plotters fills shapes at whole pixels and hardly smooths them, so they are drawn three times as
//! large and averaged down. Text is set directly with `ab_glyph`: plotters 0.3.7 forgets the space
//! that belongs to the left of a letter, and its rotated text is coarse.

use ab_glyph::{Font as _, ScaleFont as _};
use plotters::backend::BitMapBackend;
use plotters::prelude::{DrawingBackend, RGBColor};

use super::font;
use super::palette::{Colour, PAPER};
use super::picture::Picture;
use super::surface::{Anchor, Surface, Text};
use crate::ReportError;

/// Each pixel is the mean of this many by this many.
const OVERSAMPLING: usize = 3;
/// Cosine of the turn (10°) up to which the notch between two pieces of a line is too small to see.
const STRAIGHT: f64 = 0.985;

pub(super) fn render(picture: &dyn Picture) -> Result<Vec<u8>, ReportError> {
    let pixels = picture.pixels();
    let (width, height) = (pixels.0 as usize, pixels.1 as usize);
    let mut large = vec![PAPER.0; width * height * 3 * OVERSAMPLING * OVERSAMPLING];
    let size = ((width * OVERSAMPLING) as u32, (height * OVERSAMPLING) as u32);
    let mut surface = Bitmap { backend: BitMapBackend::with_buffer(&mut large, size), letters: Vec::new() };
    picture.draw(&mut surface)?;
    let letters = std::mem::take(&mut surface.letters);
    drop(surface);
    let mut small = average(&large, width);
    // Text last: nothing is drawn over it.
    for dot in letters {
        dot.blend(&mut small, width, height);
    }
    encode(&small, pixels)
}

fn encode(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, ReportError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // For line art this filter and the fast compressor are a third larger than the best, in a third
    // of the time.
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::Filter::Paeth);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(out)
}

/// The mean of every block of pixels.
fn average(large: &[u8], width: usize) -> Vec<u8> {
    const BLOCK: u16 = (OVERSAMPLING * OVERSAMPLING) as u16;
    let row = width * OVERSAMPLING * 3;
    let mut out = Vec::with_capacity(large.len() / usize::from(BLOCK));
    let mut sums = vec![0u16; row];
    for rows in large.chunks_exact(OVERSAMPLING * row) {
        sums.fill(0);
        for line in rows.chunks_exact(row) {
            sums.iter_mut().zip(line).for_each(|(sum, &value)| *sum += u16::from(value));
        }
        for block in sums.chunks_exact(3 * OVERSAMPLING) {
            let sum = |channel: usize| (0..OVERSAMPLING).map(|k| block[3 * k + channel]).sum::<u16>();
            out.extend((0..3).map(|channel| ((sum(channel) + BLOCK / 2) / BLOCK) as u8));
        }
    }
    out
}

/// Ink on one pixel.
struct Dot {
    at: (i32, i32),
    coverage: f32,
    colour: Colour,
}

impl Dot {
    fn blend(&self, pixels: &mut [u8], width: usize, height: usize) {
        let (Ok(x), Ok(y)) = (usize::try_from(self.at.0), usize::try_from(self.at.1)) else { return };
        if x >= width || y >= height {
            return;
        }
        let pixel = &mut pixels[3 * (y * width + x)..][..3];
        for (channel, ink) in pixel.iter_mut().zip([self.colour.0, self.colour.1, self.colour.2]) {
            let mixed = f32::from(*channel) + (f32::from(ink) - f32::from(*channel)) * self.coverage.clamp(0.0, 1.0);
            *channel = mixed.round() as u8;
        }
    }
}

struct Bitmap<'a> {
    backend: BitMapBackend<'a>,
    letters: Vec<Dot>,
}

impl Bitmap<'_> {
    /// Fills a rectangle with sides along the axes, which plotters does row by row.
    fn upright_rectangle(&mut self, corners: &[(f64, f64); 4], colour: Colour) -> Result<(), ReportError> {
        let (a, b) = (corners[0], corners[2]);
        // Round place and size apart: lines of one width then come out equally thick wherever they
        // are, and never vanish.
        let (left, top) = point((a.0.min(b.0), a.1.min(b.1)));
        let (width, height) = (unit((a.0 - b.0).abs()).max(1), unit((a.1 - b.1).abs()).max(1));
        self.backend.draw_rect((left, top), (left + width, top + height), &rgb(colour), true).map_err(drawing)
    }
}

fn unit(pixels: f64) -> i32 {
    (pixels * OVERSAMPLING as f64).round() as i32
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

impl Surface for Bitmap<'_> {
    fn background(&mut self, _: (f64, f64), _: Colour) -> Result<(), ReportError> {
        Ok(()) // the sheet came in the colour of paper
    }

    fn stroke(&mut self, points: &[(f64, f64)], width: f64, colour: Colour) -> Result<(), ReportError> {
        let mut before: Option<(f64, f64)> = None;
        for pair in points.windows(2) {
            let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            let length = dx.hypot(dy);
            if length <= 0.0 {
                continue;
            }
            let along = (dx / length, dy / length);
            let upright = dx.abs() < 1e-6 || dy.abs() < 1e-6;
            // A polygon of plotters covers the pixels on its edge too, and so comes out wider by
            // one.
            let half = if upright { width } else { (width - 1.0 / OVERSAMPLING as f64).max(0.1) } / 2.0;
            let (nx, ny) = (-along.1 * half, along.0 * half);
            let [a, b] = [pair[0], pair[1]];
            let corners = [(a.0 + nx, a.1 + ny), (b.0 + nx, b.1 + ny), (b.0 - nx, b.1 - ny), (a.0 - nx, a.1 - ny)];
            if upright {
                self.upright_rectangle(&corners, colour)?;
            } else {
                self.polygon(&corners, colour)?;
            }
            // A corner that would show a notch gets a round joint.
            if before.is_some_and(|before| before.0 * along.0 + before.1 * along.1 < STRAIGHT) {
                self.disc(a, width / 2.0, colour)?;
            }
            before = Some(along);
        }
        Ok(())
    }

    fn polygon(&mut self, corners: &[(f64, f64)], colour: Colour) -> Result<(), ReportError> {
        self.backend.fill_polygon(corners.iter().copied().map(point), &rgb(colour)).map_err(drawing)
    }

    fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) -> Result<(), ReportError> {
        self.backend.draw_circle(point(centre), unit(radius).max(1) as u32, &rgb(colour), true).map_err(drawing)
    }

    fn text(&mut self, text: &Text<'_>) -> Result<(), ReportError> {
        let font = font::font(text.weight)?;
        let scaled = font.as_scaled(font::pixel_scale(font, text.size));
        let length = font::width(text.text, text.size, text.weight) as f32;
        let mut along = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -length / 2.0,
            Anchor::End => -length,
        };
        let mut previous = None;
        for c in text.text.chars() {
            let id = scaled.glyph_id(c);
            along += previous.map_or(0.0, |before| scaled.kern(before, id));
            // The glyph's own fraction of a pixel goes into its outline, so that letters keep their
            // distances.
            let (x, y) = (text.at.0 as f32, text.at.1 as f32);
            let origin = if text.upright { ab_glyph::point(along, 0.0) } else { ab_glyph::point(x + along, y.round()) };
            if let Some(outline) = font.outline_glyph(id.with_scale_and_position(scaled.scale(), origin)) {
                let corner = outline.px_bounds().min;
                let (left, top) = (corner.x as i32, corner.y as i32);
                outline.draw(|dx, dy, coverage| {
                    let (gx, gy) = (left + dx as i32, top + dy as i32);
                    let at = if text.upright { (x.round() as i32 + gy, y.round() as i32 - 1 - gx) } else { (gx, gy) };
                    self.letters.push(Dot { at, coverage, colour: text.colour });
                });
            }
            along += scaled.h_advance(id);
            previous = Some(id);
        }
        Ok(())
    }
}
