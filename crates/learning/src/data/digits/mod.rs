//! Generated digits: strokes under random warps, the same everywhere for the same seed. They need
//! no file.
//!
//! A stand-in for MNIST where nothing can be downloaded: 28×28, ten classes, dark background.
//! Digits are moved, turned, sheared, stretched and bent so much that a linear model gets about
//! five in six right and a small convolutional network almost all.

mod raster;
mod strokes;

use super::{Dataset, Examples};
use crate::models::TensorShape;
use crate::random;
use crate::{LearningError, Result};
use rand::Rng;
use raster::Canvas;
use rayon::prelude::*;

/// Rows and columns.
pub const SIDE: usize = 28;
/// 0 to 9.
pub const CLASSES: usize = 10;

/// The mean and standard deviation that normalise the pixels; approximate values.
const MEAN: f32 = 0.1185;
const DEVIATION: f32 = 0.2194;

/// The values of black and white after normalisation.
pub fn range() -> (f32, f32) {
    (-MEAN / DEVIATION, (1.0 - MEAN) / DEVIATION)
}

/// More than anybody needs, and below what memory could refuse.
const MOST_EXAMPLES: usize = 10_000_000;

/// A training set and a test set. Digit i of a part depends on the seed, the part and i alone, so
/// smaller sets are the beginnings of larger ones.
pub fn dataset(train: usize, test: usize, seed: u64) -> Result<Dataset> {
    Dataset::new("generated digits", examples("training digits", train, seed)?, examples("test digits", test, seed)?)
}

fn examples(part: &str, count: usize, seed: u64) -> Result<Examples> {
    if count == 0 || count > MOST_EXAMPLES {
        return Err(LearningError::out_of_range("digits", format!("1 to {MOST_EXAMPLES}"), count));
    }
    let mut bytes = vec![0; count * SIDE * SIDE];
    let mut labels = vec![0; count];
    bytes.par_chunks_exact_mut(SIDE * SIDE).zip(&mut labels).enumerate().for_each(|(index, (picture, label))| {
        let mut random = random::stream(seed, part, &[index as u64]);
        // Biased by less than 2⁻⁶⁰, which no dataset can show.
        *label = (random.next_u64() % CLASSES as u64) as u8;
        draw(usize::from(*label), &mut random, picture);
    });
    Examples::from_bytes(TensorShape::new(1, SIDE, SIDE), CLASSES, bytes, labels, MEAN, DEVIATION)
}

/// Draws a digit with everything that is random about it.
fn draw(digit: usize, random: &mut impl Rng, picture: &mut [u8]) {
    let mut canvas = Canvas::new();
    let radius = random::between(random, 0.7, 1.7);
    let warp = Warp::draw(random);
    for stroke in strokes::of(digit, random) {
        let bent: Vec<_> = stroke.iter().map(|point| strokes::jitter(*point, random)).collect();
        let points: Vec<_> = strokes::smooth(&bent).into_iter().map(|point| warp.apply(point)).collect();
        canvas.stroke(&points, radius);
    }
    let (ink, noise) = (random::between(random, 0.45, 1.0), random::between(random, 0.0, 0.3));
    canvas.develop(ink, noise, random, picture);
}

/// From the unit square to pixels.
struct Warp {
    matrix: [[f32; 2]; 2],
    shift: [f32; 2],
}

impl Warp {
    fn draw(random: &mut impl Rng) -> Self {
        let angle = random::between(random, -0.35, 0.35);
        let shear = random::between(random, -0.35, 0.35);
        let (width, height) = (random::between(random, 15.0, 24.0), random::between(random, 17.0, 25.0));
        let (sine, cosine) = (libm::sinf(angle), libm::cosf(angle));
        // Stretch, then shear, then turn.
        let matrix =
            [[cosine * width, (cosine * shear - sine) * height], [sine * width, (sine * shear + cosine) * height]];
        let middle = SIDE as f32 / 2.0;
        let shift = [middle + random::between(random, -2.2, 2.2), middle + random::between(random, -2.2, 2.2)];
        Self { matrix, shift }
    }

    fn apply(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let (x, y) = (x - 0.5, y - 0.5);
        let [across, down] = self.matrix;
        [across[0] * x + across[1] * y + self.shift[0], down[0] * x + down[1] * y + self.shift[1]]
    }
}
