//! Settings that every command shares, and the store that they lead to. A flag wins over the environment, which wins
//! over the default.

use crate::{circuits, env_vars, exit::Exit, failure::Failure, output, processors::Processors};
use bindery_core::Name;
use bindery_engine::{
    Engine, Parts, Registry,
    runner::{ChildCommand, MOST_WORKERS, Processes},
    workflow::{LoadedWorkflow, Workflow, load_dir},
};
use bindery_store::{
    Store, StoreError,
    blobs::{Blobs, LocalBlobs},
    sqlite::{Options, SqliteStore},
};
use clap::Args;
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tracing_subscriber::EnvFilter;

const DATABASE: &str = "bindery.db";
const BLOBS: &str = "blobs";

/// Set apart from what a command itself can be told.
const EVERYWHERE: &str = "Options of every command";

#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    /// The folder that everything is kept in
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::STORE, default_value = "bindery-data", value_name = "FOLDER", hide_env = true)]
    pub(crate) store: String,

    /// A folder with workflows of your own (*.yaml)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::WORKFLOWS, value_name = "FOLDER", hide_env = true)]
    pub(crate) workflows: Option<PathBuf>,

    /// A folder with processors of your own (*.yaml)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::PROCESSORS, value_name = "FOLDER", hide_env = true)]
    pub(crate) processors: Option<PathBuf>,

    /// What is logged to stderr: error, warn, info, debug, trace, or a filter for each module
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::LOG, default_value = "warn", value_name = "FILTER", hide_env = true)]
    pub(crate) log: String,
}

impl Settings {
    pub(crate) fn start_logging(&self) -> anyhow::Result<()> {
        let filter = EnvFilter::try_new(&self.log).map_err(|error| {
            Failure::usage(format!("--log or {}: {:?} is not a filter: {error}", env_vars::LOG, self.log))
                .hint("try error, warn, info or debug")
        })?;
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(output::LogWriter::default)
            .with_ansi(output::colours())
            .init();
        Ok(())
    }

    /// The folder, which may not exist yet.
    pub(crate) fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some((scheme, _)) = self.store.split_once("://") {
            let message = format!("{scheme}:// cannot be used as a store yet; only a folder is supported");
            return Err(Failure::new(Exit::StoreUnavailable, message)
                .hint("set BINDERY_STORE or --store to a folder, or leave both out for ./bindery-data")
                .into());
        }
        if self.store.is_empty() {
            return Err(Failure::usage(format!("{} or --store is empty, expected a folder", env_vars::STORE)).into());
        }
        let folder = PathBuf::from(&self.store);
        if folder.is_file() {
            let message = format!("{} is a file, expected a folder", folder.display());
            return Err(Failure::new(Exit::StoreUnavailable, message).into());
        }
        Ok(folder)
    }

    /// Opens the store, or makes it, and stores the workflows that ship and those of the user.
    pub(crate) async fn create(&self) -> anyhow::Result<App> {
        self.create_with(&self.known_processors()?).await
    }

    /// The same with processors that are known already.
    pub(crate) async fn create_with(&self, processors: &Processors) -> anyhow::Result<App> {
        // Bad workflows are told before anything is made.
        let own = self.own_workflows()?;
        let folder = self.folder()?;
        fs::create_dir_all(&folder).map_err(|error| cannot_make(&folder, &error))?;
        let app = App::open(folder, processors.registry().clone(), Some(self.child_command()?))?;
        app.engine.register_builtin_workflows().await?;
        for loaded in own {
            app.engine.register_workflow(&loaded.text, Some(&loaded.file.display().to_string())).await?;
        }
        Ok(app)
    }

    /// Opens the store that is there. Looking at nothing must not make a store, and does not need the user's processors.
    pub(crate) fn existing(&self) -> anyhow::Result<App> {
        self.open_existing(bindery_pipeline::registry())
    }

    /// Opens the store that is there, to run these processors.
    pub(crate) fn existing_with(&self, processors: &Processors) -> anyhow::Result<App> {
        self.open_existing(processors.registry().clone())
    }

    fn open_existing(&self, registry: Registry) -> anyhow::Result<App> {
        let folder = self.folder()?;
        if !folder.join(DATABASE).is_file() {
            let message = format!("there is no store in {}", folder.display());
            return Err(Failure::new(Exit::StoreUnavailable, message)
                .hint("`bindery run PATHS…` makes one; --store or BINDERY_STORE names another folder")
                .into());
        }
        App::open(folder, registry, None)
    }

    /// The store if there is one.
    pub(crate) fn if_existing(&self) -> anyhow::Result<Option<App>> {
        if self.folder()?.join(DATABASE).is_file() { self.existing().map(Some) } else { Ok(None) }
    }

    /// This program again, with the same processors, to run steps in.
    pub(crate) fn child_command(&self) -> anyhow::Result<ChildCommand> {
        let mut args: Vec<OsString> = vec!["--log".into(), self.log.clone().into()];
        if let Some(folder) = &self.processors {
            args.extend(["--processors".into(), folder.into()]);
        }
        args.push("child".into());
        Ok(ChildCommand::own(args)?)
    }

    pub(crate) fn own_workflows(&self) -> anyhow::Result<Vec<LoadedWorkflow>> {
        let Some(folder) = &self.workflows else { return Ok(Vec::new()) };
        Ok(load_dir(folder).map_err(|error| {
            Failure::usage(error.to_string()).hint(format!("{} or --workflows names this folder", env_vars::WORKFLOWS))
        })?)
    }
}

