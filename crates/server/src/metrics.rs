//! The metrics: what this worker has counted, and how the queues of the store stand.
//!
//! What the store says is left out when it does not answer in time; the worker's own counters are always there.

use crate::exposition::{CONTENT_TYPE, Exposition};
use axum::{extract::State, http::header, response::IntoResponse};
use bindery_app::{
    Readiness,
    readiness::{AtWork, COMMIT_BOUNDS, QueueView, Timestamp, WorkerCounts, in_time},
};

pub(crate) async fn metrics(State(readiness): State<Readiness>) -> impl IntoResponse {
    let mut text = Exposition::default();
    let mut up = false;
    if let Some(AtWork { store, worker }) = readiness.at_work() {
        own(&mut text, &worker.counts());
        if let Some(reconnects) = store.reconnects() {
            let help = "How often the connection to the database was lost and made anew.";
            text.counter("bindery_store_reconnects_total", help, reconnects);
        }
        let asked = async { Ok((store.clock().now(), store.queues().await?)) };
        match in_time(asked).await {
            Ok((now, queues)) => {
                up = true;
                of_store(&mut text, now, &queues);
            }
            Err(why) => tracing::warn!(why, "the queues are not in the metrics"),
        }
    }
    let up = f64::from(u8::from(up));
    text.family("bindery_store_up", "gauge", "Whether the store answers.", [(Vec::new(), up)]);
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text.into_text())
}

fn own(text: &mut Exposition, counts: &WorkerCounts) {
    text.counter("bindery_jobs_claimed_total", "Jobs that this worker has claimed.", counts.claimed);
    let ended = counts.ended.iter().map(|(end, number)| (vec![("result", end.as_str().to_owned())], *number as f64));
    text.family("bindery_jobs_finished_total", "counter", "Claims of this worker that have ended, by how.", ended);
    let retries = counts.ended.iter().find(|(end, _)| end.as_str() == "retry").map_or(0, |(_, number)| *number);
    text.counter("bindery_job_retries_total", "Jobs that are to be tried again after an error.", retries);
    let help = "Results that came too late and were not counted.";
    text.counter("bindery_results_rejected_total", help, counts.rejected);
    let errors = counts.errors.iter().map(|(class, number)| (vec![("class", class.to_string())], *number as f64));
    text.family("bindery_job_errors_total", "counter", "Errors of jobs, by what is to be done about them.", errors);
    let help = "Calls of the store that failed and were tried again.";
    text.counter("bindery_store_errors_total", help, counts.store_errors);
    let help = "How long commits of results took.";
    text.histogram("bindery_commit_seconds", help, &COMMIT_BOUNDS, &counts.commits, counts.commit_seconds);
}

fn of_store(text: &mut Exposition, now: Timestamp, queues: &[QueueView]) {
    let jobs = queues.iter().flat_map(|view| {
        let states = [
            ("ready", view.ready),
            ("scheduled", view.scheduled),
            ("running", view.running),
            ("parked", view.parked),
            ("awaiting", view.awaiting),
            ("dead", view.dead),
        ];
        let labels = |state: &str| vec![("queue", view.queue.to_string()), ("state", state.to_owned())];
        states.map(|(state, number)| (labels(state), number as f64))
    });
    text.family("bindery_queue_jobs", "gauge", "Jobs in the store, by queue and state.", jobs);
    let of = |view: &QueueView| vec![("queue", view.queue.to_string())];
    let age = |view: &QueueView| view.oldest_ready_at.map_or(0.0, |at| now.since(at).as_secs_f64());
    let ages = queues.iter().map(|view| (of(view), age(view)));
    let help = "How long ago the ready job was made that waits longest.";
    text.family("bindery_queue_oldest_ready_seconds", "gauge", help, ages);
    let paused = queues.iter().map(|view| (of(view), f64::from(u8::from(view.paused))));
    text.family("bindery_queue_paused", "gauge", "Whether the queue hands out no work.", paused);
}
