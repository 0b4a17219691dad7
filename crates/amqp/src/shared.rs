//! What the parts of a transport share.

use crate::{
    connect,
    envelope::{Detail, Envelopes},
    error::AmqpResult,
    inbox::Inbox,
    options::{Address, AmqpOptions},
    outstanding::Outstanding,
    publisher::{Outgoing, Publisher},
    topology::{self, Names, Topology},
};
use bindery_core::{
    EventSeq, Name, SubmissionId,
    event::{Event, kind},
    job::{ENGINE_QUEUE, Job, Token},
    submission::SubmissionStatus,
};
use bindery_engine::{Engine, aggregator::DEFAULT_WORKFLOW, message::ROUTER_QUEUE, workflow::Workflow};
use bindery_store::query::{EventFilter, JobFilter, QueueView, SubmissionFilter};
use lapin::Connection;
use std::{
    collections::{BTreeSet, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{Notify, watch};

const DECLARE_WITHIN: Duration = Duration::from_secs(10);

/// Counting what waits in which queue is not for every few seconds.
const LOOK_FOR_PINNED_EVERY: Duration = Duration::from_secs(30);

/// How many submissions under way are looked at for their workflows when a worker starts; jobs and events tell of others.
const MOST_UNFINISHED: usize = 10_000;

const EVENTS_AT_ONCE: usize = 500;

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) options: AmqpOptions,
    pub(crate) address: Address,
    pub(crate) names: Names,
    pub(crate) envelopes: Envelopes,
    pub(crate) outstanding: Arc<Outstanding>,
    pub(crate) inbox: Arc<Inbox>,
    topology: Mutex<Topology>,
    /// The versions of workflows that submissions were seen to be pinned to.
    pinned: Mutex<HashSet<(Name, i64)>>,
    /// When queues that only older workflows name were last looked for.
    looked_at: Mutex<Option<Instant>>,
    /// Up to where the event log was searched for new submissions.
    seen: Mutex<EventSeq>,
    /// Told when there is more to declare.
    pub(crate) grown: Notify,
    /// Counts how often the topology has grown, and how much of that the broker knows.
    version: AtomicU64,
    declared: watch::Sender<u64>,
    /// The channel to publish on; none while there is no connection.
    pub(crate) publisher: watch::Sender<Option<Publisher>>,
}

impl Shared {
    pub(crate) async fn new(engine: Engine, options: AmqpOptions) -> AmqpResult<Self> {
        let address = Address::parse(&options.url)?;
        let names = Names::new(options.prefix.clone());
        let outstanding = Arc::new(Outstanding::default());
        let shared = Self {
            envelopes: Envelopes::new(engine.clone(), names.clone()),
            inbox: Arc::new(Inbox::new(engine.clone(), Arc::clone(&outstanding))),
            topology: Mutex::default(),
            pinned: Mutex::default(),
            looked_at: Mutex::default(),
            seen: Mutex::new(engine.store().last_event().await?),
            grown: Notify::new(),
            version: AtomicU64::new(0),
            declared: watch::Sender::new(0),
            publisher: watch::Sender::new(None),
            engine,
            options,
            address,
            names,
            outstanding,
        };
        shared.learn_unfinished().await?;
        shared.refresh().await?;
        Ok(shared)
    }

