//! The relay: ready jobs go out as messages.
//!
//! The job table is the outbox. The relay claims jobs, without counting that as an attempt, publishes each with the
//! token of its claim, and keeps the leases alive until somebody has adopted them. Whatever happens in between, the job
//! is in the table: if the relay dies its leases expire, if the broker refuses a message the job is given back, and a
//! message that is published twice adopts nothing the second time.

use crate::{
    batches,
    envelope::Detail,
    error::AmqpResult,
    outstanding::Lease,
    publisher::{Outgoing, Publisher},
    shared::Shared,
};
use bindery_core::{Backoff, job::ClaimedJob};
use bindery_engine::StopSignal;
use bindery_store::query::ClaimRequest;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// How many jobs are claimed and published together.
const BATCH: usize = 500;

/// How long the relay sleeps when nothing is ready; a change in the store wakes it.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often leases are compared with the store while the window is full: others adopt what we have published.
const ASK_EVERY: Duration = Duration::from_millis(50);
const ASK_AT_LEAST_EVERY: Duration = Duration::from_secs(5);

/// The share of the queues' time to live by which a message may seem older before its job is given back.
const GRACE: u32 = 30;

/// Publishes until it is asked to stop or a channel is gone. One channel waits for its confirms while the next one takes messages.
pub(crate) async fn run(shared: &Arc<Shared>, publishers: &[Publisher], mut stop: StopSignal) {
    let mut next = publishers.iter().cycle();
    let mut under_way = JoinSet::new();
    let failed = Arc::new(AtomicBool::new(false));
    while !stop.is_stopping() && publishers.iter().all(Publisher::is_open) && !failed.load(Ordering::Relaxed) {
        while under_way.try_join_next().is_some() {}
        let room = shared.options.window.saturating_sub(shared.outstanding.len());
        if room < worth_a_claim(shared.options.window) {
            tokio::select! {
                () = shared.outstanding.freed() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = stop.stopping() => {}
            }
            continue;
        }
        let store = shared.engine.store();
        let mark = store.change_mark();
        let claimed = match claim(shared, room.min(BATCH)).await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!(error = %error, "no jobs could be claimed for the broker; trying again");
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            }
        };
        if claimed.is_empty() {
            tokio::select! {
                () = store.changed(mark, LOOK_EVERY) => {}
                () = stop.stopping() => {}
            }
            continue;
        }
        let Some(publisher) = next.next().cloned() else { break };
        let (shared, failed) = (Arc::clone(shared), Arc::clone(&failed));
        under_way.spawn(async move {
            if !publish(&shared, &publisher, claimed).await {
                failed.store(true, Ordering::Relaxed);
            }
        });
    }
    // What is under way is confirmed or given back, never left alone.
    while under_way.join_next().await.is_some() {}
}

/// A claim is a transaction: not for every single job.
fn worth_a_claim(window: usize) -> usize {
    (window / 4).clamp(1, BATCH)
}

async fn claim(shared: &Shared, max: usize) -> AmqpResult<Vec<ClaimedJob>> {
    let request = ClaimRequest {
        worker: shared.options.relay.clone(),
        queues: Some(shared.own_queues()),
        submissions: None,
        max,
        lease: shared.options.lease,
        counts: false,
    };
    let claimed = shared.engine.store().claim(request).await?;
    // Kept alive from now on, published or not.
    shared.outstanding.add(claimed.iter().map(|claim| (claim.job.id, claim.token)));
    Ok(claimed)
}

