//! Consumers of the event log. A consumer keeps its position in the store, together with its effects.

use crate::{engine::Engine, error::EngineResult, stop::StopSignal, store_retry::STORE_BACKOFF};
use bindery_core::{EventSeq, Name, event::Event};
use bindery_store::{
    Commit,
    commit::{CommitResult, FeedCommit},
    query::EventFilter,
};
use std::{
    future::Future,
    time::{Duration, Instant},
};

/// How many events a consumer handles in one transaction.
const BATCH: usize = 500;

/// How far a consumer without anything to do may fall behind before its position is stored anyway, and how often one
/// that follows the log does so.
const STORE_POSITION_EVERY: i64 = 1_000;
const STORE_POSITION_AFTER: Duration = Duration::from_secs(1);

/// How often a consumer looks by itself, behind what it hears from the store.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What one step of a consumer came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Consumed {
    /// Nothing new.
    Nothing,
    /// This many events were handled; the results are those of its effects.
    Handled { events: usize, results: Vec<CommitResult> },
    /// Another instance was faster; the next step goes on where it is.
    Overtaken,
}

/// Handles the next events of some kinds and stores effects and position in one transaction. Two instances of one
/// consumer may run side by side: each event's effects are stored by exactly one of them.
pub async fn step<H, F>(engine: &Engine, consumer: &Name, kinds: &[Name], handle: H) -> EngineResult<Consumed>
where
    H: FnOnce(Vec<Event>) -> F,
    F: Future<Output = EngineResult<Vec<Commit>>>,
{
    let mut place = Place::UNKNOWN;
    step_on(engine, consumer, kinds, &mut place, handle).await
}

/// How far a consumer has read, when that is further than what is stored.
#[derive(Debug)]
struct Place {
    /// The stored position that `read` goes on from. If it is another one now, somebody has moved it.
    stored: EventSeq,
    /// Between there and here is nothing for the consumer.
    read: EventSeq,
    /// When the position was last stored without effects.
    kept: Option<Instant>,
}

impl Place {
    /// Nothing has been read yet.
    const UNKNOWN: Self = Self { stored: EventSeq::START, read: EventSeq::START, kept: None };
}

async fn step_on<H, F>(
    engine: &Engine,
    consumer: &Name,
    kinds: &[Name],
    place: &mut Place,
    handle: H,
) -> EngineResult<Consumed>
where
    H: FnOnce(Vec<Event>) -> F,
    F: Future<Output = EngineResult<Vec<Commit>>>,
{
    let store = engine.store();
    let from = store.consumer_position(consumer).await?;
    let start = if place.stored == from { place.read.max(from) } else { from };
    let newest = store.last_event().await?;
    let filter = EventFilter { kinds: kinds.to_vec(), submission: None };
    let mut events = store.read_events(start, filter, BATCH).await?;
    // What came after `newest` was read is left for the next step: events of other kinds may stand before it.
    let all_read = events.len() < BATCH;
    events.retain(|event| event.seq <= newest);
    let to = if all_read { newest.max(start) } else { events.last().map_or(newest, |event| event.seq) };
    if events.is_empty() {
        (place.stored, place.read) = (from, to);
        let kept_lately = place.kept.is_some_and(|kept| kept.elapsed() < STORE_POSITION_AFTER);
        if to.raw() - from.raw() < STORE_POSITION_EVERY || kept_lately {
            return Ok(Consumed::Nothing);
        }
        place.kept = Some(Instant::now());
    }
    let count = events.len();
    let effects = if events.is_empty() { Vec::new() } else { handle(events).await? };
    match store.commit_feed(consumer, from, to, effects).await? {
        FeedCommit::Applied(results) => Ok(Consumed::Handled { events: count, results }),
        FeedCommit::Moved { .. } => Ok(Consumed::Overtaken),
    }
}

/// Follows the log until it is asked to stop. Trouble is logged and waited out; the position moves only with effects.
pub async fn follow<H, F>(engine: &Engine, consumer: &Name, kinds: &[Name], mut stop: StopSignal, mut handle: H)
where
    H: FnMut(Vec<Event>) -> F,
    F: Future<Output = EngineResult<Vec<Commit>>>,
{
    let mut trouble = STORE_BACKOFF.retries();
    let mut place = Place::UNKNOWN;
    while !stop.is_stopping() {
        let mark = engine.store().change_mark();
        let wait = match step_on(engine, consumer, kinds, &mut place, &mut handle).await {
            Ok(Consumed::Nothing | Consumed::Handled { events: 0, .. }) => {
                trouble.reset();
                LOOK_EVERY
            }
            Ok(Consumed::Handled { .. } | Consumed::Overtaken) => {
                trouble.reset();
                continue;
            }
            Err(error) => {
                let wait = trouble.next_delay();
                if trouble.failures() == 1 {
                    tracing::warn!(consumer = %consumer, error = %error, "events could not be handled; trying again");
                }
                tokio::time::sleep(wait).await;
                continue;
            }
        };
        tokio::select! {
            () = stop.stopping() => return,
            () = async {
                engine.store().changed(mark, wait).await;
                // Under load there is always something new; looking a few times a second is enough.
                tokio::time::sleep(Duration::from_millis(50)).await;
            } => {}
        }
    }
}
