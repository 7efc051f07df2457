//! A sheet of generated digits as a picture: `cargo run --release -p shuffledp-learning --example
//! digits_sheet -- docs/images/digits.png`.

use shuffledp_learning::data::{Clients, digits};
use std::io::BufWriter;

/// Digits of each class.
const COLUMNS: usize = 20;
const GAP: usize = 2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the picture")?;
    let data = digits::dataset(2_000, 1, 1)?;
    let cell = digits::SIDE + GAP;
    let (width, height) = (COLUMNS * cell + GAP, digits::CLASSES * cell + GAP);
    let mut sheet = vec![90u8; width * height];
    let mut used = [0; digits::CLASSES];
    let mut picture = vec![0.0; digits::SIDE * digits::SIDE];
    for client in 0..data.train.count() {
        let class = data.train.example(client, &mut picture);
        if used[class] == COLUMNS {
            continue;
        }
        let corner = (GAP + class * cell) * width + GAP + used[class] * cell;
        used[class] += 1;
        // The normalised values are turned back: black is the smallest, white the largest that
        // occurs.
        let (low, high) = digits::range();
        for (index, value) in picture.iter().enumerate() {
            let place = corner + index / digits::SIDE * width + index % digits::SIDE;
            sheet[place] = ((value - low) / (high - low) * 255.0).round() as u8;
        }
    }
    let mut encoder = png::Encoder::new(BufWriter::new(std::fs::File::create(path)?), width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.write_header()?.write_image_data(&sheet)?;
    Ok(())
}
