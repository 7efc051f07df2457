//! A run: reports sorted by digest, in a file that is written once. First all digests, then all
//! bodies in the same order.
//!
//! Where a report lies in a run says nothing but what the report is.

use super::OpaqueReport;
use crate::error::{Result, ShufflerError, at};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub(super) const DIGEST_LEN: usize = 32;
/// The part of a run's name between the store's name and the run's number.
pub(super) const SUFFIX: &str = "-run";
/// So many bytes are on the disk before the next are written: reports that arrive meanwhile wait
/// for the disk behind no more.
const UNSYNCED: usize = 4 << 20;
const READ_AHEAD: usize = 128 << 10;

/// The index entry of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Its number, in its name.
    pub(super) id: i64,
    /// How often its reports were merged.
    pub(super) level: u32,
    /// Reports in it.
    pub(super) count: u64,
    /// Digests that there is room for before the bodies: as many as might have come.
    pub(super) capacity: u64,
}

/// The file of a store's run.
pub(super) fn path_of(store: &Path, id: i64) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(format!("{SUFFIX}{id}"));
    name.into()
}

/// Writes a run.
pub(super) struct RunWriter {
    path: PathBuf,
    digests: BufWriter<File>,
    bodies: BufWriter<File>,
    count: u64,
    unsynced: usize,
}

impl RunWriter {
    /// A new file for at most `capacity` reports.
    pub(super) fn create(path: PathBuf, capacity: u64) -> Result<Self> {
        let open = || {
            let digests = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
            let mut bodies = OpenOptions::new().write(true).open(&path)?;
            bodies.seek(SeekFrom::Start(capacity * DIGEST_LEN as u64))?;
            Ok((BufWriter::new(digests), BufWriter::with_capacity(READ_AHEAD, bodies)))
        };
        let (digests, bodies) = open().map_err(at(&path))?;
        Ok(Self { path, digests, bodies, count: 0, unsynced: 0 })
    }

    /// The next report, of a greater digest than the one before.
    pub(super) fn push(&mut self, digest: &[u8; DIGEST_LEN], body: &[u8]) -> Result<()> {
        let mut write = || {
            self.digests.write_all(digest)?;
            self.bodies.write_all(body)?;
            self.count += 1;
            self.unsynced += body.len();
            if self.unsynced >= UNSYNCED {
                self.unsynced = 0;
                self.bodies.flush()?;
                self.bodies.get_ref().sync_data()?;
            }
            Ok(())
        };
        write().map_err(at(&self.path))
    }

    /// Durable when it returns, but for its name. How many reports there are.
    pub(super) fn finish(mut self) -> Result<u64> {
        let mut write = || {
            self.digests.flush()?;
            self.bodies.flush()?;
            self.bodies.get_ref().sync_all()
        };
        write().map_err(at(&self.path))?;
        Ok(self.count)
    }
}

/// Writes reports in memory as a run; repeated ones once.
pub(super) fn write(path: PathBuf, mut reports: Vec<OpaqueReport>) -> Result<(u64, u64)> {
    reports.sort_unstable_by_key(|report| report.digest);
    reports.dedup_by_key(|report| report.digest);
    let capacity = reports.len() as u64;
    let mut writer = RunWriter::create(path, capacity)?;
    for report in &reports {
        writer.push(&report.digest, &report.body)?;
    }
    Ok((writer.finish()?, capacity))
}

/// A run's file, as long as it has to be.
fn open(store: &Path, run: &Run, record_len: usize) -> Result<(PathBuf, File)> {
    let path = path_of(store, run.id);
    let damaged = |reason| ShufflerError::Damaged { path: path.clone(), reason };
    let file = match File::open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(damaged("it is missing")),
        file => file.map_err(at(&path))?,
    };
    let len = file.metadata().map_err(at(&path))?.len();
    if len != run.capacity * DIGEST_LEN as u64 + run.count * record_len as u64 {
        return Err(damaged("it has another length than it was written with"));
    }
    Ok((path, file))
}

/// Checks that a run's file is there, whole.
pub(super) fn check(store: &Path, run: &Run, record_len: usize) -> Result<()> {
    open(store, run, record_len).map(drop)
}

/// The digests of a run.
pub(super) fn digests(store: &Path, run: &Run, record_len: usize, visit: &mut dyn FnMut(&[u8; 32])) -> Result<()> {
    let (path, file) = open(store, run, record_len)?;
    let mut reader = BufReader::with_capacity(READ_AHEAD, file);
    let mut digest = [0; DIGEST_LEN];
    for _ in 0..run.count {
        reader.read_exact(&mut digest).map_err(at(&path))?;
        visit(&digest);
    }
    Ok(())
}