fn cannot_make(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("the folder {} cannot be made: {error}", folder.display());
    Failure::new(Exit::StoreUnavailable, message).hint("name another folder with --store or BINDERY_STORE")
}

/// An open store with its engine.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    folder: PathBuf,
}

impl App {
    /// With `child`, workers run what may hang, crash or swell in processes of its own.
    fn open(folder: PathBuf, registry: Registry, child: Option<ChildCommand>) -> anyhow::Result<Self> {
        let path = folder.join(DATABASE);
        // SQLite would say only that it cannot open it.
        if let Err(error) = fs::OpenOptions::new().append(true).create(true).open(&path) {
            let detail = error.to_string();
            return Err(StoreError::NotWritable { path, detail }.into());
        }
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(Options::at(path))?);
        let blobs: Arc<dyn Blobs> = Arc::new(LocalBlobs::open(folder.join(BLOBS))?);
        let mut parts = Parts::new(store, blobs, registry);
        if let Some(child) = child {
            circuits::record(&parts.store);
            // Children are started when they are needed, one for each thread of a worker at most.
            let processes = Processes::new(child, MOST_WORKERS).with_blob_folder(folder.join(BLOBS));
            parts = parts.with_isolation(processes);
        }
        let engine = Engine::new(parts);
        Ok(Self { engine, folder })
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &**self.engine.store()
    }

    /// The folder of the blobs, for processes that open it themselves.
    pub(crate) fn blob_folder(&self) -> PathBuf {
        self.folder.join(BLOBS)
    }

    /// Where a blob is kept, to show.
    pub(crate) fn blob_path(&self, hash: bindery_core::ContentHash) -> PathBuf {
        let digits = hash.to_string();
        let (first, rest) = digits.split_at(2);
        self.blob_folder().join("sha256").join(first).join(rest)
    }

    /// Every queue that work can wait in: those of the stored workflows, and those that hold jobs.
    pub(crate) async fn queues(&self) -> anyhow::Result<BTreeSet<Name>> {
        let mut queues: BTreeSet<Name> = self.store().queues().await?.into_iter().map(|view| view.queue).collect();
        for stored in self.store().workflows().await? {
            let workflow = Workflow::parse(&stored.text, Some(&stored.name))?;
            queues.extend(workflow.stages.iter().map(bindery_engine::workflow::Stage::queue));
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
