//! Noise whose law is exact: whole numbers and rationals only, no floating point anywhere, so no
//! low-order bit leaks (Mironov 2012, "On significance of the least significant bits").
//!
//! Algorithms 1, 2 and 3 of Canonne, Kamath, Steinke 2020, "The discrete Gaussian for differential
//! privacy", one file each; and the normal law itself, drawn as a point below its curve (`normal`,
//! `boxes`, `curve`).
//!
//! How long a draw takes depends on what is drawn: who can time a client's draws to the nanosecond
//! learns something of its noise (`docs/limitations.md`).

mod bernoulli_exp;
mod boxes;
mod curve;
mod gaussian;
mod laplace;
mod normal;

pub use bernoulli_exp::bernoulli_exp;
pub use gaussian::ExactGaussian;
pub use laplace::ExactLaplace;
pub use normal::ExactNormal;
