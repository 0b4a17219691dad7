//! The consumer: messages come in, with manual acknowledgements.
//!
//! Each queue has a channel of its own. A message that carries a job of ours goes to the [inbox](crate::inbox), any other
//! one is a component's [result](crate::results). When the connection is lost everything that was not acknowledged is
//! delivered again.

use crate::{
    acks::Acks,
    connect::{self, RECONNECT},
    envelope::{COMPONENT_HEADER, JOB_HEADER, JOB_SEPARATOR, TOKEN_HEADER},
    error::{AmqpError, AmqpResult, detail},
    outstanding::Lease,
    results,
    shared::Shared,
};
use bindery_core::{Name, job::Token};
use bindery_engine::StopSignal;
use futures_util::StreamExt;
use lapin::{
    Channel, Connection, Consumer,
    message::Delivery,
    options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions},
    types::{AMQPValue, FieldTable},
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::{sync::Semaphore, task::JoinSet};

/// How often the stored workflows are compared with what is consumed.
const REFRESH_EVERY: Duration = Duration::from_secs(5);

/// How many results are stored at the same time; the store gathers them into groups.
const RESULTS_AT_ONCE: usize = 128;

/// How long results that are being stored may take when everything stops.
const LAST_RESULTS_WITHIN: Duration = Duration::from_secs(5);

/// Consumes until it is asked to stop, over as many connections as it takes. `first` is one that is open already.
pub(crate) async fn run(shared: Arc<Shared>, first: Connection, mut stop: StopSignal) {
    let mut backoff = RECONNECT.retries();
    let mut opened = Some(first);
    while !stop.is_stopping() {
        let connection = match opened.take() {
            Some(connection) => Ok(connection),
            None => shared.connect("consumer").await,
        };
        let ended = match connection {
            Ok(connection) => {
                backoff.reset();
                let ended = serve(&shared, &connection, stop.clone()).await;
                shared.inbox.forget_deliveries();
                ended
            }
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            tracing::warn!(error = %error, "messages are not received; trying again");
            if !connect::pause(&mut backoff, &mut stop).await {
                break;
            }
        }
    }
}

/// Consumes on one connection, and closes it. Returns without an error when it should stop or when the queues have changed.
async fn serve(shared: &Arc<Shared>, connection: &Connection, stop: StopSignal) -> AmqpResult<()> {
    // Channels end with their connection: one that is closed by itself at the same time is trouble in the log.
    let mut channels = Vec::new();
    let ended = listen(shared, connection, &mut channels, stop).await;
    connect::close(connection).await;
    ended
}

async fn listen(
    shared: &Arc<Shared>,
    connection: &Connection,
    channels: &mut Vec<Channel>,
    mut stop: StopSignal,
) -> AmqpResult<()> {
    let mut declarations = shared.declarations();
    let mut listened: BTreeSet<Name> = BTreeSet::new();
    let at_once = Arc::new(Semaphore::new(RESULTS_AT_ONCE));
    let mut consumers = JoinSet::new();
    let is_open = || connection.status().connected();
    loop {
        declarations.mark_unchanged();
        let wanted: BTreeSet<Name> = shared.consumed_queues().into_iter().collect();
        if !listened.is_subset(&wanted) {
            // A workflow gives one to a program outside: it is not ours any more.
            return Ok(());
        }
        if !stop.is_stopping() && shared.all_declared().await {
            for queue in wanted.difference(&listened) {
                let starting = Listening::start(shared, connection, queue.clone(), Arc::clone(&at_once));
                let silent = |error| AmqpError::Lost(format!("queue {queue}: {error}"));
                let consumer = connect::within_answer_limit(is_open, starting).await.map_err(silent)?;
                channels.push(consumer.channel.clone());
                consumers.spawn(consumer.run(stop.clone()));
            }
            listened = wanted;
        }
        tokio::select! {
            // Dropping the set ends the others with it.
            Some(ended) = consumers.join_next() => match ended {
                Ok(Ok(())) if stop.is_stopping() => {}
                Ok(Ok(())) => return Err(AmqpError::Lost("a queue was deleted".to_owned())),
                Ok(Err(error)) => return Err(error),
                Err(error) => return Err(AmqpError::Lost(error.to_string())),
            },
            _ = declarations.changed() => {}
            // A consumer that begins when the connection is lost may never be told so.
            () = connect::wait_until_closed(is_open), if !stop.is_stopping() => {
                return Err(AmqpError::Lost(connect::GONE.to_owned()));
            }
            () = tokio::time::sleep(REFRESH_EVERY) => match shared.refresh().await {
                Ok(true) => shared.declare(connection).await?,
                Ok(false) => {}
                Err(error) => tracing::warn!(error = %error, "the workflows could not be read; trying again"),
            },
            () = stop.stopping(), if consumers.is_empty() => return Ok(()),
        }
        if stop.is_stopping() && consumers.is_empty() {
            return Ok(());
        }
    }
}

