//! How long a round's window must be on this machine.

use anyhow::Result;
use shuffledp_wire::{
    KeysHash, ModelHash, RoundContext, ServerSecretKeys, ShufflerSecretKeys, SystemRandom, TaskHash, open_inner,
    open_outer, seal_report,
};
use std::thread::available_parallelism;
use std::time::Instant;

/// Reports to try with: a few hundredths of a second.
const REPORTS: u32 = 100;

/// Connections, the disk and gradients take about as long again, twice; measured on two cores.
const REST: f64 = 3.0;

/// Where others want the processor too.
const ROOM: f64 = 1.5;

/// The shortest and longest window, in seconds.
const WINDOWS: (f64, f64) = (1.0, 60.0);

/// Seconds in which so many clients should have sent their reports of `payload` bytes.
pub(super) fn window(speakers: f64, payload: usize) -> Result<f64> {
    let (server, shuffler) = (ServerSecretKeys::generate()?, ShufflerSecretKeys::generate()?);
    let mut rng = SystemRandom::from_operating_system()?;
    let keys = KeysHash::of(&server.public_keys());
    let context = RoundContext { task: TaskHash::from_bytes([0; 32]), round: 1, model: ModelHash::of(&[]), keys };
    let payload = vec![0; payload];
    let started = Instant::now();
    for _ in 0..REPORTS {
        let sealed = seal_report(&payload, &context, &server.public_keys()[0], &shuffler.public_keys()[0], &mut rng)?;
        let (context, inner) = open_outer(&sealed, &shuffler)?;
        open_inner(inner.as_bytes(), &context, &server)?;
    }
    let each = started.elapsed().as_secs_f64() / f64::from(REPORTS);
    let cores = available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    Ok((ROOM * REST * each * speakers / cores).clamp(WINDOWS.0, WINDOWS.1))
}
