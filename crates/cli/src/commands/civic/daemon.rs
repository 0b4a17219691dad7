//! `bindery civic daemon`: visits cities, reads what it finds and tells who wants to know, in one process.
//!
//! Its loops are independent: what goes wrong in one is told, waited out and tried again while the others go on. A signal
//! ends all of them, and whatever was opened is closed, however it ends.

use super::{
    outbox::Outbox,
    processing::{ReadFlags, Told},
    visiting::{self, Flags},
};
use crate::{exit::Exit, failure::Failure, listening::ListenArgs, output};
use bindery_app::{
    App, AppResult, Notice, Settings, Signals, Supervisor,
    councils::{
        conductor::{Conductor, Which},
        notices::Channels,
        visits,
    },
    idle::wait_until_idle,
    names,
    supervisor::stop_pair,
};
use std::sync::Arc;

/// Visit cities when they are due, read what is found and tell who wants to know, until it is told to stop
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic daemon                         everything in one process
  bindery civic daemon --threads 8             eight meetings are read at a time
  bindery civic daemon --once                  what is due and what waits now, then end
  bindery civic daemon --listen 0.0.0.0:9466   with /livez, /readyz and /metrics
  bindery civic daemon --json                  a line of JSON for each visit, meeting and matter
It is `bindery civic fetcher`, `bindery civic processor` and `bindery civic notices send` together; they
can run apart, on several machines. Trouble in one of its parts does not end the other. Of several on one store, one visits
cities and the others stand by for that; all of them read. Ctrl-C or SIGTERM: visits end with their
next page, what is under way is finished or given back within --drain-seconds; a second one stops at
once. Exit code 0 when it was told to stop.")]
pub(super) struct Args {
    /// Visit what is due, read what waits, then end
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    read: ReadFlags,

    #[command(flatten)]
    visits: Flags,

    #[command(flatten)]
    outbox: Outbox,

    /// Send no messages: somebody else does (`bindery civic notices send`)
    #[arg(long)]
    no_notices: bool,

    #[command(flatten)]
    listen: ListenArgs,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    if args.visits.fetching.is_replay() && !args.once {
        return Err(Failure::usage("--replay ends by itself; give --once with it").into());
    }
    // Before anything is waited for, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let readiness = args.listen.serve().await?;
    // One client for both: politeness is kept within it.
    let client = Arc::new(args.visits.fetching.client()?);
    let json = args.visits.json;
    let councils = args.read.councils(Arc::clone(&client), if json { Told::Jobs } else { Told::Remarks });
    let app = tokio::select! {
        app = settings.create_patiently_for(councils) => app?,
        () = signals.next() => return Ok(Exit::Ok),
    };
    let told = if json { visiting::Told::JsonLines } else { visiting::Told::Remarks };
    let conductor = args.visits.conductor_with(&app, names::of_fetcher(), told, client)?;
    let channels = if args.no_notices { None } else { Some(args.outbox.channels(&app)?) };
    visits::recover(&app).await?;
    let start = || visits::processor(&app, usize::from(args.read.threads), args.read.drain(), readiness);
    if args.once {
        return run_once(&app, &conductor, start, channels, &mut signals).await;
    }
    let mut supervisor = visits::with_visits(start(), &app, conductor, channels);
    output::note("visits cities when they are due and reads what it finds; Ctrl-C ends it");
    supervisor.run_until(&mut signals, std::future::pending::<AppResult<()>>()).await?;
    app.notify(&Notice::Draining);
    let stopped = supervisor.stop(&mut signals).await?;
    output::note(format!("finished {}", output::count(stopped.jobs, "job")));
    Ok(if stopped.is_at_once { Exit::Interrupted } else { Exit::Ok })
}

/// What is due, then what waits, and what is to be told of it.
async fn run_once(
    app: &App,
    conductor: &Conductor,
    start: impl FnOnce() -> Supervisor,
    channels: Option<Channels>,
    signals: &mut Signals,
) -> anyhow::Result<Exit> {
    let (handle, stop) = stop_pair();
    let work = async {
        visits::must_be_alone(conductor).await?;
        anyhow::Ok(conductor.full_sync(Which::Due, &stop).await?)
    };
    let Some(results) = visits::attended(app, conductor, &handle, signals, work).await? else {
        return Ok(Exit::Interrupted);
    };
    let visited = visiting::exit_of(&results?);
    if stop.is_stopping() {
        return Ok(Exit::Interrupted);
    }
    let mut supervisor = start();
    let own = visits::queues();
    let end = supervisor.run_until(signals, wait_until_idle(app, Some(&own))).await;
    let stopped = supervisor.stop(signals).await?;
    output::note(format!("finished {}", output::count(stopped.jobs, "job")));
    if end?.is_none() {
        return Ok(Exit::Interrupted);
    }
    if let Some(channels) = channels {
        let (_, sending) = visits::sender(app, channels).run_once(&stop).await?;
        output::note(format!("sent {}", output::count(sending.delivered as u64, "message")));
    }
    Ok(visited)
}
