//! A worker with its transport, and a look into the broker past both.

use bindery_amqp::{AmqpOptions, AmqpResult, Transport, topology::Names};
use bindery_core::{Name, job::ENGINE_QUEUE};
use bindery_engine::{Engine, EngineResult, StopHandle, Worker, WorkerOptions, stop_pair};
use bindery_testkit::RabbitServer;
use lapin::{
    BasicProperties, Channel, Confirmation, Connection, ConnectionProperties,
    message::BasicGetMessage,
    options::{BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions},
    types::FieldTable,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// No test should ever wait this long; one that does has found something.
const PATIENCE: Duration = Duration::from_secs(100);

/// The broker of all tests of this program; none, with a line that says so, where there is none.
pub(crate) fn broker() -> Option<Arc<RabbitServer>> {
    // RUST_LOG says what is seen of a test that fails.
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
    RabbitServer::shared()
}

/// Names that no other test uses.
pub(crate) fn prefix() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("t{}.", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn options(broker: &RabbitServer, prefix: &str) -> AmqpOptions {
    AmqpOptions { prefix: prefix.to_owned(), ..AmqpOptions::at(broker.url()) }
}

/// Polls until something is so; it must become so in time.
pub(crate) async fn eventually(what: &str, reached: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !reached().await {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What `bindery worker --amqp` runs.
pub(crate) struct Node {
    transport: Transport,
    stop: StopHandle,
    running: JoinHandle<EngineResult<u64>>,
}

impl Node {
    pub(crate) async fn start(engine: &Engine, name: &str, options: AmqpOptions) -> AmqpResult<Self> {
        let mut transport = Transport::connect(engine.clone(), options).await?;
        let options = WorkerOptions {
            name: Name::from(name),
            queues: Some(vec![ENGINE_QUEUE.into()]),
            threads: 2,
            sweep_every: Duration::from_millis(100),
            ..WorkerOptions::default()
        };
        let worker = Worker::new(engine.clone(), options).with_source(transport.start());
        let (stop, signal) = stop_pair();
        let running = tokio::spawn(async move { worker.run(signal).await });
        Ok(Self { transport, stop, running })
    }

    /// Returns how many jobs it has finished.
    pub(crate) async fn stop(self) -> u64 {
        self.stop.stop();
        let finished = self.running.await.unwrap().unwrap();
        self.transport.stop().await;
        finished
    }
}

/// A client of the broker, as a program outside would be.
pub(crate) struct Client {
    _connection: Connection,
    pub(crate) channel: Channel,
    names: Names,
}

impl Client {
    pub(crate) async fn connect(broker: &RabbitServer, prefix: &str) -> Self {
        let connection = Connection::connect(&broker.url(), ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
        Self { _connection: connection, channel, names: Names::new(prefix) }
    }

    pub(crate) async fn publish(&self, exchange: &str, key: &str, body: &[u8]) {
        self.publish_with(exchange, key, body, BasicProperties::default()).await;
    }

    pub(crate) async fn publish_with(&self, exchange: &str, key: &str, body: &[u8], properties: BasicProperties) {
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let exchange = self.names.at_broker(exchange).into();
        let confirm = self.channel.basic_publish(exchange, key.into(), options, body, properties).await.unwrap();
        assert_eq!(confirm.await.unwrap(), Confirmation::Ack(None), "the message is routed and stored");
    }

    /// Past the exchanges.
    pub(crate) async fn publish_to_queue(&self, queue: &str, body: &[u8]) {
        let (key, options) = (self.names.at_broker(queue).into(), BasicPublishOptions::default());
        let confirm =
            self.channel.basic_publish("".into(), key, options, body, BasicProperties::default()).await.unwrap();
        assert_eq!(confirm.await.unwrap(), Confirmation::Ack(None));
    }

    /// How many messages are ready in a queue.
    pub(crate) async fn depth(&self, queue: &str) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = self.names.at_broker(queue).into();
        self.channel.queue_declare(queue, options, FieldTable::default()).await.unwrap().message_count()
    }

    pub(crate) async fn get(&self, queue: &str) -> Option<BasicGetMessage> {
        let queue = self.names.at_broker(queue);
        self.channel.basic_get(queue.into(), BasicGetOptions { no_ack: true }).await.unwrap()
    }

    pub(crate) async fn get_soon(&self, queue: &str) -> BasicGetMessage {
        let begun = Instant::now();
        loop {
            if let Some(message) = self.get(queue).await {
                return message;
            }
            assert!(begun.elapsed() < PATIENCE, "no message in {queue}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A header that is a text.
pub(crate) fn header(properties: &BasicProperties, name: &str) -> Option<String> {
    let value = properties.headers().as_ref()?.inner().get(name)?.clone();
    value.as_long_string().map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned())
}
