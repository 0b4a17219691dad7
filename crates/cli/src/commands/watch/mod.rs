//! `bindery watch`: takes in what is put into a folder, each file once, and works on it.
//!
//! A file is known by its path and its content, and the store remembers it: nothing is taken in twice, also not by a watch
//! that is started again, or by two at once. What this process remembers only saves it from reading files again.

mod folder;
mod outcome;

use crate::{
    config::{App, Settings},
    exit::Exit,
    failure::Failure,
    names, output,
    receiving::About,
    work::{Running, Signals},
};
use bindery_engine::WorkerOptions;
use bindery_pipeline::intake::{Found, IntakeError, take_in};
use bindery_store::blobs::BlobError;
use folder::Folder;
use outcome::Outcomes;
use serde_json::json;
use std::{path::PathBuf, time::Duration};

/// How often it is looked whether something has come to its end.
const TICK: Duration = Duration::from_millis(200);

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
    about: About,

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
    args.about.check(&app, settings).await?;
    let folder = Folder::new(&args.folder, args.done.as_deref(), Duration::from_secs(args.settle))?;
    if app.blob_folder().is_some_and(|blobs| folder.holds(blobs)) {
        let message = format!("{} is the folder of the store or around it", args.folder.display());
        return Err(Failure::usage(message)
            .hint("watch another folder, or keep the store elsewhere with --store")
            .into());
    }
    let mut signals = Signals::new()?;
    let mut options = WorkerOptions { name: names::of_run(), lease: super::run::LEASE, ..WorkerOptions::default() };
    if let Some(threads) = args.threads {
        options.threads = usize::from(threads);
    }
    let worker = (!args.no_work).then(|| Running::start(&app, options));
    let outcomes = Outcomes::new(args.json, worker.is_some());
    let mut watch = Watch { app: &app, settings, args, folder, outcomes };
    let ended = watch.until_stopped(&mut signals, worker.as_ref()).await;
    if let Some(worker) = worker {
        worker.stop(&mut signals).await?;
    }
    ended?;
    // What ended while the worker finished what it had in hand.
    watch.outcomes.report(&app).await?;
    watch.outcomes.note_open();
    Ok(Exit::Ok)
}

struct Watch<'a> {
    app: &'a App,
    settings: &'a Settings,
    args: Args,
    folder: Folder,
    outcomes: Outcomes,
}

impl Watch<'_> {
    async fn until_stopped(&mut self, signals: &mut Signals, worker: Option<&Running>) -> anyhow::Result<()> {
        let every = Duration::from_secs(self.args.every);
        if !self.args.once {
            let place = self.args.folder.display();
            output::note(format!("watches {place} every {} s; Ctrl-C ends it", self.args.every));
        }
        loop {
            let looked = tokio::time::Instant::now();
            let nothing_to_come = match self.pass().await {
                Ok(nothing_to_come) => nothing_to_come,
                Err(error) if self.args.once => return Err(error),
                // What is away comes back; what is wrong for good is said again and again.
                Err(error) => {
                    output::note(format!("{error:#}; looking again in {} s", self.args.every));
                    false
                }
            };
            loop {
                self.outcomes.report(self.app).await?;
                if self.args.once {
                    if nothing_to_come && self.outcomes.none_open() {
                        return Ok(());
                    }
                    if !nothing_to_come {
                        if self.pause(signals, TICK).await {
                            return Ok(());
                        }
                        break;
                    }
                }
                if let Some(worker) = worker {
                    anyhow::ensure!(!worker.has_ended(), "the worker inside this process has ended too early");
                }
                if self.pause(signals, TICK).await {
                    return Ok(());
                }
                if looked.elapsed() >= every {
                    break;
                }
            }
        }
    }

    /// True if somebody asks to stop.
    async fn pause(&self, signals: &mut Signals, length: Duration) -> bool {
        tokio::select! {
            () = signals.next() => true,
            () = tokio::time::sleep(length) => false,
        }
    }

    /// Takes in what is complete. True if nothing is left that may become so.
    async fn pass(&mut self) -> anyhow::Result<bool> {
        for found in self.folder.complete()? {
            match self.receive(&found).await {
                Ok(()) => self.folder.settled(&found),
                // Whatever it is now, the next look sees it.
                Err(error) if has_changed(&error) => self.folder.forget(&found),
                Err(error) if is_about_the_file(&error) => {
                    output::note(format!("{} is left alone until it changes: {error:#}", found.name));
                    self.folder.settled(&found);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.folder.nothing_to_come())
    }

    async fn receive(&mut self, found: &Found) -> anyhow::Result<()> {
        let taken = take_in(&self.app.engine, std::slice::from_ref(&found.path)).await?;
        taken.notes.iter().for_each(output::note);
        let location = found.path.display().to_string();
        let external_id = taken.content_id(&json!(["watched", location]));
        let mut intake = self.args.about.intake(self.settings, taken, "watched folder")?;
        intake.external_id = Some(external_id);
        intake.metadata.insert("location".to_owned(), json!(location));
        let received = self.app.engine.submit(intake).await?;
        self.folder.move_away(found);
        self.outcomes.follow(self.app, received, &found.name).await
    }
}

fn has_changed(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(
            IntakeError::Missing { .. }
                | IntakeError::Blob(BlobError::SourceMissing { .. } | BlobError::SourceChanged { .. })
        )
    )
}

fn is_about_the_file(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(IntakeError::Blob(error)) => matches!(error, BlobError::SourceDenied { .. } | BlobError::NotAFile { .. }),
        Some(_) => true,
        None => false,
    }
}
