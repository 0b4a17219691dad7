//! The engine's handle: the parts that everything else works with.

use crate::{
    catalog::Catalog,
    error::{EngineError, EngineResult},
    ids::IdPool,
    processor::Registry,
    runner::{Processes, processes::Options},
    workflow::Workflow,
};
use bindery_core::{
    Clock, Name, Payload,
    fault::{Faults, NoFaults},
};
use bindery_store::{
    Store, StoreError,
    blobs::{Blobs, BlobsExt},
};
use serde_json::Value;
use std::sync::Arc;
use tokio::task::JoinSet;

/// What an engine is made of.
#[derive(Debug, Clone)]
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub blobs: Arc<dyn Blobs>,
    pub registry: Registry,
    pub clock: Arc<dyn Clock>,
    pub faults: Arc<dyn Faults>,
    /// Where workers run what may hang, crash or swell; without it, on their own threads.
    pub isolation: Option<Processes>,
}

impl Parts {
    /// With the store's clock, without faults and without isolation.
    pub fn new(store: Arc<dyn Store>, blobs: Arc<dyn Blobs>, registry: Registry) -> Self {
        let (clock, faults) = (store.clock(), Arc::new(NoFaults));
        Self { store, blobs, registry, clock, faults, isolation: None }
    }

    #[must_use]
    pub fn with_isolation(mut self, processes: Processes) -> Self {
        // A job that fails is tried again by the engine, which keeps count of it.
        let once = Options { tries: 1, ..processes.options().clone() };
        self.isolation = Some(processes.with_options(once));
        self
    }
}

#[derive(Debug)]
struct Inner {
    parts: Parts,
    catalog: Catalog,
    ids: IdPool,
}

/// A cheap handle; copies share everything.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

impl Engine {
    pub fn new(parts: Parts) -> Self {
        let catalog = Catalog::new(Arc::clone(&parts.store));
        let ids = IdPool::new(Arc::clone(&parts.store));
        Self(Arc::new(Inner { parts, catalog, ids }))
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.parts.store
    }

    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.0.parts.blobs
    }

    pub fn registry(&self) -> &Registry {
        &self.0.parts.registry
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.parts.clock
    }

    pub fn isolation(&self) -> Option<&Processes> {
        self.0.parts.isolation.as_ref()
    }

    pub fn faults(&self) -> &Arc<dyn Faults> {
        &self.0.parts.faults
    }

    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    pub fn ids(&self) -> &IdPool {
        &self.0.ids
    }

    /// Checks a workflow's text and stores it as the version that it names.
    pub async fn register_workflow(&self, text: &str, file: Option<&str>) -> EngineResult<Arc<Workflow>> {
        let workflow = Workflow::parse(text, file)?;
        self.store().put_workflow(&workflow.name, workflow.version, text).await?;
        self.catalog().workflow(&workflow.name, Some(workflow.version)).await
    }

    /// Stores the workflows that are shipped. One that the user has stored under the same name and version stays.
    pub async fn register_builtin_workflows(&self) -> EngineResult<()> {
        // All at the same time: the store then waits for the disk once.
        let mut storing = JoinSet::new();
        for (name, text) in self.registry().shipped_workflows() {
            let version = Workflow::parse(text, Some(name))?.version;
            let (store, name, text) = (Arc::clone(self.store()), Name::from(name), text.to_owned());
            storing.spawn(async move {
                match store.workflow(&name, Some(version)).await? {
                    Some(_) => Ok(()),
                    None => store.put_workflow(&name, version, &text).await,
                }
            });
        }
        while let Some(stored) = storing.join_next().await {
            stored.unwrap_or(Err(StoreError::Closed))?;
        }
        Ok(())
    }

    /// Every processor that runs here must be known before the first submission needs it.
    pub fn check_processors(&self, workflow: &Workflow) -> EngineResult<()> {
        let needed = workflow.stages.iter().flat_map(|stage| &stage.processors).filter(|needed| !needed.external);
        let mut missing: Vec<String> = needed
            .filter(|needed| self.registry().get(&needed.name).is_none())
            .map(|needed| needed.name.to_string())
            .collect();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        Err(EngineError::UnknownProcessors {
            workflow: workflow.name.to_string(),
            missing,
            known: self.registry().names(),
        })
    }

    /// A payload's value, wherever it is kept.
    pub async fn read_payload(&self, payload: &Payload) -> EngineResult<Value> {
        match payload {
            Payload::Inline(text) => {
                serde_json::from_str(text).map_err(|error| EngineError::Invalid(format!("stored payload: {error}")))
            }
            Payload::Blob(hash) => Ok(self.blobs().get_json(*hash).await?),
        }
    }

    /// A value as a payload: inside the row when it is small, in the blob store when it is not.
    pub async fn store_payload(&self, value: &Value) -> EngineResult<Payload> {
        let inline = Payload::Inline(value.to_string());
        if inline.is_large() { Ok(Payload::Blob(self.blobs().put_json(value).await?.hash)) } else { Ok(inline) }
    }
}
