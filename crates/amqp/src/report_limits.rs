//! The time limits of outside work count from its delivery, not from its announcement.
//!
//! The broker says how many messages of a queue nobody has taken, and who consumes it. Messages are taken in the order in
//! which they were announced, so those are the last ones. While somebody consumes the queue, the reports of these are not
//! due; a report whose message has been taken is due after the stage's time limit. A queue that nobody consumes is left
//! alone: there the limit counts from the announcement, so that a component that never comes is noticed.

use crate::{announce::HELD_FOR, connect, error::AmqpResult, shared::Shared};
use bindery_core::Name;
use bindery_engine::StopSignal;
use bindery_store::query::Undelivered;
use lapin::{Channel, Connection, options::QueueDeclareOptions, types::FieldTable};
use std::time::Duration;

/// How much later than its delivery the limit of a message may begin.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How far beyond its limit the report of an undelivered message is due, should nobody look any more.
const HOLD: Duration = Duration::from_secs(60);

/// Looks until it is asked to stop or the channel is gone.
pub(crate) async fn run(shared: &Shared, connection: &Connection, mut stop: StopSignal) -> AmqpResult<()> {
    let is_open = || connection.status().connected();
    let channel = connect::within_answer_limit(is_open, async { Ok(connection.create_channel().await?) }).await?;
    while !stop.is_stopping() && channel.status().connected() {
        for queue in shared.outside_queues() {
            if let Err(error) = look(shared, &channel, &queue).await {
                tracing::warn!(queue = %queue, error = %error, "the time limits of outside work are not looked after");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.stopping() => {}
        }
    }
    Ok(())
}

async fn look(shared: &Shared, channel: &Channel, queue: &Name) -> AmqpResult<()> {
    let store = shared.engine.store();
    // Before the broker is asked: what is announced meanwhile is not among what it counts.
    let Some(until) = store.last_announced(queue).await? else { return Ok(()) };
    let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
    let asked = channel.queue_declare(shared.names.short(queue), options, FieldTable::default());
    let said = connect::within_answer_limit(|| channel.status().connected(), async { Ok(asked.await?) }).await?;
    if said.consumer_count() == 0 {
        return Ok(());
    }
    hold(shared, queue, u64::from(said.message_count()), until).await
}

async fn hold(shared: &Shared, queue: &Name, ready: u64, until: bindery_core::Timestamp) -> AmqpResult<()> {
    let said = Undelivered { queue: queue.clone(), ready, until, publishing: HELD_FOR, hold: HOLD };
    let delivered = shared.engine.store().hold_reports(said).await?;
    if delivered > 0 {
        tracing::debug!(queue = %queue, jobs = delivered, "outside work was taken");
    }
    Ok(())
}

/// While the broker is away nobody can take anything: what was not delivered before is not due.
pub(crate) async fn hold_all(shared: &Shared) {
    for queue in shared.outside_queues() {
        let held = async {
            match shared.engine.store().last_announced(&queue).await? {
                None => Ok(()),
                Some(until) => hold(shared, &queue, u64::MAX, until).await,
            }
        };
        if let Err(error) = held.await {
            tracing::warn!(queue = %queue, error = %error, "the time limits of outside work are not looked after");
        }
    }
}
