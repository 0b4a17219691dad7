//! Connecting, starting, stopping.

use crate::{
    announce, backoffice,
    connect::{self, RECONNECT},
    consumer,
    error::AmqpResult,
    options::AmqpOptions,
    publisher::Publisher,
    relay, report_limits,
    shared::Shared,
};
use bindery_core::backoff::Retries;
use bindery_engine::{Engine, StopHandle, StopSignal, stop_pair, worker::Source};
use lapin::Connection;
use std::{fmt, sync::Arc, time::Duration};
use tokio::{sync::Notify, task::JoinHandle};

/// How long the last acknowledgements and confirmations may take.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// How long what goes on beside the jobs may take to notice that the connection is gone.
const END_WITHIN: Duration = Duration::from_secs(10);

/// How often new submissions are looked for; a change in the store wakes it.
const DISCOVER_EVERY: Duration = Duration::from_millis(500);

/// The way over the broker, for one worker.
pub struct Transport {
    shared: Arc<Shared>,
    stop: StopHandle,
    signal: StopSignal,
    /// Open from `connect` until `start`.
    connections: Option<(Connection, Connection)>,
    running: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl Transport {
    /// Connects and declares what the stored workflows need. What is wrong with the address, the rights or the queues is
    /// told here; once this has worked, trouble with the broker is waited out.
    pub async fn connect(engine: Engine, options: AmqpOptions) -> AmqpResult<Self> {
        let shared = Arc::new(Shared::new(engine, options).await?);
        // Two: a broker that is short of memory stops listening to who publishes, and must still hear acknowledgements.
        let publishing = shared.connect("publisher").await?;
        let consuming = shared.connect("consumer").await?;
        let (stop, signal) = stop_pair();
        Ok(Self { shared, stop, signal, connections: Some((publishing, consuming)), running: Vec::new() })
    }

    /// Starts publishing and consuming. The worker takes its jobs from what this returns, and those of
    /// [`ENGINE_QUEUE`](bindery_core::job::ENGINE_QUEUE) from the store.
    pub fn start(&mut self) -> Arc<dyn Source> {
        if let Some((publishing, consuming)) = self.connections.take() {
            let (shared, signal) = (&self.shared, &self.signal);
            self.running = vec![
                tokio::spawn(publish(Arc::clone(shared), publishing, signal.clone())),
                tokio::spawn(consumer::run(Arc::clone(shared), consuming, signal.clone())),
                tokio::spawn(relay::keep(Arc::clone(shared), signal.clone())),
            ];
        }
        Arc::clone(&self.shared.inbox) as Arc<dyn Source>
    }

    /// Stops, after the worker has: what has landed is acknowledged, what nobody has taken goes back to the store.
    pub async fn stop(mut self) {
        self.stop.stop();
        for mut part in self.running.drain(..) {
            if tokio::time::timeout(STOP_WITHIN, &mut part).await.is_err() {
                part.abort();
            }
        }
        let left = self.shared.outstanding.leases();
        relay::give_back(&self.shared, left).await;
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        self.running.iter().for_each(JoinHandle::abort);
    }
}

/// Publishes over as many connections as it takes.
async fn publish(shared: Arc<Shared>, first: Connection, mut stop: StopSignal) {
    let mut backoff = RECONNECT.retries();
    let mut opened = Some(first);
    while !stop.is_stopping() {
        let connection = match opened.take() {
            Some(connection) => Ok(connection),
            None => shared.connect("publisher").await,
        };
        let ended = match connection {
            Ok(connection) => publish_on(&shared, &connection, &mut backoff, &stop).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &ended {
            tracing::warn!(error = %error, "nothing can be published; trying again");
            report_limits::hold_all(&shared).await;
        }
        if !stop.is_stopping() && !connect::pause(&mut backoff, &mut stop).await {
            break;
        }
    }
}

async fn publish_on(
    shared: &Arc<Shared>,
    connection: &Connection,
    backoff: &mut Retries,
    stop: &StopSignal,
) -> AmqpResult<()> {
    // One that fills up does not slow the others down.
    let jobs = [Publisher::open(connection).await?, Publisher::open(connection).await?];
    let others = Publisher::open(connection).await?;
    shared.publisher.send_replace(Some(others.clone()));
    backoff.reset();
    let left = Notify::new();
    let jobs_until_closed = async {
        relay::run(shared, &jobs, stop.clone()).await;
        // Gone, unable to take a message, or asked to stop: the others end with it. None is cut off in the middle, so
        // that whatever was not confirmed is given back.
        shared.publisher.send_replace(None);
        connect::close(connection).await;
        left.notify_one();
    };
    let declaring = async {
        while others.is_open() && !stop.is_stopping() {
            let grown = tokio::time::timeout(Duration::from_millis(500), shared.grown.notified()).await;
            if grown.is_ok()
                && let Err(error) = shared.declare(connection).await
            {
                tracing::warn!(error = %error, "a workflow's queues could not be declared");
            }
        }
    };
    let discovering = async {
        let mut stop = stop.clone();
        while others.is_open() && !stop.is_stopping() {
            let mark = shared.engine.store().change_mark();
            if let Err(error) = shared.discover().await {
                tracing::warn!(error = %error, "new submissions could not be looked for; trying again");
            }
            tokio::select! {
                () = async {
                    shared.engine.store().changed(mark, DISCOVER_EVERY).await;
                    // Under load there is always something new; looking a few times a second is enough.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                } => {}
                () = stop.stopping() => {}
            }
        }
    };
    let limits = async {
        if let Err(error) = report_limits::run(shared, connection, stop.clone()).await {
            tracing::warn!(error = %error, "the time limits of outside work are not looked after");
        }
    };
    let beside = Box::pin(async {
        tokio::join!(
            declaring,
            discovering,
            limits,
            announce::run(shared, &others, stop.clone()),
            backoffice::run(shared, &others, stop.clone())
        )
    });
    // Nobody keeps the next connection waiting.
    let beside_in_time = async {
        tokio::select! {
            _ = beside => {}
            () = async {
                left.notified().await;
                tokio::time::sleep(END_WITHIN).await;
            } => tracing::warn!("a connection that is gone was left with something under way"),
        }
    };
    tokio::join!(jobs_until_closed, beside_in_time);
    Ok(())
}
