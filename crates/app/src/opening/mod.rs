//! Making a store, finding one, waiting for one.
//!
//! Commands that put something in make what is missing; those that only look never do. A database that cannot be
//! reached is tried for a few seconds, because it may be starting; a worker, which is started and forgotten, goes on
//! trying. Blobs that should be there and are not are an error: a share that is not mounted must not become an empty
//! folder.

mod places;
mod privacy;

pub(crate) use places::{BlobPlace, StorePlace, open_blobs_blocking};

use crate::{
    app::{App, AppBlobs, Work},
    councils::Councils,
    error::{AppResult, OpenError},
    notice::{Notice, Observer},
    processors::Processors,
    settings::Settings,
};
use bindery_civic::records::DOMAINS;
use bindery_core::Backoff;
use bindery_engine::Registry;
use bindery_files::private;
use bindery_store::{
    Store, StoreError, StoreResult,
    blobs::LayeredBlobs,
    postgres::{PostgresOptions, PostgresStore},
    sqlite::{Options, SqliteStore},
};
use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// How long a command that somebody waits for tries to reach a database, and how long one try may take.
const A_FEW_SECONDS: Duration = Duration::from_secs(4);

/// Between two tries of a store that cannot be used at the moment.
const PAUSES: Backoff = Backoff::doubling(Duration::from_millis(250), Duration::from_secs(15)).exact();

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
    pub async fn create(&self) -> AppResult<App> {
        self.create_with(&self.known_processors()?).await
    }

    /// The same with processors that are known already.
    pub async fn create_with(&self, processors: &Processors) -> AppResult<App> {
        self.make(processors, Patience::AFewSeconds, Councils::default()).await
    }

    /// Opens the store, or makes it, with nothing in it.
    pub async fn create_bare(&self) -> AppResult<App> {
        let place = self.store_place()?;
        let (blobs, registry) = (self.blob_place(&place)?, bindery_pipeline::registry());
        let opened = self.open(&place, blobs, Missing::IsMade, Patience::AFewSeconds, registry, None).await?;
        opened.ok_or_else(|| no_store(&place).into())
    }

    /// The same, but waits for a database for as long as it takes.
    pub async fn create_patiently(&self) -> AppResult<App> {
        self.create_patiently_for(Councils::default()).await
    }

    /// The same, to read councils' documents in this way.
    pub async fn create_patiently_for(&self, councils: Councils) -> AppResult<App> {
        let processors = self.known_processors()?;
        patiently(&*self.observer, || self.make(&processors, Patience::NoEnd, councils.clone())).await
    }

    async fn make(&self, processors: &Processors, patience: Patience, councils: Councils) -> AppResult<App> {
        // Bad workflows are told before anything is made.
        let own = self.own_workflows()?;
        let place = self.store_place()?;
        let blobs = self.blob_place(&place)?;
        let (registry, work) = (processors.registry().clone(), Some(self.work(processors, councils)?));
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
    pub async fn existing(&self) -> AppResult<App> {
        self.open_existing(bindery_pipeline::registry()).await
    }

    /// Opens the store that is there, to run these processors.
    pub async fn existing_with(&self, processors: &Processors) -> AppResult<App> {
        self.open_existing(processors.registry().clone()).await
    }

    /// Opens the store that is there, to read councils' documents in this way.
    pub async fn existing_for(&self, councils: Councils) -> AppResult<App> {
        let place = self.store_place()?;
        let (blobs, processors) = (self.blob_place(&place)?, self.known_processors()?);
        let (registry, work) = (processors.registry().clone(), Some(self.work(&processors, councils)?));
        let opened = self.open(&place, blobs, Missing::StaysMissing, Patience::AFewSeconds, registry, work).await?;
        let app = opened.ok_or_else(|| no_store(&place))?;
        app.engine.register_builtin_workflows().await?;
        Ok(app)
    }

    fn work(&self, processors: &Processors, councils: Councils) -> AppResult<Work> {
        let (child, models) = (self.child_command()?, self.models().cloned());
        Ok(Work { child, memory: self.reading.memory, councils, models, model_tier: processors.model_tier() })
    }

    async fn open_existing(&self, registry: Registry) -> AppResult<App> {
        let place = self.store_place()?;
        self.find(&place, registry).await?.ok_or_else(|| no_store(&place).into())
    }

    /// The store if there is one.
    pub async fn if_existing(&self) -> AppResult<Option<App>> {
        self.find(&self.store_place()?, bindery_pipeline::registry()).await
    }

    async fn find(&self, place: &StorePlace, registry: Registry) -> AppResult<Option<App>> {
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
    ) -> AppResult<Option<App>> {
        let (store, is_read_only): (Arc<dyn Store>, bool) = match place {
            StorePlace::Folder(folder) => match open_folder(folder, place, &blobs, missing)? {
                Some(store) => {
                    let is_read_only = store.is_read_only();
                    (Arc::new(store), is_read_only)
                }
                None => return Ok(None),
            },
            StorePlace::Postgres(options) => {
                match open_postgres(options, &blobs, missing, patience, &*self.observer).await? {
                    Some(store) => (Arc::new(store), false),
                    None => return Ok(None),
                }
            }
        };
        let opened = if is_read_only { blobs.open_to_read().await? } else { blobs.open().await? };
        let opened = LayeredBlobs::of_store(&store, opened);
        let readable = if missing == Missing::IsMade { privacy::check(place, &blobs) } else { None };
        if let Some(notice) = readable {
            self.observer.notice(&notice);
        }
        let for_children = blobs.for_children(place);
        App::new(store, AppBlobs { place: blobs, for_children, opened }, registry, work, Arc::clone(&self.observer))
            .map(Some)
    }
}

