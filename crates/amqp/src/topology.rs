//! The exchanges and queues, as the stored workflows want them. Declaring them is idempotent; what exists with other
//! arguments is told and left alone.
//!
//! | exchange | queues | with |
//! |---|---|---|
//! | `doc.direct` (direct) | `q.<component>` of every stage, under its routing key | TTL, dead letters to `doc.dlx` |
//! | | `q.workflow_router`, under `request.new` | the same |
//! | `doc.backoffice` (direct) | `q.backoffice.<…>` of every `backoffice_queue` | the same |
//! | `doc.dlx` (fanout) | `q.dead_letters` | |
//!
//! Only the queues of workflows in use are declared: of those that a user has stored, and of those that ship as soon as
//! a submission of theirs is under way.

use crate::{
    connect::{ACCESS_REFUSED, PRECONDITION_FAILED},
    error::{AmqpError, AmqpResult, detail, reply_code},
    options::QueueKind,
};
use bindery_core::{Name, job::ENGINE_QUEUE};
use bindery_engine::{
    Engine, EngineError,
    message::{NEW_REQUEST, ROUTER_QUEUE},
    workflow::Workflow,
};
use lapin::{
    Channel, Connection, ExchangeKind,
    options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable, ShortString},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

pub const DIRECT: &str = "doc.direct";
pub const BACKOFFICE: &str = "doc.backoffice";
pub const DEAD_LETTER_EXCHANGE: &str = "doc.dlx";
pub const DEAD_LETTERS: &str = "q.dead_letters";

/// The back-office keys that are there whether or not a workflow names them.
const BACKOFFICE_KEYS: [&str; 2] = ["task.classification", "task.extraction"];

/// A queue that stages wait in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StageQueue {
    pub keys: BTreeSet<Name>,
    /// A workflow gives its work to a program outside, so it is not ours to consume.
    pub outside: bool,
}

/// What has to be there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    pub stages: BTreeMap<Name, StageQueue>,
    /// The queues of the back office with their routing keys.
    pub backoffice: BTreeMap<Name, Name>,
}

impl Topology {
    /// Of some workflows.
    pub fn from_workflows<'w>(workflows: impl IntoIterator<Item = &'w Workflow>) -> Self {
        let mut topology = Self::default();
        for key in BACKOFFICE_KEYS {
            topology.backoffice.insert(backoffice_queue(key), Name::from(key));
        }
        for workflow in workflows {
            topology.add(workflow);
        }
        topology
    }

    /// Of the newest version of every workflow that a user has stored. One that ships is used by its submissions alone.
    pub async fn of_users(engine: &Engine) -> AmqpResult<Self> {
        let mut workflows = Vec::new();
        for stored in engine.store().workflows().await? {
            if engine.registry().shipped_workflow(&stored.name) == Some(stored.text.as_str()) {
                continue;
            }
            match engine.catalog().workflow(&stored.name, Some(stored.version)).await {
                Ok(workflow) => workflows.push(workflow),
                Err(EngineError::Store(error)) => return Err(error.into()),
                // Its submissions say so themselves.
                Err(error) => tracing::warn!(workflow = %stored.name, error = %error, "a workflow cannot be read"),
            }
        }
        Ok(Self::from_workflows(workflows.iter().map(AsRef::as_ref)))
    }

    /// Adds what a workflow needs; false if everything was there.
    pub fn add(&mut self, workflow: &Workflow) -> bool {
        let mut grew = false;
        for stage in &workflow.stages {
            let queue = stage.queue();
            if queue == *ENGINE_QUEUE {
                // The engine's own small jobs never leave the store.
                continue;
            }
            let entry = self.stages.entry(queue).or_default();
            grew |= entry.keys.insert(stage.routing_key.clone());
            let outside = stage.has_outside_processor();
            grew |= outside && !entry.outside;
            entry.outside |= outside;
            if let Some(key) = &stage.backoffice_queue {
                grew |= self.backoffice.insert(backoffice_queue(key), key.clone()).is_none();
            }
        }
        grew
    }

    /// Adds another one; false if everything was there.
    pub fn merge(&mut self, other: Self) -> bool {
        let mut grew = false;
        for (queue, stage) in other.stages {
            let entry = self.stages.entry(queue).or_default();
            for key in stage.keys {
                grew |= entry.keys.insert(key);
            }
            grew |= stage.outside && !entry.outside;
            entry.outside |= stage.outside;
        }
        for (queue, key) in other.backoffice {
            grew |= self.backoffice.insert(queue, key).is_none();
        }
        grew
    }

    /// The queues that are ours to consume, of those that were asked for.
    pub fn own(&self, wanted: Option<&[Name]>) -> Vec<Name> {
        let is_wanted = |queue: &Name| wanted.is_none_or(|wanted| wanted.contains(queue));
        self.stages.iter().filter(|(queue, stage)| !stage.outside && is_wanted(queue)).map(|(q, _)| q.clone()).collect()
    }

    /// The routing keys that lead to several queues, each with those. What is published under one reaches them all.
    pub fn shared_keys(&self) -> BTreeMap<&Name, Vec<&Name>> {
        let mut queues: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
        for (queue, stage) in &self.stages {
            for key in &stage.keys {
                queues.entry(key).or_default().push(queue);
            }
        }
        queues.retain(|_, queues| queues.len() > 1);
        queues
    }

    /// The queues of programs outside.
    pub fn outside(&self) -> Vec<Name> {
        self.stages.iter().filter(|(_, stage)| stage.outside).map(|(queue, _)| queue.clone()).collect()
    }
}

