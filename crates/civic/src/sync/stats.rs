//! What a sync has done, in numbers.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SyncStats {
    pub meetings_found: u64,
    /// Stored, whether or not something was new about them.
    pub meetings_processed: u64,
    pub meetings_skipped: u64,
    pub items_stored: u64,
    pub items_skipped_procedural: u64,
    /// Seen for the first time.
    pub matters_tracked: u64,
    /// Known from before.
    pub matters_duplicate: u64,
    pub appearances_created: u64,
    pub meetings_changed: u64,
    pub meetings_removed: u64,
    pub jobs_enqueued: u64,
    /// Always 0: jobs are stored in the transaction of what they follow from. Kept for those who expect the field.
    pub enqueue_failures: u64,
    /// Of the last meeting that was not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_title: Option<String>,
}

impl SyncStats {
    pub fn add(&mut self, other: &Self) {
        self.meetings_found += other.meetings_found;
        self.meetings_processed += other.meetings_processed;
        self.meetings_skipped += other.meetings_skipped;
        self.items_stored += other.items_stored;
        self.items_skipped_procedural += other.items_skipped_procedural;
        self.matters_tracked += other.matters_tracked;
        self.matters_duplicate += other.matters_duplicate;
        self.appearances_created += other.appearances_created;
        self.meetings_changed += other.meetings_changed;
        self.meetings_removed += other.meetings_removed;
        self.jobs_enqueued += other.jobs_enqueued;
        self.enqueue_failures += other.enqueue_failures;
        if other.skip_reason.is_some() {
            self.skip_reason.clone_from(&other.skip_reason);
            self.skipped_title.clone_from(&other.skipped_title);
        }
    }
}
