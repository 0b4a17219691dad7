//! Making a store, finding one, waiting for one.
//!
//! Commands that put something in make what is missing; those that only look never do. A database that cannot be
//! reached is tried for a few seconds, because it may be starting; a worker, which is started and forgotten, goes on
//! trying. Blobs that should be there and are not are an error: a share that is not mounted must not become an empty
//! folder.

use super::{
    app::{App, Work},
    places::{BlobPlace, StorePlace},
    privacy,
    settings::Settings,
};
use crate::{councils::Councils, exit::Exit, failure::Failure, output, processors::Processors};
use bindery_civic::records::DOMAINS;
use bindery_engine::{EngineError, Registry};
use bindery_files::private;
use bindery_store::{
    Store, StoreError, StoreResult,
    postgres::{PostgresOptions, PostgresStore},
    sqlite::{Options, SqliteStore},
};
use std::{
    io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// How long a command that somebody waits for tries to reach a database, and how long one try may take.
const A_FEW_SECONDS: Duration = Duration::from_secs(4);

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// How long to try to reach a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    AFewSeconds,
    NoEnd,
}

/// Whether what is missing is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    IsMade,
    StaysMissing,
}

impl Settings {
    /// Opens the store, or makes it, and stores the workflows that ship and those of the user.
    pub(crate) async fn create(&self) -> anyhow::Result<App> {
        self.create_with(&self.known_processors()?).await
    }

    /// The same with processors that are known already.
    pub(crate) async fn create_with(&self, processors: &Processors) -> anyhow::Result<App> {
        self.make(processors, Patience::AFewSeconds, Councils::default()).await
    }

    /// Opens the store, or makes it, with nothing in it.
    pub(crate) async fn create_bare(&self) -> anyhow::Result<App> {
        let place = self.store_place()?;
        let (blobs, registry) = (self.blob_place(&place)?, bindery_pipeline::registry());
        let opened = self.open(&place, blobs, Missing::IsMade, Patience::AFewSeconds, registry, None).await?;
        Ok(opened.ok_or_else(|| no_store(&place))?)
    }

    /// The same, but waits for a database for as long as it takes.
    pub(crate) async fn create_patiently(&self) -> anyhow::Result<App> {
        self.create_patiently_for(Councils::default()).await
    }

    /// The same, to read councils' documents in this way.
    pub(crate) async fn create_patiently_for(&self, councils: Councils) -> anyhow::Result<App> {
        let processors = self.known_processors()?;
        patiently(|| self.make(&processors, Patience::NoEnd, councils.clone())).await
    }

    async fn make(&self, processors: &Processors, patience: Patience, councils: Councils) -> anyhow::Result<App> {
        // Bad workflows are told before anything is made.
        let own = self.own_workflows()?;
        let place = self.store_place()?;
        let blobs = self.blob_place(&place)?;
        let (registry, work) = (processors.registry().clone(), Some(self.work(councils)?));
        let opened = self.open(&place, blobs, Missing::IsMade, patience, registry, work).await?;
        let app = opened.ok_or_else(|| no_store(&place))?;
        app.engine.register_builtin_workflows().await?;
        app.register_shipped_machines().await?;
        for loaded in own {
            app.engine.register_workflow(&loaded.text, Some(&loaded.file.display().to_string())).await?;
        }
        Ok(app)
    }

    /// Opens the store that is there. Looking at nothing must not make a store, and does not need the user's processors.
    pub(crate) async fn existing(&self) -> anyhow::Result<App> {
        self.open_existing(bindery_pipeline::registry()).await
    }

    /// Opens the store that is there, to run these processors.
    pub(crate) async fn existing_with(&self, processors: &Processors) -> anyhow::Result<App> {
        self.open_existing(processors.registry().clone()).await
    }

    /// Opens the store that is there, to read councils' documents in this way.
    pub(crate) async fn existing_for(&self, councils: Councils) -> anyhow::Result<App> {
        let place = self.store_place()?;
        let (blobs, registry) = (self.blob_place(&place)?, self.known_processors()?.registry().clone());
        let work = Some(self.work(councils)?);
        let opened = self.open(&place, blobs, Missing::StaysMissing, Patience::AFewSeconds, registry, work).await?;
        let app = opened.ok_or_else(|| no_store(&place))?;
        app.engine.register_builtin_workflows().await?;
        Ok(app)
    }

    fn work(&self, councils: Councils) -> anyhow::Result<Work> {
        Ok(Work { child: self.child_command()?, memory: self.reading.memory, councils, models: self.models().cloned() })
    }

    async fn open_existing(&self, registry: Registry) -> anyhow::Result<App> {
        let place = self.store_place()?;
        self.find(&place, registry).await?.ok_or_else(|| no_store(&place).into())
    }

    /// The store if there is one.
    pub(crate) async fn if_existing(&self) -> anyhow::Result<Option<App>> {
        self.find(&self.store_place()?, bindery_pipeline::registry()).await
    }

    async fn find(&self, place: &StorePlace, registry: Registry) -> anyhow::Result<Option<App>> {
        let blobs = self.blob_place(place)?;
        self.open(place, blobs, Missing::StaysMissing, Patience::AFewSeconds, registry, None).await
    }

