//! The tables: the columns that rows are found by, and the whole row as JSON in `data`.
//!
//! Key columns come first, in the order of the table. So one statement stores rows of any table, and only what is asked
//! for often is a column.

use super::{
    alerts::{Alert, Notification, Watch},
    books::{ModelAnswer, ModelCall, ModelDay},
    documents::{KnownDocument, KnownText, UnknownTopic},
    matters::{Appearance, CastBallot, Matter, Sponsorship, VoteEvent},
    meetings::{AgendaItem, ItemRevision, Meeting, MeetingChange, Processing, SkippedMeeting},
    people::{Committee, CommitteeMember, Person},
    places::{CityRequest, Jurisdiction, PageShape, SyncRun, ZipCode},
    work::Value,
};
use crate::portable::tables::{
    Kind::{Integer, Text},
    Table,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

macro_rules! tables {
    ($($(#[$doc:meta])* $constant:ident = $name:literal by $order:literal { $($column:ident: $kind:ident),* })*) => {
        $(
            $(#[$doc])*
            pub(crate) const $constant: Table = Table {
                name: $name,
                order: $order,
                columns: &[$((stringify!($column), $kind),)* ("data", Text)],
                is_work: true,
            };
        )*
        #[cfg(test)]
        pub(crate) const ALL: &[Table] = &[$($constant),*];
    };
}

tables! {
    JURISDICTION = "civic_jurisdiction" by "banana" {
        banana: Text, name: Text, state: Text, vendor: Text, active: Integer, failing: Integer, silent: Integer,
        yielded: Integer, next_sync_at: Integer
    }
    ZIPCODE = "civic_zipcode" by "zipcode, banana" { zipcode: Text, banana: Text }
    SYNC_RUN = "civic_sync_run" by "id" { id: Integer, banana: Text, status: Text, started_at: Integer }
    PAGE = "civic_page" by "banana, url" { banana: Text, url: Text }
    REQUEST = "civic_request" by "banana" { banana: Text, status: Text }
    MEETING = "civic_meeting" by "id" {
        id: Text, banana: Text, vendor: Text, vendor_id: Text, starts_at: Integer, status: Text, processing: Text,
        summarised: Integer, removed: Integer, revision: Integer
    }
    ITEM = "civic_item" by "id" {
        id: Text, meeting_id: Text, sequence: Integer, matter_id: Text, summarised: Integer, removed: Integer
    }
    ITEM_REVISION = "civic_item_revision" by "item_id, revision" { item_id: Text, revision: Integer, meeting_id: Text }
    CHANGE = "civic_change" by "meeting_id, revision, ordinal" {
        meeting_id: Text, revision: Integer, ordinal: Integer, banana: Text, at: Integer
    }
    SKIPPED = "civic_skipped" by "banana, vendor, vendor_id" { banana: Text, vendor: Text, vendor_id: Text }
    MATTER = "civic_matter" by "id" { id: Text, banana: Text, matter_file: Text, last_seen: Integer }
    APPEARANCE = "civic_appearance" by "matter_id, meeting_id, item_id" {
        matter_id: Text, meeting_id: Text, item_id: Text
    }
    SPONSORSHIP = "civic_sponsorship" by "matter_id, person_id" { matter_id: Text, person_id: Text }
    VOTE_EVENT = "civic_vote_event" by "id" { id: Text, meeting_id: Text, matter_id: Text }
    BALLOT = "civic_ballot" by "vote_event_id, person_id" { vote_event_id: Text, person_id: Text }
    COMMITTEE = "civic_committee" by "id" { id: Text, banana: Text }
    COMMITTEE_MEMBER = "civic_committee_member" by "committee_id, person_id, joined_at" {
        committee_id: Text, person_id: Text, joined_at: Text
    }
    PERSON = "civic_person" by "id" { id: Text, banana: Text }
    ALERT = "civic_alert" by "id" { id: Text, owner: Text, active: Integer }
    WATCH = "civic_watch" by "owner, entity_type, entity_id" { owner: Text, entity_type: Text, entity_id: Text }
    NOTIFICATION = "civic_notification" by "key" { key: Text, due_at: Integer }
    DOCUMENT = "civic_document" by "url" { url: Text, content_sha256: Text }
    TEXT = "civic_text" by "content_sha256, reader" { content_sha256: Text, reader: Text }
    UNKNOWN_TOPIC = "civic_unknown_topic" by "banana, topic" { banana: Text, topic: Text }
    MODEL_CALL = "model_call" by "id" { id: Text, day: Text }
    MODEL_DAY = "model_day" by "day" { day: Text }
    MODEL_ANSWER = "model_answer" by "key" { key: Text, kept_at: Integer }
}

/// Something that is a row of a table.
pub(crate) trait Kept: Serialize + DeserializeOwned {
    const TABLE: &'static Table;

    /// The values of its columns, without `data`.
    fn columns(&self) -> Vec<Value>;

    /// The whole row. What is not said takes no room: reading gives the default back.
    fn row(&self) -> Vec<Value> {
        let mut data = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = data.as_object_mut() {
            fields.retain(|_, field| !field.is_null() && field.as_array().is_none_or(|list| !list.is_empty()));
        }
        let mut row = self.columns();
        row.push(Value::Text(data.to_string()));
        row
    }
}

macro_rules! kept {
    ($($noun:ty: $table:ident = |$row:ident| [$($value:expr),* $(,)?];)*) => {
        $(impl Kept for $noun {
            const TABLE: &'static Table = &$table;

            fn columns(&self) -> Vec<Value> {
                let $row = self;
                vec![$(Value::from($value)),*]
            }
        })*
    };
}

kept! {
    Jurisdiction: JURISDICTION = |row| [
        &row.banana, &row.name, &row.state, &row.vendor, row.is_active(), row.health.consecutive_failures > 0,
        row.health.is_silent(), row.health.last_found_at.is_some(), row.health.next_sync_at,
    ];
    PlacedZipCode: ZIPCODE = |row| [&row.code.zipcode, &row.banana];
    SyncRun: SYNC_RUN = |row| [row.id, &row.banana, row.status.as_str(), row.started_at];
    PageShape: PAGE = |row| [&row.banana, &row.url];
    CityRequest: REQUEST = |row| [&row.banana, row.status.as_str()];
    Meeting: MEETING = |row| [
        &row.id, &row.banana, &row.vendor, &row.vendor_id, row.starts_at, row.status.as_deref(),
        row.processing_status.map(Processing::as_str), row.is_summarised(), row.removed_at.is_some(), row.revision,
    ];
    AgendaItem: ITEM = |row| [
        &row.id, &row.meeting_id, row.sequence, row.matter_id.as_deref(), row.summary.is_some(),
        row.removed_at.is_some(),
    ];
    ItemRevision: ITEM_REVISION = |row| [&row.item_id, row.revision, &row.meeting_id];
    MeetingChange: CHANGE = |row| [&row.meeting_id, row.revision, row.ordinal, &row.banana, Some(row.at)];
    SkippedMeeting: SKIPPED = |row| [&row.banana, &row.vendor, &row.vendor_id];
    Matter: MATTER = |row| [&row.id, &row.banana, row.matter_file.as_deref(), row.last_seen];
    Appearance: APPEARANCE = |row| [&row.matter_id, &row.meeting_id, &row.item_id];
    Sponsorship: SPONSORSHIP = |row| [&row.matter_id, &row.person_id];
    VoteEvent: VOTE_EVENT = |row| [&row.id, &row.meeting_id, row.matter_id.as_deref()];
    CastBallot: BALLOT = |row| [&row.vote_event_id, &row.person_id];
    Committee: COMMITTEE = |row| [&row.id, &row.banana];
    CommitteeMember: COMMITTEE_MEMBER = |row| [&row.committee_id, &row.person_id, &row.joined_at];
    Person: PERSON = |row| [&row.id, &row.banana];
    Alert: ALERT = |row| [&row.id, &row.owner, row.active];
    Watch: WATCH = |row| [&row.owner, &row.entity_type, &row.entity_id];
    Notification: NOTIFICATION = |row| [&row.key, row.due_at];
    KnownDocument: DOCUMENT = |row| [&row.url, row.content_sha256.as_deref()];
    KnownText: TEXT = |row| [&row.content_sha256, &row.reader];
    UnknownTopic: UNKNOWN_TOPIC = |row| [&row.banana, &row.topic];
    ModelCall: MODEL_CALL = |row| [&row.id, &row.day];
    ModelDay: MODEL_DAY = |row| [&row.day];
    ModelAnswer: MODEL_ANSWER = |row| [&row.key, row.kept_at];
}

/// A zip code with the jurisdiction that it is in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlacedZipCode {
    pub(crate) banana: String,
    #[serde(flatten)]
    pub(crate) code: ZipCode,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_first_and_rows_come_back() {
        for table in ALL {
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
