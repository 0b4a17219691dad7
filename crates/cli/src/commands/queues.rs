//! `bindery queues`, `pause` and `resume`.

use crate::{exit::Exit, output};
use bindery_app::{Settings, jobs::QueueView, runs::is_run};
use serde_json::json;
use std::collections::BTreeMap;

/// Show the queues and the workers
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery queues
  bindery queues --json")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Hand out no more work from a queue
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery pause word_counter --because \"the counter is being repaired\"
Work under way finishes. `bindery resume` goes on.")]
pub(crate) struct PauseArgs {
    /// The queue, or its component
    queue: String,

    /// Shown with the queue
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
}

/// Hand out work from a paused queue again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery resume word_counter")]
pub(crate) struct ResumeArgs {
    /// The queue, or its component
    queue: String,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let mut workers = app.store().workers().await?;
    workers.retain(|worker| !is_run(&worker.worker));
    // Queues that are empty are shown, too: they can be paused before there is work.
    let mut views: BTreeMap<_, _> = app.queues().await?.into_iter().map(|queue| (queue, None)).collect();
    for view in app.store().queues().await? {
        views.insert(view.queue.clone(), Some(view));
    }
    if args.json {
        let queues: Vec<QueueView> = views.into_values().flatten().collect();
        output::json(&json!({"queues": queues, "workers": workers}))?;
        return Ok(Exit::Ok);
    }
    let rows = views.into_iter().map(|(queue, view)| {
        let number = |of: fn(&QueueView) -> u64| view.as_ref().map_or(0, of).to_string();
        let state = match view.as_ref().filter(|view| view.paused) {
            Some(view) => match view.paused_because.as_deref().filter(|because| !because.is_empty()) {
                Some(because) => format!("paused: {because}"),
                None => "paused".to_owned(),
            },
            None => String::new(),
        };
        [
            queue.to_string(),
            number(|view| view.ready),
            number(|view| view.running),
            number(|view| view.scheduled),
            number(|view| view.parked),
            number(|view| view.awaiting),
            number(|view| view.dead),
            state,
        ]
    });
    output::table(&["QUEUE", "READY#", "RUNNING#", "LATER#", "PARKED#", "OUTSIDE#", "DEAD#", ""], rows)?;
    output::line("")?;
    if workers.is_empty() {
        output::line("no worker has worked on this store yet")?;
        return Ok(Exit::Ok);
    }
    let rows = workers.into_iter().map(|worker| {
        [
            worker.worker.to_string(),
            worker.running.to_string(),
            worker.finished.to_string(),
            output::ago(worker.seen_at),
        ]
    });
    output::table(&["WORKER", "RUNNING#", "FINISHED#", "SEEN"], rows)?;
    Ok(Exit::Ok)
}

pub(crate) async fn pause(settings: &Settings, args: PauseArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let queue = app.queue_named(&args.queue).await?;
    if app.store().pause(&queue, args.because).await? {
        output::line(format!("paused {queue}"))?;
        output::note(format!("undo: bindery resume {queue}"));
    } else {
        output::note(format!("{queue} was paused already"));
    }
    Ok(Exit::Ok)
}

pub(crate) async fn resume(settings: &Settings, args: ResumeArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let queue = app.queue_named(&args.queue).await?;
    if app.store().resume(&queue).await? {
        output::line(format!("resumed {queue}"))?;
    } else {
        output::note(format!("{queue} was not paused"));
    }
    Ok(Exit::Ok)
}
