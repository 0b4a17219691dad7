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
use bindery_core::Name;
use bindery_engine::Engine;
use lapin::Connection;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) options: AmqpOptions,
    pub(crate) address: Address,
    pub(crate) names: Names,
    pub(crate) envelopes: Envelopes,
    pub(crate) outstanding: Arc<Outstanding>,
    pub(crate) inbox: Arc<Inbox>,
    topology: Mutex<Topology>,
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
        let stored = Topology::of_stored(&self.engine).await?;
        let mut topology = self.topology.lock().unwrap_or_else(PoisonError::into_inner);
        let grew = topology.merge(stored);
        let wanted = self.options.queues.as_deref();
        let outside = topology.outside().into_iter().filter(|queue| wanted.is_none_or(|wanted| wanted.contains(queue)));
        self.inbox.set_outside(outside.collect());
        Ok(grew)
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
        topology::declare(connection, &self.names, &self.topology(), self.options.message_ttl).await
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
