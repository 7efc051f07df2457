//! Helpers of several test files.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod exact;
pub(crate) mod statistics;
