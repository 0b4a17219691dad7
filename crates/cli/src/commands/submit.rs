//! `bindery submit`: takes files in and leaves the work to workers.

use crate::{
    config::{App, Settings},
    exit::Exit,
    failure::Failure,
    output,
};
use bindery_core::SubmissionId;
use bindery_engine::intake::{Intake, Received};
use bindery_pipeline::intake::take_in;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// What is taken in, and what is said about it.
#[derive(Debug, clap::Args)]
pub(crate) struct IntakeArgs {
    /// Files, folders (everything below them, by name), or - for standard input
    #[arg(required = true, value_name = "PATHS")]
    pub(crate) paths: Vec<PathBuf>,

    /// What happens to them; `bindery workflows` lists what there is
    #[arg(long, short, default_value = "words", value_name = "NAME")]
    pub(crate) workflow: String,

    /// Your own id for it. The same id again is the same submission
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) external_id: Option<String>,

    /// Whose it is
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,

    /// Greater is sooner; negative is later
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "NUMBER")]
    pub(crate) priority: i32,

    /// Anything to keep with it, as key=value; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) meta: Vec<(String, String)>,
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected key=value".to_owned()),
    }
}

/// Take files in without working on them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery submit inbox/                        take in every file below inbox
  bindery submit a.txt b.txt --external-id 42  again with the same id changes nothing
  cat letter.txt | bindery submit -            from standard input
`bindery worker` does the work, now or later, here or in another terminal.")]
pub(crate) struct Args {
    #[command(flatten)]
    intake: IntakeArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.create().await?;
    let received = receive(&app, args.intake).await?;
    let id = received.id();
    if args.json {
        output::json(&json!({"submission": id, "new": matches!(received, Received::New(_))}))?;
    } else {
        output::line(id.to_string())?;
        output::note(format!("`bindery worker` works on it, `bindery status {id}` shows how it stands"));
    }
    Ok(Exit::Ok)
}

/// Takes in what the flags say, or finds what was taken in before under the same external id.
pub(crate) async fn receive(app: &App, args: IntakeArgs) -> anyhow::Result<Received> {
    if let Some(known) = known(app, args.external_id.as_deref()).await? {
        output::note(format!("taken in before as {known}; nothing is taken in again"));
        return Ok(Received::Already(known));
    }
    // A workflow that does not exist or cannot run here is told before anything is copied.
    let workflow = app.engine.catalog().workflow(&args.workflow.as_str().into(), None).await?;
    app.engine.check_processors(&workflow)?;
    let mut metadata = Map::new();
    for (key, value) in args.meta {
        if metadata.insert(key.clone(), Value::String(value)).is_some() {
            return Err(Failure::usage(format!("--meta: {key:?} is given twice")).into());
        }
    }
    let taken = take_in(&**app.engine.blobs(), &args.paths).await?;
    for note in &taken.notes {
        output::note(note);
    }
    let said = format!("{} ({})", output::count(taken.files.len() as u64, "file"), output::bytes(taken.bytes()));
    let mut intake = Intake::new(args.workflow.as_str(), taken.files);
    intake.external_id = args.external_id;
    intake.owner = args.owner;
    intake.priority = args.priority;
    intake.metadata = metadata;
    "command line".clone_into(&mut intake.channel);
    let received = app.engine.submit(intake).await?;
    output::note(format!("took in {said} as {}", received.id()));
    Ok(received)
}

async fn known(app: &App, external_id: Option<&str>) -> anyhow::Result<Option<SubmissionId>> {
    let Some(external_id) = external_id else { return Ok(None) };
    Ok(app.store().find_submission(external_id).await?.map(|found| found.id))
}
