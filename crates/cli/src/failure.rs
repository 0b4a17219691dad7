//! What the person at the terminal sees when something does not work: one sentence, a hint where one is known, and the
//! exit code that a script can act on.

use crate::exit::Exit;
use bindery_engine::EngineError;
use bindery_pipeline::intake::IntakeError;
use bindery_store::{StoreError, blobs::BlobError};
use std::{fmt, io};

/// An error with its exit code, and a hint if one is known.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// Bad flags or bad input.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), hint: None }
    }

    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// An error as it is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// What to show for an error, or nothing when whoever read our output has gone away.
pub(crate) fn explain(error: &anyhow::Error) -> Option<Shown> {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(broken) {
        return None;
    }
    let (exit, hint) = classify(error);
    Some(Shown { exit, message: format!("{error:#}"), hint })
}

fn classify(error: &anyhow::Error) -> (Exit, Option<String>) {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return (failure.exit, failure.hint.clone());
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return of_store(error);
    }
    if let Some(error) = error.downcast_ref::<EngineError>() {
        return of_engine(error);
    }
    if let Some(error) = error.downcast_ref::<IntakeError>() {
        return match error {
            IntakeError::Blob(error) => of_blob(error),
            _ => (Exit::Usage, Some("nothing was taken in".to_owned())),
        };
    }
    if let Some(error) = error.downcast_ref::<BlobError>() {
        return of_blob(error);
    }
    (Exit::Unexpected, None)
}

fn of_engine(error: &EngineError) -> (Exit, Option<String>) {
    match error {
        EngineError::Store(error) => of_store(error),
        EngineError::Blob(error) => of_blob(error),
        EngineError::UnknownWorkflow { .. } => {
            let hint = "`bindery workflows` lists them; BINDERY_WORKFLOWS names a folder with your own";
            (Exit::Usage, Some(hint.to_owned()))
        }
        EngineError::UnknownProcessors { .. } => {
            (Exit::Usage, Some("try `--workflow documents`, or mark the processor `external: true`".to_owned()))
        }
        EngineError::NotFound(what) if what.starts_with("run ") => {
            (Exit::Usage, Some("`bindery runs` lists the runs".to_owned()))
        }
        EngineError::NotFound(what) if what.contains("sub") => {
            (Exit::Usage, Some("`bindery status` lists the submissions".to_owned()))
        }
        EngineError::Workflow(_)
        | EngineError::Resolve(_)
        | EngineError::NotFound(_)
        | EngineError::Invalid(_)
        | EngineError::Taken(_) => (Exit::Usage, None),
    }
}

fn of_store(error: &StoreError) -> (Exit, Option<String>) {
    if let Some(hint) = of_database(error) {
        return (Exit::StoreUnavailable, Some(hint.to_owned()));
    }
    let hint = match error {
        StoreError::Invalid(_) | StoreError::NotFound { .. } => return (Exit::Usage, None),
        StoreError::Locked { .. } => "another bindery may be busy with a very large change; try again",
        StoreError::Newer { .. } | StoreError::Database(_) | StoreError::Closed => {
            return (Exit::StoreUnavailable, None);
        }
        StoreError::NotOurs { .. } => "name another folder with --store or BINDERY_STORE",
        StoreError::Corrupt { .. } => "do not delete it: `sqlite3 FILE .recover` may save what a backup does not have",
        StoreError::Full { .. } => "free some space and go on: what was acknowledged is safe",
        StoreError::Older { .. } => "`bindery worker` brings it forward; stop older workers first",
        StoreError::Unreachable { .. } => "try again in a moment",
        StoreError::NotWritable { .. } | StoreError::CannotOpen { .. } => "check who owns the folder and its mode",
    };
    (Exit::StoreUnavailable, Some(hint.to_owned()))
}

/// What the messages of a database do not say already. None for another store.
fn of_database(error: &StoreError) -> Option<&'static str> {
    let (StoreError::NotOurs { path, .. }
    | StoreError::Corrupt { path, .. }
    | StoreError::Full { path }
    | StoreError::NotWritable { path, .. }
    | StoreError::CannotOpen { path, .. }
    | StoreError::Unreachable { path, .. }) = error
    else {
        return None;
    };
    if !path.to_string_lossy().contains("://") {
        return None;
    }
    Some(match error {
        StoreError::NotOurs { .. } => "name another schema: --store 'postgres://…?schema=NAME'",
        StoreError::Corrupt { .. } => "stop all work on it; `pg_dump` shows what can still be read",
        StoreError::Full { .. } => "free some space on the server: what was acknowledged is safe",
        _ => "--store or BINDERY_STORE is the URL of the database, PGPASSWORD its password",
    })
}

fn of_blob(error: &BlobError) -> (Exit, Option<String>) {
    match error {
        BlobError::SourceMissing { .. } | BlobError::SourceDenied { .. } | BlobError::NotAFile { .. } => {
            (Exit::Usage, Some("nothing was taken in".to_owned()))
        }
        BlobError::SourceChanged { .. } => {
            (Exit::Usage, Some("nothing was taken in; try again when nobody writes to it".to_owned()))
        }
        _ => (Exit::StoreUnavailable, None),
    }
}
