//! Where a report is durable first: appended to a file, with one wait for the disk for all that
//! came together.
//!
//! A frame is a report's SHA-256 and its bytes; all frames of a round have one length. So a frame
//! proves itself: one that a crash left half written has another digest, was never acknowledged,
//! and is skipped, as zeros are.
//!
//! The file is longer than its frames by zeros, and is emptied by writing zeros over them. That
//! leaves nothing to be read, and it makes the next frames fast: to make bytes durable where a file
//! has some already, the file system has nothing of its own to write down.

use super::OpaqueReport;
use crate::error::{Result, at};
use crate::witness::{CommitPoint, Witness};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const DIGEST_LEN: usize = 32;
/// The file grows by as much as it has, at least and at most by so many bytes.
const GROWTH: (u64, u64) = (64 << 10, 4 << 20);
/// Zeros are written in pieces of so many bytes.
const PAGE: u64 = 4096;

/// One file of frames.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Bytes of frames that are durable.
    len: u64,
    /// Up to where there may be something else than zeros: frames that failed as well.
    used: u64,
    /// Bytes of the file.
    size: u64,
}

impl Log {
    /// The file, made if it is not there; its name is durable when the folder has been synced. What
    /// was in it is gone: see [`read`].
    pub(super) fn empty(path: PathBuf) -> Result<Self> {
        let open = || {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            let size = file.metadata()?.len();
            if size > 0 {
                erase(&mut file, size)?;
            }
            Ok((file, size))
        };
        let (file, size) = open().map_err(at(&path))?;
        Ok(Self { path, file, len: 0, used: 0, size })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Writes zeros over all frames, for good.
    pub(super) fn clear(&mut self) -> Result<()> {
        erase(&mut self.file, self.used).map_err(at(&self.path))?;
        (self.len, self.used) = (0, 0);
        Ok(())
    }

    /// Durable when it returns. After a failure the next frames take the place of those that
    /// failed.
    pub(super) fn append(&mut self, entries: &[&OpaqueReport], witness: &dyn Witness) -> Result<()> {
        let mut frames = Vec::with_capacity(entries.iter().map(|entry| DIGEST_LEN + entry.body.len()).sum());
        for entry in entries {
            frames.extend_from_slice(&entry.digest);
            frames.extend_from_slice(&entry.body);
        }
        let end = self.len + frames.len() as u64;
        self.used = self.used.max(end);
        let (least, most) = GROWTH;
        let growth = if end > self.size { self.size.clamp(least, most).next_multiple_of(PAGE) } else { 0 };
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.len))?;
            self.file.write_all(&frames)?;
            // Page by page: Linux keeps what is written at once as one piece, and would count and
            // write the whole piece again for every few frames that come to lie in it.
            for _ in 0..growth / PAGE {
                self.file.write_all(&[0; PAGE as usize])?;
            }
            witness.reached(CommitPoint::BeforeReports);
            self.file.sync_data()
        };
        write().map_err(at(&self.path))?;
        self.size = self.size.max(end + growth);
        self.len = end;
        witness.reached(CommitPoint::AfterReports);
        Ok(())
    }
}

/// All frames among the first `len` bytes that are whole; none if there is no such file.
pub(super) fn read(path: &Path, len: u64, record_len: usize) -> Result<Vec<OpaqueReport>> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(len).read_to_end(&mut bytes)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(at(path))?,
    };
    let entry = |frame: &[u8]| {
        let (digest, body) = frame.split_first_chunk::<DIGEST_LEN>()?;
        let whole = *digest != [0; DIGEST_LEN] && Sha256::digest(body)[..] == digest[..];
        whole.then(|| OpaqueReport { digest: *digest, body: body.to_vec() })
    };
    Ok(bytes.chunks_exact(DIGEST_LEN + record_len).filter_map(entry).collect())
}

fn erase(file: &mut File, len: u64) -> std::io::Result<()> {
    file.rewind()?;
    std::io::copy(&mut std::io::repeat(0).take(len), file)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::NoWitness;

    fn entry(number: u8) -> OpaqueReport {
        let body = vec![number; 100];
        OpaqueReport { digest: Sha256::digest(&body).into(), body }
    }

    #[test]
    fn what_a_crash_left_half_written_is_skipped_and_nothing_else() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::empty(path.clone()).unwrap();
        let entries: Vec<OpaqueReport> = (0..5).map(entry).collect();
        log.append(&entries.iter().collect::<Vec<_>>(), &NoWitness).unwrap();
        assert_eq!(read(&path, u64::MAX, 100).unwrap(), entries);

        // A block in the middle that never reached the disk, and an end that is missing.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[132 + 40..132 + 60].fill(0);
        bytes.truncate(5 * 132 - 1);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path, u64::MAX, 100).unwrap(), [0, 2, 3].map(entry));
        // Zeros are no report.
        std::fs::write(&path, vec![0; 132 * 3]).unwrap();
        assert_eq!(read(&path, u64::MAX, 100).unwrap(), []);

        let mut log = Log::empty(path.clone()).unwrap();
        assert_eq!((log.len(), read(&path, u64::MAX, 100).unwrap().len()), (0, 0));
        log.append(&[&entry(7)], &NoWitness).unwrap();
        log.append(&[&entry(8)], &NoWitness).unwrap();
        assert_eq!(read(&path, u64::MAX, 100).unwrap(), [7, 8].map(entry));
        log.clear().unwrap();
        assert!(std::fs::read(&path).unwrap().iter().all(|byte| *byte == 0), "nothing to be read");
    }
}
