//! How digits are written: strokes through points of the unit square, x to the right and y down.

use crate::random;
use rand::Rng;

type Point = [f32; 2];

/// How far a point may stray.
const JITTER: f32 = 0.075;

/// The strokes of a digit; some digits are written in more than one way.
pub(super) fn of(digit: usize, random: &mut impl Rng) -> Vec<&'static [Point]> {
    let chance = random::unit(random);
    match digit {
        0 => vec![ZERO],
        1 if chance < 0.4 => vec![ONE_FLAG, ONE],
        1 => vec![ONE],
        2 => vec![TWO, TWO_FOOT],
        3 => vec![THREE],
        4 if chance < 0.5 => vec![FOUR_OPEN, FOUR_BAR, FOUR_STEM],
        4 => vec![FOUR_LEFT, FOUR_BAR, FOUR_STEM],
        5 => vec![FIVE_TOP, FIVE_NECK, FIVE],
        6 => vec![SIX],
        7 if chance < 0.3 => vec![SEVEN_TOP, SEVEN, SEVEN_BAR],
        7 => vec![SEVEN_TOP, SEVEN],
        8 => vec![EIGHT],
        _ => vec![NINE],
    }
}

const ZERO: &[Point] =
    &[[0.5, 0.1], [0.3, 0.22], [0.24, 0.5], [0.3, 0.78], [0.5, 0.9], [0.7, 0.78], [0.76, 0.5], [0.7, 0.22], [0.5, 0.1]];
const ONE: &[Point] = &[[0.5, 0.1], [0.5, 0.5], [0.5, 0.9]];
const ONE_FLAG: &[Point] = &[[0.33, 0.28], [0.5, 0.1]];
const TWO: &[Point] = &[[0.26, 0.3], [0.36, 0.14], [0.6, 0.12], [0.72, 0.3], [0.58, 0.55], [0.25, 0.88]];
const TWO_FOOT: &[Point] = &[[0.25, 0.88], [0.5, 0.87], [0.78, 0.88]];
const THREE: &[Point] = &[
    [0.27, 0.18],
    [0.5, 0.1],
    [0.7, 0.25],
    [0.62, 0.42],
    [0.45, 0.47],
    [0.65, 0.54],
    [0.74, 0.72],
    [0.55, 0.9],
    [0.25, 0.82],
];
const FOUR_LEFT: &[Point] = &[[0.6, 0.1], [0.42, 0.36], [0.22, 0.62]];
const FOUR_OPEN: &[Point] = &[[0.3, 0.12], [0.26, 0.4], [0.22, 0.62]];
const FOUR_BAR: &[Point] = &[[0.22, 0.62], [0.5, 0.61], [0.8, 0.62]];
const FOUR_STEM: &[Point] = &[[0.62, 0.1], [0.62, 0.5], [0.62, 0.92]];
const FIVE_TOP: &[Point] = &[[0.74, 0.12], [0.35, 0.12]];
const FIVE_NECK: &[Point] = &[[0.35, 0.12], [0.31, 0.45]];
const FIVE: &[Point] = &[[0.31, 0.45], [0.55, 0.4], [0.75, 0.6], [0.65, 0.85], [0.42, 0.91], [0.24, 0.82]];
const SIX: &[Point] = &[
    [0.65, 0.1],
    [0.4, 0.3],
    [0.28, 0.6],
    [0.35, 0.85],
    [0.55, 0.9],
    [0.72, 0.75],
    [0.62, 0.55],
    [0.42, 0.56],
    [0.3, 0.7],
];
const SEVEN_TOP: &[Point] = &[[0.24, 0.13], [0.5, 0.12], [0.76, 0.13]];
const SEVEN: &[Point] = &[[0.76, 0.13], [0.56, 0.5], [0.42, 0.9]];
const SEVEN_BAR: &[Point] = &[[0.38, 0.5], [0.72, 0.5]];
const EIGHT: &[Point] = &[
    [0.5, 0.1],
    [0.7, 0.2],
    [0.66, 0.38],
    [0.5, 0.48],
    [0.3, 0.62],
    [0.3, 0.82],
    [0.5, 0.9],
    [0.7, 0.82],
    [0.7, 0.62],
    [0.5, 0.48],
    [0.34, 0.38],
    [0.3, 0.2],
    [0.5, 0.1],
];
const NINE: &[Point] = &[
    [0.7, 0.3],
    [0.55, 0.45],
    [0.36, 0.42],
    [0.28, 0.25],
    [0.42, 0.1],
    [0.62, 0.12],
    [0.7, 0.3],
    [0.68, 0.6],
    [0.56, 0.9],
];

/// A hand is not steady.
pub(super) fn jitter([x, y]: Point, random: &mut impl Rng) -> Point {
    [x + random::between(random, -JITTER, JITTER), y + random::between(random, -JITTER, JITTER)]
}

/// Short straight pieces along the Catmull–Rom curve through the points.
pub(super) fn smooth(points: &[Point]) -> Vec<Point> {
    const PIECES: usize = 4;
    let at = |index: isize| points[index.clamp(0, points.len() as isize - 1) as usize];
    let mut curve = Vec::with_capacity(points.len() * PIECES);
    for index in 0..points.len() as isize - 1 {
        let (before, from, to, after) = (at(index - 1), at(index), at(index + 1), at(index + 2));
        for piece in 0..PIECES {
            let t = piece as f32 / PIECES as f32;
            let axis = |a: usize| {
                let (p, q, r, s) = (before[a], from[a], to[a], after[a]);
                q + 0.5 * t * (r - p + t * (2.0 * p - 5.0 * q + 4.0 * r - s + t * (3.0 * (q - r) + s - p)))
            };
            curve.push([axis(0), axis(1)]);
        }
    }
    curve.extend(points.last());
    curve
}
