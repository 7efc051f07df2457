//! The shapes that tell curves apart where colour does not.

use super::palette::{Colour, PAPER};
use super::surface::Surface;
use crate::ReportError;

/// Corners of the shapes, in radii from the centre. A thirteenth curve starts again at the first, in another colour.
const SHAPES: [&[(f64, f64)]; 6] = [
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
];

const CIRCLE: &[(f64, f64)] = &[];

/// Draws the marker of the curve at this position in the legend: the first six are full, the next six open.
/// A `rim` of paper keeps it apart from the curves it stands on.
pub(super) fn draw(
    surface: &mut dyn Surface,
    index: usize,
    centre: (f64, f64),
    radius: f64,
    colour: Colour,
    rim: bool,
) -> Result<(), ReportError> {
    let shape = SHAPES[index % SHAPES.len()];
    let open = (index / SHAPES.len()) % 2 == 1;
    if rim {
        fill(surface, shape, centre, radius * 1.3, PAPER)?;
    }
    fill(surface, shape, centre, radius, colour)?;
    if open { fill(surface, shape, centre, radius * 0.5, PAPER) } else { Ok(()) }
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