fn no_store(place: &StorePlace) -> OpenError {
    OpenError::NoStore { place: place.to_string() }
}

fn open_folder(
    folder: &Path,
    place: &StorePlace,
    blobs: &BlobPlace,
    missing: Missing,
) -> AppResult<Option<SqliteStore>> {
    let path = StorePlace::database(folder);
    let is_there = path.is_file();
    if !is_there {
        if missing == Missing::StaysMissing {
            return Ok(None);
        }
        private::create_folder(folder).map_err(|error| OpenError::CannotMake { folder: folder.to_owned(), error })?;
    }
    // Those in the folder itself cannot be mistaken for others.
    if is_there && *blobs != BlobPlace::next_to(place)? {
        must_have_blobs(blobs)?;
    }
    let options = Options { domains: DOMAINS, ..Options::at(path) };
    Ok(Some(match missing {
        Missing::IsMade => SqliteStore::open(options)?,
        Missing::StaysMissing => SqliteStore::open_existing(options)?,
    }))
}

async fn open_postgres(
    options: &PostgresOptions,
    blobs: &BlobPlace,
    missing: Missing,
    patience: Patience,
    observer: &dyn Observer,
) -> AppResult<Option<PostgresStore>> {
    let options = match patience {
        Patience::AFewSeconds => PostgresOptions { connect_within: A_FEW_SECONDS, domains: DOMAINS, ..options.clone() },
        Patience::NoEnd => PostgresOptions { domains: DOMAINS, ..options.clone() },
    };
    let found = reach(patience, observer, || PostgresStore::open_existing(options.clone())).await;
    match found {
        Ok(Some(store)) => {
            must_have_blobs(blobs)?;
            Ok(Some(store))
        }
        Ok(None) if missing == Missing::StaysMissing => Ok(None),
        // The blobs first: whoever finds the store finds them, too.
        Ok(None) => {
            blobs.open().await?;
            Ok(Some(reach(patience, observer, || PostgresStore::open(options.clone())).await?))
        }
        Err(StoreError::Older { .. }) if missing == Missing::IsMade => {
            must_have_blobs(blobs)?;
            Ok(Some(reach(patience, observer, || PostgresStore::open(options.clone())).await?))
        }
        Err(error) => Err(error.into()),
    }
}

/// Opens, again and again while nobody answers. Who waits for a few seconds is told at their end, not meanwhile.
async fn reach<T, F: Future<Output = StoreResult<T>>>(
    patience: Patience,
    observer: &dyn Observer,
    open: impl Fn() -> F,
) -> StoreResult<T> {
    let begun = Instant::now();
    let goes_on = |error: &StoreError, pause: Duration| {
        let in_time = patience == Patience::NoEnd || begun.elapsed() + pause <= A_FEW_SECONDS;
        matches!(error, StoreError::Unreachable { .. }) && in_time
    };
    retrying(open, goes_on, (patience == Patience::NoEnd).then_some(observer)).await
}

/// Does something with a store, again and again while it cannot be used: its server is away or goes away meanwhile, its
/// disk is full, others keep it locked. For what is started and forgotten.
pub async fn patiently<T, F: Future<Output = AppResult<T>>>(
    observer: &dyn Observer,
    work: impl Fn() -> F,
) -> AppResult<T> {
    retrying(work, |error, _| error.is_passing(), Some(observer)).await
}

/// Retries with growing pauses while `goes_on` says so of the error and the pause that would follow.
async fn retrying<T, E: fmt::Display, F: Future<Output = Result<T, E>>>(
    work: impl Fn() -> F,
    goes_on: impl Fn(&E, Duration) -> bool,
    observer: Option<&dyn Observer>,
) -> Result<T, E> {
    let mut retries = PAUSES.retries();
    loop {
        let error = match work().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let pause = retries.next_delay();
        if !goes_on(&error, pause) {
            return Err(error);
        }
        if let Some(observer) = observer {
            observer.notice(&Notice::Retrying { error: error.to_string(), pause });
        }
        tokio::time::sleep(pause).await;
    }
}

/// A store that is there has blobs where they are said to be.
fn must_have_blobs(blobs: &BlobPlace) -> Result<(), OpenError> {
    match blobs.folder() {
        Some(folder) if !folder.join("sha256").is_dir() => Err(OpenError::BlobsMissing { folder: folder.to_owned() }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::AppError, notice::testing::Heard};
    use std::sync::atomic::{AtomicU64, Ordering};

    #[tokio::test]
    async fn what_passes_is_waited_out_and_what_does_not_is_an_error() {
        let (heard, calls) = (Heard::default(), AtomicU64::new(0));
        let done = patiently(&heard, || async {
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 => Err(AppError::Store(StoreError::Locked { path: "a".into(), seconds: 1 })),
                call => Ok(call),
            }
        });
        assert_eq!(done.await.unwrap(), 1);
        let pause = Duration::from_millis(250);
        let error = "a: another process has kept the database locked for more than 1 s".to_owned();
        assert_eq!(*heard.0.lock().unwrap(), [Notice::Retrying { error, pause }]);
        let closed = patiently(&heard, || async { Err::<(), _>(AppError::Store(StoreError::Closed)) }).await;
        assert!(matches!(closed, Err(AppError::Store(StoreError::Closed))));
    }
}
