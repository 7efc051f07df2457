//! The picture as a PDF file: one page of vector graphics, its fonts inside.
//!
//! Letters are set in the font that measured them, of which the file carries the glyphs that it
//! uses, and a table back to characters: ε can be searched and copied. There is no date and no
//! random identifier in the file.

use std::collections::BTreeMap;
use std::io::Write as _;

use ab_glyph::{Font as _, FontRef, GlyphId, ScaleFont as _};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;

use super::font::{self, Weight};
use super::palette::Colour;
use super::picture::Picture;
use super::surface::{Anchor, Surface, Text};
use crate::ReportError;
use crate::escape;

/// A pixel is 1/96 inch, a point 1/72.
const POINTS_PER_PIXEL: f32 = 0.75;
/// Control points of four cubic curves that look like a circle, in radii from the end points.
const CIRCLE: f32 = 0.552_284_8;
const SYSTEM: SystemInfo<'static> = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

pub(super) fn render(picture: &dyn Picture) -> Result<Vec<u8>, ReportError> {
    let (width, height) = picture.size();
    let (width, height) = (width as f32 * POINTS_PER_PIXEL, height as f32 * POINTS_PER_PIXEL);
    let mut content = Content::new();
    // From here on in pixels from the upper left corner, as everything else.
    content.transform([POINTS_PER_PIXEL, 0.0, 0.0, -POINTS_PER_PIXEL, 0.0, height]);
    content.set_line_cap(LineCapStyle::ButtCap).set_line_join(LineJoinStyle::RoundJoin);
    let mut surface = Sheet { content, fonts: [Used::new(Weight::Regular), Used::new(Weight::Bold)] };
    picture.draw(&mut surface)?;
    let Sheet { content, fonts } = surface;

    let mut next = Ref::new(1);
    let [catalogue, pages, page, stream, information] = std::array::from_fn(|_| next.bump());
    let mut pdf = Pdf::new();
    pdf.catalog(catalogue).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    pdf.document_info(information).title(TextStr(&picture.title().chars().map(escape::printable).collect::<String>()));
    let packed = compressed(content.finish().as_slice())?;
    pdf.stream(stream, &packed).filter(Filter::FlateDecode);
    let used: Vec<(&Used, Ref)> =
        fonts.iter().filter(|font| !font.characters.is_empty()).map(|font| (font, next.bump())).collect();
    let mut sheet = pdf.page(page);
    sheet.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(stream);
    let mut resources = sheet.resources();
    let mut names = resources.fonts();
    for (font, reference) in &used {
        names.pair(font.name(), *reference);
    }
    names.finish();
    resources.finish();
    sheet.finish();
    for (font, reference) in used {
        font.embed(&mut pdf, reference, &mut next)?;
    }
    Ok(pdf.finish())
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>, ReportError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(drawing)
}

fn drawing(error: impl std::fmt::Display) -> ReportError {
    ReportError::Drawing(error.to_string())
}

/// A font, and what of it the page uses.
struct Used {
    weight: Weight,
    glyphs: GlyphRemapper,
    /// Per glyph of the embedded font, its character and its glyph in the whole font.
    characters: BTreeMap<u16, (char, GlyphId)>,
}

impl Used {
    fn new(weight: Weight) -> Self {
        Self { weight, glyphs: GlyphRemapper::new(), characters: BTreeMap::new() }
    }

    /// The name of the font on the page.
    fn name(&self) -> Name<'static> {
        match self.weight {
            Weight::Regular => Name(b"Regular"),
            Weight::Bold => Name(b"Bold"),
        }
    }

    /// The number of a character's glyph in the embedded font.
    fn glyph(&mut self, character: char, id: GlyphId) -> u16 {
        let glyph = self.glyphs.remap(id.0);
        self.characters.entry(glyph).or_insert((character, id));
        glyph
    }

    /// Writes the font into the file, under `reference`.
    fn embed(&self, pdf: &mut Pdf, reference: Ref, next: &mut Ref) -> Result<(), ReportError> {
        let [cid_font, descriptor, file, to_unicode] = std::array::from_fn(|_| next.bump());
        let font = font::font(self.weight)?;
        let (data, name): (_, &[u8]) = match self.weight {
            Weight::Regular => (dejavu::sans::regular(), b"SHUFDP+DejaVuSans"),
            Weight::Bold => (dejavu::sans::bold(), b"SHUFDP+DejaVuSans-Bold"),
        };
        let name = Name(name);
        // All metrics of a PDF are in thousandths of an em.
        let thousandths = |units: f32| units * 1000.0 / font.units_per_em().unwrap_or(1000.0);

        pdf.type0_font(reference)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(cid_font)
            .to_unicode(to_unicode);
        let mut writer = pdf.cid_font(cid_font);
        writer.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM).font_descriptor(descriptor);
        writer.cid_to_gid_map_predefined(Name(b"Identity")).default_width(0.0);
        let mut widths = writer.widths();
        for (&glyph, &(_, id)) in &self.characters {
            widths.consecutive(glyph, [thousandths(font.h_advance_unscaled(id))]);
        }
        widths.finish();
        writer.finish();

        let (ascent, descent) = (thousandths(font.ascent_unscaled()), thousandths(font.descent_unscaled()));
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(-1000.0, descent, 2000.0, ascent))
            .italic_angle(0.0)
            .ascent(ascent)
            .descent(descent)
            .cap_height(729.0)
            .stem_v(if self.weight == Weight::Bold { 150.0 } else { 80.0 })
            .font_file2(file);
        let subset = subsetter::subset(data, 0, &self.glyphs).map_err(drawing)?;
        let length = subset.len() as i32;
        let packed = compressed(&subset)?;
        pdf.stream(file, &packed).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);

        let mut map = UnicodeCmap::new(Name(b"Custom"), SYSTEM);
        for (&glyph, &(character, _)) in &self.characters {
            map.pair(glyph, character);
        }
        let packed = compressed(map.finish().as_slice())?;
        pdf.stream(to_unicode, &packed).filter(Filter::FlateDecode);
        Ok(())
    }
}

