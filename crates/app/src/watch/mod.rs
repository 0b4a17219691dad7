//! Taking in what others put somewhere, each file once: a folder, or a bucket.
//!
//! A file of a folder is known by its path and its content, an object by its address and version, and the store remembers
//! them: nothing is taken in twice, also not by a watch that is started again, or by two at once. What this process
//! remembers only saves it from reading files again.

mod bucket;
mod folder;

pub use bucket::{BucketWatch, TakenObject};

use crate::{
    app::App,
    error::{AppError, AppResult, WatchError},
    follow::is_stuck,
    intake::About,
    notice::Notice,
    settings::Settings,
};
use bindery_core::{SubmissionId, progress::Progress};
use bindery_engine::{StopSignal, intake::Received, view};
use bindery_pipeline::intake::{Found, IntakeError, take_in};
use bindery_store::blobs::BlobError;
use folder::Folder;
use serde_json::{Value, json};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

/// How often it is looked whether something has come to its end.
const TICK: Duration = Duration::from_millis(200);

/// How a folder is watched.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    pub folder: PathBuf,
    pub about: About,
    /// Where files go that were taken in.
    pub done: Option<PathBuf>,
    /// How long a file has to stay as it is before it is taken in.
    pub settle: Duration,
    /// How often to look.
    pub every: Duration,
    /// Take in what is there, and end when it is done.
    pub once: bool,
    /// Follow what was taken in to its end, because somebody here works on it.
    pub follows: bool,
}

/// What a watched folder came to.
#[derive(Debug)]
pub enum WatchEvent<'a> {
    /// A file became a submission.
    TakenIn { id: SubmissionId, name: &'a str },
    /// A submission has come to its end, or to where it waits for somebody. Null where there is no result.
    Ended { name: &'a str, progress: &'a Progress, result: Value },
}

/// A folder whose files become submissions.
#[derive(Debug)]
pub struct FolderWatch {
    app: App,
    settings: Settings,
    options: WatchOptions,
    folder: Folder,
    /// The submissions whose end is still to be told.
    open: Vec<(SubmissionId, String)>,
}

impl FolderWatch {
    /// Checks everything before anything is taken in.
    pub async fn new(app: &App, settings: &Settings, options: WatchOptions) -> AppResult<Self> {
        options.about.check(app, settings).await?;
        let folder = Folder::new(&options.folder, options.done.as_deref(), options.settle)?;
        if app.blob_folder().is_some_and(|blobs| folder.holds(blobs)) {
            return Err(WatchError::HoldsStore { path: options.folder }.into());
        }
        Ok(Self { app: app.clone(), settings: settings.clone(), options, folder, open: Vec::new() })
    }

    /// How many submissions have not come to their end.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Takes in what comes until it is stopped, or once.
    pub async fn run<E: From<AppError>>(
        &mut self,
        stop: &mut StopSignal,
        mut tell: impl FnMut(WatchEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (once, every) = (self.options.once, self.options.every);
        loop {
            let looked = Instant::now();
            let nothing_to_come = match self.pass(&mut tell).await? {
                Ok(nothing_to_come) => nothing_to_come,
                Err(error) if once => return Err(error.into()),
                // What is away comes back; what is wrong for good is said again and again.
                Err(error) => {
                    self.app.notify(&Notice::LookingAgain { error: error.to_string(), every });
                    false
                }
            };
            loop {
                self.report(&mut tell).await?;
                if once && nothing_to_come && self.open.is_empty() {
                    return Ok(());
                }
                tokio::select! {
                    () = stop.stopping() => return Ok(()),
                    () = tokio::time::sleep(TICK) => {}
                }
                if (once && !nothing_to_come) || looked.elapsed() >= every {
                    break;
                }
            }
        }
    }

    /// Tells of those that have come to their end, or to where they wait for somebody.
    pub async fn report<E: From<AppError>>(
        &mut self,
        tell: &mut impl FnMut(WatchEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut still_open = Vec::new();
        for (id, name) in std::mem::take(&mut self.open) {
            match self.ended(id).await? {
                Some((progress, result)) => tell(WatchEvent::Ended { name: &name, progress: &progress, result })?,
                None => still_open.push((id, name)),
            }
        }
        self.open = still_open;
        Ok(())
    }

    async fn ended(&self, id: SubmissionId) -> AppResult<Option<(Progress, Value)>> {
        let progress = view::progress(&self.app.engine, id).await?;
        if !progress.status.is_final() && !is_stuck(&self.app, id, &progress).await? {
            return Ok(None);
        }
        let result = view::result(&self.app.engine, id).await?.unwrap_or_default();
        Ok(Some((progress, result)))
    }

    /// Takes in what is complete. True if nothing is left that may become so. The outer error is the listener's.
    async fn pass<E>(&mut self, tell: &mut impl FnMut(WatchEvent<'_>) -> Result<(), E>) -> Result<AppResult<bool>, E> {
        let complete = match self.folder.complete() {
            Ok(complete) => complete,
            Err(error) => return Ok(Err(error)),
        };
        for found in complete {
            match self.receive(&found).await {
                Ok(new) => {
                    self.folder.settled(&found);
                    if let Some(id) = new {
                        tell(WatchEvent::TakenIn { id, name: &found.name })?;
                    }
                }
                // Whatever it is now, the next look sees it.
                Err(AppError::Intake(error)) if has_changed(&error) => self.folder.forget(&found),
                Err(AppError::Intake(error)) if is_about_the_file(&error) => {
                    self.app.notify(&Notice::LeftAlone { name: found.name.clone(), reason: error.to_string() });
                    self.folder.settled(&found);
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(self.folder.nothing_to_come()))
    }

    /// The submission that the file has become, if it is a new one.
    async fn receive(&mut self, found: &Found) -> AppResult<Option<SubmissionId>> {
        let taken = take_in(&self.app.engine, std::slice::from_ref(&found.path)).await?;
        for note in &taken.notes {
            self.app.notify(&Notice::Intake(note.clone()));
        }
        let location = found.path.display().to_string();
        let external_id = taken.content_id(&json!(["watched", location]));
        let mut intake = self.options.about.intake(&self.settings, taken, "watched folder")?;
        intake.external_id = Some(external_id);
        intake.metadata.insert("location".to_owned(), json!(location));
        let received = self.app.engine.submit(intake).await?;
        if let Err((to, error)) = self.folder.move_away(found) {
            self.app.notify(&Notice::NotMoved { name: found.name.clone(), to, reason: error.to_string() });
        }
        let id = received.id();
        let is_new = matches!(received, Received::New(_));
        // One that ended before this process began was told by another.
        if self.options.follows && (is_new || !view::progress(&self.app.engine, id).await?.status.is_final()) {
            self.open.push((id, found.name.clone()));
        }
        Ok(is_new.then_some(id))
    }
}

fn has_changed(error: &IntakeError) -> bool {
    matches!(
        error,
        IntakeError::Missing { .. }
            | IntakeError::Blob(BlobError::SourceMissing { .. } | BlobError::SourceChanged { .. })
    )
}

fn is_about_the_file(error: &IntakeError) -> bool {
    match error {
        IntakeError::Blob(error) => matches!(error, BlobError::SourceDenied { .. } | BlobError::NotAFile { .. }),
        _ => true,
    }
}
