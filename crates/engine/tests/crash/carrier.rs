//! What carries jobs to a worker: here nothing but the store. The tests of a broker put theirs in this place.

use crate::child::Orders;
use bindery_engine::{Engine, Worker, WorkerOptions};

/// What has to live as long as the worker.
pub(crate) struct Carrier;

#[expect(clippy::unused_async, reason = "a broker is waited for")]
pub(crate) async fn hire(engine: &Engine, options: WorkerOptions, _: &Orders) -> (Worker, Carrier) {
    (Worker::new(engine.clone(), options), Carrier)
}
