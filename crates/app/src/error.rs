//! What can go wrong between the settings and a running supervisor.
//!
//! Messages name the setting, file or name that is wrong; they do not say what to type next, because whoever shows them
//! knows that better.

use crate::{
    archive::{ArchiveError, ArchiveUnwritable},
    councils::CouncilRefused,
    doctypes::{LearnRefused, TrialRefused},
    jobs::JobRefused,
    machines::DefinitionError,
    ocr::OcrRefused,
    rerun::RerunRefused,
    results::{ResultError, WorkbookError},
    retention::DeletionRefused,
    reviews::ReviewRefused,
    runs::RunRefused,
    search::SearchRefused,
    settings::Setting,
};
use bindery_core::SubmissionId;
use bindery_http::authorities::AuthoritiesError;
use bindery_yaml::LoadError;
use std::{fmt, io, path::PathBuf};

/// What the rooms below fail with, and what somebody may have meant by a name that is unknown.
pub use bindery_engine::EngineError;
pub use bindery_pipeline::intake::IntakeError;
pub use bindery_store::{StoreError, blobs::BlobError};
pub use bindery_yaml::{YamlError, suggest};

pub type AppResult<T> = Result<T, AppError>;

/// Everything that this crate fails with.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error(transparent)]
    Broker(#[from] BrokerError),
    #[error(transparent)]
    IntakeRefused(#[from] IntakeRefused),
    #[error(transparent)]
    Inputs(#[from] InputsError),
    #[error(transparent)]
    Watch(#[from] WatchError),
    #[error(transparent)]
    Council(#[from] CouncilRefused),
    #[error(transparent)]
    Ocr(#[from] OcrRefused),
    #[error(transparent)]
    Job(#[from] JobRefused),
    #[error(transparent)]
    Rerun(#[from] RerunRefused),
    #[error(transparent)]
    Search(#[from] SearchRefused),
    #[error("nobody reads the archive any more")]
    ArchiveUnread,
    #[error(transparent)]
    Archive(ArchiveError),
    #[error(transparent)]
    ArchiveUnwritable(#[from] ArchiveUnwritable),
    #[error(transparent)]
    Run(#[from] RunRefused),
    #[error(transparent)]
    Trial(#[from] TrialRefused),
    #[error(transparent)]
    Learn(#[from] LearnRefused),
    #[error(transparent)]
    Review(#[from] ReviewRefused),
    #[error(transparent)]
    Result(#[from] ResultError),
    #[error(transparent)]
    Workbook(#[from] WorkbookError),
    #[error(transparent)]
    Deletion(#[from] DeletionRefused),
    #[error(transparent)]
    MachineDefinition(#[from] DefinitionError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Intake(#[from] IntakeError),
    /// An object of a bucket that cannot be taken in.
    #[error("{location}: {error}")]
    Object { location: String, error: Box<AppError> },
    /// A definition that is stored or ships.
    #[error(transparent)]
    Definition(#[from] YamlError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A checklist of the user's own, with all of its problems.
    #[error("{0}")]
    Checklist(YamlError),
    #[error("the processor's name is blank, expected the name of a processor")]
    BlankProcessor,
    /// It could not be used for longer than somebody wants to wait; the reason.
    #[error("{0}")]
    StoreAway(String),
    #[error("the worker inside this process has ended too early")]
    WorkerEnded,
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    #[error("{by} visits the cities of this store already")]
    VisitedAlready { by: String },
    #[error("the store was opened to look at it, not to work")]
    OpenedToLook,
}

impl AppError {
    /// The error of the store that this is, if it is one.
    pub fn as_store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) | Self::Engine(EngineError::Store(error)) => Some(error),
            _ => None,
        }
    }

    /// Whether a store that cannot be used may be used again without anybody changing what it was opened with: its
    /// server is away, its disk is full, or others keep it locked.
    pub fn is_passing(&self) -> bool {
        let is_passing = |error: &StoreError| {
            matches!(error, StoreError::Unreachable { .. } | StoreError::Full { .. } | StoreError::Locked { .. })
        };
        self.as_store().is_some_and(is_passing)
    }
}

impl From<ArchiveError> for AppError {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Store(error) => Self::Store(error),
            // Whoever reads the archive has gone; the reader says why.
            ArchiveError::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => Self::ArchiveUnread,
            other => Self::Archive(other),
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{} cannot be read: {error}", path.display())]
    FileUnreadable { path: PathBuf, error: io::Error, is_named: bool },
    /// `place` is the file, with the line where one is known.
    #[error("{place}: {message}")]
    File { place: String, message: String, hint: Option<String> },
    /// A folder with definitions of the user's own; every problem is told.
    #[error("{error}")]
    Folder { setting: Setting, error: LoadError },
    #[error("{setting} is empty, expected {expected}")]
    Empty { setting: Setting, expected: &'static str },
    #[error("{url}: expected file:///folder, spelt as it is")]
    BlobsUrl { url: String },
    #[error("[machines] place: {0}")]
    MachinesPlace(String),
    #[error("{setting}: {error}", setting = Setting::CaFile)]
    Authorities { error: AuthoritiesError },
    #[error("[models] in bindery.toml: {0}")]
    Models(String),
}

/// A store or blobs that are not where the settings say, or cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("there is no store in {place}")]
    NoStore { place: String },
    #[error("{scheme}:// cannot be used as a store; a folder or postgres:// can")]
    StoreScheme { scheme: String },
    #[error("{} is a file, expected a folder", path.display())]
    StoreIsFile { path: PathBuf },
    #[error("the folder {} cannot be made: {error}", folder.display())]
    CannotMake { folder: PathBuf, error: io::Error },
    #[error("with PostgreSQL, every machine must see the same blobs: say where they are kept")]
    BlobsNotStated,
    #[error("there are no blobs in {}, and the store is in use already", folder.display())]
    BlobsMissing { folder: PathBuf },
    #[error("{0}")]
    Blobs(BlobError),
}

/// A broker that cannot carry jobs.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    #[error("{0}")]
    Url(String),
    #[error("{0}")]
    Refused(String),
    #[error("this program was built without RabbitMQ")]
    NotBuiltIn,
}

/// What was said about files does not fit together; nothing was taken in.
#[derive(Debug, thiserror::Error)]
pub enum IntakeRefused {
    #[error("the workflow {workflow:?} compares nothing with a checklist")]
    NoChecklist { workflow: String },
    #[error("the workflow {workflow:?} has no types of documents")]
    NoDoctypes { workflow: String },
    #[error("the key {key:?} is Bindery's own; choose another")]
    OwnKey { key: String },
    #[error("{key:?} is given twice")]
    KeyTwice { key: String },
    #[error("external id {id:?}: ids of that form are Bindery's own; choose another")]
    OwnId { id: String },
    #[error(
        "external id {id:?} stands for {known} already, which does not have {new}: the same id is for the same files"
    )]
    OtherContent { id: String, known: SubmissionId, new: String },
    #[error(
        "external id {id:?} stands for {known} already, which has {missing} more {}: the same id is for the same files",
        if *missing == 1 { "file" } else { "files" }
    )]
    MissingContent { id: String, known: SubmissionId, missing: usize },
}

/// What a processor should be run on cannot be read; nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum InputsError {
    #[error("standard input (-) is given twice, expected once")]
    StdinTwice,
    #[error("{shown} cannot be read: {error}")]
    Unreadable { shown: String, error: io::Error },
    #[error("there is no file or folder {}", path.display())]
    Missing { path: PathBuf },
    #[error("the folder {} has no files that end with .json or .jsonl", path.display())]
    EmptyFolder { path: PathBuf },
    #[error("there are no inputs in {}", paths.join(", "))]
    None { paths: Vec<String> },
}

/// A folder that cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("the folder {} cannot be used: {error}", path.display())]
    Unusable { path: PathBuf, error: io::Error },
    #[error("{} is no folder", path.display())]
    NoFolder { path: PathBuf },
    /// Where files go when they were taken in is what is watched.
    #[error("--done is the folder that is watched; name another one, or one inside it")]
    DoneIsWatched,
    #[error("{} is the folder of the store or around it", path.display())]
    HoldsStore { path: PathBuf },
}

/// A name that stands for nothing here, with those that do.
#[derive(Debug, thiserror::Error)]
#[error("there is no {what} {name:?}; known are {}", known.join(", "))]
pub struct UnknownName {
    pub what: Named,
    pub name: String,
    pub known: Vec<String>,
}

impl UnknownName {
    pub(crate) fn new(what: Named, name: &str, known: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { what, name: name.to_owned(), known: known.into_iter().map(Into::into).collect() }
    }
}

/// What a name is the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Processor,
    Stage,
    Queue,
    Component,
    Checklist,
    Doctype,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Processor => "processor",
            Self::Stage => "stage",
            Self::Queue => "queue",
            Self::Component => "component",
            Self::Checklist => "checklist",
            Self::Doctype => "document type",
        })
    }
}
