//! The moments at which a crash would hurt most, made visible to tests that crash there.

/// A point around a commit. A process may end at any of them and nothing acknowledged is lost,
/// doubled or released short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitPoint {
    /// Reports are written to a log and may not be on the disk yet.
    BeforeReports,
    /// They are on the disk; nobody was told.
    AfterReports,
    /// A log is about to be folded into the database.
    BeforeFold,
    /// The database has its reports; the log has them, too.
    AfterFold,
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
    pub const ALL: [Self; 9] = [
        Self::BeforeReports,
        Self::AfterReports,
        Self::BeforeFold,
        Self::AfterFold,
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
