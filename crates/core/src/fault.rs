//! Places where a crash matters, by name, so that a test can crash exactly there.

use std::fmt;

/// A point at which a crash could lose or repeat an effect, if the design were wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultPoint {
    /// The work of a job is done; nothing of it is stored yet.
    AfterWorkBeforeCommit,
    /// Everything of a transaction is written, but it is not committed.
    BeforeCommit,
    /// The transaction is committed, but nobody has been told.
    AfterCommitBeforeAck,
    /// Jobs are claimed, but their worker has not begun.
    AfterClaim,
    /// Some children of a large fan-out are stored, others are not.
    MidFanOut,
    /// The bytes of blobs are written, but neither synced nor in their place.
    BeforeBlobSync,
    /// A blob's bytes are written and synced, but it is not in its place.
    BeforeBlobRename,
    /// A blob is in its place, but no row points to it.
    AfterBlobBeforeCommit,
    /// A consumer has handled events, but its position is not stored.
    BeforeFeedCommit,
}

impl FaultPoint {
    pub const ALL: [Self; 9] = [
        Self::AfterWorkBeforeCommit,
        Self::BeforeCommit,
        Self::AfterCommitBeforeAck,
        Self::AfterClaim,
        Self::MidFanOut,
        Self::BeforeBlobSync,
        Self::BeforeBlobRename,
        Self::AfterBlobBeforeCommit,
        Self::BeforeFeedCommit,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AfterWorkBeforeCommit => "after-work-before-commit",
            Self::BeforeCommit => "before-commit",
            Self::AfterCommitBeforeAck => "after-commit-before-ack",
            Self::AfterClaim => "after-claim",
            Self::MidFanOut => "mid-fan-out",
            Self::BeforeBlobSync => "before-blob-sync",
            Self::BeforeBlobRename => "before-blob-rename",
            Self::AfterBlobBeforeCommit => "after-blob-before-commit",
            Self::BeforeFeedCommit => "before-feed-commit",
        }
    }

    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.as_str() == text)
    }
}

/// Called at every [`FaultPoint`]. Production does nothing; a test may end the process.
pub trait Faults: Send + Sync + fmt::Debug {
    fn hit(&self, point: FaultPoint);
}

/// No faults: what everybody but the crash tests uses.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn hit(&self, _point: FaultPoint) {}
}
