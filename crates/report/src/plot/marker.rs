//! The shapes that tell curves apart where colour does not.

use super::palette::{Colour, PAPER};
use super::surface::Surface;
use crate::ReportError;

/// Corners of the shapes, in radii from the centre. An eighth curve starts again at the first, in
/// another colour: 7 shapes and 12 colours, which have no common divisor, tell 84 curves apart.
const SHAPES: [&[(f64, f64)]; 7] = [
    CIRCLE,
    &[(-0.87, -0.87), (0.87, -0.87), (0.87, 0.87), (-0.87, 0.87)],
    &[(0.0, -1.15), (1.05, 0.7), (-1.05, 0.7)],
    &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    &[(0.0, 1.15), (1.05, -0.7), (-1.05, -0.7)],
    &[
        (-0.4, -1.1),
        (0.4, -1.1),
        (0.4, -0.4),
        (1.1, -0.4),
        (1.1, 0.4),
        (0.4, 0.4),
        (0.4, 1.1),
        (-0.4, 1.1),
        (-0.4, 0.4),
        (-1.1, 0.4),
        (-1.1, -0.4),
        (-0.4, -0.4),
    ],
    // A cross on its side.
    &[
        (0.0, -0.55),
        (0.6, -1.15),
        (1.15, -0.6),
        (0.55, 0.0),
        (1.15, 0.6),
        (0.6, 1.15),
        (0.0, 0.55),
        (-0.6, 1.15),
        (-1.15, 0.6),
        (-0.55, 0.0),
        (-1.15, -0.6),
        (-0.6, -1.15),
    ],
];

const CIRCLE: &[(f64, f64)] = &[];

/// How a marker is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) radius: f64,
    pub(super) colour: Colour,
    /// With a hole.
    pub(super) open: bool,
    /// A rim of paper keeps it apart from the curves it stands on.
    pub(super) rim: bool,
}

/// Draws the marker of the curve in this slot.
pub(super) fn draw(
    surface: &mut dyn Surface,
    slot: usize,
    centre: (f64, f64),
    Look { radius, colour, open, rim }: Look,
) -> Result<(), ReportError> {
    let shape = SHAPES[slot % SHAPES.len()];
    if rim {
        fill(surface, shape, centre, radius * 1.3, PAPER)?;
    }
    fill(surface, shape, centre, radius, colour)?;
    if open { fill(surface, shape, centre, radius * 0.55, PAPER) } else { Ok(()) }
}

fn fill(
    surface: &mut dyn Surface,
    shape: &[(f64, f64)],
    centre: (f64, f64),
    radius: f64,
    colour: Colour,
) -> Result<(), ReportError> {
    if shape.is_empty() {
        return surface.disc(centre, radius, colour);
    }
    let corners: Vec<_> = shape.iter().map(|(x, y)| (centre.0 + radius * x, centre.1 + radius * y)).collect();
    surface.polygon(&corners, colour)
}
