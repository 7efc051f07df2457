//! The colours: those of Okabe and Ito, which people with any colour vision can tell apart.
//!
//! M. Okabe, K. Ito: *Color Universal Design* (2008). Their yellow is left out: on white it has no contrast. A grey takes its place.

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Colour {
    /// As SVG spells it, and as the style sheet of a page finds it again.
    pub(crate) fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

/// Behind everything.
pub(crate) const PAPER: Colour = Colour(255, 255, 255);
/// Title, axes and the names of things.
pub(crate) const INK: Colour = Colour(28, 28, 30);
/// Subtitle, caption and tick labels.
pub(crate) const FAINT_INK: Colour = Colour(84, 84, 90);
/// Grid lines that carry a label.
pub(crate) const GRID: Colour = Colour(214, 214, 218);
/// Grid lines between them.
pub(crate) const MINOR_GRID: Colour = Colour(239, 239, 242);
/// Okabe and Ito's black and blue, which a page lightens in dark mode.
pub(crate) const BLACK: Colour = Colour(0, 0, 0);
pub(crate) const BLUE: Colour = Colour(0, 114, 178);

const CURVES: [Colour; 8] = [
    BLUE,
    Colour(213, 94, 0),    // vermillion
    Colour(0, 158, 115),   // bluish green
    Colour(204, 121, 167), // reddish purple
    Colour(230, 159, 0),   // orange
    Colour(86, 180, 233),  // sky blue
    BLACK,
    Colour(128, 128, 128),
];

/// The colour of the curve at this position in the legend.
pub(super) fn curve(index: usize) -> Colour {
    CURVES[index % CURVES.len()]
}
