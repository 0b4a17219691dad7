//! `bindery result`: the result of a submission again.

mod texts;

use super::retry::refuse_run;
use crate::{config::Settings, exit::Exit, failure::Failure, output, report};
use bindery_engine::view;
use std::path::PathBuf;

/// Show the result of a submission
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery result sub_1                      for people
  bindery result sub_1 --json               for programs
  bindery result sub_1 --output words.json  into a file
  bindery result sub_1 --texts texts        the text of each file that was read, as texts/NAME.md")]
pub(crate) struct Args {
    /// sub_N, or your own id
    submission: String,

    /// Write it to a file, as JSON
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,

    /// Write the text of each file into this folder, as NAME.md
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "output"])]
    texts: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let submission = app.engine.find_submission(&args.submission).await?;
    refuse_run(&app, submission.id).await?;
    let Some(result) = view::result(&app.engine, submission.id).await? else {
        let message = format!("{} has no result: it is {}", submission.id, submission.status);
        let exit = if submission.status.is_final() { Exit::SubmissionFailed } else { Exit::Waiting };
        return Err(Failure::new(exit, message).hint(format!("`bindery status {}` shows why", submission.id)).into());
    };
    if let Some(path) = args.output {
        let text = serde_json::to_string_pretty(&result)?;
        std::fs::write(&path, text + "\n")
            .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))?;
        output::note(format!("wrote {}", path.display()));
    } else if let Some(folder) = args.texts {
        let written = texts::write(&app, submission.id, &result, &folder).await?;
        output::note(format!("wrote {} into {}", output::count(written, "text"), folder.display()));
    } else if args.json {
        output::json(&result)?;
    } else {
        report::show_result(&result)?;
    }
    Ok(Exit::Ok)
}
