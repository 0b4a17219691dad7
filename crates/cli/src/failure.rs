//! What the person at the terminal sees when something does not work: one sentence, a hint where one is known, and the
//! exit code that a script can act on.

use crate::{
    commands::{civic, doctypes, ocr, rerun, result, retention::delete, retry, reviews, search, store},
    exit::Exit,
};
use bindery_app::{
    AppError,
    checklists::{ANALYZER, CHECKLIST_WORKFLOW},
    councils::CouncilRefused,
    doctypes::{LearnRefused, TrialRefused},
    env_vars,
    error::{
        BlobError, BrokerError, EngineError, InputsError, IntakeError, IntakeRefused, Named, OpenError, SettingsError,
        StoreError, UnknownName, WatchError, suggest,
    },
    machines::DefinitionError,
    results::ResultError,
    runs::RunRefused,
    settings::Setting,
};
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
    let as_io = error.downcast_ref::<io::Error>().or_else(|| match error.downcast_ref() {
        Some(AppError::Io(error)) => Some(error),
        _ => None,
    });
    if as_io.is_some_and(broken) {
        return None;
    }
    let (exit, hint) = classify(error);
    let message = match flag_of(error) {
        Some(flag) => format!("{flag}: {error:#}"),
        None => format!("{error:#}"),
    };
    Some(Shown { exit, message, hint })
}

fn classify(error: &anyhow::Error) -> (Exit, Option<String>) {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return (failure.exit, failure.hint.clone());
    }
    if let Some(error) = error.downcast_ref::<AppError>() {
        return of_app(error);
    }
    if let Some(error) = error.downcast_ref::<UnknownName>() {
        return of_unknown(error);
    }
    if let Some(error) = error.downcast_ref::<InputsError>() {
        return (Exit::Usage, of_inputs(error));
    }
    if let Some(refused) = error.downcast_ref::<CouncilRefused>() {
        return (Exit::Usage, civic::hint(refused));
    }
    if let Some(error) = error.downcast_ref::<DefinitionError>() {
        return of_definition(error);
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return of_store(error);
    }
    if let Some(error) = error.downcast_ref::<EngineError>() {
        return of_engine(error);
    }
    if let Some(error) = error.downcast_ref::<IntakeError>() {
        return of_intake(error);
    }
    if let Some(error) = error.downcast_ref::<BlobError>() {
        return of_blob(error);
    }
    (Exit::Unexpected, None)
}

/// What was said on the command line or in the environment that the library knows nothing of, and the error is about.
fn flag_of(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref()? {
        AppError::Unknown(UnknownName { what: Named::Component, .. }) => Some(env_vars::COMPONENT.to_owned()),
        AppError::Unknown(UnknownName { what: Named::Doctype, .. })
        | AppError::IntakeRefused(IntakeRefused::NoDoctypes { .. }) => Some("--doctype".to_owned()),
        AppError::IntakeRefused(IntakeRefused::NoChecklist { .. }) => Some("--checklist".to_owned()),
        AppError::IntakeRefused(IntakeRefused::OwnKey { .. } | IntakeRefused::KeyTwice { .. }) => {
            Some("--meta".to_owned())
        }
        AppError::Run(RunRefused::Memory { .. }) => Some("--memory".to_owned()),
        AppError::Learn(LearnRefused::NoFolder) => Some("--write".to_owned()),
        AppError::Broker(_) => Some(format!("--amqp or {}", env_vars::AMQP)),
        _ => None,
    }
}