/// `task.classification` is waited for in `q.backoffice.classification`.
pub fn backoffice_queue(key: &str) -> Name {
    Name::from(format!("q.backoffice.{}", key.strip_prefix("task.").unwrap_or(key)))
}

/// Puts a prefix before names.
#[derive(Debug, Clone, Default)]
pub struct Names {
    prefix: String,
}

impl Names {
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into() }
    }

    /// An exchange or a queue as the broker knows it.
    pub fn at_broker(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(crate) fn short(&self, name: &str) -> ShortString {
        self.at_broker(name).into()
    }
}

/// Declares it all, again and again if need be.
pub async fn declare(
    connection: &Connection,
    names: &Names,
    topology: &Topology,
    kind: QueueKind,
    ttl: Duration,
) -> AmqpResult<()> {
    let channel = connection.create_channel().await?;
    let declarer = Declarer { channel: &channel, names, kind, ttl };
    for (name, kind) in [
        (DIRECT, ExchangeKind::Direct),
        (BACKOFFICE, ExchangeKind::Direct),
        (DEAD_LETTER_EXCHANGE, ExchangeKind::Fanout),
    ] {
        declarer.exchange(name, kind).await?;
    }
    declarer.queue(DEAD_LETTERS, false).await?;
    declarer.bind(DEAD_LETTERS, DEAD_LETTER_EXCHANGE, "").await?;
    declarer.queue(ROUTER_QUEUE, true).await?;
    declarer.bind(ROUTER_QUEUE, DIRECT, NEW_REQUEST).await?;
    for (queue, stage) in &topology.stages {
        declarer.queue(queue, true).await?;
        for key in &stage.keys {
            declarer.bind(queue, DIRECT, key).await?;
        }
    }
    for (queue, key) in &topology.backoffice {
        declarer.queue(queue, true).await?;
        declarer.bind(queue, BACKOFFICE, key).await?;
    }
    channel.close(200, "done".into()).await?;
    Ok(())
}

struct Declarer<'a> {
    channel: &'a Channel,
    names: &'a Names,
    kind: QueueKind,
    ttl: Duration,
}

impl Declarer<'_> {
    async fn exchange(&self, name: &str, kind: ExchangeKind) -> AmqpResult<()> {
        let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        let declared =
            self.channel.exchange_declare(self.names.short(name), kind, options, FieldTable::default()).await;
        declared.map_err(|error| self.declare_error("exchange", name, &error))
    }

    async fn queue(&self, name: &str, ends_in_dead_letters: bool) -> AmqpResult<()> {
        let mut arguments = FieldTable::default();
        if self.kind == QueueKind::Quorum {
            arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
        }
        if ends_in_dead_letters && self.kind != QueueKind::Plain {
            let exchange = self.names.at_broker(DEAD_LETTER_EXCHANGE);
            arguments.insert("x-dead-letter-exchange".into(), AMQPValue::LongString(exchange.into()));
            let ttl = i32::try_from(self.ttl.as_millis()).unwrap_or(i32::MAX);
            arguments.insert("x-message-ttl".into(), AMQPValue::LongInt(ttl));
        }
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        let declared = self.channel.queue_declare(self.names.short(name), options, arguments).await;
        declared.map(|_| ()).map_err(|error| self.declare_error("queue", name, &error))
    }

    async fn bind(&self, queue: &str, exchange: &str, key: &str) -> AmqpResult<()> {
        let (options, none) = (QueueBindOptions::default(), FieldTable::default());
        let (queue_name, exchange) = (self.names.short(queue), self.names.short(exchange));
        let bound = self.channel.queue_bind(queue_name, exchange, key.into(), options, none).await;
        bound.map_err(|error| self.declare_error("queue", queue, &error))
    }

    fn declare_error(&self, what: &'static str, name: &str, error: &lapin::Error) -> AmqpError {
        let (name, said) = (self.names.at_broker(name), detail(error));
        match reply_code(error) {
            Some(PRECONDITION_FAILED) => AmqpError::Conflict { what, name, differs: difference(&said) },
            Some(ACCESS_REFUSED) => AmqpError::Forbidden { what: format!("the {what} {name}"), detail: said },
            _ => AmqpError::Lost(said),
        }
    }
}

