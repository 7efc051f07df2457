//! From a seed to a direction: **wire format, version 1**. Client and server must get the same
//! bits, so every operation is one that IEEE 754 defines exactly (+, −, ×, √ and conversions, in
//! f32), in a fixed order: no library logarithm, no fused product. `tests/data/direction/v1.txt`
//! holds examples.
//!
//! 1. Keystream: ChaCha8, 64-bit counter and nonce 0, key = the seed's 8 bytes little-endian, then
//!    the 24 bytes of [`DOMAIN`]. It is read as little-endian u32 words.
//! 2. Words come in blocks of 64: 32 words `a`, then 32 words `b`. A pair (a, b) makes two normals
//!    by Box and Muller (1958): a radius r = √(−2 ln u), u = (2⌊a/4⌋+1)/2^31, and an angle in the
//!    first quadrant, (1+s)π/4 with s in (−1, 1) from the low 30 bits of `b`; the two high bits of
//!    `b` are the signs of cosine and sine. A block of 64 normals is the 32 cosines, then the 32
//!    sines.
//! 3. The first d normals are z, and the direction is z/‖z‖, with the norm of
//!    [`l2_norm`](crate::norms::l2_norm).
//!
//! **Privacy does not depend on this file**: a seed is drawn without looking at the input, and
//! given the seed a report is one coin of bounded lean. Equal seeds of two clients, or a poor
//! expansion, cost accuracy alone.
//!
//! **Accuracy.** Signs are exact fair coins, independent of all else, so E[z_i·z_j·g(|z|)] = 0
//! exactly for i ≠ j. What is left of a deviation from rotation invariance: polynomials and f32's
//! rounding (a radius errs by less than 3·10^−7·max(r, 1/r), cosine and sine by less than 2·10^−7,
//! the mean of r² and of cos² by less than 10^−7 of themselves), the tail (no radius beyond 6.56,
//! mass 2^−31), and the set of directions being finite (2^63 seeds: a relative bias of about
//! 2^−31). Tests hold the first three.

use pulp::Arch;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use std::cell::RefCell;

/// Version of the expansion. Another one is another wire format.
pub const VERSION: u32 = 1;

/// Bytes 8 to 31 of the key.
pub const DOMAIN: &[u8; 24] = b"shuffledp direction v1\0\0";

/// Normals of one block.
pub const BLOCK: usize = 64;
const HALF: usize = BLOCK / 2;
/// Blocks that are expanded at a time: enough to keep the generator's calls off the clock, few
/// enough for the first-level cache.
const BATCH: usize = 8;

const SIGN: u32 = 1 << 31;
/// 2^−31.
const UNIT: f32 = 1.0 / (1_u32 << 31) as f32;

/// −2 ln(1+f)/f on [√½ − 1, √2 − 1], lowest power first: minimax to 1.7e-7, then rounded to f32.
const LOGARITHM: [f32; 8] =
    [-1.999_999_9, 1.000_007_3, -0.666_701_2, 0.499_398_17, -0.398_003_3, 0.345_016_57, -0.324_451_6, 0.202_137_96];
/// −2 ln 2.
const LOGARITHM_OF_TWO: f32 = -1.386_294_4;
/// sin(πs/4)/(s√2) in s², minimax to 3.3e-9.
const SINE: [f32; 4] = [0.555_360_4, -0.057_095_643, 0.001_760_696_6, -2.542_080_8e-5];
/// cos(πs/4)/√2 in s², minimax to 3.3e-8.
const COSINE: [f32; 4] = [0.707_106_77, -0.218_088_82, 0.011_207_419, -0.000_225_374_62];

/// The first normals of `seed`, in order, as many as `normals` has room for.
pub fn fill(seed: u64, normals: &mut [f32]) {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..].copy_from_slice(DOMAIN);
    let mut keystream = ChaCha8Rng::from_seed(key);
    let mut bytes = [0_u8; 4 * BLOCK * BATCH];
    let arch = Arch::new();
    for run in normals.chunks_mut(BLOCK * BATCH) {
        let bytes = &mut bytes[..4 * BLOCK * run.len().div_ceil(BLOCK)];
        keystream.fill_bytes(bytes);
        let (words, _) = bytes.as_chunks::<{ 4 * BLOCK }>();
        let (whole, rest) = run.as_chunks_mut::<BLOCK>();
        // Wider registers, the same operations: Rust fuses no products of its own accord, so the
        // bits are the same on every machine.
        arch.dispatch(|| {
            for (words, out) in words.iter().zip(whole.iter_mut()) {
                normals_of(words, out);
            }
        });
        // The last block may be wanted in part.
        if let Some(words) = words.get(whole.len()) {
            let mut block = [0.0; BLOCK];
            normals_of(words, &mut block);
            rest.copy_from_slice(&block[..rest.len()]);
        }
    }
}

/// Calls `consume` with the first `dimension` normals of `seed`. A thread remembers the last ones:
/// a simulation adds up each report right after it was made, and need not expand its seed a second
/// time.
pub fn with_normals<T>(seed: u64, dimension: usize, consume: impl FnOnce(&[f32]) -> T) -> T {
    struct Expanded {
        seed: Option<u64>,
        normals: Vec<f32>,
    }
    thread_local! {
        static LAST: RefCell<Expanded> = const { RefCell::new(Expanded { seed: None, normals: Vec::new() }) };
    }
    LAST.with_borrow_mut(|last| {
        if last.seed != Some(seed) || last.normals.len() != dimension {
            last.seed = None;
            last.normals.resize(dimension, 0.0);
            fill(seed, &mut last.normals);
            last.seed = Some(seed);
        }
        consume(&last.normals)
    })
}

