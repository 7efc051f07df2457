//! The colours: those of Okabe and Ito, which people with any colour vision can tell apart, and
//! four darker ones.
//!
//! M. Okabe, K. Ito: *Color Universal Design* (2008). Their yellow is left out: on white it has no
//! contrast. Indigo and wine are P. Tol's (*Colour schemes*, 2021, "muted"); violet and brown were
//! chosen to be far from all others for every kind of colour vision, as the test below computes.

use super::Plot;

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

/// The colours of curves, and what becomes of them on the dark paper of a page.
pub(crate) const CURVES: [(Colour, Colour); 12] = [
    (Colour(0, 114, 178), Colour(85, 149, 201)),    // blue
    (Colour(213, 94, 0), Colour(229, 104, 30)),     // vermillion
    (Colour(0, 158, 115), Colour(6, 194, 120)),     // bluish green
    (Colour(204, 121, 167), Colour(211, 161, 188)), // reddish purple
    (Colour(230, 159, 0), Colour(249, 176, 23)),    // orange
    (Colour(86, 180, 233), Colour(152, 205, 255)),  // sky blue
    (Colour(0, 0, 0), Colour(242, 242, 242)),       // black
    (Colour(153, 51, 238), Colour(162, 86, 255)),   // violet
    (Colour(102, 51, 17), Colour(191, 113, 70)),    // brown
    (Colour(51, 34, 136), Colour(160, 142, 255)),   // indigo
    (Colour(136, 34, 85), Colour(206, 58, 161)),    // wine
    (Colour(128, 128, 128), Colour(142, 126, 127)), // grey
];

/// The colour of the curve in this slot.
pub(super) fn curve(slot: usize) -> Colour {
    CURVES[slot % CURVES.len()].0
}

/// Per curve, where it stands in the lists of colours and of markers: its key, or the first place
/// that no key and no curve before it has taken.
pub(super) fn slots(plot: &Plot) -> Vec<usize> {
    let taken = |slot: &usize| plot.series.iter().any(|series| series.key == Some(*slot));
    let mut free = (0..).filter(|slot| !taken(slot));
    plot.series.iter().map(|series| series.key.or_else(|| free.next()).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Series};

    /// Linear light of a channel, as sRGB defines it.
    fn linear(channel: u8) -> f64 {
        let c = f64::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    }

    fn multiply(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// CIE L*a*b* of linear light.
    fn lab(light: [f64; 3]) -> [f64; 3] {
        let xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let [x, y, z] = multiply(xyz, light.map(|c| c.clamp(0.0, 1.0)));
        let f = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let (x, y, z) = (f(x / 0.9505), f(y), f(z / 1.089));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Full colour vision, protanopia, deuteranopia and tritanopia: G. Machado, M. Oliveira, L.
    /// Fernandes: *A physiologically-based model for simulation of color vision deficiency* (2009),
    /// severity 1.
    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn distance(a: Colour, b: Colour) -> f64 {
        let seen = |c: Colour, vision| lab(multiply(vision, [linear(c.0), linear(c.1), linear(c.2)]));
        let apart = |vision| seen(a, vision).iter().zip(seen(b, vision)).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
        VISIONS.map(apart).into_iter().fold(f64::INFINITY, f64::min).sqrt()
    }

    #[test]
    fn every_eye_tells_the_colours_apart() {
        for (i, (a, dark_a)) in CURVES.into_iter().enumerate() {
            for (b, dark_b) in CURVES.into_iter().skip(i + 1) {
                // 2.3 is just noticeable, side by side. Okabe and Ito's green and grey are the
                // closest, 9.6 apart.
                assert!(distance(a, b) > 9.0, "{a:?} {b:?}: {}", distance(a, b));
                assert!(distance(dark_a, dark_b) > 9.0, "dark {a:?} {b:?}: {}", distance(dark_a, dark_b));
            }
        }
    }

    #[test]
    fn curves_stand_out_from_the_paper() {
        let light = |c: Colour| 0.2126 * linear(c.0) + 0.7152 * linear(c.1) + 0.0722 * linear(c.2);
        let dark_paper = light(Colour(0x15, 0x17, 0x1c));
        for (colour, dark) in CURVES {
            assert!(1.05 / (light(colour) + 0.05) > 2.2, "{colour:?}");
            assert!((light(dark) + 0.05) / (dark_paper + 0.05) > 4.0, "{dark:?}");
        }
    }

    #[test]
    fn a_key_keeps_its_slot_whatever_else_is_drawn() {
        let series = |key: Option<usize>| Series { key, ..Series::new("s", [(1.0, 1.0)]) };
        let plot = |keys: &[Option<usize>]| {
            let plot = Plot::new("t", Axis::linear("x"), Axis::linear("y"));
            slots(&keys.iter().fold(plot, |plot, &key| plot.series(series(key))))
        };
        assert_eq!(plot(&[None, None, None]), [0, 1, 2]);
        assert_eq!(plot(&[Some(30), Some(1), Some(17)]), [30, 1, 17]);
        assert_eq!(plot(&[None, Some(0), None, Some(2)]), [1, 0, 3, 2]);
    }
}
