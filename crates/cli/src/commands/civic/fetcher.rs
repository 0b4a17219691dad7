//! `bindery civic fetcher`: visits cities when they are due, until it is told to stop.

use super::{
    full_sync,
    visiting::{Flags, Told},
};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings, Signals,
    councils::{conductor::Which, visits},
    names,
    supervisor::stop_pair,
};

/// Visit cities whenever they are due, until it is told to stop
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic fetcher                  as a service: beside it, a worker reads what it finds
  bindery civic fetcher --once           what is due now, then end
  bindery civic fetcher --json           a line of JSON for each visit
How often a city is visited follows from how often it meets: every 12 hours to once a week, every
6 hours while an agenda must soon be out, and less often while it fails. Cities that are added
meanwhile are visited at once. Ctrl-C or SIGTERM: no city is begun any more, those under way end
with their next page; a second one stops at once. Whatever is interrupted is visited again. A second
fetcher of the same store stands by until the first one has stopped. Exit code 0 when it was told to
stop; with --once 0 all visited, 3 some, 1 none.")]
pub(super) struct Args {
    /// Visit what is due now, then end
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    if args.once {
        let app = settings.existing().await?;
        return full_sync::run_once(&app, Which::Due, &args.flags).await;
    }
    if args.flags.fetching.is_replay() {
        return Err(Failure::usage("--replay ends by itself; give --once with it").into());
    }
    // Before anything is waited for, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let app = tokio::select! {
        app = settings.create_patiently() => app?,
        () = signals.next() => return Ok(Exit::Ok),
    };
    let told = if args.flags.json { Told::JsonLines } else { Told::Remarks };
    let conductor = args.flags.conductor(&app, names::of_fetcher(), told)?;
    let (handle, stop) = stop_pair();
    let work = visits::visit_when_due(&app, &conductor, &stop, || {
        output::note("visits cities when they are due; Ctrl-C ends it");
    });
    match visits::attended(&app, &conductor, &handle, &mut signals, work).await? {
        Some(ended) => Ok(ended.map(|()| Exit::Ok)?),
        None => Ok(Exit::Interrupted),
    }
}
