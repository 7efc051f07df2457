//! Tests: no two texts of a picture overlap, none reaches out of it, none covers the curves.

use super::canvas::{BROAD, Canvas, NARROW};
use super::font;
use super::layout::{Frame, Layout, TICK};
use super::palette::Colour;
use super::surface::{Anchor, Surface, Text};
use super::{Axis, Plot, Series, Style, draw};
use crate::ReportError;

/// A rectangle around a text or a marker.
#[derive(Debug, Clone)]
struct Rectangle {
    what: String,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    /// Of letters, pixels to the em.
    size: f64,
}

impl Rectangle {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// A surface that keeps the places of things.
#[derive(Default)]
struct Recorder {
    texts: Vec<Rectangle>,
    markers: Vec<Rectangle>,
}

/// From the baseline, in ems: the highest letters without accents, and the lowest.
const ABOVE: f64 = 0.73;
const BELOW: f64 = 0.21;

fn around(corners: &[(f64, f64)]) -> Rectangle {
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let values = || corners.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (top, bottom)) = (ends(|corner| corner.0), ends(|corner| corner.1));
    Rectangle { what: "shape".into(), left, top, right, bottom, size: 0.0 }
}

impl Surface for Recorder {
    fn background(&mut self, _: (f64, f64), _: Colour) -> Result<(), ReportError> {
        Ok(())
    }

    fn stroke(&mut self, _: &[(f64, f64)], _: f64, _: Colour) -> Result<(), ReportError> {
        Ok(())
    }

    fn polygon(&mut self, corners: &[(f64, f64)], _: Colour) -> Result<(), ReportError> {
        self.markers.push(around(corners));
        Ok(())
    }

    fn disc(&mut self, (x, y): (f64, f64), radius: f64, _: Colour) -> Result<(), ReportError> {
        self.markers.push(around(&[(x - radius, y - radius), (x + radius, y + radius)]));
        Ok(())
    }

    fn text(&mut self, text: &Text<'_>) -> Result<(), ReportError> {
        let length = font::width(text.text, text.size, text.weight);
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        let ((x, y), above, below) = (text.at, ABOVE * text.size, BELOW * text.size);
        let corners = if text.upright {
            [(x - above, y + before - length), (x + below, y + before)]
        } else {
            [(x - before, y - above), (x - before + length, y + below)]
        };
        self.texts.push(Rectangle { what: text.text.to_owned(), size: text.size, ..around(&corners) });
        Ok(())
    }
}

fn check(plot: &Plot, canvas: &Canvas, smallest: f64) {
    let layout = Layout::of(plot, canvas).unwrap();
    let mut recorder = Recorder::default();
    draw::draw(plot, &layout, &mut recorder).unwrap();
    let setting = format!("{:?} {:?} on {canvas:?}", plot.title, plot.x.label);
    let Frame { left, top, right, bottom } = layout.frame;
    assert!(right - left > 0.3 * layout.size.0 && bottom - top > 0.25 * layout.size.1, "{setting}: {:?}", layout.frame);
    let frame = Rectangle { what: "frame".into(), left, top, right, bottom, size: 0.0 };
    for (i, text) in recorder.texts.iter().enumerate() {
        let inside = text.left >= 0.0 && text.top >= 0.0 && text.right <= layout.size.0 && text.bottom <= layout.size.1;
        assert!(inside, "{setting}: {text:?} reaches out of {:?}", layout.size);
        assert!(!text.meets(&frame), "{setting}: {text:?} covers curves in {frame:?}");
        for other in &recorder.texts[i + 1..] {
            assert!(!text.meets(other), "{setting}: {text:?} meets {other:?}");
        }
        for marker in &recorder.markers {
            assert!(!text.meets(marker), "{setting}: {text:?} meets a marker, {marker:?}");
        }
        let is_exponent = text.what.chars().all(|c| c.is_ascii_digit() || c == '−') && text.size < TICK * layout.unit;
        assert!(is_exponent || text.size >= smallest, "{setting}: {text:?} is too small");
    }
}

const NAMES: [&str; 12] = [
    "Displacement of any local randomizer, composed (rigorous)",
    "clones-numerical+subsampling+kov (rigorous)",
    "Feldman–McMillan–Talwar clones, composed by their privacy loss distribution (rigorous)",
    "any-ldp-pld",
    "Girgis–Data–Diggavi Theorem 1 (rigorous)",
    "ε",
    "three-values lower bound (lower)",
    "Liew–Takahashi Theorem 3 with Δ = 1/2 (conjectured)",
    "local-composition (rigorous)",
    "enhanced-corollary-1 (flawed)",
    "averyveryverylongidentifierwithoutasinglehyphenorspaceinitthatcannotbebrokenproperly",
    "two-level-pld",
];

/// Curves of the shape of real ones over these stretches of the axes.
fn plot(x: Axis, y: Axis, from: (f64, f64), to: (f64, f64), names: &[&str]) -> Plot {
    let styles = [Style::Solid, Style::Solid, Style::Dashed, Style::Dotted];
    let plot = Plot::new("ε against the number of rounds, and a long title that needs more than one line", x, y)
        .subtitle("1,000 of 1,000,000 clients in each round, any randomizer with local ε0 = 2, replace-one adjacency")
        .caption("Replace-one adjacency. Solid: upper bounds with a proof. Dotted: without one. Dashed: lower bounds.");
    names.iter().enumerate().fold(plot, |plot, (k, name)| {
        let share = |i: usize| i as f64 / 39.0;
        let between = |low: f64, high: f64, share: f64| low * (high / low).powf(share);
        let points = (0..40).map(move |i| {
            let y = between(from.1, to.1, share(i) * (k + 1) as f64 / names.len() as f64);
            (between(from.0, to.0, share(i)), y)
        });
        let series = Series::new(*name, points).style(styles[k % 4]).key(7 * k);
        plot.series(if k == 0 { series.emphasized() } else { series })
    })
}

#[test]
fn texts_keep_clear_of_each_other() {
    let stretches = [
        ((1.0, 0.01), (1e5, 30.0)),
        ((1.0, 0.2), (1e6, 6.0)),
        ((1e3, 1e-30), (9e3, 1.0)),
        ((1.5, 3.1e-5), (600.0, 4.7e-4)),
        ((99_000.0, 1.0), (101_000.0, 1.002)),
        ((1e-300, 1e-300), (1e300, 1e300)),
        ((1e9, 2.5e8), (3e9, 2.9e9)),
    ];
    for (from, to) in stretches {
        for log in [(false, false), (false, true), (true, false), (true, true)] {
            let axis = |log: bool, label: &str| if log { Axis::log(label) } else { Axis::linear(label) };
            for (x, y) in
                [("rounds T", "ε"), ("the number of clients who report in every round", "central ε at δ = 1e-8")]
            {
                for count in [1, 3, 12] {
                    let plot =
                        plot(axis(log.0, x), axis(log.1, y).unit("natural logarithm"), from, to, &NAMES[..count]);
                    // In a page no letters but exponents are below 14 px. The broad picture is
                    // shown from a window of 56 rem on, of which 2.5 rem are margins; the narrow
                    // one from 390 px on without being shrunk.
                    check(&plot, &BROAD, 14.0 * BROAD.width / (53.5 * 16.0));
                    check(&plot, &NARROW, 14.0);
                    for size in [(1200, 800), (800, 600), (640, 640), (1600, 700)] {
                        let plot = plot.clone().size(size.0, size.1);
                        check(&plot, &Canvas::of(&plot).unwrap(), 0.0);
                    }
                }
            }
        }
    }
}
