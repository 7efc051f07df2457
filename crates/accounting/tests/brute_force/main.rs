//! Brute force: the real protocol, enumerated, against the dominating pairs.
//!
//! The server of the shuffle model sees the multiset of messages of one round. For a handful of
//! clients the law of that view can be written down in full: every set of clients that may be
//! heard, every message each of them may send. [`protocol`] does only that and knows no theorem;
//! [`divergence`] compares the view under two neighbouring datasets (one client's record replaced);
//! [`dominating`] is what the crate says is never exceeded, and [`formula`] says the same once more
//! from the formulas, cell by cell.
//!
//! | module | what it checks |
//! |---|---|
//! | `displacement` | every bound by displacement: all extreme datasets, random ones, several rounds |
//! | `zero_out` | the same where one client's record is replaced by zero |
//! | `approximate` | randomizers with a δ0 |
//! | `dominating` | the crate's pairs and their composition against the cell-by-cell sums |
//! | `enumerator` | the enumerator itself: against a second, slower one, and against closed forms |
//! | `single_round` | random and exhaustive datasets, one round: hockey-stick and Rényi divergence |
//! | `composed` | two and three rounds, also chosen adaptively |
//! | `sequential` | within a round, randomizers chosen from the messages before |
//! | `refuted` | that the comparison can fail: the refuted variation-ratio formula, pairs made wrong on purpose |
//! | `lower` | the lower-bound rows are exact for their datasets, and binary randomized response |
//!
//! `cargo test --release -p shuffledp-accounting --test brute_force -- --nocapture` prints how
//! close the truth comes.

mod approximate;
mod cases;
mod composed;
mod displacement;
mod divergence;
mod dominating;
mod enumerator;
mod formula;
mod lower;
mod protocol;
mod randomizers;
mod refuted;
mod rng;
mod sequential;
mod single_round;
mod tally;
mod zero_out;
