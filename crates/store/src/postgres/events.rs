//! The event log: appending, reading, and moving its consumers.
//!
//! A position is the number of the transaction, shifted, plus the place inside it. Numbers are given when a transaction
//! begins to write, and `pg_snapshot_xmin` is the oldest that is still under way: below it everything is decided, and
//! above it nothing is shown. So an event that commits late is never behind a reader.

use super::{
    commit,
    copy::{Target, WORTH_A_COPY, copy},
    fail::TxResult,
    rows::{self, EVENT_COLUMNS, get},
    session::{Db, Param, Tx},
};
use crate::{
    commit::{Commit, FeedCommit},
    error::{StoreError, StoreResult},
    query::EventFilter,
};
use bindery_core::{
    Backoff, EventSeq, ItemId, Name, SubmissionId,
    event::{Event, NewEvent},
};
use std::{
    collections::HashSet,
    sync::{LazyLock, atomic::Ordering},
    time::{Duration, Instant},
};
use tokio_postgres::types::Type;

/// How many bits of a position count inside a transaction.
const PLACE_BITS: u32 = 20;
const PLACES: i64 = 1 << PLACE_BITS;

/// Everything below this position is decided.
const DECIDED: &str = "((pg_snapshot_xmin(pg_current_snapshot())::text::bigint - (SELECT base FROM feed)) << 20)";

/// How long a reader waits for events that this process has stored already and that transactions of others hold back.
const OWN_EVENTS: Duration = Duration::from_secs(1);