    /// None where there is no store, and none is made.
    async fn open(
        &self,
        place: &StorePlace,
        blobs: BlobPlace,
        missing: Missing,
        patience: Patience,
        registry: Registry,
        work: Option<Work>,
    ) -> anyhow::Result<Option<App>> {
        let (store, is_read_only): (Arc<dyn Store>, bool) = match place {
            StorePlace::Folder(folder) => match open_folder(folder, place, &blobs, missing)? {
                Some(store) => {
                    let is_read_only = store.is_read_only();
                    (Arc::new(store), is_read_only)
                }
                None => return Ok(None),
            },
            StorePlace::Postgres(options) => match open_postgres(options, &blobs, missing, patience).await? {
                Some(store) => (Arc::new(store), false),
                None => return Ok(None),
            },
        };
        let opened = if is_read_only { blobs.open_to_read().await? } else { blobs.open().await? };
        if missing == Missing::IsMade {
            privacy::warn(place, &blobs);
        }
        App::new(store, (blobs, opened), registry, work).map(Some)
    }
}

fn no_store(place: &StorePlace) -> Failure {
    Failure::new(Exit::StoreUnavailable, format!("there is no store in {place}"))
        .hint("`bindery run PATHS…` makes one; --store or BINDERY_STORE names another place")
}

fn open_folder(
    folder: &Path,
    place: &StorePlace,
    blobs: &BlobPlace,
    missing: Missing,
) -> anyhow::Result<Option<SqliteStore>> {
    let path = StorePlace::database(folder);
    let is_there = path.is_file();
    if !is_there {
        if missing == Missing::StaysMissing {
            return Ok(None);
        }
        private::create_folder(folder).map_err(|error| cannot_make(folder, &error))?;
    }
    // Those in the folder itself cannot be mistaken for others.
    if is_there && *blobs != BlobPlace::beside(place)? {
        must_have_blobs(blobs)?;
    }
    let options = Options { domains: DOMAINS, ..Options::at(path) };
    Ok(Some(match missing {
        Missing::IsMade => SqliteStore::open(options)?,
        Missing::StaysMissing => SqliteStore::open_existing(options)?,
    }))
}

fn cannot_make(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("the folder {} cannot be made: {error}", folder.display());
    Failure::new(Exit::StoreUnavailable, message).hint("name another folder with --store or BINDERY_STORE")
}

async fn open_postgres(
    options: &PostgresOptions,
    blobs: &BlobPlace,
    missing: Missing,
    patience: Patience,
) -> anyhow::Result<Option<PostgresStore>> {
    let options = match patience {
        Patience::AFewSeconds => PostgresOptions { connect_within: A_FEW_SECONDS, domains: DOMAINS, ..options.clone() },
        Patience::NoEnd => PostgresOptions { domains: DOMAINS, ..options.clone() },
    };
    let found = reach(patience, || PostgresStore::open_existing(options.clone())).await;
    match found {
        Ok(Some(store)) => {
            must_have_blobs(blobs)?;
            Ok(Some(store))
        }
        Ok(None) if missing == Missing::StaysMissing => Ok(None),
        // The blobs first: whoever finds the store finds them, too.
        Ok(None) => {
            blobs.open().await?;
            Ok(Some(reach(patience, || PostgresStore::open(options.clone())).await?))
        }
        Err(StoreError::Older { .. }) if missing == Missing::IsMade => {
            must_have_blobs(blobs)?;
            Ok(Some(reach(patience, || PostgresStore::open(options.clone())).await?))
        }
        Err(error) => Err(error.into()),
    }
}

/// Opens, again and again while nobody answers.
async fn reach<T, F: Future<Output = StoreResult<T>>>(patience: Patience, open: impl Fn() -> F) -> StoreResult<T> {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match open().await {
            Err(error @ StoreError::Unreachable { .. }) => error,
            decided => return decided,
        };
        if patience == Patience::AFewSeconds && begun.elapsed() + pause > A_FEW_SECONDS {
            return Err(error);
        }
        if patience == Patience::NoEnd {
            output::note(format!("{error}; trying again in {}", output::duration(pause)));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Does something with a store, again and again while it cannot be used: its server is away or goes away meanwhile, its
/// disk is full, others keep it locked. For what is started and forgotten.
pub(crate) async fn patiently<T, F: Future<Output = anyhow::Result<T>>>(work: impl Fn() -> F) -> anyhow::Result<T> {
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match work().await {
            Err(error) if is_passing(&error) => error,
            decided => return decided,
        };
        output::note(format!("{error:#}; trying again in {}", output::duration(pause)));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether a store that cannot be used may be used again without anybody changing what it was opened with.
fn is_passing(error: &anyhow::Error) -> bool {
    let of_store = |error: &StoreError| {
        matches!(error, StoreError::Unreachable { .. } | StoreError::Full { .. } | StoreError::Locked { .. })
    };
    match (error.downcast_ref::<StoreError>(), error.downcast_ref::<EngineError>()) {
        (Some(error), _) | (None, Some(EngineError::Store(error))) => of_store(error),
        _ => false,
    }
}

/// A store that is there has blobs where they are said to be.
fn must_have_blobs(blobs: &BlobPlace) -> anyhow::Result<()> {
    let Some(folder) = blobs.folder() else { return Ok(()) };
    if folder.join("sha256").is_dir() {
        return Ok(());
    }
    let message = format!("there are no blobs in {}, and the store is in use already", folder.display());
    let hint = "is the share mounted on this machine? To keep the blobs in another place, copy the folder there first";
    Err(Failure::new(Exit::StoreUnavailable, message).hint(hint).into())
}
