//! The moments at which a crash would hurt most, made visible to tests that crash there.

/// A point around a commit. A process may end at any of them and nothing acknowledged is lost, doubled or released short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitPoint {
    /// Reports are in a transaction that is not committed.
    BeforeReports,
    /// They are committed; nobody was told.
    AfterReports,
    /// A batch is in a transaction that is not committed.
    BeforeSeal,
    /// It is committed; nothing was sent.
    AfterSeal,
    /// The server has acknowledged the batch; the store is still there.
    Acknowledged,
    /// The round is remembered as finished; the store is still there.
    Finished,
    /// The store is gone.
    Deleted,
}

impl CommitPoint {
    /// All of them, in the order in which a round passes them.
    pub const ALL: [Self; 7] = [
        Self::BeforeReports,
        Self::AfterReports,
        Self::BeforeSeal,
        Self::AfterSeal,
        Self::Acknowledged,
        Self::Finished,
        Self::Deleted,
    ];
}

/// Is told when a commit point is reached, and may end the process there.
pub trait Witness: Send + Sync {
    /// This point is reached.
    fn reached(&self, point: CommitPoint);
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWitness;

impl Witness for NoWitness {
    fn reached(&self, _: CommitPoint) {}
}
