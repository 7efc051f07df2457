//! Measures the time of one core for a report of 1 KB: sealed, opened by the shuffler, opened by
//! the server. `make bench-services` runs it; prints JSON.
//!
//! It counts the processor time of this thread, not the clock's time, so that other programs hardly
//! affect it.

use shuffledp_wire::{
    KeysHash, ModelHash, RoundContext, ServerSecretKeys, ShufflerSecretKeys, SystemRandom, TaskHash, open_inner,
    open_outer, seal_report,
};
use std::error::Error;

const REPORTS: usize = 2000;
const TURNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let (server, shuffler) = (ServerSecretKeys::generate()?, ShufflerSecretKeys::generate()?);
    let (server_key, shuffler_key) = (server.public_keys().remove(0), shuffler.public_keys().remove(0));
    let (task, model) = (TaskHash::from_bytes([1; 32]), ModelHash::of(b"weights"));
    let context = RoundContext { task, round: 1, model, keys: KeysHash::of(&server.public_keys()) };
    let mut random = SystemRandom::from_operating_system()?;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..TURNS {
        let (seal, sealed) = timed(|| {
            (0..REPORTS).map(|_| seal_report(&[7; 1024], &context, &server_key, &shuffler_key, &mut random)).collect()
        })?;
        let (outer, inner) = timed(|| sealed.iter().map(|report| Ok(open_outer(report, &shuffler)?.1)).collect())?;
        let (opened, _) =
            timed(|| inner.iter().map(|report| open_inner(report.as_bytes(), &context, &server)).collect())?;
        for (best, now) in best.iter_mut().zip([seal, outer, opened]) {
            *best = best.min(now);
        }
    }
    let [seal, outer, inner] = best;
    println!(
        "{{\"seal_microseconds\": {seal:.1}, \"open_outer_microseconds\": {outer:.1}, \"open_inner_microseconds\": {inner:.1}}}"
    );
    Ok(())
}

/// Microseconds of the processor for each, and the results.
fn timed<T>(work: impl FnOnce() -> shuffledp_wire::Result<Vec<T>>) -> Result<(f64, Vec<T>), Box<dyn Error>> {
    let before = thread_nanoseconds()?;
    let done = work()?;
    Ok(((thread_nanoseconds()? - before) / 1000.0 / REPORTS as f64, done))
}

/// How long Linux let this thread run.
fn thread_nanoseconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no such field")?.parse()?)
}
