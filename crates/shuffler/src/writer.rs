//! One thread per store. Reports that wait while the disk is busy are committed together when it is
//! free (group commit): the busier it is, the larger the groups, and one wait for the disk serves
//! all of them.

use crate::error::{Result, ShufflerError};
use crate::health::Health;
use crate::permutation::Permute;
use crate::store::{OpaqueReport, Outcome, RoundStore, Stores};
use bytes::Bytes;
use shuffledp_wire::{BatchEncoder, BatchHeader, RoundContext, SigningKey};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

/// Reports in one transaction, at most.
const GROUP: usize = 1024;
/// Reports that may wait for a store's thread; their bytes are bounded before they get here.
const QUEUE: usize = 16 * 1024;
/// A batch is handed to the network in pieces of about so many bytes.
const CHUNK: usize = 128 * 1024;

/// The answer to a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receipt {
    /// It is on disk, now or since before.
    Taken,
    /// Its round was sealed before its turn came.
    Closed,
    /// It may or may not be on disk: send it again.
    Failed,
    /// Its round has as many as it may have.
    Full,
}

/// A piece of a batch on its way, or word that it breaks off.
pub(crate) type Chunk = std::io::Result<Bytes>;

enum Command {
    Add(OpaqueReport, oneshot::Sender<Receipt>),
    Maintain,
    Seal(u64, Box<dyn Permute>, oneshot::Sender<Result<Outcome>>),
    Send(Box<(BatchHeader, SigningKey)>, mpsc::Sender<Chunk>),
    Finish(oneshot::Sender<Result<()>>),
}

/// The way to a store's thread. When the last one is dropped the thread works off what waits and
/// ends.
#[derive(Debug)]
pub(crate) struct Writer {
    commands: mpsc::Sender<Command>,
}

impl Writer {
    /// Gives a store its thread.
    pub(crate) fn start(
        context: RoundContext,
        store: Box<dyn RoundStore>,
        stores: Arc<dyn Stores>,
        health: Arc<Health>,
        most: u64,
    ) -> (Self, JoinHandle<()>) {
        let (commands, waiting) = mpsc::channel(QUEUE);
        let thread = Thread { context, store, stores, waiting, failed: None, health, known: HashSet::new(), most };
        (Self { commands }, std::thread::spawn(move || thread.run()))
    }

    /// Queues a report; `None` if too many wait.
    pub(crate) fn add(&self, entry: OpaqueReport) -> Option<oneshot::Receiver<Receipt>> {
        let (reply, answer) = oneshot::channel();
        match self.commands.try_send(Command::Add(entry, reply)) {
            Ok(()) => Some(answer),
            // A thread that is gone lets go of the reply, which reads as a failure.
            Err(TrySendError::Closed(_)) => Some(answer),
            Err(TrySendError::Full(_)) => None,
        }
    }

    /// [`RoundStore::maintain`].
    pub(crate) fn maintain(&self) {
        // If the queue is full, the next tick is as good.
        let _ = self.commands.try_send(Command::Maintain);
    }

    /// [`RoundStore::seal`], after everything that was queued before.
    pub(crate) async fn seal(&self, min_batch: u64, permute: Box<dyn Permute>) -> Result<Outcome> {
        let (reply, answer) = oneshot::channel();
        self.command(Command::Seal(min_batch, permute, reply)).await?;
        answer.await.map_err(|_| ShufflerError::Stopped)?
    }

    /// The bytes of a sealed batch. Stops when the receiver is dropped.
    pub(crate) async fn stream(&self, header: BatchHeader, key: SigningKey) -> Result<mpsc::Receiver<Chunk>> {
        // Two in the channel, one at either end: half a megabyte, however long the batch.
        let (out, chunks) = mpsc::channel(2);
        self.command(Command::Send(Box::new((header, key)), out)).await?;
        Ok(chunks)
    }

    /// [`Stores::finish`]. The thread ends.
    pub(crate) async fn finish(&self) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        self.command(Command::Finish(reply)).await?;
        answer.await.map_err(|_| ShufflerError::Stopped)?
    }

    async fn command(&self, command: Command) -> Result<()> {
        self.commands.send(command).await.map_err(|_| ShufflerError::Stopped)
    }
}

/// Reports that are committed together, and who waits for that.
#[derive(Default)]
struct Group {
    entries: Vec<OpaqueReport>,
    halves: HashSet<[u8; 16]>,
    replies: Vec<oneshot::Sender<Receipt>>,
}

