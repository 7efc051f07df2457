//! How fast reports become durable, and what a large batch takes. `make bench-services` runs it; by hand:
//!
//! ```text
//! load intake [REPORTS] [CONNECTIONS]     durable reports a second, and how long each waits
//! load fill FOLDER [REPORTS]              a store with so many reports, as if their window had just ended
//! load batch FOLDER                       seals and sends it, while another round takes reports
//! ```
//!
//! Everything runs in one process on loopback, clients and server included, so that figures err on the low side. Reports carry 1 KB and are sealed beforehand. Prints JSON.

mod clients;
mod measure;
mod world;

use clients::{Pace, post_all};
use measure::{durable_writes, peak_memory, processor_seconds};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use world::World;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes of a report's payload.
const PAYLOAD: u32 = 1024;
/// Reports a second for another round while a batch is on its way.
const BESIDE: u32 = 200;

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: usize| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let folder = || arguments.get(1).map(Path::new).ok_or("name a folder");
    match arguments.first().map(String::as_str) {
        Some("intake") => intake(number(1, 50_000)?, number(2, 128)?).await,
        Some("fill") => world::fill(folder()?, number(2, 1_000_000)?),
        Some("batch") => batch(folder()?).await,
        _ => Err("intake, fill or batch".into()),
    }
}

async fn intake(reports: usize, connections: usize) -> Outcome<()> {
    let folder = tempfile::TempDir::new_in(".")?;
    let disk = durable_writes(folder.path())?;
    let world = World::start(folder.path()).await?;
    let reports = world.seal(reports)?;
    let (count, processor) = (reports.len(), processor_seconds()?);
    let times = post_all(world.address(), reports, connections, Pace::AsFastAsAnswered).await?;
    let processor = (processor_seconds()? - processor) / count as f64;
    println!(
        "{{\"durable_writes_per_second\": {disk:.0}, \"connections\": {connections}, {times}, \
         \"processor_microseconds_per_report\": {:.1}, \"memory_megabytes\": {}}}",
        processor * 1e6,
        peak_memory()
    );
    world.stop().await
}

async fn batch(folder: &Path) -> Outcome<()> {
    // Enough for three minutes; sealed before the shuffler finds the batch.
    let beside = world::seal_for(folder, BESIDE as usize * 180)?;
    let began = Instant::now();
    let world = World::start(folder).await?;
    let (done, until) = tokio::sync::watch::channel(false);
    let pace = Pace::Even { per_second: BESIDE, until };
    let posting = tokio::spawn(post_all(world.address(), beside, 32, pace));
    let received = world.wait_for_batch().await;
    let seconds = began.elapsed().as_secs_f64();
    let memory = peak_memory();
    done.send(true)?;
    let times = posting.await??;
    while world.unfinished() > 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!(
        "{{\"reports\": {received}, \"seconds\": {seconds:.1}, \"memory_megabytes\": {memory}, \"beside\": {{{times}}}}}"
    );
    world.stop().await
}