fn of_app(error: &AppError) -> (Exit, Option<String>) {
    match error {
        AppError::Settings(error) => (Exit::Usage, of_settings(error)),
        AppError::Open(error) => (Exit::StoreUnavailable, of_opening(error)),
        AppError::Unknown(error) | AppError::Trial(TrialRefused::Unknown(error)) => of_unknown(error),
        AppError::Store(error) => of_store(error),
        AppError::Engine(error) => of_engine(error),
        AppError::Blob(error) => of_blob(error),
        AppError::Intake(error) => of_intake(error),
        AppError::Broker(error) => of_broker(error),
        AppError::IntakeRefused(error) => (Exit::Usage, of_refused(error)),
        AppError::Inputs(error) => (Exit::Usage, of_inputs(error)),
        AppError::Watch(error) => (Exit::Usage, of_watch(error)),
        AppError::Council(refused) => (Exit::Usage, civic::hint(refused)),
        AppError::Ocr(refused) => (Exit::Usage, ocr::hint(refused).map(str::to_owned)),
        AppError::Rerun(refused) => (Exit::Usage, rerun::hint(refused).map(str::to_owned)),
        AppError::Job(refused) => (Exit::Usage, Some(retry::hint(refused))),
        AppError::Search(refused) => search::of_search(refused),
        AppError::Archive(error) => store::of_archive(error),
        AppError::Run(RunRefused::Memory { .. }) => {
            (Exit::Usage, Some("leave --runner out, or say --runner processes".to_owned()))
        }
        AppError::ArchiveUnread
        | AppError::ArchiveUnwritable(_)
        | AppError::Run(RunRefused::Owner(_))
        | AppError::Trial(_) => (Exit::Usage, None),
        AppError::Learn(refused) => (Exit::Usage, doctypes::hint(refused).map(str::to_owned)),
        AppError::Review(refused) => (Exit::Usage, reviews::hint(refused).map(str::to_owned)),
        AppError::Result(error @ ResultError::TextMissing { .. }) => {
            (Exit::Unexpected, result::hint(error).map(str::to_owned))
        }
        AppError::Result(error) => (Exit::Usage, result::hint(error).map(str::to_owned)),
        AppError::Workbook(error) => result::of_workbook(error),
        AppError::Deletion(refused) => (Exit::Usage, Some(delete::hint(refused))),
        AppError::MachineDefinition(error) => of_definition(error),
        AppError::Object { error, .. } => of_app(error),
        AppError::StoreAway(_) => {
            let hint = "what is done is kept: the same command goes on; --store-wait SECONDS waits longer";
            (Exit::StoreUnavailable, Some(hint.to_owned()))
        }
        AppError::VisitedAlready { .. } => {
            let hint = "`bindery civic status` shows how it goes; `bindery civic sync-city` visits a city beside it";
            (Exit::Unexpected, Some(hint.to_owned()))
        }
        AppError::BlankProcessor => (Exit::Usage, Some("`bindery processors` lists them".to_owned())),
        AppError::Checklist(_) => (Exit::Usage, Some("docs/checklists.md describes every key".to_owned())),
        AppError::Definition(_)
        | AppError::Json(_)
        | AppError::Io(_)
        | AppError::Task(_)
        | AppError::WorkerEnded
        | AppError::OpenedToLook => (Exit::Unexpected, None),
    }
}

fn of_settings(error: &SettingsError) -> Option<String> {
    match error {
        SettingsError::FileUnreadable { is_named, .. } => {
            is_named.then(|| format!("{} names this file", Setting::Config))
        }
        SettingsError::File { hint, .. } => hint.clone(),
        SettingsError::Folder { setting, .. } => Some(format!("{setting} names this folder")),
        SettingsError::BlobsUrl { .. } => Some("the path alone works, too".to_owned()),
        SettingsError::Authorities { .. } => {
            Some("it is a file with certificates in PEM, such as /etc/ssl/certs/our-ca.pem".to_owned())
        }
        SettingsError::Models(_) => Some("docs/models.md describes it".to_owned()),
        SettingsError::Empty { .. } | SettingsError::MachinesPlace(_) => None,
    }
}

