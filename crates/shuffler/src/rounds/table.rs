//! The rounds of this moment.

use super::learn::Server;
use crate::writer::Writer;
use shuffledp_wire::{RoundContext, RoundOffer, inner_len};
use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use tokio::task::JoinSet;

/// A round that is not finished.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) round: RoundOffer,
    pub(crate) server: Arc<Server>,
    pub(crate) writer: Writer,
    closed: AtomicBool,
}

impl Live {
    pub(crate) fn new(round: RoundOffer, server: Arc<Server>, writer: Writer) -> Self {
        Self { round, server, writer, closed: AtomicBool::new(false) }
    }

    pub(crate) fn context(&self) -> RoundContext {
        self.round.context()
    }

    /// Bytes of a record.
    pub(crate) fn record_len(&self) -> usize {
        inner_len(self.round.payload_len)
    }

    /// Takes no reports from now on; whether it did before.
    fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::SeqCst)
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

/// The state of a report's round.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// Taken.
    Open(Arc<Live>),
    /// Known, and not open yet.
    Early,
    /// Known, and over.
    Over,
    /// Not known, or known no more.
    Unknown,
}

/// The result of [`Table::ages`].
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ages {
    /// Rounds that take reports, or will.
    pub(crate) open: usize,
    /// Rounds that are over.
    pub(crate) over: usize,
    /// Since the oldest of all opened.
    pub(crate) oldest: u64,
    /// Since the oldest of those that are over was over.
    pub(crate) overdue: u64,
}

/// All rounds that are not finished, their threads, and the tasks that bring them to their end.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rounds: RwLock<HashMap<RoundContext, Arc<Live>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    endings: Mutex<JoinSet<()>>,
}

impl Table {
    // The maps are changed by single calls: a thread that panicked left them whole.
    fn read(&self) -> RwLockReadGuard<'_, HashMap<RoundContext, Arc<Live>>> {
        self.rounds.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<RoundContext, Arc<Live>>> {
        self.rounds.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn endings(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, live: Live, thread: JoinHandle<()>) -> Arc<Live> {
        let live = Arc::new(live);
        self.write().insert(live.context(), Arc::clone(&live));
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        live
    }

    pub(crate) fn remove(&self, context: &RoundContext) {
        self.write().remove(context);
    }

    pub(crate) fn contains(&self, context: &RoundContext) -> bool {
        self.read().contains_key(context)
    }

    pub(crate) fn of_server(&self, server: &Arc<Server>) -> usize {
        self.read().values().filter(|live| Arc::ptr_eq(&live.server, server)).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    pub(crate) fn find(&self, context: &RoundContext, now: u64) -> Lookup {
        match self.read().get(context) {
            None => Lookup::Unknown,
            Some(live) if live.is_closed() || now >= live.round.closes => Lookup::Over,
            Some(live) if now < live.round.opens => Lookup::Early,
            Some(live) => Lookup::Open(Arc::clone(live)),
        }
    }

    /// Closes the rounds whose window is over, and returns them, each once.
    pub(crate) fn close_over(&self, now: u64) -> Vec<Arc<Live>> {
        let over = |live: &&Arc<Live>| now >= live.round.closes && live.close();
        self.read().values().filter(over).map(Arc::clone).collect()
    }

    /// Has all stores do the work that they leave for quiet moments.
    pub(crate) fn maintain(&self) {
        self.read().values().for_each(|live| live.writer.maintain());
    }

    /// When the oldest round opened that still takes reports.
    pub(crate) fn earliest_open(&self) -> Option<u64> {
        self.read().values().filter(|live| !live.is_closed()).map(|live| live.round.opens).min()
    }

    /// How many rounds there are, and how old, in milliseconds.
    pub(crate) fn ages(&self, now: u64) -> Ages {
        let mut ages = Ages::default();
        for live in self.read().values() {
            ages.oldest = ages.oldest.max(now.saturating_sub(live.round.opens));
            if live.is_closed() || now >= live.round.closes {
                ages.over += 1;
                ages.overdue = ages.overdue.max(now.saturating_sub(live.round.closes));
            } else {
                ages.open += 1;
            }
        }
        ages
    }

    /// Runs what brings a round to its end.
    pub(crate) fn spawn(&self, ending: impl Future<Output = ()> + Send + 'static) {
        let mut endings = self.endings();
        while endings.try_join_next().is_some() {}
        endings.spawn(ending);
    }

    /// Waits until nothing is being brought to its end.
    pub(crate) async fn settle(&self) {
        loop {
            let mut endings = std::mem::take(&mut *self.endings());
            if endings.is_empty() {
                return;
            }
            while endings.join_next().await.is_some() {}
        }
    }

    /// Lets all stores work off what waits, and waits for their threads. Rounds stay on disk as
    /// they are.
    pub(crate) fn stop(&self) {
        self.write().clear();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a store's thread panicked; what it acknowledged is on disk");
            }
        }
    }
}
