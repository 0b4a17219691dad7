//! The tables: the columns that rows are found by, and the whole row as JSON in `data`.
//!
//! Key columns come first, in the order of the table. So one statement stores rows of any table, and only what is asked
//! for often is a column.

use super::{
    alerts::{Alert, Notification, Watch},
    documents::{KnownDocument, KnownText, UnknownTopic},
    matters::{Appearance, CastBallot, Matter, Sponsorship, VoteEvent},
    meetings::{AgendaItem, ItemRevision, Meeting, MeetingChange, Processing, SkippedMeeting},
    people::{Committee, Person},
    places::{CityRequest, Jurisdiction, PageShape, SyncRun, ZipCode},
};
use serde::{Deserialize, Serialize};

bindery_store::tables! {
    JURISDICTION = "civic_jurisdiction" by "city_key" {
        city_key: Text, name: Text, state: Text, vendor: Text, active: Integer, failing: Integer, silent: Integer,
        yielded: Integer, next_sync_at: Integer
    }
    ZIPCODE = "civic_zipcode" by "zipcode, city_key" { zipcode: Text, city_key: Text }
    SYNC_RUN = "civic_sync_run" by "id" { id: Integer, city_key: Text, status: Text, started_at: Integer }
    PAGE = "civic_page" by "city_key, url" { city_key: Text, url: Text }
    REQUEST = "civic_request" by "city_key" { city_key: Text, status: Text }
    MEETING = "civic_meeting" by "id" {
        id: Text, city_key: Text, vendor: Text, vendor_id: Text, starts_at: Integer, status: Text, processing: Text,
        summarised: Integer, removed: Integer, revision: Integer
    }
    ITEM = "civic_item" by "id" {
        id: Text, meeting_id: Text, sequence: Integer, matter_id: Text, summarised: Integer, removed: Integer
    }
    ITEM_REVISION = "civic_item_revision" by "item_id, revision" { item_id: Text, revision: Integer, meeting_id: Text }
    CHANGE = "civic_change" by "meeting_id, revision, ordinal" {
        meeting_id: Text, revision: Integer, ordinal: Integer, city_key: Text, at: Integer
    }
    SKIPPED = "civic_skipped" by "city_key, vendor, vendor_id" { city_key: Text, vendor: Text, vendor_id: Text }
    MATTER = "civic_matter" by "id" { id: Text, city_key: Text, matter_file: Text, last_seen: Integer }
    APPEARANCE = "civic_appearance" by "matter_id, meeting_id, item_id" {
        matter_id: Text, meeting_id: Text, item_id: Text
    }
    SPONSORSHIP = "civic_sponsorship" by "matter_id, person_id" { matter_id: Text, person_id: Text }
    VOTE_EVENT = "civic_vote_event" by "id" { id: Text, meeting_id: Text, matter_id: Text }
    BALLOT = "civic_ballot" by "vote_event_id, person_id" { vote_event_id: Text, person_id: Text }
    COMMITTEE = "civic_committee" by "id" { id: Text, city_key: Text }
    PERSON = "civic_person" by "id" { id: Text, city_key: Text }
    ALERT = "civic_alert" by "id" { id: Text, owner: Text, active: Integer }
    WATCH = "civic_watch" by "owner, entity_type, entity_id" { owner: Text, entity_type: Text, entity_id: Text }
    NOTIFICATION = "civic_notification" by "key" { key: Text, due_at: Integer }
    DOCUMENT = "civic_document" by "url" { url: Text, content_sha256: Text }
    TEXT = "civic_text" by "content_sha256, reader" { content_sha256: Text, reader: Text }
    UNKNOWN_TOPIC = "civic_unknown_topic" by "city_key, topic" { city_key: Text, topic: Text }
}

bindery_store::records! {
    Jurisdiction: JURISDICTION = |row| [
        &row.city_key, &row.name, &row.state, &row.vendor, row.is_active(), row.health.consecutive_failures > 0,
        row.health.is_silent(), row.health.last_found_at.is_some(), row.health.next_sync_at,
    ];
    PlacedZipCode: ZIPCODE = |row| [&row.code.zipcode, &row.city_key];
    SyncRun: SYNC_RUN = |row| [row.id, &row.city_key, row.status.as_str(), row.started_at];
    PageShape: PAGE = |row| [&row.city_key, &row.url];
    CityRequest: REQUEST = |row| [&row.city_key, row.status.as_str()];
    Meeting: MEETING = |row| [
        &row.id, &row.city_key, &row.vendor, &row.vendor_id, row.starts_at, row.status.as_deref(),
        row.processing_status.map(Processing::as_str), row.is_summarised(), row.removed_at.is_some(), row.revision,
    ];
    AgendaItem: ITEM = |row| [
        &row.id, &row.meeting_id, row.sequence, row.matter_id.as_deref(), row.summary.is_some(),
        row.removed_at.is_some(),
    ];
    ItemRevision: ITEM_REVISION = |row| [&row.item_id, row.revision, &row.meeting_id];
    MeetingChange: CHANGE = |row| [&row.meeting_id, row.revision, row.ordinal, &row.city_key, Some(row.at)];
    SkippedMeeting: SKIPPED = |row| [&row.city_key, &row.vendor, &row.vendor_id];
    Matter: MATTER = |row| [&row.id, &row.city_key, row.matter_file.as_deref(), row.last_seen];
    Appearance: APPEARANCE = |row| [&row.matter_id, &row.meeting_id, &row.item_id];
    Sponsorship: SPONSORSHIP = |row| [&row.matter_id, &row.person_id];
    VoteEvent: VOTE_EVENT = |row| [&row.id, &row.meeting_id, row.matter_id.as_deref()];
    CastBallot: BALLOT = |row| [&row.vote_event_id, &row.person_id];
    Committee: COMMITTEE = |row| [&row.id, &row.city_key];
    Person: PERSON = |row| [&row.id, &row.city_key];
    Alert: ALERT = |row| [&row.id, &row.owner, row.active];
    Watch: WATCH = |row| [&row.owner, &row.entity_type, &row.entity_id];
    Notification: NOTIFICATION = |row| [&row.key, row.due_at];
    KnownDocument: DOCUMENT = |row| [&row.url, row.content_sha256.as_deref()];
    KnownText: TEXT = |row| [&row.content_sha256, &row.reader];
    UnknownTopic: UNKNOWN_TOPIC = |row| [&row.city_key, &row.topic];
}

/// A zip code with the jurisdiction that it is in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlacedZipCode {
    #[serde(rename = "banana")]
    pub(crate) city_key: String,
    #[serde(flatten)]
    pub(crate) code: ZipCode,
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_store::rows::{Record as _, Value};

    #[test]
    fn keys_come_first_and_rows_come_back() {
        for table in ALL_TABLES {
            let keys: Vec<&str> = table.order.split(", ").collect();
            let columns: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
            assert!(columns.starts_with(&keys), "{}", table.name);
        }
        let meeting = Meeting { id: "a_1".to_owned(), topics: vec!["housing".to_owned()], ..Meeting::default() };
        let row = meeting.row();
        assert_eq!(row.len(), MEETING.columns.len());
        let Some(Value::Text(data)) = row.last() else { panic!("{row:?}") };
        assert!(!data.contains("agenda_url") && !data.contains("documents"), "{data}");
        assert_eq!(serde_json::from_str::<Meeting>(data).unwrap(), meeting);
    }
}