fn of_opening(error: &OpenError) -> Option<String> {
    Some(match error {
        OpenError::NoStore { .. } => {
            "`bindery run PATHS…` makes one; --store or BINDERY_STORE names another place".to_owned()
        }
        OpenError::StoreScheme { .. } => {
            "set BINDERY_STORE or --store, or leave both out for ./bindery-data".to_owned()
        }
        OpenError::StoreIsFile { .. } => return None,
        OpenError::CannotMake { .. } => "name another folder with --store or BINDERY_STORE".to_owned(),
        OpenError::BlobsNotStated => {
            format!("for example --blobs s3://bucket/prefix, or {}=/mnt/shared/blobs", env_vars::BLOBS)
        }
        OpenError::BlobsMissing { .. } => {
            "is the share mounted on this machine? To keep the blobs in another place, copy the folder there first"
                .to_owned()
        }
        OpenError::Blobs(_) => format!("{} says where blobs are kept", Setting::Blobs),
    })
}

fn of_broker(error: &BrokerError) -> (Exit, Option<String>) {
    match error {
        BrokerError::Url(_) => (Exit::Usage, None),
        BrokerError::Refused(_) => (Exit::StoreUnavailable, None),
        BrokerError::NotBuiltIn => (Exit::Usage, Some("build it with the feature amqp".to_owned())),
    }
}

fn of_refused(error: &IntakeRefused) -> Option<String> {
    match error {
        IntakeRefused::NoChecklist { .. } => {
            Some(format!("use --workflow {CHECKLIST_WORKFLOW}, or add a stage with {ANALYZER}"))
        }
        IntakeRefused::NoDoctypes { .. } => Some("leave --doctype out, or use --workflow documents".to_owned()),
        IntakeRefused::OtherContent { known, .. } => {
            Some(format!("take them in under another id, or `bindery add {known} FILES…` adds files to it"))
        }
        IntakeRefused::MissingContent { .. } => Some("take them in under another id".to_owned()),
        IntakeRefused::OwnKey { .. } | IntakeRefused::KeyTwice { .. } | IntakeRefused::OwnId { .. } => None,
    }
}

fn of_inputs(error: &InputsError) -> Option<String> {
    match error {
        InputsError::Unreadable { .. } | InputsError::Missing { .. } => Some("nothing was run".to_owned()),
        InputsError::StdinTwice | InputsError::EmptyFolder { .. } | InputsError::None { .. } => None,
    }
}

fn of_watch(error: &WatchError) -> Option<String> {
    let is_of_store = matches!(error, WatchError::HoldsStore { .. });
    is_of_store.then(|| "watch another folder, or keep the store elsewhere with --store".to_owned())
}

fn of_definition(error: &DefinitionError) -> (Exit, Option<String>) {
    let hint = match error {
        DefinitionError::Picture(_) => return (Exit::Unexpected, None),
        DefinitionError::NotUtf8 { .. } => "save the file as UTF-8",
        DefinitionError::NotStored { .. } => "docs/machines.md tells what a task can call",
        DefinitionError::FolderEmpty { .. } => "their names end in .asl.json or .asl.yaml",
        _ => return (Exit::Usage, None),
    };
    (Exit::Usage, Some(hint.to_owned()))
}

fn of_unknown(error: &UnknownName) -> (Exit, Option<String>) {
    let hint = match error.what {
        Named::Component => return (Exit::Unexpected, None),
        Named::Stage | Named::Queue => None,
        Named::Processor => {
            let known: Vec<&str> = error.known.iter().map(String::as_str).collect();
            // Where nothing is near, it lists what the message lists already.
            let guess = Some(suggest(&error.name, &known)).filter(|it| it.starts_with("did you mean"));
            Some(guess.unwrap_or_else(|| format!("{} names a folder with your own", Setting::Processors)))
        }
        Named::Checklist => Some("a file of your own is named with its path: --checklist ./mine.yaml".to_owned()),
        Named::Doctype => Some("--doctypes names a folder with types of your own".to_owned()),
    };
    (Exit::Usage, hint)
}

fn of_intake(error: &IntakeError) -> (Exit, Option<String>) {
    match error {
        IntakeError::Blob(error) => of_blob(error),
        _ => (Exit::Usage, Some("nothing was taken in".to_owned())),
    }
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
