//! `bindery add`: adds files to a submission that exists.

use crate::{exit::Exit, output};
use bindery_app::{Settings, intake};
use serde_json::json;
use std::path::PathBuf;

/// Add files to a submission that exists
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery add sub_3 late.pdf            its result is made once more, with the new file
  bindery add claim-42 scans/           everything below that folder; by your own id of the submission
Only the new files are worked on. A file with the same content as one that it has is left out.
`bindery worker` does the work, unless a worker is running already.")]
pub(crate) struct Args {
    /// sub_N, or your own id of a submission
    #[arg(value_name = "SUBMISSION")]
    id: String,

    /// Files, folders (everything below them, by name), or - for standard input
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let id = app.engine.find_submission(&args.id).await?.id;
    app.refuse_run(id).await?;
    let done = intake::add(&app, id, &args.paths).await?;
    if args.json {
        output::json(&json!({"submission": id, "added": done.added, "known": done.known}))?;
        return Ok(Exit::Ok);
    }
    for name in &done.known {
        output::note(format!("not added: {id} has a file with the content of {name}"));
    }
    output::line(format!("added {} to {id}", output::count(done.added.len() as u64, "file")))?;
    if !done.added.is_empty() {
        output::note("`bindery worker --until-idle` works on them, unless a worker is running already");
    }
    Ok(Exit::Ok)
}