    pub(crate) fn topology(&self) -> Topology {
        self.topology.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the workflows of users again; true if there is something new. What was there stays: submissions may be
    /// pinned to older versions.
    pub(crate) async fn refresh(&self) -> AmqpResult<bool> {
        let mut stored = Topology::of_users(&self.engine).await?;
        self.add_pinned(&mut stored).await?;
        Ok(self.grow(|topology| topology.merge(stored)))
    }

    /// Changes the topology; true if there is more to declare from now on.
    fn grow(&self, change: impl FnOnce(&mut Topology) -> bool) -> bool {
        let mut topology = self.topology.lock().unwrap_or_else(PoisonError::into_inner);
        let known: BTreeSet<Name> = topology.shared_keys().into_keys().cloned().collect();
        let grew = change(&mut topology);
        self.version.fetch_add(u64::from(grew), Ordering::SeqCst);
        for (key, queues) in topology.shared_keys().into_iter().filter(|(key, _)| !known.contains(*key)) {
            let queues: Vec<&str> = queues.into_iter().map(Name::as_str).collect();
            tracing::warn!(
                key = %key, queues = %queues.join(", "),
                "a routing key leads to several queues; `bindery workflows check` names the stages"
            );
        }
        let wanted = self.options.queues.as_deref();
        let outside = topology.outside().into_iter().filter(|queue| wanted.is_none_or(|wanted| wanted.contains(queue)));
        self.inbox.set_queues(topology.own(wanted), outside.collect());
        grew
    }

    /// The workflows of submissions that are under way, also of those that only wait for a person.
    async fn learn_unfinished(&self) -> AmqpResult<()> {
        let statuses = SubmissionStatus::ALL.into_iter().filter(|status| !status.is_final()).collect();
        let filter = SubmissionFilter { statuses, limit: Some(MOST_UNFINISHED), ..SubmissionFilter::default() };
        for submission in self.engine.store().submissions(filter).await? {
            self.learn_version(submission.workflow, submission.workflow_version).await;
        }
        Ok(())
    }

    /// Searches the event log for submissions that are new, or under way again.
    pub(crate) async fn discover(&self) -> AmqpResult<()> {
        loop {
            let after = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let kinds = [kind::SUBMISSION_CREATED, kind::SUBMISSION_REOPENED].map(Name::from).to_vec();
            let filter = EventFilter { kinds, submission: None };
            let events = self.engine.store().read_events(after, filter, EVENTS_AT_ONCE).await?;
            let Some(last) = events.last().map(|event| event.seq) else { return Ok(()) };
            let mut grew = false;
            for event in &events {
                grew |= match (version_in(event), event.submission) {
                    (Some((name, version)), Some(_)) => self.learn_version(name, version).await,
                    (None, Some(submission)) => self.learn([submission].into_iter()).await,
                    (_, None) => self.learn_newest(event).await,
                };
            }
            if grew {
                self.grown.notify_one();
            }
            *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = last;
        }
    }

    /// Makes sure that a version of a workflow is known; true if there is more to declare. One that cannot be read is left
    /// to its submissions, which say so themselves.
    async fn learn_version(&self, name: Name, version: i64) -> bool {
        let new = !self.pinned.lock().unwrap_or_else(PoisonError::into_inner).contains(&(name.clone(), version));
        if !new {
            return false;
        }
        match self.engine.catalog().workflow(&name, Some(version)).await {
            Ok(workflow) => self.learn_workflow(&workflow),
            Err(_) => false,
        }
    }

    /// The workflow of a submission that a program outside tells of, before it is stored here.
    async fn learn_newest(&self, event: &Event) -> bool {
        let data: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
        let name = data.get("workflow").and_then(serde_json::Value::as_str).unwrap_or(DEFAULT_WORKFLOW);
        match self.engine.catalog().workflow(&Name::from(name), None).await {
            Ok(workflow) => self.learn_workflow(&workflow),
            Err(_) => false,
        }
    }

    fn learn_workflow(&self, workflow: &Workflow) -> bool {
        let version = (workflow.name.clone(), workflow.version);
        let new = self.pinned.lock().unwrap_or_else(PoisonError::into_inner).insert(version);
        new && self.grow(|topology| topology.add(workflow))
    }

    /// Jobs may wait in a queue that the newest workflows do not name any more: adds what theirs need.
    async fn add_pinned(&self, stored: &mut Topology) -> AmqpResult<()> {
        let is_recent = |at: Instant| at.elapsed() < LOOK_FOR_PINNED_EVERY;
        if self.looked_at.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(is_recent) {
            return Ok(());
        }
        let known = self.topology();
        let store = self.engine.store();
        for QueueView { queue, .. } in store.queues().await? {
            if queue == *ENGINE_QUEUE || stored.stages.contains_key(&queue) || known.stages.contains_key(&queue) {
                continue;
            }
            let filter = JobFilter { queue: Some(queue), limit: Some(1), ..JobFilter::default() };
            for view in store.jobs(filter).await? {
                if let Ok(info) = self.engine.catalog().submission(view.job.submission).await {
                    stored.add(&info.workflow);
                }
            }
        }
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(())
    }

    /// Makes sure that the workflows which these submissions are pinned to are known. True if one was not, and has queues
    /// or routing keys that are declared from now on.
    pub(crate) async fn learn(&self, submissions: impl Iterator<Item = SubmissionId>) -> bool {
        let mut grew = false;
        let submissions: BTreeSet<SubmissionId> = submissions.collect();
        for submission in submissions {
            let Ok(info) = self.engine.catalog().submission(submission).await else { continue };
            grew |= self.learn_workflow(&info.workflow);
        }
        if grew {
            self.grown.notify_one();
        }
        grew
    }

    /// The queues to publish to.
    pub(crate) fn own_queues(&self) -> Vec<Name> {
        self.topology().own(self.options.queues.as_deref())
    }

    /// The queues to consume: those, and that of new requests.
    pub(crate) fn consumed_queues(&self) -> Vec<Name> {
        let mut queues = self.own_queues();
        let is_wanted =
            self.options.queues.as_ref().is_none_or(|wanted| wanted.iter().any(|one| *one == *ROUTER_QUEUE));
        if is_wanted && self.options.requests.is_some() {
            queues.push(ROUTER_QUEUE.into());
        }
        queues
    }

    /// The queues of programs outside.
    pub(crate) fn outside_queues(&self) -> Vec<Name> {
        self.topology().outside()
    }

    /// The messages of some jobs, in their order; see [`Envelopes::write`].
    pub(crate) async fn messages(
        &self,
        jobs: &[(&Job, Option<Token>)],
        detail: Detail,
    ) -> AmqpResult<Vec<Option<Outgoing>>> {
        let shared_keys = self.topology().shared_keys().into_keys().cloned().collect();
        self.envelopes.write(jobs, detail, &shared_keys).await
    }

    /// Changes whenever the broker knows more.
    pub(crate) fn declarations(&self) -> watch::Receiver<u64> {
        self.declared.subscribe()
    }

    /// A connection with everything declared.
    pub(crate) async fn connect(&self, purpose: &str) -> AmqpResult<Connection> {
        let connection = connect::open(&self.address, purpose).await?;
        self.declare(&connection).await?;
        Ok(connection)
    }

    pub(crate) async fn declare(&self, connection: &Connection) -> AmqpResult<()> {
        let version = self.version.load(Ordering::SeqCst);
        let topology = self.topology();
        let declaring =
            topology::declare(connection, &self.names, &topology, self.options.queue_kind, self.options.message_ttl);
        connect::within_answer_limit(|| connection.status().connected(), declaring).await?;
        self.declared.send_modify(|declared| *declared = version.max(*declared));
        Ok(())
    }

    /// Waits until the broker has every queue and binding that is known by now. A message that is published before would
    /// not be refused where another workflow uses its routing key: it would reach that one's queue alone. False if it
    /// takes too long.
    pub(crate) async fn all_declared(&self) -> bool {
        let version = self.version.load(Ordering::SeqCst);
        let mut declared = self.declared.subscribe();
        let waiting = declared.wait_for(|declared| *declared >= version);
        tokio::time::timeout(DECLARE_WITHIN, waiting).await.is_ok()
    }

    /// The channel to publish on, as soon as there is one.
    pub(crate) async fn publisher(&self) -> Publisher {
        let mut publishers = self.publisher.subscribe();
        loop {
            let publisher = publishers.borrow_and_update().clone();
            match publisher {
                Some(publisher) if publisher.is_open() => return publisher,
                _ => {}
            }
            if publishers.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// The version of a workflow that an event says a submission began with.
fn version_in(event: &Event) -> Option<(Name, i64)> {
    let data: serde_json::Value = serde_json::from_str(&event.data).ok()?;
    Some((Name::from(data.get("workflow")?.as_str()?), data.get("workflowVersion")?.as_i64()?))
}
