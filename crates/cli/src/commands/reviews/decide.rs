//! A person's decision, and what it leads to.

use crate::{exit::Exit, failure::Failure, output, result_tables};
use bindery_app::{
    App, AppError, Signals, StoredResult, Supervisor,
    error::EngineError,
    follow::{End, StoreWait, USUAL_SECONDS, follow},
    names,
    reviews::{Decided, Subject, parse_correction},
    supervisor::WorkerOptions,
};
use bindery_core::{SubmissionId, review::Decision};
use serde_json::{Map, Value, json};

#[derive(Debug, clap::Args)]
pub(super) struct Person {
    /// Who decides; kept with the result
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    by: Option<String>,

    /// Do the work that follows here and now, and show what came of it
    #[arg(long)]
    work: bool,
}

/// Which words say what is meant, and what the others say about it.
pub(super) fn corrected<'w>(words: &'w [String], all: Option<&str>) -> anyhow::Result<(&'w [String], Decision)> {
    let fields = match all.map(serde_json::from_str) {
        None => Map::new(),
        Some(Ok(Value::Object(fields))) => fields,
        Some(Ok(other)) => {
            return Err(Failure::usage(format!("--json-value: expected a JSON object, found {other}")).into());
        }
        Some(Err(error)) => return Err(Failure::usage(format!("--json-value: expected JSON: {error}")).into()),
    };
    Ok(parse_correction(words, fields).map_err(AppError::from)?)
}

pub(super) async fn run(
    app: &App,
    subject: Subject,
    decision: Decision,
    person: Person,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let by = person.by.as_deref();
    let decided = subject.decide(app, by, &decision).await.map_err(|error| explain(subject, error))?;
    let name = name_of(app, &decided).await?;
    if !as_json {
        output::line(format!("{} {name} of {}", decision.as_str(), decided.submission))?;
    }
    let ended = if person.work { Some(work(app, decided.submission).await?) } else { None };
    if as_json {
        return print_json(app, &decided, &name).await;
    }
    match ended {
        None => {
            let id = decided.submission;
            output::note(format!("`bindery worker` goes on with it; then `bindery result {id}` shows what came of it"));
        }
        Some(End::Final) => show(app, &decided, &name).await?,
        Some(End::Stuck) => {
            let id = decided.submission;
            output::note(format!("{id} is not finished: it waits for something else; `bindery status {id}` says what"));
        }
        Some(End::Interrupted) => output::note("stopped; `bindery worker` goes on with it"),
    }
    Ok(Exit::Ok)
}

/// Works in this process until the submission is final, or nothing more happens to it by itself.
async fn work(app: &App, id: SubmissionId) -> anyhow::Result<End> {
    let mut signals = Signals::new()?;
    let options = WorkerOptions { name: names::of_run(), ..WorkerOptions::default() };
    let mut supervisor = Supervisor::start(app, options);
    let mut wait = StoreWait::new(USUAL_SECONDS);
    match follow(app, id, &mut supervisor, &mut signals, &mut wait, |_| ()).await {
        Ok(end) => {
            supervisor.stop(&mut signals).await?;
            Ok(end)
        }
        Err(error) => {
            supervisor.abandon();
            Err(error.into())
        }
    }
}

/// What can be done instead.
fn explain(subject: Subject, error: AppError) -> anyhow::Error {
    match (subject, error) {
        (Subject::Review(id), AppError::Engine(EngineError::Taken(message))) => {
            let hint = format!(
                "`bindery review show {id}` shows how it stands; what is decided can be changed by naming the document: \
                 `bindery review correct SUBMISSION DOCUMENT field=value`"
            );
            Failure::usage(message).hint(hint).into()
        }
        (_, error) => error.into(),
    }
}

async fn name_of(app: &App, decided: &Decided) -> anyhow::Result<String> {
    let Some(id) = decided.item else { return Ok(format!("the result of {}", decided.stage)) };
    let item = app.store().item(decided.submission, id).await?;
    Ok(item.map_or_else(|| id.to_string(), |item| item.public_id()))
}

async fn print_json(app: &App, decided: &Decided, name: &str) -> anyhow::Result<Exit> {
    let submission = app.store().submission(decided.submission).await?;
    output::json(&json!({
        "submission": decided.submission, "item": name, "stage": decided.stage, "output": decided.output,
        "status": submission.map(|submission| submission.status),
    }))?;
    Ok(Exit::Ok)
}

/// The document as the result has it now, or the whole result where it was about something else.
async fn show(app: &App, decided: &Decided, name: &str) -> anyhow::Result<()> {
    let Some(stored) = StoredResult::find(app, decided.submission).await? else {
        output::note(format!("{} has no result; `bindery status {0}` says why", decided.submission));
        return Ok(());
    };
    let result = stored.without_index()?;
    let mut documents = result["documents"].as_array().into_iter().flatten();
    match documents.find(|document| document["document_id"] == name) {
        Some(document) => result_tables::show_document(document),
        None => result_tables::show(&stored, &result),
    }
}