/// Reads records of a run by their place.
pub(super) struct Records {
    path: PathBuf,
    file: File,
    bodies: u64,
    record: Vec<u8>,
}

impl Records {
    pub(super) fn open(store: &Path, run: &Run, record_len: usize) -> Result<Self> {
        let (path, file) = open(store, run, record_len)?;
        Ok(Self { path, file, bodies: run.capacity * DIGEST_LEN as u64, record: vec![0; record_len] })
    }

    /// The record at a place.
    pub(super) fn at(&mut self, place: u32) -> Result<&[u8]> {
        let start = self.bodies + u64::from(place) * self.record.len() as u64;
        let mut read = || {
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut self.record)
        };
        read().map_err(at(&self.path))?;
        Ok(&self.record)
    }
}

/// Reads a run from its beginning.
struct RunReader {
    path: PathBuf,
    digests: BufReader<File>,
    bodies: BufReader<File>,
    left: u64,
    body: Vec<u8>,
}

impl RunReader {
    fn open(store: &Path, run: &Run, record_len: usize) -> Result<Self> {
        let (path, digests) = open(store, run, record_len)?;
        let (_, mut bodies) = open(store, run, record_len)?;
        bodies.seek(SeekFrom::Start(run.capacity * DIGEST_LEN as u64)).map_err(at(&path))?;
        Ok(Self {
            path,
            digests: BufReader::new(digests),
            bodies: BufReader::with_capacity(READ_AHEAD, bodies),
            left: run.count,
            body: vec![0; record_len],
        })
    }

    /// The next report's digest; its body is in `self.body`.
    fn next(&mut self) -> Result<Option<[u8; DIGEST_LEN]>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut digest = [0; DIGEST_LEN];
        let mut read = || {
            self.digests.read_exact(&mut digest)?;
            self.bodies.read_exact(&mut self.body)
        };
        read().map_err(at(&self.path))?;
        Ok(Some(digest))
    }
}

/// Merges runs into a new one; repeated reports once. `(count, capacity)`. Needs a fixed amount of
/// memory.
pub(super) fn merge(store: &Path, runs: &[Run], record_len: usize, into: PathBuf) -> Result<(u64, u64)> {
    let capacity = runs.iter().map(|run| run.count).sum();
    let mut readers: Vec<RunReader> =
        runs.iter().map(|run| RunReader::open(store, run, record_len)).collect::<Result<_>>()?;
    let mut heads = BinaryHeap::new();
    for (index, reader) in readers.iter_mut().enumerate() {
        heads.extend(reader.next()?.map(|digest| Reverse((digest, index))));
    }
    let mut writer = RunWriter::create(into, capacity)?;
    let mut last = None;
    while let Some(Reverse((digest, index))) = heads.pop() {
        let reader = &mut readers[index];
        if last != Some(digest) {
            writer.push(&digest, &reader.body)?;
            last = Some(digest);
        }
        heads.extend(reader.next()?.map(|digest| Reverse((digest, index))));
    }
    Ok((writer.finish()?, capacity))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(number: u8) -> OpaqueReport {
        OpaqueReport { digest: [number.wrapping_mul(37); 32], body: vec![number; 100] }
    }

    #[test]
    fn merged_runs_have_every_report_once_in_the_order_of_digests() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = folder.path().join("store");
        let mut runs = Vec::new();
        for id in 0..5_i64 {
            // Each has half of another's.
            let reports = (0..20).map(|number| report(id as u8 * 10 + number)).rev();
            let (count, capacity) =
                write(path_of(&store, id), reports.chain([report(id as u8 * 10)]).collect()).unwrap();
            assert_eq!((count, capacity), (20, 20));
            runs.push(Run { id, level: 0, count, capacity });
        }
        let (count, capacity) = merge(&store, &runs, 100, path_of(&store, 9)).unwrap();
        assert_eq!((count, capacity), (60, 100));
        let merged = Run { id: 9, level: 1, count, capacity };
        let mut seen = Vec::new();
        digests(&store, &merged, 100, &mut |digest| seen.push(*digest)).unwrap();
        let mut expected: Vec<OpaqueReport> = (0..60).map(report).collect();
        expected.sort_unstable_by_key(|report| report.digest);
        assert!(seen.iter().eq(expected.iter().map(|report| &report.digest)));
        let mut records = Records::open(&store, &merged, 100).unwrap();
        for place in [59_u32, 0, 30, 1] {
            assert_eq!(records.at(place).unwrap(), expected[place as usize].body);
        }
        // A file that was cut is not read as if it were whole.
        let file = OpenOptions::new().write(true).open(path_of(&store, 9)).unwrap();
        file.set_len(100 * 32 + 59 * 100).unwrap();
        assert!(matches!(check(&store, &merged, 100), Err(ShufflerError::Damaged { .. })));
    }
}
