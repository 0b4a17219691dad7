//! `bindery run`: takes files in and works on them until there is a result.

use crate::{
    exit::Exit,
    intake_args::{IntakeArgs, exit_of, note_receipt, note_unreadable},
    output,
    pretty_json::write_around,
    progress::Display,
    report, result_tables,
    terminal::{DataForm, stdout},
};
use bindery_app::{
    App, Settings, Signals, StoredResult, Supervisor,
    follow::{self, End, StoreWait, follow},
    intake::{self, Received, Unreadable},
    names, submissions,
    supervisor::WorkerOptions,
};
use bindery_core::{progress::Progress, submission::SubmissionStatus};
use serde_json::json;
use std::time::Duration;

/// Somebody waits for a command that was started again after it was killed, so what it had in hand comes back soon.
pub(crate) const LEASE: Duration = Duration::from_secs(10);

/// Take files in, work on them and show the result
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery run inbox                              everything below that folder
  bindery run a.pdf b.docx --json > result.json  the result for a program
  bindery run inbox --workflow read              only the text; `bindery workflows` lists what there is
  bindery run inbox --doctype receipt            all of them are receipts; nothing is classified
  bindery run papers --checklist loan_application  what is missing from a loan application, what contradicts
  cat scan.pdf | bindery run -                   from standard input
Stopped half-way, killed, or without power? The same command goes on. The same files once more show their result again;
--anew works on them anew.
Ctrl-C lets work under way finish and stops; nothing that is done is done again.
Exit code 3: files of a folder could not be read, the others are done. 20: the store cannot be used.
Work of other submissions that waits in the same store is done, too.")]
pub(crate) struct Args {
    #[command(flatten)]
    intake: IntakeArgs,

    /// How many processors run at once (default: one for each core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// How long work is kept for this process after it has died, before it is taken up again
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3_600))]
    lease_seconds: u64,

    /// How long to go on while the store cannot be used: its disk is full, or its database is away
    #[arg(long, value_name = "SECONDS", default_value_t = follow::USUAL_SECONDS, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    store_wait: u64,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.create().await?;
    let receipt = intake::receive(&app, settings, args.intake.into()).await?;
    note_receipt(&receipt);
    let id = receipt.received.id();
    let mut signals = Signals::new()?;
    let lease = Duration::from_secs(args.lease_seconds);
    let mut options = WorkerOptions { name: names::of_run(), lease, ..WorkerOptions::default() };
    if let Some(threads) = args.threads {
        options.threads = usize::from(threads);
    }
    let mut display = Display::new(!args.no_progress);
    let mut supervisor = Supervisor::start(&app, options);
    let mut wait = StoreWait::new(args.store_wait);
    let end =
        match follow(&app, id, &mut supervisor, &mut signals, &mut wait, |progress| display.update(progress)).await {
            Ok(end) => end,
            Err(error) => {
                display.finish();
                supervisor.abandon();
                return Err(error.into());
            }
        };
    if matches!(end, End::Interrupted) {
        output::note("finishing what is under way; Ctrl-C again stops at once");
    }
    supervisor.stop(&mut signals).await?;
    let progress = submissions::progress(&app.engine, id).await?;
    display.update(&progress);
    display.finish();
    if matches!(receipt.received, Received::Already(_)) && progress.status == SubmissionStatus::Cancelled {
        output::note(format!("{id} was cancelled; `bindery retry {id}` takes it up again"));
    }
    show(&app, &progress, end, &receipt.unreadable, args.json).await?;
    Ok(match exit(&progress, end) {
        Exit::Ok => exit_of(&receipt),
        other => other,
    })
}

fn exit(progress: &Progress, end: End) -> Exit {
    match (progress.status, end) {
        (SubmissionStatus::Completed, _) => Exit::Ok,
        (SubmissionStatus::Failed | SubmissionStatus::Cancelled, _) => Exit::SubmissionFailed,
        (_, End::Interrupted) => Exit::Interrupted,
        _ if progress.open_reviews() > 0 => Exit::WaitingForReview,
        _ => Exit::Waiting,
    }
}

async fn show(
    app: &App,
    progress: &Progress,
    end: End,
    unreadable: &[Unreadable],
    as_json: bool,
) -> anyhow::Result<()> {
    let id = progress.submission;
    let found = StoredResult::find(app, id).await?;
    let failed = follow::failed_parts(app, progress, report::MOST_IN_JSON).await?;
    let waits = if progress.status.is_final() { Vec::new() } else { follow::waits(app, progress).await? };
    let stored = follow::stored_result(app, id).await?;
    // What is long in a result is not needed to show it.
    let result = found.as_ref().map(StoredResult::without_index).transpose()?;
    if as_json {
        let answer = json!({
            "submission": id, "external_id": progress.external_id, "status": progress.status,
            "error": progress.error, "result": null, "stored": stored, "failed": failed.listed, "waiting": waits,
            "unreadable": unreadable, "progress": progress,
        });
        let answer = answer.as_object().cloned().unwrap_or_default();
        write_around(&answer, "result", found.as_ref(), stdout(DataForm::Json))?;
    } else if let (Some(found), Some(result)) = (&found, &result) {
        result_tables::show(found, result)?;
    }
    // The table of documents has said it.
    if as_json || result.as_ref().is_none_or(|result| !result["documents"].is_array()) {
        report::note_failed(&failed);
    }
    report::note_waits(&waits);
    note_unreadable(unreadable);
    output::note(conclusion(progress, end, failed.is_permanent()));
    if let Some(stored) = stored.filter(|_| !as_json) {
        output::note(format!("stored as {} in {}", stored.key, stored.path));
        if let Some(result) = &result {
            report::note_next(id, result);
        }
    }
    Ok(())
}

/// The last line: how it ended, and what to do next if it has not.
fn conclusion(progress: &Progress, end: End, is_permanent: bool) -> String {
    let id = progress.submission;
    let took = progress.completed_at.map(|at| output::duration(at.since(progress.received_at))).unwrap_or_default();
    match progress.status {
        SubmissionStatus::Completed => match &progress.error {
            None if progress.open_reviews() > 0 => {
                let asked = output::count(progress.open_reviews(), "document");
                format!("{id} completed in {took}; {asked} for a person to look at: `bindery review list`")
            }
            None => format!("{id} completed in {took}"),
            Some(error) if is_permanent => {
                format!("{id} completed in {took}, but {error}; trying again would not help")
            }
            Some(error) => format!("{id} completed in {took}, but {error}; `bindery retry {id}` tries them again"),
        },
        SubmissionStatus::Failed => {
            let error = progress.error.as_deref().unwrap_or("no reason was given");
            let then = if is_permanent {
                "trying again would not help".to_owned()
            } else {
                format!("`bindery retry {id}` tries again")
            };
            format!("{id} failed: {error}; {then}")
        }
        SubmissionStatus::Cancelled => format!("{id} is cancelled; `bindery retry {id}` takes it up again"),
        // While work is left that goes on by itself, nobody waits for a person.
        _ if progress.open_reviews() > 0 && matches!(end, End::Stuck) => {
            format!("{id} waits for a person; `bindery review list` lists what to decide")
        }
        _ => {
            format!("{id} is not finished; what is done is kept. The same command, or `bindery worker`, goes on")
        }
    }
}
