//! What reading and summarising does to rows. Rows that were changed so are stored with [`CivicChanges`], guarded by the
//! revision of the meeting and, in a job, by its claim.
//!
//! [`CivicChanges`]: super::CivicChanges

use super::meetings::{AgendaItem, Meeting, Processing};

impl Meeting {
    /// A summary and topics were made; without one, what is there stays.
    pub fn update_meeting_summary(&mut self, summary: Option<String>, topics: Vec<String>) {
        self.summary = summary.or_else(|| self.summary.take());
        if !topics.is_empty() {
            self.topics = topics;
        }
    }

    /// It was read to its end, when its content had this hash.
    pub fn mark_processing_complete(&mut self, method: String, content_hash: Option<String>) {
        self.processing_status = Some(Processing::Completed);
        self.processing_method = Some(method);
        self.processing_error = None;
        self.processed_hash = content_hash;
    }

    /// It could not be read.
    pub fn mark_processing_failed(&mut self, error: impl Into<String>) {
        self.processing_status = Some(Processing::Failed);
        self.processing_error = Some(error.into());
    }
}

impl AgendaItem {
    /// A summary and topics were made; without one, what is there stays.
    pub fn update_agenda_item(&mut self, summary: Option<String>, topics: Vec<String>) {
        self.summary = summary.or_else(|| self.summary.take());
        if !topics.is_empty() {
            self.topics = topics;
        }
    }
}
