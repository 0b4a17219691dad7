//! Jobs come over the broker, as with `bindery worker --amqp`.

use crate::child::Orders;
use bindery_amqp::{AmqpOptions, Transport};
use bindery_core::job::ENGINE_QUEUE;
use bindery_engine::{Engine, Worker, WorkerOptions};
use std::time::{Duration, Instant};

/// What has to live as long as the worker.
pub(crate) struct Carrier(#[expect(dead_code, reason = "only kept")] Transport);

pub(crate) async fn hire(engine: &Engine, options: WorkerOptions, orders: &Orders) -> (Worker, Carrier) {
    let url = orders.broker.clone().unwrap();
    let amqp = AmqpOptions { window: 200, prefetch: 20, lease: options.lease, ..AmqpOptions::at(url) };
    let begun = Instant::now();
    // The broker or the database may just be starting again.
    let mut transport = loop {
        match Transport::connect(engine.clone(), amqp.clone()).await {
            Ok(transport) => break transport,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let options = WorkerOptions { queues: Some(vec![ENGINE_QUEUE.into()]), ..options };
    let worker = Worker::new(engine.clone(), options).with_source(transport.start());
    (worker, Carrier(transport))
}
