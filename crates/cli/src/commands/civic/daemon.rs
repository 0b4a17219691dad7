//! `bindery civic daemon`: visits cities, reads what it finds and tells who wants to know, in one process.
//!
//! Its loops are independent: what goes wrong in one is told, waited out and tried again while the others go on. A signal
//! ends all of them, and whatever was opened is closed, however it ends.

use super::{
    fetcher, full_sync,
    notices::LOOK_EVERY,
    outbox::Outbox,
    processing::{self, ReadFlags, Told},
    processor,
    visiting::{self, Flags},
};
use crate::{
    commands::worker,
    config::{App, Settings},
    env_vars,
    exit::Exit,
    failure::Failure,
    names, output,
    work::{Running, Signals},
};
use bindery_civic::{
    conductor::{Conductor, Which},
    notices::{self, Channels},
};
use bindery_engine::{StopSignal, stop_pair};
use bindery_server::Watched;
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;

/// How long a loop is left alone that came to grief.
const AFTER_TROUBLE: Duration = Duration::from_secs(10);

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

    /// Answer here whether it lives (/livez), is ready (/readyz), and its metrics (/metrics)
    #[arg(long, value_name = "HOST:PORT", env = env_vars::LISTEN, hide_env = true)]
    listen: Option<String>,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    if args.visits.fetching.is_replay() && !args.once {
        return Err(Failure::usage("--replay ends by itself; give --once with it").into());
    }
    // Before anything is waited for, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let watched = Watched::default();
    if let Some(address) = &args.listen {
        worker::listen(address, watched.clone()).await?;
    }
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
    processing::recover(&app).await?;
    if args.once {
        return once(&app, &conductor, &args.read, channels.as_ref(), &mut signals).await;
    }
    let running = processor::start(&app, &args.read);
    let (handle, stop) = stop_pair();
    let mut loops = JoinSet::new();
    loops.spawn(go_on("visiting cities", stop.clone(), move |stop| visit(conductor.clone(), stop)));
    if let Some(channels) = channels {
        let store = Arc::clone(app.engine.store());
        let tell = move |stop| {
            let (store, channels) = (Arc::clone(&store), channels.clone());
            async move {
                notices::run(store, channels, LOOK_EVERY, stop).await;
                Ok(())
            }
        };
        loops.spawn(go_on("telling people", stop.clone(), tell));
    }
    output::note("visits cities when they are due and reads what it finds; Ctrl-C ends it");
    let running = until_asked(&app, &args.read, running, &watched, &mut signals).await;
    output::note("finishing what is under way; a second signal stops at once");
    watched.drain();
    handle.stop();
    end(running, loops, &mut signals).await
}

/// Reads what waits until there is a signal. A worker that ends before is followed by another.
async fn until_asked(
    app: &App,
    read: &ReadFlags,
    mut running: Running,
    watched: &Watched,
    signals: &mut Signals,
) -> Running {
    loop {
        watched.begin(Arc::clone(app.engine.store()), Arc::clone(running.metrics()));
        let ended = tokio::select! {
            () = signals.next() => return running,
            ended = running.ended() => ended,
        };
        let why = ended.map_or_else(|error| format!("{error:#}"), |_| "it ended by itself".to_owned());
        tell_of_grief("reading what waits", &why);
        tokio::select! {
            () = tokio::time::sleep(AFTER_TROUBLE) => running = processor::start(app, read),
            () = signals.next() => return running,
        }
    }
}

fn tell_of_grief(what: &str, why: &str) {
    output::note(format!("{what} came to grief and goes on in {}: {why}", output::duration(AFTER_TROUBLE)));
}

/// Ends all parts: gently, and at once when somebody asks again.
async fn end(mut running: Running, mut loops: JoinSet<()>, signals: &mut Signals) -> anyhow::Result<Exit> {
    running.ask_to_stop();
    let mut is_asked_again = false;
    let all = async {
        let finished = running.ended().await;
        while loops.join_next().await.is_some() {}
        finished
    };
    let finished = tokio::select! {
        finished = all => Some(finished),
        () = signals.next() => None,
    };
    let finished = if let Some(finished) = finished {
        finished
    } else {
        output::note("stopping at once; work under way is done again later");
        is_asked_again = true;
        loops.shutdown().await;
        running.ask_to_stop();
        running.ended().await
    }?;
    output::note(format!("finished {}", output::count(finished, "job")));
    Ok(if is_asked_again { Exit::Interrupted } else { Exit::Ok })
}

/// A loop that goes on until it should stop. What goes wrong in it is told, and after a pause it begins again.
async fn go_on<F>(what: &'static str, mut stop: StopSignal, work: impl Fn(StopSignal) -> F + Send)
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    while !stop.is_stopping() {
        // A task of its own: a panic in it is one more way to come to grief.
        let ended = AbortOnDrop(tokio::spawn(work(stop.clone()))).join().await;
        if stop.is_stopping() {
            break;
        }
        let why = match ended {
            Ok(Ok(())) => "it ended by itself".to_owned(),
            Ok(Err(error)) => format!("{error:#}"),
            Err(error) => error.to_string(),
        };
        tell_of_grief(what, &why);
        tokio::select! {
            () = tokio::time::sleep(AFTER_TROUBLE) => {}
            () = stop.stopping() => {}
        }
    }
}

/// A task that does not outlive whoever waits for it.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    async fn join(mut self) -> Result<T, tokio::task::JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Visits cities when they are due, seen by others.
async fn visit(conductor: Conductor, stop: StopSignal) -> anyhow::Result<()> {
    let presence = visiting::enter(&conductor).await?;
    let mut stopped = stop.clone();
    let free = tokio::select! {
        free = fetcher::stand_by(&conductor) => free,
        () = stopped.stopping() => Ok(()),
    };
    if free.is_ok() {
        conductor.run(&stop).await;
    }
    presence.leave(0).await?;
    free
}

/// What is due, then what waits, and what is to be told of it.
async fn once(
    app: &App,
    conductor: &Conductor,
    read: &ReadFlags,
    channels: Option<&Channels>,
    signals: &mut Signals,
) -> anyhow::Result<Exit> {
    let (handle, stop) = stop_pair();
    let work = async {
        full_sync::alone(conductor).await?;
        anyhow::Ok(conductor.full_sync(Which::Due, &stop).await?)
    };
    let Some(results) = visiting::attended(conductor, &handle, signals, work).await? else {
        return Ok(Exit::Interrupted);
    };
    let visited = visiting::exit_of(&results?);
    if stop.is_stopping() {
        return Ok(Exit::Interrupted);
    }
    let running = processor::start(app, read);
    let own = processor::queues();
    let end = tokio::select! {
        () = signals.next() => Ok(Exit::Interrupted),
        end = worker::wait(app, Some(&own), true, &running) => end.map(|()| visited),
    };
    let finished = running.stop(signals).await?;
    output::note(format!("finished {}", output::count(finished, "job")));
    let exit = end?;
    if let Some(channels) = channels.filter(|_| exit != Exit::Interrupted) {
        let (_, sending) = notices::once(app.store(), channels, &stop).await?;
        output::note(format!("sent {}", output::count(sending.delivered as u64, "message")));
    }
    Ok(exit)
}
