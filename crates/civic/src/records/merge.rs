//! What becomes of a stored row when a new one comes: what is not told is kept.

use super::{
    matters::{Appearance, Matter},
    meetings::{AgendaItem, Attachment, Meeting},
    people::{Committee, Person},
};
use bindery_core::Timestamp;

/// A noun of which parts are told at different times.
pub(super) trait Merge: Clone + PartialEq {
    /// Takes what it does not say itself from the stored one.
    fn keep(&mut self, stored: &Self);
}

/// The stored values of these fields where there are no new ones.
macro_rules! keep {
    ($mine:ident, $stored:ident: $($field:ident),+) => {
        $(if $mine.$field.is_none() {
            $mine.$field.clone_from(&$stored.$field);
        })+
    };
}

/// The stored lists or texts of these fields where the new ones are empty.
macro_rules! keep_filled {
    ($mine:ident, $stored:ident: $($field:ident),+) => {
        $(if $mine.$field.is_empty() {
            $mine.$field.clone_from(&$stored.$field);
        })+
    };
}

fn earliest(mine: &mut Option<Timestamp>, stored: Option<Timestamp>) {
    *mine = [*mine, stored].into_iter().flatten().min();
}

fn latest(mine: &mut Option<Timestamp>, stored: Option<Timestamp>) {
    *mine = (*mine).max(stored);
}

/// What was learned by fetching a document is kept while its address stays.
fn keep_attachments(mine: &mut Vec<Attachment>, stored: &[Attachment]) {
    if mine.is_empty() {
        mine.extend_from_slice(stored);
        return;
    }
    for attachment in mine {
        let Some(known) = stored.iter().find(|known| known.url == attachment.url) else { continue };
        keep!(attachment, known: portal_url, vendor_id);
        if attachment.content_sha256.is_none() {
            attachment.content_sha256.clone_from(&known.content_sha256);
            keep!(attachment, known: bytes, etag, last_modified, fetched_at, page_count, extraction_method);
        }
    }
}

impl Merge for Meeting {
    fn keep(&mut self, stored: &Self) {
        keep!(self, stored: committee_id, body, location, agenda_url, packet_url, minutes_url, video_url);
        keep_filled!(self, stored: agenda_sources);
        keep_attachments(&mut self.documents, &stored.documents);
        keep!(self, stored: notes, participation, summary);
        keep_filled!(self, stored: topics);
        if self.processing_status.is_none() {
            self.processing_status = stored.processing_status;
            keep!(self, stored: processing_error);
        }
        keep!(self, stored: processing_method, processing_seconds, content_hash, processed_hash, processed_by);
        self.revision = stored.revision;
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }
}

impl Merge for AgendaItem {
    fn keep(&mut self, stored: &Self) {
        if self.attachments.is_empty() {
            keep!(self, stored: attachment_hash);
        }
        keep_attachments(&mut self.attachments, &stored.attachments);
        // The summary and where it comes from are one thing.
        if self.summary.is_none() {
            self.summary_of.clone_from(&stored.summary_of);
        }
        keep!(self, stored: body_text, summary);
        keep_filled!(self, stored: topics);
        keep!(self, stored: action, mover, seconder, passed, quality_score);
        self.rating_count = self.rating_count.max(stored.rating_count);
        self.revisions = self.revisions.max(stored.revisions);
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }
}

impl Merge for Matter {
    fn keep(&mut self, stored: &Self) {
        // An older meeting that is looked at again does not take back what a newer one has brought.
        if self.last_seen < stored.last_seen {
            let older = std::mem::replace(self, stored.clone());
            keep!(self, older: vendor_matter_id, matter_file, matter_type, status);
            keep_filled!(self, older: title, sponsors);
            if self.attachments.is_empty() {
                (self.attachments, self.attachment_hash) = (older.attachments, older.attachment_hash);
            }
            // Summaries are not told by meetings: whoever has one has just made it.
            if older.canonical_summary.is_some() {
                (self.canonical_summary, self.summary_hash) = (older.canonical_summary, older.summary_hash);
                self.canonical_topics = older.canonical_topics;
            }
            self.metadata.extend(older.metadata);
            (self.first_seen, self.final_vote_at) = (older.first_seen, older.final_vote_at);
            (self.quality_score, self.rating_count) = (older.quality_score, older.rating_count);
        }
        keep!(self, stored: vendor_matter_id, matter_file, matter_type, status);
        keep_filled!(self, stored: title, sponsors);
        keep!(self, stored: canonical_summary, summary_hash);
        keep_filled!(self, stored: canonical_topics);
        if self.attachments.is_empty() {
            self.attachment_hash.clone_from(&stored.attachment_hash);
        }
        keep_attachments(&mut self.attachments, &stored.attachments);
        for (name, value) in &stored.metadata {
            self.metadata.entry(name.clone()).or_insert_with(|| value.clone());
        }
        earliest(&mut self.first_seen, stored.first_seen);
        latest(&mut self.last_seen, stored.last_seen);
        latest(&mut self.final_vote_at, stored.final_vote_at);
        keep!(self, stored: quality_score);
        self.rating_count = self.rating_count.max(stored.rating_count);
        self.appearance_count = stored.appearance_count;
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }
}

impl Merge for Appearance {
    fn keep(&mut self, stored: &Self) {
        keep!(self, stored: appeared_at, committee, committee_id, action, vote_outcome);
        keep_filled!(self, stored: vote_tally);
    }
}

impl Merge for Committee {
    fn keep(&mut self, stored: &Self) {
        keep!(self, stored: description, status, vendor_body_id);
    }
}

impl Merge for Person {
    fn keep(&mut self, stored: &Self) {
        keep!(self, stored: vendor_person_id, title, district, status);
        self.aliases.extend_from_slice(&stored.aliases);
        self.aliases.sort();
        self.aliases.dedup();
        for (name, value) in &stored.metadata {
            self.metadata.entry(name.clone()).or_insert_with(|| value.clone());
        }
        earliest(&mut self.first_seen, stored.first_seen);
        latest(&mut self.last_seen, stored.last_seen);
        // Counted when it is read.
        (self.sponsorship_count, self.vote_count) = (stored.sponsorship_count, stored.vote_count);
    }
}
