//! Elementary functions that answer the same on every platform, with a bound on their error.
//!
//! The standard library's `f64::exp`, `f64::ln` and their like are those of the platform: their
//! precision is not promised, and their last digits differ from one system to the next. These are
//! the functions of the crate `libm` in the exact version that `Cargo.lock` and the manifest pin:
//! FreeBSD's msun in plain IEEE operations, without a fused multiplication that some processors
//! have and others lack. In this crate clippy refuses the standard library's (`clippy.toml`); its
//! tests may use them, as a second opinion.
//!
//! | function | error bound | source |
//! |---|---|---|
//! | [`exp`], [`exp_m1`], [`ln`], [`ln_1p`] | below 1 ulp | error analysis in msun's e_exp.c, s_expm1.c, e_log.c, s_log1p.c |
//! | [`powf`] | below 1 ulp | e_pow.c says 0.7; 0.79 was measured |
//! | [`sin`], [`cos`] | below 1 ulp | k_sin.c, k_cos.c, arguments reduced exactly |
//! | [`sinh`], [`tanh`], [`atanh`] | [`ULPS`] | built from the above; at most 2.1 ulps were measured |
//! | [`acos`], [`atan2`], [`hypot`] | [`ULPS`] | msun's comments say below 1 |
//! | [`log2`], [`log10`], [`exp2`] | exact at powers | a choice depends on them, never a bound |
//! | [`powi`] | `2n` roundings of half an ulp | repeated squaring, as written here |
//!
//! `√x`, fused multiplication and rounding to integers are exact by IEEE 754, so those of the
//! standard library are the same everywhere. The tests beside this file measure every bound against
//! arithmetic of twice the precision.

pub use libm::{
    acos, atan2, atanh, cos, exp, exp2, expm1 as exp_m1, hypot, log as ln, log1p as ln_1p, log2, log10, pow as powf,
    sin, sincos as sin_cos, sinh, tanh,
};
use num_complex::Complex64;

/// No function of this module but [`powi`] is off by more than this many units in the last place.
pub const ULPS: f64 = 3.0;

/// A float `≥ e^x`.
pub fn exp_up(x: f64) -> f64 {
    above(exp(x))
}

/// A float `≥ e^x − 1`; 0 at 0.
pub fn exp_m1_up(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { above(exp_m1(x)) }
}

/// A float `≤ e^x − 1`, and not below −1; 0 at 0.
pub fn exp_m1_down(x: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let value = below(exp_m1(x));
    if value < -1.0 { -1.0 } else { value }
}

/// Two floats up, for a function that is off by less than one.
fn above(value: f64) -> f64 {
    value.next_up().next_up()
}

/// Two floats down.
fn below(value: f64) -> f64 {
    value.next_down().next_down()
}

/// `x^n` by repeated squaring: at most `2|n|` roundings, and one more for a negative `n`.
///
/// The standard library's `powi` promises neither precision nor the same answer twice.
pub fn powi(x: f64, n: i32) -> f64 {
    let mut power = 1.0;
    let mut square = x;
    let mut rest = n.unsigned_abs();
    while rest > 0 {
        if rest & 1 == 1 {
            power *= square;
        }
        rest >>= 1;
        if rest > 0 {
            square *= square;
        }
    }
    if n < 0 { 1.0 / power } else { power }
}

/// `size·e^{i·angle}`.
pub(crate) fn from_polar(size: f64, angle: f64) -> Complex64 {
    let (sine, cosine) = sin_cos(angle);
    Complex64::new(size * cosine, size * sine)
}

/// `|z|`, without underflow or overflow on the way.
pub(crate) fn modulus(z: Complex64) -> f64 {
    hypot(z.re, z.im)
}

#[cfg(test)]
mod tests;
