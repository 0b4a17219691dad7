//! Artifacts: immutable bytes under a readable key.

use crate::{ContentHash, ItemId, SubmissionId};
use serde::{Deserialize, Serialize};

/// Says that the bytes with this hash are known as `key` in this submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    /// Readable and stable, for instance `text-docs/item_12.json`. Storing another hash under it replaces the pointer,
    /// never the bytes.
    pub key: String,
    pub hash: ContentHash,
    pub size: u64,
    pub media_type: String,
}