/// Half of a digest: finding two reports that share it takes 2^64 attempts, and costs whoever does
/// it one of the two.
fn half(digest: &[u8; 32]) -> [u8; 16] {
    std::array::from_fn(|at| digest[at])
}

struct Thread {
    context: RoundContext,
    store: Box<dyn RoundStore>,
    stores: Arc<dyn Stores>,
    waiting: mpsc::Receiver<Command>,
    /// Why reports could not be stored since the last tick, if so. Said then: a line of its own
    /// moment would say when somebody sent something.
    failed: Option<ShufflerError>,
    health: Arc<Health>,
    /// Every report that is on the disk, by half of its digest. A repeated one costs its sender a
    /// request, and the round neither a place nor a byte.
    known: HashSet<[u8; 16]>,
    /// Reports that the round may have.
    most: u64,
}

impl Thread {
    fn run(mut self) {
        self.learn_known();
        let mut next = None;
        // A round that was short stays closed: a report that was on its way when the window closed,
        // and would be acknowledged after it, would be lost with its round.
        let mut was_short = false;
        // A reply that nobody waits for any more is no failure: the report is on disk, its sender
        // asks again.
        while let Some(command) = next.take().or_else(|| self.waiting.blocking_recv()) {
            match command {
                Command::Add(_, reply) if was_short => {
                    let _ = reply.send(Receipt::Closed);
                }
                Command::Add(entry, reply) => next = self.add_group(entry, reply),
                Command::Maintain => {
                    self.say_failure();
                    self.maintain();
                }
                Command::Seal(min_batch, mut permute, reply) => {
                    let outcome = self.store.seal(min_batch, &mut *permute);
                    was_short |= matches!(outcome, Ok(Outcome::Short));
                    let _ = reply.send(outcome);
                }
                Command::Send(what, out) => self.send(&what.0, &what.1, &out),
                Command::Finish(reply) => {
                    let _ = reply.send(self.stores.finish(&self.context, self.store));
                    return;
                }
            }
        }
    }

    /// The reports that an earlier process had stored.
    fn learn_known(&mut self) {
        let known = &mut self.known;
        let learned = self.store.digests(&mut |digest| {
            known.insert(half(digest));
        });
        if let Err(error) = learned {
            self.health.storage_failed(&error);
            tracing::warn!(%error, "the reports of a round could not be counted: repeated ones take a place again");
        }
    }