/// One queue that is listened to.
struct Listening {
    shared: Arc<Shared>,
    queue: Name,
    channel: Channel,
    consumer: Consumer,
    acks: Arc<Acks>,
    at_once: Arc<Semaphore>,
    results: JoinSet<()>,
}

impl Listening {
    async fn start(
        shared: &Arc<Shared>,
        connection: &Connection,
        queue: Name,
        at_once: Arc<Semaphore>,
    ) -> AmqpResult<Self> {
        let channel = connection.create_channel().await?;
        channel.basic_qos(shared.options.prefetch, BasicQosOptions::default()).await?;
        let (options, none) = (BasicConsumeOptions::default(), FieldTable::default());
        let consumer = channel.basic_consume(shared.names.short(&queue), "".into(), options, none).await?;
        let (shared, acks, results) = (Arc::clone(shared), Arc::default(), JoinSet::new());
        Ok(Self { shared, queue, channel, consumer, acks, at_once, results })
    }

    async fn run(mut self, mut stop: StopSignal) -> AmqpResult<()> {
        let (acks, channel) = (Arc::clone(&self.acks), self.channel.clone());
        let sending = acks.send(&channel);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                delivery = self.consumer.next() => match delivery {
                    Some(Ok(delivery)) => self.delivered(delivery),
                    Some(Err(error)) => return Err(AmqpError::Lost(detail(&error))),
                    None => return Err(AmqpError::Lost("the broker has cancelled a consumer".to_owned())),
                },
                Err(error) = &mut sending => return Err(AmqpError::Lost(detail(&error))),
                Some(_) = self.results.join_next() => {}
                () = stop.stopping() => break,
            }
        }
        let tag = self.consumer.tag();
        self.channel.basic_cancel(tag, BasicCancelOptions::default()).await?;
        let last = async { while self.results.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_RESULTS_WITHIN, last).await;
        // The worker has stopped before us, so its jobs have landed; what it has not taken goes back with the channel.
        acks.flush(&channel).await?;
        Ok(())
    }

    fn delivered(&mut self, delivery: Delivery) {
        let ack = self.acks.delivered(delivery.delivery_tag);
        if let Some(leases) = leases_of(&delivery) {
            if is_for(&delivery, &self.queue) {
                self.shared.inbox.arrived(leases.iter().copied().zip(ack.split(leases.len()).into_iter().map(Some)));
            } else {
                // Two workflows share a routing key; the other queue has its copy.
                ack.done();
            }
            return;
        }
        let (shared, queue, at_once) = (Arc::clone(&self.shared), self.queue.clone(), Arc::clone(&self.at_once));
        self.results.spawn(async move {
            let _permit = at_once.acquire_owned().await;
            results::take(&shared, &queue, delivery, ack).await;
        });
    }
}

fn text<'d>(delivery: &'d Delivery, name: &str) -> Option<&'d str> {
    let headers = delivery.properties.headers().as_ref()?;
    match headers.inner().get(name)? {
        AMQPValue::LongString(text) => std::str::from_utf8(text.as_bytes()).ok(),
        AMQPValue::ShortString(text) => Some(text.as_str()),
        _ => None,
    }
}

/// The jobs that a message carries: one, or several of one claim.
fn leases_of(delivery: &Delivery) -> Option<Vec<Lease>> {
    let token = Token(text(delivery, TOKEN_HEADER)?.parse().ok()?);
    let jobs = text(delivery, JOB_HEADER)?.split(JOB_SEPARATOR).map(|job| Some((job.parse().ok()?, token)));
    jobs.collect()
}

fn is_for(delivery: &Delivery, queue: &Name) -> bool {
    text(delivery, COMPONENT_HEADER).is_none_or(|component| queue.strip_prefix("q.") == Some(component))
}