/// RabbitMQ says: inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received the value '300000' of type
/// 'signedint' but current is the value '1000' of type 'signedint'.
fn difference(said: &str) -> String {
    let quoted = |text: &str| text.split('\'').nth(1).map(str::to_owned);
    let argument = said.split_once("inequivalent arg").and_then(|(_, rest)| quoted(rest));
    let Some(argument) = argument else { return format!("is not as it should be ({said})") };
    let wanted =
        said.split_once("received").map(|(_, rest)| rest).filter(|rest| !rest.trim_start().starts_with("none"));
    let wanted = wanted.and_then(quoted).unwrap_or_else(|| "nothing".to_owned());
    let current = said.split_once("but current is").map(|(_, rest)| rest);
    let current = current.filter(|rest| !rest.trim_start().starts_with("none")).and_then(quoted);
    match current {
        Some(current) => format!("its {argument} is {current}, not {wanted}"),
        None => format!("has no {argument} (wanted is {wanted})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default() -> Workflow {
        Workflow::parse(include_str!("../../../workflows/default.yaml"), None).unwrap()
    }

    #[test]
    fn the_default_workflow_wants_the_seed_s_queues() {
        let topology = Topology::from_workflows([&default()]);
        let key = |queue: &str| topology.stages[&Name::from(queue)].keys.iter().map(Name::as_str).collect::<Vec<_>>();
        assert_eq!(key("q.extraction_aggregator"), ["doc.extracted"]);
        assert_eq!(key("q.ocr"), ["page.ocr"]);
        assert_eq!(topology.backoffice[&Name::from("q.backoffice.classification")], "task.classification");
        assert_eq!(topology.own(None).len(), topology.stages.len());
        let only = topology.own(Some(&[Name::from("q.ocr"), Name::from("q.nothing")]));
        assert_eq!(only, [Name::from("q.ocr")]);
    }

    #[test]
    fn a_queue_with_an_outside_processor_is_not_ours() {
        let yaml = "name: w\nstages:\n- {name: a, routing_key: k.a, backoffice_queue: people, processors: [{name: x, external: true}]}\n\
                    - {name: b}\n";
        let workflow = Workflow::parse(yaml, None).unwrap();
        let mut topology = Topology::from_workflows([&default()]);
        assert!(topology.add(&workflow));
        assert!(!topology.add(&workflow));
        assert_eq!(topology.outside(), [Name::from("q.a")]);
        assert!(!topology.own(None).contains(&"q.a".into()) && topology.own(None).contains(&"q.b".into()));
        assert_eq!(topology.backoffice[&Name::from("q.backoffice.people")], "people");
    }

    #[test]
    fn keys_of_shipped_workflows_lead_to_one_queue_each() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
        let shipped = std::fs::read_dir(folder).unwrap().map(|file| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            Workflow::parse(&text, None).unwrap()
        });
        let shipped: Vec<Workflow> = shipped.collect();
        let topology = Topology::from_workflows(&shipped);
        assert_eq!(topology.shared_keys(), BTreeMap::new());
        let mut clashing = topology;
        clashing.add(&Workflow::parse("name: w\nstages: [{name: a, routing_key: page.ocr}]", None).unwrap());
        let (a, ocr) = (Name::from("q.a"), Name::from("q.ocr"));
        assert_eq!(clashing.shared_keys(), BTreeMap::from([(&Name::from("page.ocr"), vec![&a, &ocr])]));
    }

    #[test]
    fn what_differs_is_said() {
        let said = "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q.a' in vhost '/': received the value \
                    '300000' of type 'signedint' but current is the value '1000' of type 'signedint'";
        assert_eq!(difference(said), "its x-message-ttl is 1000, not 300000");
        let said = "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q.a' in vhost '/': received the value \
                    '300000' of type 'signedint' but current is none";
        assert_eq!(difference(said), "has no x-message-ttl (wanted is 300000)");
        let said = "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q.a' in vhost '/': received 'true' but current is 'false'";
        assert_eq!(difference(said), "its durable is false, not true");
        assert_eq!(difference("PRECONDITION_FAILED - odd"), "is not as it should be (PRECONDITION_FAILED - odd)");
    }
}