    /// Commits a report and all that wait behind it. Returns the command that ended the group, if
    /// one did.
    fn add_group(&mut self, entry: OpaqueReport, reply: oneshot::Sender<Receipt>) -> Option<Command> {
        let mut group = Group::default();
        let mut next = None;
        self.sort(entry, reply, &mut group);
        while group.replies.len() < GROUP {
            match self.waiting.try_recv() {
                Ok(Command::Add(entry, reply)) => self.sort(entry, reply, &mut group),
                Ok(other) => {
                    next = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        if group.entries.is_empty() {
            return next;
        }
        let answer = match self.store.add(group.entries) {
            Ok(()) => {
                self.known.extend(group.halves);
                self.health.storage_works();
                Receipt::Taken
            }
            Err(ShufflerError::Sealed) => Receipt::Closed,
            Err(error) => {
                self.health.storage_failed(&error);
                self.failed = Some(error);
                Receipt::Failed
            }
        };
        for reply in group.replies {
            let _ = reply.send(answer);
        }
        next
    }

    /// Answers what needs no storing, and adds the rest to the group: a new report, or the same as
    /// one in the group, which waits for it.
    fn sort(&mut self, entry: OpaqueReport, reply: oneshot::Sender<Receipt>, group: &mut Group) {
        let name = half(&entry.digest);
        if self.known.contains(&name) {
            let _ = reply.send(Receipt::Taken);
        } else if group.halves.contains(&name) {
            group.replies.push(reply);
        } else if (self.known.len() + group.halves.len()) as u64 >= self.most {
            let _ = reply.send(Receipt::Full);
        } else {
            group.halves.insert(name);
            group.entries.push(entry);
            group.replies.push(reply);
        }
    }

    fn say_failure(&mut self) {
        if let Some(error) = self.failed.take() {
            tracing::error!(%error, "reports could not be stored; their clients will try again");
        }
    }

    fn maintain(&mut self) {
        if let Err(error) = self.store.maintain() {
            self.health.storage_failed(&error);
            tracing::warn!(%error, "a round's store could not be maintained; it is tried again");
        }
    }

    fn send(&self, header: &BatchHeader, key: &SigningKey, out: &mpsc::Sender<Chunk>) {
        if let Err(error) = self.send_chunks(header, key, out) {
            tracing::error!(%error, round = header.context.round, "a batch could not be read");
            // Without an end the server cannot take it for whole.
            let _ = out.blocking_send(Err(std::io::Error::other("the batch breaks off")));
        }
    }

    fn send_chunks(&self, header: &BatchHeader, key: &SigningKey, out: &mpsc::Sender<Chunk>) -> Result<()> {
        let mut buffer = Vec::with_capacity(CHUNK + header.record_len as usize);
        let mut encoder = BatchEncoder::start(header, key, &mut buffer)?;
        let mut failed = Ok(());
        let mut gone = false;
        self.store.visit(&mut |record| {
            failed = encoder.record(record, &mut buffer);
            if failed.is_ok() && buffer.len() >= CHUNK {
                gone = out.blocking_send(Ok(Bytes::copy_from_slice(&buffer))).is_err();
                buffer.clear();
            }
            if failed.is_err() || gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failed?;
        if !gone {
            encoder.finish(key, &mut buffer)?;
            let _ = out.blocking_send(Ok(buffer.into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoWitness;
    use crate::permutation::FisherYates;
    use crate::store::{RoundTerms, SqliteFolder};
    use shuffledp_wire::{KeysHash, ModelHash, TaskHash};

    #[tokio::test]
    async fn what_comes_after_a_short_end_is_not_acknowledged() {
        let folder = tempfile::TempDir::new().unwrap();
        let stores = Arc::new(SqliteFolder::open(&folder.path().join("data"), Arc::new(NoWitness)).unwrap());
        let context = RoundContext {
            task: TaskHash::from_bytes([1; 32]),
            round: 1,
            model: ModelHash::of(b"model"),
            keys: KeysHash::from_bytes([3; 32]),
        };
        let record = RoundTerms { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 3 };
        let store = stores.create(&context, &record).unwrap().unwrap();
        let (writer, thread) = Writer::start(context, store, stores, Arc::default(), 10);
        let add = async |number| {
            let entry = OpaqueReport { digest: [number; 32], body: vec![number; 100] };
            writer.add(entry).unwrap().await.unwrap()
        };
        assert_eq!((add(1).await, add(2).await), (Receipt::Taken, Receipt::Taken));
        let permute = || Box::new(FisherYates::from_operating_system().unwrap());
        assert_eq!(writer.seal(3, permute()).await.unwrap(), Outcome::Short);
        // It would have made three, and the round is about to be deleted.
        assert_eq!(add(3).await, Receipt::Closed);
        assert_eq!(writer.seal(3, permute()).await.unwrap(), Outcome::Short);
        writer.finish().await.unwrap();
        drop(writer);
        thread.join().unwrap();
    }

    #[tokio::test]
    async fn a_repeated_report_takes_no_place_also_after_a_start() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("data");
        let mut stores = Arc::new(SqliteFolder::open(&path, Arc::new(NoWitness)).unwrap());
        let context = RoundContext {
            task: TaskHash::from_bytes([1; 32]),
            round: 1,
            model: ModelHash::of(b"model"),
            keys: KeysHash::from_bytes([3; 32]),
        };
        let record = RoundTerms { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 3 };
        let mut store = stores.create(&context, &record).unwrap().unwrap();
        for expected in [[Receipt::Taken; 3], [Receipt::Taken, Receipt::Taken, Receipt::Full]] {
            let (writer, thread) = Writer::start(context, store, stores.clone(), Arc::default(), 3);
            let add = |number: u8| {
                let body = vec![number; 100];
                writer.add(OpaqueReport { digest: [number; 32], body }).unwrap()
            };
            // A flood of one report, some of them in one group.
            let flood: Vec<_> = (0..1000).map(|_| add(1)).collect();
            for answer in flood {
                assert_eq!(answer.await.unwrap(), Receipt::Taken);
            }
            let first = add(2).await.unwrap();
            let second = add(3).await.unwrap();
            let third = add(if expected[2] == Receipt::Full { 4 } else { 3 }).await.unwrap();
            assert_eq!([first, second, third], expected);
            drop(writer);
            thread.join().unwrap();
            drop(stores);
            stores = Arc::new(SqliteFolder::open(&path, Arc::new(NoWitness)).unwrap());
            store = stores.unfinished().unwrap().remove(0);
        }
    }
}
