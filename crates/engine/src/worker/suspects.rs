//! Running suspects: jobs that a worker held when it died, and one of which may be why.
//!
//! They are run when nothing else runs in the process, so that a death can be blamed on them and takes nothing else along.
//! The worker claims a group, lets its other work end, marks that the group begins, and runs it; with the next group, until
//! there is none. Only this worker's other work waits for that.

use super::{Shared, Worker, in_flight::Claim, threads::Threads};
use crate::stop::StopSignal;
use bindery_core::{fault::FaultPoint, job::ClaimedJob};
use bindery_store::{StoreResult, query::ClaimRequest};
use std::time::{Duration, Instant};

/// How often suspects are looked for. A sweep of this worker that finds some says so at once.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The largest group.
const LARGEST_GROUP: usize = 500;

/// How often it is looked whether other work has ended.
const WATCH_EVERY: Duration = Duration::from_millis(20);

/// Runs suspects whenever there are some, until the worker stops.
pub(super) async fn run(worker: &Worker, shared: &Shared, threads: &Threads, mut stop: StopSignal) {
    while !stop.is_stopping() {
        match claim(worker, shared).await {
            Ok(group) if !group.is_empty() => {
                run_apart(worker, shared, threads, group, &mut stop).await;
                continue;
            }
            Ok(_) => {}
            Err(error) => {
                shared.metrics.store_error();
                tracing::warn!(error = %error, "no suspects could be claimed; trying again");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = shared.workers_lost.notified() => {}
            () = stop.stopping() => {}
        }
    }
}

async fn claim(worker: &Worker, shared: &Shared) -> StoreResult<Vec<ClaimedJob>> {
    let request = ClaimRequest {
        worker: shared.options.name.clone(),
        queues: worker.all_queues(),
        submissions: shared.options.submissions.clone(),
        max: LARGEST_GROUP,
        lease: shared.options.lease,
        counts: true,
    };
    let group = shared.engine.store().claim_suspects(request).await?;
    if !group.is_empty() {
        // In hand from now on, so that heartbeats keep them.
        shared.in_flight.insert(claims_of(&group).into_iter());
        shared.claimed.notify_one();
        shared.metrics.claimed(group.len());
        shared.engine.faults().hit(FaultPoint::AfterClaim);
    }
    Ok(group)
}

fn claims_of(group: &[ClaimedJob]) -> Vec<Claim> {
    group.iter().map(|claim| (claim.job.id, claim.token)).collect()
}

/// Runs a group and those behind it, with nothing beside them.
async fn run_apart(
    worker: &Worker,
    shared: &Shared,
    threads: &Threads,
    mut group: Vec<ClaimedJob>,
    stop: &mut StopSignal,
) {
    tracing::info!(jobs = group.len(), "runs jobs apart from other work: their worker died");
    let alone = tokio::select! {
        alone = shared.claiming.write() => Some(alone),
        () = stop.stopping() => None,
    };
    loop {
        let is_quiet = alone.is_some() && wait_for_others(shared, threads, &group, stop).await;
        if !is_quiet || stop.is_stopping() {
            return give_back(shared, &group).await;
        }
        if let Err(error) = threads.hand_over_suspects(&group).await {
            shared.metrics.store_error();
            tracing::warn!(error = %error, "suspects could not begin; they are given back");
            return give_back(shared, &group).await;
        }
        wait_until(shared, stop, || shared.in_flight.len() == 0).await;
        if stop.is_stopping() {
            return;
        }
        group = match claim(worker, shared).await {
            Ok(group) if !group.is_empty() => group,
            // One that fails is told of by the next look.
            Ok(_) | Err(_) => return,
        };
    }
}

/// Lets the other work of this process end. False if the worker stops before.
async fn wait_for_others(shared: &Shared, threads: &Threads, group: &[ClaimedJob], stop: &mut StopSignal) -> bool {
    let only_these = || {
        let held = claims_of(group);
        shared.in_flight.leases().iter().all(|lease| held.contains(lease))
    };
    wait_until(shared, stop, only_these).await;
    // Steps of jobs that were lost meanwhile may still be running. They should end soon, but nothing makes them.
    let begun = Instant::now();
    wait_until(shared, stop, || threads.busy() == 0 || begun.elapsed() > shared.options.lease).await;
    !stop.is_stopping()
}

/// Returns when it is so, or the worker stops.
async fn wait_until(shared: &Shared, stop: &mut StopSignal, mut is_so: impl FnMut() -> bool) {
    let mut room_for_more = shared.room_for_more.subscribe();
    while !is_so() && !stop.is_stopping() {
        tokio::select! {
            _ = room_for_more.changed() => {}
            () = tokio::time::sleep(WATCH_EVERY) => {}
            () = stop.stopping() => {}
        }
    }
}

async fn give_back(shared: &Shared, group: &[ClaimedJob]) {
    let leases = claims_of(group);
    for lease in &leases {
        shared.in_flight.remove(*lease);
    }
    if let Err(error) = shared.engine.store().release(leases).await {
        tracing::warn!(error = %error, "suspects were not given back; their leases will expire");
    }
}
