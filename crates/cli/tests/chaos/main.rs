//! Nothing lost, nothing twice, nothing short: the real programs, killed at random, behind proxies
//! that lose, cut, repeat and replay.
//!
//! A *world* is one `shuffledp server` and one `shuffledp shuffler` on loopback. Clients report one
//! coordinate each, a different one for every report of a world, so that the difference of two
//! models tells how often each report was counted: an acknowledged one exactly once, one that was
//! not acknowledged at most once, and nothing else. A world lives until its privacy budget is
//! spent, and is then killed and started again: no further round may open.
//!
//! All events are drawn from a seed. The same seed draws the same faults; but the operating system
//! decides which request meets which fault, and at which instruction a program dies. `make chaos`
//! runs the test for long; see bench/chaos/README.md.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod clients;
mod dice;
mod faults;
mod figures;
mod http;
mod judge;
mod ledger;
mod life;
mod program;
mod proxy;
mod round;
mod task;
mod troubles;
mod watch;
mod world;

use figures::Figures;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Settings from the environment. Without them, the test is short and always draws the same.
struct Settings {
    seed: u64,
    /// Worlds to begin, at most.
    worlds: u64,
    /// No world is begun later.
    until: Option<Instant>,
    /// No world is begun after so many rounds.
    rounds: u64,
    at_once: u64,
    rounds_of_a_world: u64,
    /// Whether to fill disks and set clocks, where this machine allows it.
    troubles: bool,
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a whole number, but is '{text}'")))
}

impl Settings {
    fn from_environment() -> Self {
        let until = number("CHAOS_MINUTES").map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
        let rounds = number("CHAOS_ROUNDS");
        let is_long = until.is_some() || rounds.is_some();
        Self {
            seed: number("CHAOS_SEED").unwrap_or(1),
            worlds: number("CHAOS_WORLDS").unwrap_or(if is_long { u64::MAX } else { 4 }),
            until,
            rounds: rounds.unwrap_or(u64::MAX),
            at_once: number("CHAOS_AT_ONCE").unwrap_or(4),
            rounds_of_a_world: number("CHAOS_ROUNDS_OF_A_WORLD").unwrap_or(if is_long { 12 } else { 3 }),
            troubles: is_long,
        }
    }
}

#[test]
fn nothing_lost_nothing_twice_nothing_short() {
    let settings = Settings::from_environment();
    let figures = Arc::new(Figures::default());
    let (began, next) = (Instant::now(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..settings.at_once {
            scope.spawn(|| {
                while settings.until.is_none_or(|until| Instant::now() < until)
                    && figures.of("rounds") < settings.rounds
                {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= settings.worlds {
                        return;
                    }
                    life::live(settings.seed + number, settings.rounds_of_a_world, settings.troubles, &figures);
                }
            });
        }
    });
    let seconds = began.elapsed().as_secs();
    println!("worlds from seed {} on, {seconds} s\n{}", settings.seed, figures.table());
    if let Ok(path) = std::env::var("CHAOS_RESULTS") {
        let about = serde_json::json!({
            "seed": settings.seed, "seconds": seconds, "worlds_at_once": settings.at_once, "rounds_of_a_world": settings.rounds_of_a_world,
        });
        std::fs::write(path, figures.json(&about)).unwrap();
    }
    assert_eq!(figures.violations(), 0, "each is told above");
    // A run in which nothing went wrong on the way would prove nothing.
    for name in [
        "rounds_done",
        "rounds_short",
        "reports_acknowledged_done",
        "acknowledgements_lost",
        "kills_shuffler",
        "kills_server",
    ] {
        assert!(figures.of(name) > 0, "{name} is 0: another seed");
    }
}
