//! What retention is asked and answers with.

use bindery_core::{ContentHash, Name, SubmissionId, Timestamp, submission::SubmissionStatus};
use serde::Serialize;

/// The tables with rows of a submission: each with its key besides the submission, and the columns that may name blobs.
pub(crate) const PARTS: &[(&str, &str, &str)] = &[
    ("job", "id", "payload, payload_blob, next_payload, next_payload_blob, resume"),
    ("review", "id", "input, input_blob, decision"),
    ("joins", "id", "on_close"),
    ("outcome", "stage, item_id, processor", "output, output_blob, resume, made"),
    ("artifact", "key", "hash"),
    ("item", "id", "content, data"),
];

/// A legal hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hold {
    pub submission: SubmissionId,
    pub reason: String,
    pub held_at: Timestamp,
}

/// Which submissions are meant. Empty fields mean all.
#[derive(Debug, Clone, Default)]
pub struct RetentionFilter {
    pub owner: Option<String>,
    pub workflow: Option<Name>,
    /// Only those that ended before.
    pub ended_before: Option<Timestamp>,
    /// Only those of which one of these parts has not expired yet.
    pub has: Option<Expiry>,
    /// Only those whose deletion has begun and not ended.
    pub deleting: bool,
    pub after: Option<SubmissionId>,
    pub limit: usize,
}

/// A submission as retention sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    pub id: SubmissionId,
    pub workflow: Name,
    pub status: SubmissionStatus,
    pub hold: Option<String>,
}

/// How much is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extent {
    pub rows: u64,
    /// What the rows name, directly or inside their JSON. Others may name the same.
    pub blobs: Vec<ContentHash>,
}

/// On whose behalf something is deleted, as its event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Somebody asked for it.
    Asked,
    /// It is older than somebody said.
    Pruned,
    /// The retention of its workflow has passed.
    Expired,
}

impl Reason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Pruned => "pruned",
            Self::Expired => "expired",
        }
    }
}

/// What became of one submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub submission: SubmissionId,
    pub deleted: Deleted,
}

/// How far a deletion has got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deleted {
    /// All that was meant is gone. So many rows went this time.
    Whole {
        rows: u64,
    },
    /// There is more: go on.
    Partly {
        rows: u64,
    },
    Refused(Refusal),
}

/// Why something is not deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is not stored")]
    NotFound,
    #[error("it is on hold: {reason}")]
    OnHold { reason: String },
    #[error("it is still at work ({status})")]
    UnderWay { status: SubmissionStatus },
}

/// Parts of a submission that expire by themselves.
#[expect(clippy::struct_excessive_bools, reason = "each part expires by itself")]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expiry {
    /// The files as they came in.
    pub raw_files: bool,
    /// The contents of pages and documents: images, page PDFs, texts that were taken apart.
    pub page_images: bool,
    /// What was read and found on the way: results of stages over files and pages, and their texts.
    pub texts: bool,
    pub events: bool,
    /// Results of files are what the workflow is for: with `texts`, only those of pages go.
    pub keeps_files: bool,
    /// The stage whose results are what the workflow is for.
    pub last_stage: Option<Name>,
}

impl Expiry {
    /// The parts as bits, as they are stored.
    pub const fn bits(&self) -> i64 {
        self.raw_files as i64 | (self.page_images as i64) << 1 | (self.texts as i64) << 2 | (self.events as i64) << 3
    }

    /// The parts by the names that workflows have for them.
    pub fn names(&self) -> Vec<&'static str> {
        let parts = [
            (self.raw_files, "raw_files"),
            (self.page_images, "page_images"),
            (self.texts, "texts"),
            (self.events, "events"),
        ];
        parts.into_iter().filter_map(|(is_meant, name)| is_meant.then_some(name)).collect()
    }

    /// The kinds of items whose results are not what the workflow is for.
    pub(crate) const fn text_kinds(&self) -> &'static [&'static str] {
        if self.keeps_files { &["page"] } else { &["file", "page"] }
    }
}

/// Which events are old.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventAge {
    /// Those of submissions of a workflow that are not final.
    UnderWay { workflow: Name, before: Timestamp },
    /// Those that belong to no submission, or to one that is not stored any more.
    Ownerless { before: Timestamp },
}

/// What came of giving space back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Reclaimed {
    /// How much smaller the database is.
    pub bytes: u64,
    /// False where others used the store, and deleted content may be left in its write-ahead log or free pages until they do
    /// not.
    pub complete: bool,
}