/// Publishes some claimed jobs. False if the broker did not take all of them, and another connection may help.
async fn publish(shared: &Shared, publisher: &Publisher, claimed: Vec<ClaimedJob>) -> bool {
    shared.learn(claimed.iter().map(|claim| claim.job.submission)).await;
    if !shared.all_declared().await {
        tracing::warn!("the queues of a workflow are not declared; jobs are given back");
        give_back(shared, claimed.iter().map(|claim| (claim.job.id, claim.token)).collect()).await;
        return false;
    }
    let jobs: Vec<_> = claimed.iter().map(|claim| (&claim.job, Some(claim.token))).collect();
    let messages = match shared.messages(&jobs, Detail::Cheap).await {
        Ok(messages) => messages,
        Err(error) => {
            tracing::warn!(error = %error, "messages could not be written; their jobs are given back");
            give_back(shared, claimed.iter().map(|claim| (claim.job.id, claim.token)).collect()).await;
            return true;
        }
    };
    let mut leases = Vec::with_capacity(claimed.len());
    let mut outgoing: Vec<Outgoing> = Vec::with_capacity(claimed.len());
    for (claim, message) in claimed.iter().zip(messages) {
        let lease = (claim.job.id, claim.token);
        match message {
            Some(message) if !claim.report_overdue => {
                leases.push(lease);
                outgoing.push(message);
            }
            // Nobody can be sent this one; the worker here knows what to say about it.
            _ => shared.inbox.arrived([(lease, None)]),
        }
    }
    let (carried, outgoing) = batches::gather(leases, outgoing, shared.options.batch);
    let results = publisher.publish(outgoing).await;
    let mut refused = Vec::new();
    let mut reason = None;
    for (leases, result) in carried.into_iter().zip(results) {
        if let Err(why) = result {
            refused.extend(leases);
            reason.get_or_insert(why);
        }
    }
    let Some(why) = reason else { return true };
    tracing::warn!(jobs = refused.len(), why = %why, "the broker did not take messages; their jobs are given back");
    give_back(shared, refused).await;
    false
}

/// The jobs are ready again, as if they had not been claimed.
pub(crate) async fn give_back(shared: &Shared, leases: Vec<Lease>) {
    if leases.is_empty() {
        return;
    }
    shared.outstanding.remove(&leases);
    if let Err(error) = shared.engine.store().release(leases).await {
        tracing::warn!(error = %error, "jobs were not given back; their leases will expire");
    }
}

/// Keeps the leases of what is published, with or without a connection, until it is asked to stop.
pub(crate) async fn keep(shared: Arc<Shared>, mut stop: StopSignal) {
    let beat_every = shared.options.lease / 3;
    let mut next_beat = Instant::now() + beat_every;
    // What is adopted here is known at once; asking is for what others adopt, and worth it only as long as they do.
    let mut ask_after = ASK_EVERY;
    let mut in_vain = Backoff::doubling(ASK_EVERY.saturating_mul(2), ASK_AT_LEAST_EVERY).exact().retries();
    let mut asked_at = Instant::now();
    loop {
        tokio::select! {
            () = tokio::time::sleep(ASK_EVERY.min(beat_every)) => {}
            () = stop.stopping() => return,
        }
        let held = shared.outstanding.len();
        let is_full = shared.options.window.saturating_sub(held) < worth_a_claim(shared.options.window);
        let asks = is_full && asked_at.elapsed() >= ask_after;
        if !asks && Instant::now() < next_beat {
            continue;
        }
        asked_at = Instant::now();
        next_beat = asked_at + beat_every;
        let elsewhere = beat(&shared).await;
        ask_after = if elsewhere >= held.div_ceil(8) {
            in_vain.reset();
            ASK_EVERY
        } else {
            in_vain.next_delay()
        };
        let ttl = shared.options.message_ttl;
        let stale = shared.outstanding.older_than(ttl + ttl / GRACE);
        if !stale.is_empty() {
            tracing::warn!(jobs = stale.len(), "messages have expired in the broker; their jobs are published again");
            give_back(&shared, stale).await;
        }
    }
}

/// Gives a sign of life for everything that is published. Returns how much of it was not ours any more.
async fn beat(shared: &Shared) -> usize {
    let leases = shared.outstanding.leases();
    let tokens: HashMap<_, _> = leases.iter().copied().collect();
    let (relay, lease) = (&shared.options.relay, shared.options.lease);
    match shared.engine.store().heartbeat(relay, leases, lease, shared.outstanding.published()).await {
        Ok(lost) => {
            // Adopted by a worker elsewhere, or cancelled.
            let lost: Vec<Lease> = lost.into_iter().filter_map(|job| Some((job, *tokens.get(&job)?))).collect();
            if !lost.is_empty() {
                shared.outstanding.remove(&lost);
            }
            lost.len()
        }
        Err(error) => {
            tracing::warn!(error = %error, "the relay could not give a sign of life");
            0
        }
    }
}
