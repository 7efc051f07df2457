//! The `shuffledp` command-line program.

fn main() {}
