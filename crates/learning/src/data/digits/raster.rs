//! From strokes to pixels.

use super::SIDE;
use crate::random;
use rand::Rng;

/// How much ink is on each pixel, 0 to 1.
pub(super) struct Canvas {
    ink: [f32; SIDE * SIDE],
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self { ink: [0.0; SIDE * SIDE] }
    }

    /// A pen of this radius along the points, in pixels. Its edge is a pixel wide; where strokes
    /// cross, the darker counts.
    pub(super) fn stroke(&mut self, points: &[[f32; 2]], radius: f32) {
        for piece in points.windows(2) {
            let [from, to] = [piece[0], piece[1]];
            let reach = radius + 1.0;
            let columns = pixels(from[0].min(to[0]) - reach, from[0].max(to[0]) + reach);
            for row in pixels(from[1].min(to[1]) - reach, from[1].max(to[1]) + reach) {
                for column in columns.clone() {
                    let distance = distance([column as f32 + 0.5, row as f32 + 0.5], from, to);
                    let ink = (radius + 0.5 - distance).clamp(0.0, 1.0);
                    let pixel = &mut self.ink[row * SIDE + column];
                    *pixel = pixel.max(ink);
                }
            }
        }
    }

    /// The picture: ink of some strength on a background of some noise.
    pub(super) fn develop(&self, strength: f32, noise: f32, random: &mut impl Rng, picture: &mut [u8]) {
        for (pixel, ink) in picture.iter_mut().zip(&self.ink) {
            let value = ink * strength + random::between(random, -noise, noise);
            *pixel = (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
        }
    }
}

/// The rows or columns between two places that are on the canvas.
fn pixels(low: f32, high: f32) -> std::ops::Range<usize> {
    let on_canvas = |place: f32| place.clamp(0.0, SIDE as f32) as usize;
    on_canvas(low)..on_canvas(high.ceil())
}

/// From a point to a straight piece.
fn distance(point: [f32; 2], from: [f32; 2], to: [f32; 2]) -> f32 {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let (px, py) = (point[0] - from[0], point[1] - from[1]);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (ex, ey) = (px - along * dx, py - along * dy);
    (ex * ex + ey * ey).sqrt()
}
