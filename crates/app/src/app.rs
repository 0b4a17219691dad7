//! An open store with its engine.

use crate::{
    circuits,
    councils::{CouncilParts, Councils},
    error::{AppError, AppResult, SettingsError},
    notice::{Notice, Observer},
    opening::BlobPlace,
};
use bindery_civic::records::CivicRecords;
use bindery_core::{ContentHash, Name};
use bindery_engine::{
    Engine, Parts, Registry,
    machines::Machines,
    runner::{ChildCommand, MOST_WORKERS, Processes, processes::Options},
};
use bindery_models::{ModelsConfig, stored::open_models};
use bindery_pipeline::{documents::ModelTier, reading::IsolatedReader};
use bindery_store::{
    Store, StoreError,
    blobs::{Blobs, BlobsPlace},
};
use std::{path::Path, sync::Arc};
use tokio::task::JoinSet;

/// An open store with its engine. Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct App {
    pub engine: Engine,
    blobs: BlobPlace,
    blobs_for_children: BlobsPlace,
    /// What reads councils' documents, where work is done.
    councils: Option<CouncilParts>,
    observer: Arc<dyn Observer>,
}

/// The blobs of a store that is opened.
#[derive(Debug)]
pub(crate) struct AppBlobs {
    pub(crate) place: BlobPlace,
    pub(crate) for_children: BlobsPlace,
    pub(crate) opened: Arc<dyn Blobs>,
}

/// What is done with a store besides looking.
#[derive(Debug)]
pub(crate) struct Work {
    /// Workers run what may hang, crash or swell in such processes.
    pub(crate) child: ChildCommand,
    /// What reading a file may take in one of them, in bytes.
    pub(crate) memory: u64,
    pub(crate) councils: Councils,
    pub(crate) models: Option<ModelsConfig>,
    /// Where the stages that read fields look for it.
    pub(crate) model_tier: Arc<ModelTier>,
}

impl App {
    /// Without work, to look only.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        AppBlobs { place, for_children, opened }: AppBlobs,
        mut registry: Registry,
        work: Option<Work>,
        observer: Arc<dyn Observer>,
    ) -> AppResult<Self> {
        registry.register_workflow(bindery_civic::WORKFLOW);
        registry.register_workflow(bindery_civic::NOTICES_WORKFLOW);
        let Some(Work { child, memory, councils, models, model_tier }) = work else {
            let engine = Engine::new(Parts::new(store, opened, registry));
            return Ok(Self { engine, blobs: place, blobs_for_children: for_children, councils: None, observer });
        };
        // Children are started when they are needed, one for each thread of a worker at most.
        let options = Options { memory, ..Options::default() };
        let with_blobs = Options { blobs: Some(for_children.clone()), ..options.clone() };
        let children = Processes::new(child.clone(), MOST_WORKERS).with_options(with_blobs);
        // Councils' documents are read by more threads than there are cores; more children would only take memory.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let opener = Arc::new(IsolatedReader::new(Processes::new(child, cores).with_options(options)));
        // One client for all: its limits and its money are those of all who ask.
        let models = models.map(|config| open_models(&config, Arc::clone(&store))).transpose();
        let models = models.map_err(|error| SettingsError::Models(error.to_string()))?;
        if let Some(models) = &models {
            model_tier.open(Arc::clone(models));
        }
        let councils = councils.register(models, &store, &opened, &mut registry, opener);
        circuits::record(&store);
        let parts = Parts::new(store, opened, registry).with_isolation(children);
        let engine = Engine::new(parts);
        Ok(Self { engine, blobs: place, blobs_for_children: for_children, councils: Some(councils), observer })
    }

    /// What reads councils' documents. There is none where a store is only looked at.
    pub fn councils(&self) -> AppResult<&CouncilParts> {
        self.councils.as_ref().ok_or(AppError::OpenedToLook)
    }

    /// Stores the machines that ship. One that the user has stored under the same name stays.
    pub(crate) async fn register_shipped_machines(&self) -> AppResult<()> {
        // All at the same time: the store then waits for the disk once.
        let mut storing = JoinSet::new();
        for (name, text) in bindery_pipeline::functions::MACHINES {
            let (store, name) = (Arc::clone(self.engine.store()), Name::from(name));
            storing.spawn(async move {
                match store.machine(&name, None).await? {
                    Some(_) => Ok(()),
                    None => store.put_machine(&name, text).await.map(drop),
                }
            });
        }
        while let Some(stored) = storing.join_next().await {
            stored.unwrap_or(Err(StoreError::Closed))?;
        }
        Ok(())
    }

    pub fn machines(&self) -> Machines {
        Machines::new(Arc::clone(self.engine.store()))
    }

    /// What the store knows of councils.
    pub fn civic(&self) -> CivicRecords<'_> {
        CivicRecords::new(self.store())
    }

    pub fn store(&self) -> &dyn Store {
        &**self.engine.store()
    }

    /// With the blobs of this store, which a child opens by itself.
    pub fn processes(&self, child: ChildCommand, workers: usize) -> Processes {
        let options = Options { blobs: Some(self.blobs_for_children.clone()), ..Options::default() };
        Processes::new(child, workers).with_options(options)
    }

    /// The folder that the blobs are in, if it is one.
    pub fn blob_folder(&self) -> Option<&Path> {
        self.blobs.folder()
    }

    /// Where a blob is kept, to show.
    pub fn blob_location(&self, hash: ContentHash) -> String {
        self.blobs.location(hash)
    }

    /// Tells whoever listens.
    pub fn notify(&self, notice: &Notice) {
        self.observer.notice(notice);
    }

    /// Who is told.
    pub fn observer(&self) -> &dyn Observer {
        &*self.observer
    }

    pub(crate) fn shared_observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.observer)
    }
}
