//! Work for programs outside: a job that waits for a report is announced with a message.
//!
//! The message may be lost, expire or come twice: it is announced again for as long as its job waits, and only the first
//! report counts.

use crate::{
    envelope::Detail,
    error::{AmqpError, AmqpResult},
    publisher::Publisher,
    shared::Shared,
};
use bindery_core::{JobId, job::Job};
use bindery_engine::StopSignal;
use bindery_store::query::AnnounceRequest;
use std::time::Duration;

const BATCH: usize = 500;

/// How long others leave alone what we are about to publish.
pub(crate) const HELD_FOR: Duration = Duration::from_secs(30);

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Announces until it is asked to stop or the channel is gone.
pub(crate) async fn run(shared: &Shared, publisher: &Publisher, mut stop: StopSignal) {
    while !stop.is_stopping() && publisher.is_open() {
        let mark = shared.engine.store().change_mark();
        match step(shared, publisher).await {
            Ok(announced) if announced > 0 => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(error = %error, "outside work could not be announced; trying again"),
        }
        tokio::select! {
            () = async {
                shared.engine.store().changed(mark, LOOK_EVERY).await;
                // Under load there is always something new; looking a few times a second is enough.
                tokio::time::sleep(Duration::from_millis(20)).await;
            } => {}
            () = stop.stopping() => {}
        }
    }
}

/// Announces what is due; how many the broker has taken.
async fn step(shared: &Shared, publisher: &Publisher) -> AmqpResult<usize> {
    let queues = shared.topology().outside();
    if queues.is_empty() {
        return Ok(0);
    }
    let store = shared.engine.store();
    let request = AnnounceRequest { queues: Some(queues), max: BATCH, again_after: HELD_FOR };
    let jobs = store.announce(request).await?;
    shared.learn(jobs.iter().map(|job| job.submission)).await;
    if !shared.all_declared().await {
        return Err(AmqpError::Lost("the queues of a workflow are not declared".to_owned()));
    }
    let wanted: Vec<_> = jobs.iter().map(|job| (job, None)).collect();
    let messages = shared.messages(&wanted, Detail::Full).await?;
    let (waiting, outgoing): (Vec<&Job>, Vec<_>) =
        jobs.iter().zip(messages).filter_map(|(job, message)| Some((job, message?))).unzip();
    let results = publisher.publish(outgoing).await;
    if let Some(why) = results.iter().find_map(|result| result.as_ref().err()) {
        tracing::warn!(why = %why, "the broker did not take announcements; they are made again later");
    }
    let taken: Vec<JobId> =
        waiting.iter().zip(&results).filter(|(_, result)| result.is_ok()).map(|(job, _)| job.id).collect();
    let count = taken.len();
    if count > 0 {
        store.announced(taken, shared.options.announce_again_after()).await?;
    }
    Ok(count)
}