struct Sheet {
    content: Content,
    fonts: [Used; 2],
}

fn channels(colour: Colour) -> [f32; 3] {
    [colour.0, colour.1, colour.2].map(|channel| f32::from(channel) / 255.0)
}

/// A hundredth of a pixel is finer than any printer, and shorter to write.
fn place((x, y): (f64, f64)) -> (f32, f32) {
    let rounded = |value: f64| ((value * 100.0).round() / 100.0) as f32;
    (rounded(x), rounded(y))
}

impl Sheet {
    fn fill(&mut self, colour: Colour) {
        let [r, g, b] = channels(colour);
        self.content.set_fill_rgb(r, g, b);
    }

    fn path(&mut self, points: &[(f64, f64)]) {
        for (i, &point) in points.iter().enumerate() {
            let (x, y) = place(point);
            if i == 0 {
                self.content.move_to(x, y);
            } else {
                self.content.line_to(x, y);
            }
        }
    }
}

impl Surface for Sheet {
    fn background(&mut self, size: (f64, f64), colour: Colour) -> Result<(), ReportError> {
        self.fill(colour);
        self.content.rect(0.0, 0.0, size.0 as f32, size.1 as f32).fill_nonzero();
        Ok(())
    }

    fn stroke(&mut self, points: &[(f64, f64)], width: f64, colour: Colour) -> Result<(), ReportError> {
        let [r, g, b] = channels(colour);
        self.content.set_stroke_rgb(r, g, b).set_line_width(place((width, 0.0)).0);
        self.path(points);
        self.content.stroke();
        Ok(())
    }

    fn polygon(&mut self, corners: &[(f64, f64)], colour: Colour) -> Result<(), ReportError> {
        self.fill(colour);
        self.path(corners);
        self.content.close_path().fill_nonzero();
        Ok(())
    }

    fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) -> Result<(), ReportError> {
        self.fill(colour);
        let ((x, y), r) = (place(centre), place((radius, 0.0)).0);
        let k = CIRCLE * r;
        self.content
            .move_to(x + r, y)
            .cubic_to(x + r, y + k, x + k, y + r, x, y + r)
            .cubic_to(x - k, y + r, x - r, y + k, x - r, y)
            .cubic_to(x - r, y - k, x - k, y - r, x, y - r)
            .cubic_to(x + k, y - r, x + r, y - k, x + r, y)
            .fill_nonzero();
        Ok(())
    }

    fn text(&mut self, text: &Text<'_>) -> Result<(), ReportError> {
        let font: &FontRef<'_> = font::font(text.weight)?;
        let scaled = font.as_scaled(font::pixel_scale(font, text.size));
        let length = font::width(text.text, text.size, text.weight);
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        // Direction of the line, direction of "up" in a letter, place: the page is measured
        // downwards.
        let matrix = if text.upright {
            let (x, y) = place((text.at.0, text.at.1 + before));
            [0.0, -1.0, -1.0, 0.0, x, y]
        } else {
            let (x, y) = place((text.at.0 - before, text.at.1));
            [1.0, 0.0, 0.0, -1.0, x, y]
        };
        self.fill(text.colour);
        let used = &mut self.fonts[usize::from(text.weight == Weight::Bold)];
        self.content.begin_text().set_font(used.name(), text.size as f32).set_text_matrix(matrix);
        let mut line = self.content.show_positioned();
        let mut items = line.items();
        let mut previous = None;
        for character in text.text.chars().map(escape::printable) {
            let id = scaled.glyph_id(character);
            let kern = previous.map_or(0.0, |before| scaled.kern(before, id));
            if kern.abs() > 0.0 {
                items.adjust(-1000.0 * kern / text.size as f32);
            }
            items.show(Str(&used.glyph(character, id).to_be_bytes()));
            previous = Some(id);
        }
        items.finish();
        line.finish();
        self.content.end_text();
        Ok(())
    }
}
