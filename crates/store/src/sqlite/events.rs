//! The event log: appending, and moving its consumers.

use super::{
    commit,
    writer::{Tx, WriteResult},
};
use crate::{
    commit::{Commit, FeedCommit},
    error::StoreError,
};
use bindery_core::{EventSeq, ItemId, Name, SubmissionId, event::NewEvent};
use rusqlite::OptionalExtension;

/// Appends, unless an event with the same id is there. Positions are given in commit order, because there is one
/// writer at a time.
pub(super) fn append(tx: &Tx<'_>, event: &NewEvent) -> WriteResult<Option<EventSeq>> {
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO event (kind, submission_id, item_id, subject, id, at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (id) WHERE id IS NOT NULL DO NOTHING",
    )?;
    let appended = insert.execute((
        event.kind.as_str(),
        event.submission.map(SubmissionId::raw),
        event.item.map(ItemId::raw),
        event.subject.as_deref(),
        &event.id,
        event.at.unwrap_or(tx.now).as_millis(),
        &event.data,
    ))?;
    Ok((appended == 1).then(|| EventSeq::from_raw(tx.db.last_insert_rowid())))
}

/// Appends an event about a submission, under the id that its sender knows it by.
pub(super) fn append_about(
    tx: &Tx<'_>,
    kind: &str,
    submission: SubmissionId,
    item: Option<ItemId>,
    data: &serde_json::Value,
) -> WriteResult<()> {
    let mut find = tx.db.prepare_cached("SELECT external_id FROM submission WHERE id = ?1")?;
    let external: Option<Option<String>> = find.query_row([submission.raw()], |row| row.get(0)).optional()?;
    let mut event = NewEvent::new(kind, Some(submission), data.to_string());
    event.item = item;
    event.subject = external.flatten().map(Name::from);
    append(tx, &event).map(drop)
}

/// What nobody could read is not stored.
pub(super) fn check(event: &NewEvent) -> Result<(), StoreError> {
    if event.kind.is_empty() {
        return Err(StoreError::Invalid("eventType: expected a name, found an empty text".to_owned()));
    }
    serde_json::from_str::<serde::de::IgnoredAny>(&event.data)
        .map(drop)
        .map_err(|error| StoreError::Invalid(format!("data of {}: expected JSON: {error}", event.kind)))
}

fn position(tx: &Tx<'_>, consumer: &Name) -> WriteResult<EventSeq> {
    let mut find = tx.db.prepare_cached("SELECT position FROM consumer WHERE name = ?1")?;
    let found = find.query_row([consumer.as_str()], |row| row.get(0)).optional()?;
    Ok(found.map_or(EventSeq::START, EventSeq::from_raw))
}

pub(super) fn set_position(tx: &Tx<'_>, consumer: &Name, to: EventSeq) -> WriteResult<()> {
    let mut store = tx.db.prepare_cached(
        "INSERT INTO consumer (name, position, updated_at) VALUES (?1, ?2, ?3) \
         ON CONFLICT (name) DO UPDATE SET position = ?2, updated_at = ?3",
    )?;
    store.execute((consumer.as_str(), to.raw(), tx.now.as_millis()))?;
    Ok(())
}

/// Effects and position together, or neither.
pub(super) fn commit_feed(
    tx: &mut Tx<'_>,
    consumer: &Name,
    from: EventSeq,
    to: EventSeq,
    effects: &[Commit],
) -> WriteResult<FeedCommit> {
    let at = position(tx, consumer)?;
    if at != from {
        return Ok(FeedCommit::Moved { at });
    }
    let results = commit::apply(tx, effects)?;
    set_position(tx, consumer, to)?;
    Ok(FeedCommit::Applied(results))
}
