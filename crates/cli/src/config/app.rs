//! An open store with its engine.

use super::places::BlobPlace;
use crate::{
    circuits,
    councils::{Bench, Councils},
    failure::Failure,
};
use anyhow::Context as _;
use bindery_core::{ContentHash, Name};
use bindery_engine::{
    Engine, Parts, Registry,
    machines::Machines,
    runner::{ChildCommand, MOST_WORKERS, Processes},
    workflow::{Stage, Workflow},
};
use bindery_models::ModelsConfig;
use bindery_pipeline::reading::IsolatedReader;
use bindery_store::{Store, blobs::Blobs};
use std::{collections::BTreeSet, path::Path, sync::Arc};

#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    blobs: BlobPlace,
    /// What reads councils' documents, where work is done.
    councils: Option<Bench>,
}

/// What is done with a store besides looking.
#[derive(Debug)]
pub(super) struct Work {
    /// Workers run what may hang, crash or swell in such processes.
    pub(super) child: ChildCommand,
    /// What reading a file may take in one of them, in bytes.
    pub(super) memory: u64,
    pub(super) councils: Councils,
    pub(super) models: Option<ModelsConfig>,
}

impl App {
    /// Without work, to look only.
    pub(super) fn new(
        store: Arc<dyn Store>,
        (blobs, opened): (BlobPlace, Arc<dyn Blobs>),
        mut registry: Registry,
        work: Option<Work>,
    ) -> anyhow::Result<Self> {
        let Some(Work { child, memory, councils, models }) = work else {
            return Ok(Self { engine: Engine::new(Parts::new(store, opened, registry)), blobs, councils: None });
        };
        // Children are started when they are needed, one for each thread of a worker at most.
        let children = Processes::new(child.clone(), MOST_WORKERS).with_blob_folder(blobs.path()).with_memory(memory);
        // Councils' documents are read by more threads than there are cores; more children would only take memory.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let opener = Arc::new(IsolatedReader::new(Processes::new(child, cores).with_memory(memory)));
        let councils = councils.register(models.as_ref(), &store, &opened, &mut registry, opener)?;
        circuits::record(&store);
        let parts = Parts::new(store, opened, registry).with_isolation(children);
        Ok(Self { engine: Engine::new(parts), blobs, councils: Some(councils) })
    }

    /// What reads councils' documents. There is none where a store is only looked at.
    pub(crate) fn councils(&self) -> anyhow::Result<&Bench> {
        self.councils.as_ref().context("the store was opened to look at it, not to work")
    }

    /// Stores the machines that ship. One that the user has stored under the same name stays.
    pub(super) async fn register_shipped_machines(&self) -> anyhow::Result<()> {
        for (name, text) in bindery_pipeline::functions::MACHINES {
            let name = Name::from(name);
            if self.store().machine(&name, None).await?.is_none() {
                self.store().put_machine(&name, text).await?;
            }
        }
        Ok(())
    }

    pub(crate) fn machines(&self) -> Machines {
        Machines::new(Arc::clone(self.engine.store()))
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &**self.engine.store()
    }

    /// With the blobs of this store, which a child opens by itself.
    pub(crate) fn processes(&self, child: ChildCommand, workers: usize) -> Processes {
        Processes::new(child, workers).with_blob_folder(self.blobs.path())
    }

    /// The folder that the blobs are in, if it is one.
    pub(crate) fn blob_folder(&self) -> Option<&Path> {
        self.blobs.folder()
    }

    /// Where a blob is kept, to show.
    pub(crate) fn blob_location(&self, hash: ContentHash) -> String {
        self.blobs.of(hash)
    }

    /// Every queue that work can wait in: those of the stored workflows, and those that hold jobs.
    pub(crate) async fn queues(&self) -> anyhow::Result<BTreeSet<Name>> {
        let mut queues: BTreeSet<Name> = self.store().queues().await?.into_iter().map(|view| view.queue).collect();
        for stored in self.store().workflows().await? {
            let workflow = Workflow::parse(&stored.text, Some(&stored.name))?;
            queues.extend(workflow.stages.iter().map(Stage::queue));
        }
        Ok(queues)
    }

    /// The queues that the work of a stage waits in. Several workflows may have a stage of the name; `words/count` is
    /// that of one.
    pub(crate) async fn queues_of_stage(&self, named: &str) -> anyhow::Result<BTreeSet<Name>> {
        let (mut queues, mut known) = (BTreeSet::new(), BTreeSet::new());
        for stored in self.store().workflows().await? {
            let workflow = Workflow::parse(&stored.text, Some(&stored.name))?;
            for stage in &workflow.stages {
                let whole = format!("{}/{}", workflow.name, stage.name);
                if *named == *stage.name || *named == *whole {
                    queues.insert(stage.queue());
                }
                known.insert(whole);
            }
        }
        if queues.is_empty() {
            let known: Vec<String> = known.into_iter().collect();
            return Err(Failure::usage(format!("there is no stage {named:?}; known are {}", known.join(", "))).into());
        }
        Ok(queues)
    }

    /// The queue that a person means: its name, or that of its component.
    pub(crate) async fn queue_named(&self, named: &str) -> anyhow::Result<Name> {
        let known = self.queues().await?;
        let of_component = format!("q.{named}");
        let found = known.iter().find(|queue| **queue == *named || **queue == *of_component);
        found.cloned().ok_or_else(|| {
            let known: Vec<&str> = known.iter().map(Name::as_str).collect();
            Failure::usage(format!("there is no queue {named:?}; known are {}", known.join(", "))).into()
        })
    }
}
