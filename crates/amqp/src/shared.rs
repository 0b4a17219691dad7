//! What the parts of a transport share.

use crate::{
    connect,
    envelope::Envelopes,
    error::AmqpResult,
    inbox::Inbox,
    options::{Address, AmqpOptions},
    outstanding::Outstanding,
    publisher::Publisher,
    topology::{self, Names, Topology},
};
use bindery_core::{Name, SubmissionId, job::ENGINE_QUEUE};
use bindery_engine::Engine;
use bindery_store::query::{JobFilter, QueueView};
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
        shared.refresh().await?;
        Ok(shared)
    }

    pub(crate) fn topology(&self) -> Topology {
        self.topology.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the stored workflows again; true if there is something new. What was there stays: submissions may be
    /// pinned to older versions.
    pub(crate) async fn refresh(&self) -> AmqpResult<bool> {
        let mut stored = Topology::of_stored(&self.engine).await?;
        self.add_pinned(&mut stored).await?;
        let mut topology = self.topology.lock().unwrap_or_else(PoisonError::into_inner);
        let grew = topology.merge(stored);
        self.version.fetch_add(u64::from(grew), Ordering::SeqCst);
        let wanted = self.options.queues.as_deref();
        let outside = topology.outside().into_iter().filter(|queue| wanted.is_none_or(|wanted| wanted.contains(queue)));
        self.inbox.set_queues(topology.own(wanted), outside.collect());
        Ok(grew)
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
            let version = (info.workflow.name.clone(), info.workflow.version);
            if self.pinned.lock().unwrap_or_else(PoisonError::into_inner).insert(version) {
                grew |= self.topology.lock().unwrap_or_else(PoisonError::into_inner).add(&info.workflow);
            }
        }
        if grew {
            self.version.fetch_add(1, Ordering::SeqCst);
            self.grown.notify_one();
        }
        grew
    }

    /// The queues to publish to and to consume.
    pub(crate) fn own_queues(&self) -> Vec<Name> {
        self.topology().own(self.options.queues.as_deref())
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
        let declaring = topology::declare(connection, &self.names, &topology, self.options.message_ttl);
        connect::answered(declaring).await?;
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
