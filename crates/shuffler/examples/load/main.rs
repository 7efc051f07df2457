//! How fast reports become durable, and what a large batch takes. `make bench-services` runs it; by hand:
//!
//! ```text
//! load intake [REPORTS] [CONNECTIONS]     durable reports a second, and how long each waits
//! load sustained [SECONDS] [PER_SECOND] [CONNECTIONS]
//!                                         the same at an even pace, to the batch's end; bytes written
//!                                         for each report
//! load written [REPORTS]                  bytes that a store writes for each report, to the sealed batch
//! load fill FOLDER [REPORTS]              a store with so many reports, as if their window had just ended
//! load batch FOLDER                       seals and sends it, while another round takes reports
//! ```
//!
//! Everything runs in one process on loopback, clients and server included, so that figures err on
//! the low side. Reports carry 1 KB and are sealed beforehand. Prints JSON.

mod clients;
mod measure;
mod world;

use clients::{Pace, post_all};
use measure::{durable_writes, peak_memory, processor_seconds, written_bytes};
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
        Some("sustained") => sustained(number(1, 60)?, number(2, 10_000)?, number(3, 128)?).await,
        Some("written") => written(number(1, 100_000)?),
        Some("fill") => world::fill(folder()?, number(2, 1_000_000)?),
        Some("batch") => batch(folder()?).await,
        _ => Err("intake, sustained, written, fill or batch".into()),
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

/// Longer than any log is, at an even pace, and to the end: until the server has the batch.
async fn sustained(seconds: usize, per_second: usize, connections: usize) -> Outcome<()> {
    let folder = tempfile::TempDir::new_in(".")?;
    let disk = durable_writes(folder.path())?;
    let reports = world::seal_for(folder.path(), seconds * per_second)?;
    let (count, window) = (reports.len(), Duration::from_secs(seconds as u64 + 30));
    let world = World::start_until(folder.path(), window).await?;
    let before = written_bytes()?;
    let (_never, until) = tokio::sync::watch::channel(false);
    let pace = Pace::Even { per_second: u32::try_from(per_second)?, until };
    let times = post_all(world.address(), reports, connections, pace).await?;
    let taken = written_bytes()? - before;
    let received = world.wait_for_batch().await;
    if received != count as u64 {
        return Err(format!("the batch has {received} of {count} reports").into());
    }
    let sent = written_bytes()? - before;
    println!(
        "{{\"durable_writes_per_second\": {disk:.0}, \"connections\": {connections}, \"wanted_per_second\": {per_second}, {times}, \
         \"written_bytes_per_report_taken\": {:.0}, \"written_bytes_per_report_sent\": {:.0}, \"memory_megabytes\": {}}}",
        taken as f64 / count as f64,
        sent as f64 / count as f64,
        peak_memory()
    );
    world.stop().await
}

/// A store by itself, in groups as a busy shuffler commits them.
fn written(reports: usize) -> Outcome<()> {
    let folder = tempfile::TempDir::new_in(".")?;
    let before = written_bytes()?;
    let began = Instant::now();
    let count = world::fill_and_seal(folder.path(), reports)?;
    let bytes = (written_bytes()? - before) as f64 / count as f64;
    println!(
        "{{\"reports\": {count}, \"written_bytes_per_report\": {bytes:.0}, \"seconds\": {:.1}, \"memory_megabytes\": {}}}",
        began.elapsed().as_secs_f64(),
        peak_memory()
    );
    Ok(())
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
