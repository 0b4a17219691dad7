//! `bindery civic processor`: reads what waits of councils, until it is told to stop.

use super::{
    fetching::Fetching,
    processing::{self, ReadFlags, Told},
};
use crate::{
    commands::worker,
    config::{App, Settings},
    env_vars,
    exit::Exit,
    names, output,
    work::{Running, Signals},
};
use bindery_civic::records::CIVIC_QUEUE;
use bindery_core::{Name, job::ENGINE_QUEUE};
use bindery_engine::WorkerOptions;
use bindery_server::Watched;
use std::sync::Arc;

/// Read what waits of councils, until it is told to stop
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic processor                         as a service: beside it, the fetcher visits cities
  bindery civic processor --threads 8             eight meetings at a time
  bindery civic processor --until-idle            until nothing is left, then end
  bindery civic processor --listen 0.0.0.0:9465   with /livez, /readyz and /metrics
  bindery civic processor --json                  a line of JSON for each meeting and matter
Any number of them may share a store: no job is done by two. What a program on this machine left
behind that was killed is taken up at once, what others left behind when their leases end. Ctrl-C or
SIGTERM: what is under way is finished or given back within --drain-seconds; a second one stops at
once. Exit code 0 when it was told to stop.")]
pub(super) struct Args {
    /// Stop when nothing is left that goes on by itself: what is tried again later is waited for, what waits for a
    /// quota is not
    #[arg(long)]
    until_idle: bool,

    #[command(flatten)]
    read: ReadFlags,

    #[command(flatten)]
    fetching: Fetching,

    /// Answer here whether it lives (/livez), is ready (/readyz), and its metrics (/metrics)
    #[arg(long, value_name = "HOST:PORT", env = env_vars::LISTEN, hide_env = true)]
    listen: Option<String>,

    /// Print a line of JSON for each meeting and matter
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    // Before anything is waited for, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let watched = Watched::default();
    if let Some(address) = &args.listen {
        worker::listen(address, watched.clone()).await?;
    }
    let told = if args.json { Told::Jobs } else { Told::Remarks };
    let councils = args.read.councils(Arc::new(args.fetching.client()?), told);
    let app = tokio::select! {
        app = settings.create_patiently_for(councils) => app?,
        () = signals.next() => return Ok(Exit::Ok),
    };
    processing::recover(&app).await?;
    let running = start(&app, &args.read);
    output::note(format!("reads what waits of councils, {} at a time; Ctrl-C ends it", args.read.threads));
    watched.begin(Arc::clone(app.engine.store()), Arc::clone(running.metrics()));
    let own = queues();
    let end = tokio::select! {
        () = signals.next() => {
            output::note("finishing what is under way; a second signal stops at once");
            Ok(())
        }
        end = worker::wait(&app, Some(&own), args.until_idle, &running) => end,
    };
    watched.drain();
    let finished = running.stop(&mut signals).await?;
    output::note(format!("finished {}", output::count(finished, "job")));
    end.map(|()| Exit::Ok)
}

/// A worker for the jobs of councils, seen by its name.
pub(super) fn start(app: &App, read: &ReadFlags) -> Running {
    let options = WorkerOptions {
        name: names::of_processor(),
        queues: Some(queues()),
        threads: usize::from(read.threads),
        drain: read.drain(),
        ..WorkerOptions::default()
    };
    Running::start(app, options)
}

/// The jobs of councils, and the engine's own small ones.
pub(super) fn queues() -> Vec<Name> {
    vec![Name::from(CIVIC_QUEUE), Name::from(ENGINE_QUEUE)]
}
