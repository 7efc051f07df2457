//! Mutated frames against every parser, and mutated reports through HPKE, on all cores. Ends with
//! the figures, or with a panic.
//!
//! `make fuzz-wire`, or `cargo run --release -p shuffledp-wire --example mutate -- 10000000 100000
//! 1` (frames, reports, seed).
#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mutations.rs"]
mod mutations;

use mutations::{Corpus, Tally};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let frames = arguments.next().unwrap_or(10_000_000);
    let reports = arguments.next().unwrap_or(100_000);
    let seed = arguments.next().unwrap_or(1);
    let corpus = Corpus::new();
    print("frames against the parsers", frames, |stream, count| corpus.parse(seed, stream, count));
    print("reports through HPKE", reports, |stream, count| corpus.sealed(seed, stream, count));
}

/// Splits the work among threads; a panic in one of them ends the program.
fn print(what: &str, count: u64, run: impl Fn(u64, u64) -> Tally + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
    let start = Instant::now();
    let mut total = Tally::default();
    std::thread::scope(|scope| {
        let share = |thread| count / threads + u64::from(thread < count % threads);
        let run = &run;
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread, share(thread)))).collect();
        workers.into_iter().for_each(|worker| total.add(worker.join().expect("no panic")));
    });
    let seconds = start.elapsed().as_secs_f64();
    let Tally { frames, accepted, refused } = total;
    println!(
        "{frames} mutated {what}: {refused} answers refused, {accepted} accepted, no panic; {seconds:.0} s, {threads} threads"
    );
}
