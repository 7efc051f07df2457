//! The font: DejaVu Sans, carried by a crate, so that a picture does not depend on what the machine
//! has installed.
//!
//! A PNG is set in it. An SVG asks for the reader's `sans-serif`, and DejaVu, wider than most,
//! serves to measure.

use std::sync::OnceLock;

use ab_glyph::{Font as _, FontRef, ScaleFont as _};

use crate::ReportError;

/// How heavy the letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// The font in a weight.
pub(super) fn font(weight: Weight) -> Result<&'static FontRef<'static>, ReportError> {
    static REGULAR: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    static BOLD: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    let loaded = match weight {
        Weight::Regular => REGULAR.get_or_init(|| FontRef::try_from_slice(dejavu::sans::regular()).ok()),
        Weight::Bold => BOLD.get_or_init(|| FontRef::try_from_slice(dejavu::sans::bold()).ok()),
    };
    loaded.as_ref().ok_or_else(|| ReportError::Drawing("the font that came with the program cannot be read".to_owned()))
}

/// Returns the size that `as_scaled` needs for letters of `size` pixels per em: it measures ascent
/// plus descent instead.
pub(super) fn pixel_scale(font: &FontRef<'static>, size: f64) -> f32 {
    let em = font.units_per_em().unwrap_or(1000.0);
    size as f32 * font.height_unscaled() / em
}

/// Width of a line of text, in the unit of `size` (pixels to the em).
pub(super) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let Ok(font) = font(weight) else { return 0.6 * size * text.chars().count() as f64 };
    let scaled = font.as_scaled(pixel_scale(font, size));
    let mut previous = None;
    let mut width = 0.0;
    for c in text.chars() {
        let glyph = scaled.glyph_id(c);
        width += scaled.h_advance(glyph) + previous.map_or(0.0, |before| scaled.kern(before, glyph));
        previous = Some(glyph);
    }
    f64::from(width)
}
