//! `bindery civic processor`: reads what waits of councils, until it is told to stop.

use super::{
    fetching::Fetching,
    processing::{ReadFlags, Told},
};
use crate::{commands::worker, exit::Exit, listening::ListenArgs, output};
use bindery_app::{Settings, Signals, councils::visits};
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

    #[command(flatten)]
    listen: ListenArgs,

    /// Print a line of JSON for each meeting and matter
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    // Before anything is waited for, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let readiness = args.listen.serve().await?;
    let told = if args.json { Told::Jobs } else { Told::Remarks };
    let councils = args.read.councils(Arc::new(args.fetching.client()?), told);
    let app = tokio::select! {
        app = settings.create_patiently_for(councils) => app?,
        () = signals.next() => return Ok(Exit::Ok),
    };
    visits::recover(&app).await?;
    let supervisor = visits::processor(&app, usize::from(args.read.threads), args.read.drain(), readiness);
    output::note(format!("reads what waits of councils, {} at a time; Ctrl-C ends it", args.read.threads));
    worker::work(&app, supervisor, &mut signals, Some(&visits::queues()), args.until_idle).await
}
