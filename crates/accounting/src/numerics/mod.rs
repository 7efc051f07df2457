//! Special functions, log-space sums and directed rounding: the arithmetic under every privacy
//! number.
//!
//! | module | what it answers |
//! |---|---|
//! | [`elementary`] | `exp`, `ln` and their like, the same on every platform |
//! | [`gamma`] | `ln Γ`, Stirling error, `ln C(n, k)` |
//! | [`binomial`] | binomial mass and both tails, for the *exact* float `p`, to `n = 10⁹` |
//! | [`beta`] | regularised incomplete beta, both tails, and its inverses |
//! | [`incomplete_gamma`] | regularised incomplete gamma, both tails, and its inverses |
//! | [`normal`] | normal distribution function, tails, logarithm, quantiles |
//! | [`log_sum`] | sums of numbers that are held as logarithms, signed or not |
//! | [`directed`] | arithmetic with the rounding direction in its name |
//! | [`convolution`] | powers of a sequence under cyclic convolution, with an error bound |
//! | [`bisect`] | bisection that returns the end which was checked to be safe |
//! | [`led_bisection`] | the same end in fewer evaluations, along a function that can be followed to its root |
//!
//! The special functions round to nearest-ish and are *not* bounds: `docs/numerics.md` states the
//! relative error held by the tests, and a caller who needs a bound pays for it with
//! [`directed::inflate`] or [`directed::deflate`]. No function panics; NaN in gives NaN out; an
//! iteration that does not converge answers NaN, never a plausible number.

pub mod beta;
mod beta_inverse;
pub mod binomial;
pub mod bisect;
pub(crate) mod compensated;
pub mod convolution;
mod deviance;
pub mod directed;
pub mod elementary;
mod fourier;
pub mod gamma;
pub(crate) mod horner;
pub mod incomplete_gamma;
pub mod led_bisection;
mod log_concave_root;
pub mod log_sum;
pub mod normal;
mod tail_integral;