/// Appends events, except those whose id is there already: for them the position is `None`.
pub(super) async fn append(tx: &Tx, events: &[&NewEvent]) -> TxResult<Vec<Option<EventSeq>>> {
    /// Where this transaction's positions start.
    const START: &str = "SELECT (pg_current_xact_id()::text::bigint - base) << 20 FROM feed";
    static INSERT: LazyLock<String> = LazyLock::new(|| {
        "INSERT INTO event (seq, kind, submission_id, item_id, subject, id, at, data) \
         SELECT ((pg_current_xact_id()::text::bigint - feed.base) << 20) + n.place, n.kind, n.submission_id, \
         n.item_id, n.subject, n.id, n.at, n.data \
         FROM feed, unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], \
         $7::bigint[], $8::text[]) AS n(place, kind, submission_id, item_id, subject, id, at, data)"
            .to_owned()
    });
    static INSERT_NEW: LazyLock<String> = LazyLock::new(|| {
        format!("{} ORDER BY n.place ON CONFLICT (id) WHERE id IS NOT NULL DO NOTHING RETURNING seq", *INSERT)
    });
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let count = events.len() as i64;
    let first = tx.events.fetch_add(count, Ordering::Relaxed) + 1;
    let places = first..first + count;
    if places.end > PLACES {
        let message = format!("{} events in one transaction: at most {} are possible", places.end - 1, PLACES - 1);
        return Err(StoreError::Invalid(message).into());
    }
    let columns = (
        places.clone().collect::<Vec<_>>(),
        events.iter().map(|event| event.kind.as_str()).collect::<Vec<_>>(),
        events.iter().map(|event| event.submission.map(SubmissionId::raw)).collect::<Vec<_>>(),
        events.iter().map(|event| event.item.map(ItemId::raw)).collect::<Vec<_>>(),
        events.iter().map(|event| event.subject.as_deref()).collect::<Vec<_>>(),
        events.iter().map(|event| event.id.as_deref()).collect::<Vec<_>>(),
        events.iter().map(|event| event.at.unwrap_or(tx.now).as_millis()).collect::<Vec<_>>(),
        events.iter().map(|event| event.data.as_str()).collect::<Vec<_>>(),
    );
    let params: [Param<'_>; 8] =
        [&columns.0, &columns.1, &columns.2, &columns.3, &columns.4, &columns.5, &columns.6, &columns.7];
    // Looking whether an id is taken costs; most events have none.
    if events.iter().all(|event| event.id.is_none()) {
        let start = async { tx.first(START, &[]).await?.map_or(Ok(0), |row| get::<i64>(&row, 0)) };
        let start = if events.len() < WORTH_A_COPY {
            tokio::try_join!(start, tx.execute(&INSERT, &params))?.0
        } else {
            let start = start.await?;
            store(tx, start + first, events).await?;
            start
        };
        tx.newest_event.fetch_max(start + places.end - 1, Ordering::Relaxed);
        return Ok(places.map(|place| Some(EventSeq::from_raw(start + place))).collect());
    }
    let stored: HashSet<i64> = tx.collect(&INSERT_NEW, &params, |row| get(row, 0)).await?.into_iter().collect();
    let Some(newest) = stored.iter().max().copied() else { return Ok(vec![None; events.len()]) };
    tx.newest_event.fetch_max(newest, Ordering::Relaxed);
    let start = newest & !(PLACES - 1);
    let position = |place: i64| Some(start + place).filter(|seq| stored.contains(seq)).map(EventSeq::from_raw);
    Ok(places.map(position).collect())
}

/// Stores events without ids, from a position on.
async fn store(tx: &Tx, from: i64, events: &[&NewEvent]) -> TxResult<()> {
    const EVENTS: Target = Target {
        table: "event",
        columns: &[
            ("seq", Type::INT8),
            ("kind", Type::TEXT),
            ("submission_id", Type::INT8),
            ("item_id", Type::INT8),
            ("subject", Type::TEXT),
            ("at", Type::INT8),
            ("data", Type::TEXT),
        ],
    };
    copy(tx, &EVENTS, async |rows| {
        for (seq, event) in (from..).zip(events) {
            let (submission, item) = (event.submission.map(SubmissionId::raw), event.item.map(ItemId::raw));
            let at = event.at.unwrap_or(tx.now).as_millis();
            let (kind, subject) = (event.kind.as_str(), event.subject.as_deref());
            rows.as_mut().write(&[&seq, &kind, &submission, &item, &subject, &at, &event.data]).await?;
        }
        Ok(())
    })
    .await
}

/// Appends an event about a submission, under the id that its sender knows it by.
pub(super) async fn append_about(
    tx: &Tx,
    kind: &str,
    submission: SubmissionId,
    item: Option<ItemId>,
    data: &serde_json::Value,
) -> TxResult<()> {
    let found = tx.first("SELECT external_id FROM submission WHERE id = $1", &[&submission.raw()]).await?;
    let external: Option<String> = found.map(|row| get(&row, 0)).transpose()?.flatten();
    let mut event = NewEvent::new(kind, Some(submission), data.to_string());
    event.item = item;
    event.subject = external.map(Name::from);
    append(tx, &[&event]).await.map(drop)
}

/// What nobody could read is not stored.
pub(super) fn check(event: &NewEvent) -> StoreResult<()> {
    if event.kind.is_empty() {
        return Err(StoreError::Invalid("eventType: expected a name, found an empty text".to_owned()));
    }
    serde_json::from_str::<serde::de::IgnoredAny>(&event.data)
        .map(drop)
        .map_err(|error| StoreError::Invalid(format!("data of {}: expected JSON: {error}", event.kind)))
}

/// Waits until what this process has stored before is decided. Usually that is so at once; a transaction of somebody
/// else that takes long holds a reader up for a moment only, and then its events come later.
async fn own_events_are_decided(db: &Db) -> StoreResult<()> {
    let newest = db.newest_event.load(Ordering::SeqCst);
    let begun = Instant::now();
    let sql = format!("SELECT {DECIDED}");
    let mut pauses = Backoff::doubling(Duration::from_micros(500), Duration::from_millis(50)).exact().retries();
    while newest >= db.decided.load(Ordering::SeqCst) && begun.elapsed() < OWN_EVENTS {
        let decided = db.ask(&sql, &[], |row| get(row, 0)).await?.first().copied().unwrap_or(i64::MAX);
        db.decided.fetch_max(decided, Ordering::SeqCst);
        if newest >= decided {
            tokio::time::sleep(pauses.next_delay()).await;
        }
    }
    Ok(())
}

pub(super) async fn read(db: &Db, after: EventSeq, filter: &EventFilter, limit: usize) -> StoreResult<Vec<Event>> {
    own_events_are_decided(db).await?;
    let kinds: Vec<&str> = filter.kinds.iter().map(Name::as_str).collect();
    let submission = filter.submission.map(SubmissionId::raw);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let after = after.raw();
    let mut params: Vec<Param<'_>> = vec![&after, &limit];
    let mut conditions = vec!["seq > $1".to_owned(), format!("seq < {DECIDED}")];
    if let Some(submission) = &submission {
        params.push(submission);
        conditions.push(format!("submission_id = ${}", params.len()));
    }
    if !kinds.is_empty() {
        params.push(&kinds);
        conditions.push(format!("kind = ANY(${})", params.len()));
    }
    let condition = conditions.join(" AND ");
    let sql = format!("SELECT {EVENT_COLUMNS} FROM event WHERE {condition} ORDER BY seq LIMIT $2");
    db.ask(&sql, &params, rows::event).await
}

/// The newest position that a reader would see.
pub(super) async fn last(db: &Db) -> StoreResult<EventSeq> {
    own_events_are_decided(db).await?;
    let sql = format!("SELECT coalesce(max(seq), 0) FROM event WHERE seq < {DECIDED}");
    let last = db.ask(&sql, &[], |row| get::<i64>(row, 0)).await?;
    Ok(EventSeq::from_raw(last.first().copied().unwrap_or(0)))
}

pub(super) async fn set_position(tx: &Tx, consumer: &Name, to: EventSeq) -> TxResult<()> {
    let store = "INSERT INTO consumer (name, position, updated_at) VALUES ($1, $2, $3) \
                 ON CONFLICT (name) DO UPDATE SET position = $2, updated_at = $3";
    tx.execute(store, &[&consumer.as_str(), &to.raw(), &tx.millis()]).await?;
    Ok(())
}

/// Effects and position together, or neither. The consumer's row is locked from the look at it on, so that its
/// instances take turns.
pub(super) async fn commit_feed(
    tx: &mut Tx,
    consumer: &Name,
    from: EventSeq,
    to: EventSeq,
    effects: &[&Commit],
) -> TxResult<FeedCommit> {
    let begin = "INSERT INTO consumer (name, position, updated_at) VALUES ($1, 0, $2) ON CONFLICT (name) DO NOTHING";
    tx.execute(begin, &[&consumer.as_str(), &tx.millis()]).await?;
    let find = "SELECT position FROM consumer WHERE name = $1 FOR UPDATE";
    let found = tx.first(find, &[&consumer.as_str()]).await?;
    let at = found.map(|row| get(&row, 0)).transpose()?.map_or(EventSeq::START, EventSeq::from_raw);
    if at != from {
        tx.give_up = true;
        return Ok(FeedCommit::Moved { at });
    }
    let results = commit::apply(tx, effects).await?;
    set_position(tx, consumer, to).await?;
    Ok(FeedCommit::Applied(results))
}