/// One block: Box and Muller in lanes.
#[inline(always)]
fn normals_of(bytes: &[u8; 4 * BLOCK], normals: &mut [f32; BLOCK]) {
    let (words, _) = bytes.as_chunks::<4>();
    let (cosines, sines) = normals.split_at_mut(HALF);
    for i in 0..HALF {
        let a = u32::from_le_bytes(words[i]);
        let b = u32::from_le_bytes(words[HALF + i]);
        let radius = radius(a);
        let (cosine, sine) = quarter_circle(b);
        // A sign is a bit.
        cosines[i] = f32::from_bits((radius * cosine).to_bits() ^ (b & SIGN));
        sines[i] = f32::from_bits((radius * sine).to_bits() ^ ((b << 1) & SIGN));
    }
}

/// √(−2 ln u), u = (2⌊a/4⌋+1)/2^31 rounded to f32: in (0, 1].
#[inline(always)]
fn radius(a: u32) -> f32 {
    let u = ((a >> 1) | 1) as i32 as f32 * UNIT;
    // u = m·2^e with m in [√½, √2): 0x3f35_04f3 is √½.
    let bits = u.to_bits() as i32;
    let exponent = (bits - 0x3f35_04f3) >> 23;
    let f = f32::from_bits((bits - (exponent << 23)) as u32) - 1.0;
    let square = exponent as f32 * LOGARITHM_OF_TWO + f * horner(&LOGARITHM, f);
    square.sqrt()
}

/// Cosine and sine of (1+s)π/4, as (cos − sin)/√2 and (cos + sin)/√2 of sπ/4.
#[inline(always)]
fn quarter_circle(b: u32) -> (f32, f32) {
    // The low 30 bits, symmetric about 0.
    let s = ((b << 2) | 2) as i32 as f32 * UNIT;
    let square = s * s;
    let sine = s * horner(&SINE, square);
    let cosine = horner(&COSINE, square);
    (cosine - sine, cosine + sine)
}

#[inline(always)]
fn horner<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    let mut sum = coefficients[N - 1];
    for k in (0..N - 1).rev() {
        sum = sum * x + coefficients[k];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

    #[test]
    fn radii_are_those_of_the_logarithm() {
        // The whole top, where u rounds to 1, the whole bottom, and every 997th in between.
        let words =
            (0..1 << 16).chain((1 << 16..u32::MAX - (1 << 16)).step_by(997)).chain(u32::MAX - (1 << 16)..=u32::MAX);
        for a in words {
            let u = f64::from((a >> 1) | 1) / f64::from(1_u32 << 31);
            let exact = (-2.0 * u.ln()).sqrt();
            let radius = f64::from(radius(a));
            assert!((0.0..6.56).contains(&radius), "a = {a}: {radius}");
            assert!((radius - exact).abs() < 3e-7 * exact.max(exact.recip()), "a = {a}: {radius}, not {exact}");
        }
    }

    #[test]
    fn cosines_and_sines_are_those_of_the_angle() {
        for b in (0..=u32::MAX).step_by(997).chain([(1 << 29) - 1, 1 << 29, (1 << 30) - 1]) {
            // The low 30 bits in two's complement.
            let steps = i64::from(b << 2 >> 2) - if b >> 29 & 1 == 1 { 1 << 30 } else { 0 };
            let s = (2.0 * steps as f64 + 1.0) / f64::from(1 << 30);
            let (cosine, sine) = quarter_circle(b);
            let (sine_exact, cosine_exact) = ((1.0 + s) * FRAC_PI_4).sin_cos();
            assert!((f64::from(cosine) - cosine_exact).abs() < 2e-7, "b = {b}: {cosine}, not {cosine_exact}");
            assert!((f64::from(sine) - sine_exact).abs() < 2e-7, "b = {b}: {sine}, not {sine_exact}");
        }
    }

    /// Means over 2^22 equally spaced words: the midpoint rule, whose own error is below 10^−7 (the
    /// logarithm's end at 0) or far less.
    #[test]
    fn means_are_those_of_normals() {
        let words = || (0..1_u32 << 22).map(|i| (i << 10) + (1 << 9));
        let mean = |f: &dyn Fn(u32) -> f64| words().map(f).sum::<f64>() / f64::from(1 << 22);
        for (what, mean, exact) in [
            ("r", mean(&|a| f64::from(radius(a))), FRAC_PI_2.sqrt()),
            ("r²", mean(&|a| f64::from(radius(a)).powi(2)), 2.0),
            ("cos", mean(&|b| f64::from(quarter_circle(b).0)), FRAC_PI_2.recip()),
            ("cos²", mean(&|b| f64::from(quarter_circle(b).0).powi(2)), 0.5),
            ("sin²", mean(&|b| f64::from(quarter_circle(b).1).powi(2)), 0.5),
            ("cos⁴", mean(&|b| f64::from(quarter_circle(b).0).powi(4)), 0.375),
        ] {
            assert!((mean / exact - 1.0).abs() < 1e-7, "{what}: {mean}, not {exact}");
        }
    }
}
