//! Figures of Linux about this process and its disk.

use crate::Outcome;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Durable writes of 4 KB a second, in place, as a database does them. No store can commit more
/// often.
pub(crate) fn durable_writes(folder: &Path) -> Outcome<f64> {
    let mut file = File::create(folder.join("sync"))?;
    let began = Instant::now();
    let mut count = 0;
    while began.elapsed() < Duration::from_secs(2) {
        file.rewind()?;
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / began.elapsed().as_secs_f64())
}

/// `VmHWM` in MB: the most that this process ever had in memory.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes / 1024)
}

/// Bytes that this process had written to disks.
pub(crate) fn written_bytes() -> Outcome<u64> {
    let text = std::fs::read_to_string("/proc/self/io")?;
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: ")).ok_or("no such line")?;
    Ok(line.parse()?)
}

/// User and system time of this process, which Linux counts in hundredths of a second.
pub(crate) fn processor_seconds() -> Outcome<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| Outcome::Ok(fields.get(index).ok_or("no such field")?.parse::<f64>()?);
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}
