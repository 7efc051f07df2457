//! Privacy accounting for the shuffle model: pure functions, no I/O, no randomness.

pub mod numerics;
