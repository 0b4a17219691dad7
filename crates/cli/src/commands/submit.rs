//! `bindery submit`: takes files in and leaves the work to workers.

use crate::{
    exit::Exit,
    intake_args::{IntakeArgs, exit_of, note_receipt},
    output,
};
use bindery_app::{
    Settings,
    intake::{self, Received},
};
use serde_json::json;

/// Take files in without working on them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery submit inbox/                        take in every file below inbox
  bindery submit a.pdf b.pdf --external-id 42  again with the same id changes nothing
  bindery submit in.zip --meta department=hr   kept with it; rules in bindery.toml may choose a workflow by it
  bindery submit inbox/ --doctype invoice      all of them are invoices; nothing is classified
  cat scan.pdf | bindery submit -              from standard input
The same files again, with the same said about them, are the same submission, unless --anew is said.
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
    let receipt = intake::receive(&app, settings, args.intake.into()).await?;
    note_receipt(&receipt);
    let id = receipt.received.id();
    if args.json {
        let is_new = matches!(receipt.received, Received::New(_));
        output::json(&json!({"submission": id, "new": is_new, "unreadable": receipt.unreadable}))?;
    } else {
        output::line(id.to_string())?;
        output::note(format!("`bindery worker` works on it, `bindery status {id}` shows how it stands"));
    }
    Ok(exit_of(&receipt))
}
