//! The keeper: time-outs and the sweep, for as long as the worker runs; and what a heartbeat does.

use super::{Shared, health::Call, threads::ThreadsHandle};
use bindery_core::{JobId, job::Token};
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

/// How often running steps are compared with their time limits.
const WATCH_EVERY: Duration = Duration::from_millis(100);

pub(super) async fn keep(shared: Arc<Shared>, threads: ThreadsHandle) {
    let mut next_sweep = Instant::now();
    loop {
        for (held, limit) in shared.in_flight.take_overdue() {
            tracing::warn!(job.id = %held.0, limit_s = limit.as_secs_f64(), "a step takes too long and is given up");
            threads.replace_stuck(held, limit);
        }
        if Instant::now() >= next_sweep {
            next_sweep = Instant::now() + shared.options.sweep_every;
            sweep(&shared).await;
        }
        let next = next_sweep.saturating_duration_since(Instant::now());
        if shared.in_flight.len() > 0 {
            tokio::time::sleep(next.min(WATCH_EVERY)).await;
        } else {
            // With nothing in hand nothing can take too long, and an idle worker costs little.
            tokio::select! {
                () = tokio::time::sleep(next) => {}
                () = shared.claimed.notified() => {}
            }
        }
    }
}

/// Says that the worker begins, or that it stops. Nothing depends on it but what people see.
pub(super) async fn come_or_go(shared: &Shared, comes: bool) {
    let (store, name) = (shared.engine.store(), &shared.options.name);
    let told =
        if comes { store.arrive(name).await } else { store.leave(name, shared.finished.load(Ordering::Relaxed)).await };
    if let Err(error) = told {
        tracing::warn!(error = %error, comes, "the worker could not say that it comes or goes");
    }
}

/// Extends the leases of what is in flight, and drops what others have taken.
pub(super) async fn beat(shared: Arc<Shared>) {
    let finished = shared.finished.load(Ordering::Relaxed);
    let leases = shared.in_flight.leases();
    let held: HashMap<JobId, Token> = leases.iter().copied().collect();
    match shared.engine.store().heartbeat(&shared.options.name, leases, shared.options.lease, finished).await {
        Ok(lost) => {
            shared.health.record_answer(Call::Heartbeat);
            for job in lost {
                // A job that has just been committed is "lost" too: its entry is gone, or belongs to a newer claim.
                tracing::debug!(job.id = %job, "not held any more");
                if let Some(token) = held.get(&job) {
                    shared.in_flight.drop_lost((job, *token));
                }
                shared.room_for_more.send_replace(());
            }
        }
        Err(error) => {
            shared.metrics.store_error();
            shared.health.failed(Call::Heartbeat, &error);
        }
    }
}

async fn sweep(shared: &Shared) {
    let swept = shared.engine.store().sweep().await;
    if swept.is_ok() {
        shared.health.record_answer(Call::Sweep);
    }
    match swept {
        Ok(swept)
            if swept.leases_expired + swept.parked_woken + swept.reports_overdue + swept.deadlines_breached > 0 =>
        {
            tracing::info!(
                leases_expired = swept.leases_expired,
                parked_woken = swept.parked_woken,
                reports_overdue = swept.reports_overdue,
                deadlines_breached = swept.deadlines_breached,
                "swept"
            );
            if swept.leases_expired > 0 {
                shared.workers_lost.notify_one();
            }
        }
        Ok(_) => {}
        Err(error) => shared.health.failed(Call::Sweep, &error),
    }
}
