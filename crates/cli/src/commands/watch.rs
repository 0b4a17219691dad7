//! `bindery watch`: takes in what is put into a folder, each file once, and works on it.

use crate::{exit::Exit, intake_args::AboutArgs, output, result_tables};
use bindery_app::{
    Settings, Signals, Supervisor, names,
    supervisor::{WorkerOptions, stop_pair},
    watch::{FolderWatch, WatchEvent, WatchOptions},
};
use bindery_core::{progress::Progress, submission::SubmissionStatus};
use serde_json::{Value, json};
use std::{path::PathBuf, pin::pin, time::Duration};

/// Take in what is put into a folder, and work on it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery watch inbox                     every file that is put there becomes a submission, until Ctrl-C
  bindery watch inbox --done inbox/done   what was taken in is moved there
  bindery watch inbox --no-work           `bindery worker` does the work, here or elsewhere
  bindery watch inbox --once --json       what is there now; ends when it is done
A file is taken in when its size and time have not changed for some seconds; hidden files and those that end in .part, .tmp,
.crdownload or ~ are left alone. Each file is taken in once, by its path and content, however often this is started.")]
pub(crate) struct Args {
    /// The folder, with everything below it
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    about: AboutArgs,

    /// Move there what was taken in
    #[arg(long, value_name = "DIR")]
    done: Option<PathBuf>,

    /// Only take in; leave the work to `bindery worker`
    #[arg(long)]
    no_work: bool,

    /// How long a file has to stay as it is before it is taken in
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    settle: u64,

    /// How often to look
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,

    /// Take in what is there, and end when it is done
    #[arg(long)]
    once: bool,

    /// How many processors run at once (default: one for each core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print one JSON object for each submission
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.create().await?;
    let every = Duration::from_secs(args.every);
    let shown = args.folder.display().to_string();
    let wanted = WatchOptions {
        folder: args.folder,
        about: args.about.into(),
        done: args.done,
        settle: Duration::from_secs(args.settle),
        every,
        once: args.once,
        follows: !args.no_work,
    };
    let mut watch = FolderWatch::new(&app, settings, wanted).await?;
    let mut signals = Signals::new()?;
    let mut options = WorkerOptions { name: names::of_run(), lease: super::run::LEASE, ..WorkerOptions::default() };
    if let Some(threads) = args.threads {
        options.threads = usize::from(threads);
    }
    let mut supervisor = (!args.no_work).then(|| Supervisor::start(&app, options));
    if !args.once {
        output::note(format!("watches {shown} every {} s; Ctrl-C ends it", args.every));
    }
    let teller = Teller { as_json: args.json, works: !args.no_work };
    let (handle, mut stop) = stop_pair();
    let ended = {
        let mut work = pin!(watch.run(&mut stop, |event| teller.tell(&event)));
        if let Some(supervisor) = &mut supervisor {
            supervisor.until_stopped(&mut signals, &handle, work).await
        } else {
            tokio::select! {
                ended = &mut work => ended,
                () = signals.next() => {
                    handle.stop();
                    work.await
                }
            }
        }
    };
    if let Some(supervisor) = supervisor {
        supervisor.stop(&mut signals).await?;
    }
    ended?;
    // What ended while the worker finished what it had in hand.
    watch.report(&mut |event| teller.tell(&event)).await?;
    if watch.open() > 0 {
        let number = output::count(watch.open() as u64, "submission");
        output::note(format!(
            "{number} not finished; what is done is kept. The same command, or `bindery worker`, goes on"
        ));
    }
    Ok(Exit::Ok)
}

/// Prints one line for each submission.
#[derive(Debug, Clone, Copy)]
struct Teller {
    as_json: bool,
    /// Whether somebody here works on them: then the line comes at their end.
    works: bool,
}

impl Teller {
    fn tell(self, event: &WatchEvent<'_>) -> anyhow::Result<()> {
        match event {
            WatchEvent::TakenIn { id, name } if self.works => {
                output::note(format!("took in {name} as {id}"));
                Ok(())
            }
            WatchEvent::TakenIn { id, name } if self.as_json => {
                output::json_line(&json!({"submission": id, "file": name, "status": "received"}))
            }
            WatchEvent::TakenIn { id, name } => Ok(output::line(format!("{id}  {name}  taken in"))?),
            WatchEvent::Ended { name, progress, result } => self.tell_end(name, progress, result),
        }
    }

    fn tell_end(self, name: &str, progress: &Progress, result: &Value) -> anyhow::Result<()> {
        let id = progress.submission;
        if self.as_json {
            let documents: Vec<Value> = documents(result)
                .map(|one| json!({"document_id": one["document_id"], "doc_type": one["doc_type"], "status": one["status"]}))
                .collect();
            return output::json_line(&json!({
                "submission": id, "file": name, "status": progress.status, "error": progress.error,
                "documents": documents, "failed": result["failed"], "open_reviews": progress.open_reviews(),
            }));
        }
        Ok(output::line(format!("{id}  {name}  {}", outcome(progress, result)))?)
    }
}

fn documents(result: &Value) -> impl Iterator<Item = &Value> {
    result["documents"].as_array().into_iter().flatten()
}

fn outcome(progress: &Progress, result: &Value) -> String {
    match progress.status {
        SubmissionStatus::Failed => {
            format!("failed: {}", progress.error.as_deref().unwrap_or("no reason was given"))
        }
        SubmissionStatus::Completed => {
            let kinds: Vec<String> = documents(result).map(result_tables::in_short).collect();
            let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join("; ")) };
            let gaps = progress.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
            format!("completed{kinds}{gaps}")
        }
        status if status.is_final() => status.to_string(),
        _ if progress.open_reviews() > 0 => "waits for a person; `bindery reviews` lists what to decide".to_owned(),
        _ => format!("waits; `bindery status {}` says why", progress.submission),
    }
}
