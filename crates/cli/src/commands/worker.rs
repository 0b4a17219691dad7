//! `bindery worker`: works until it is told to stop.

use crate::{
    broker::Broker,
    config::{App, Settings, patiently},
    env_vars,
    exit::Exit,
    failure::Failure,
    names, output,
    work::{Running, Signals},
};
use bindery_core::{Name, job::ENGINE_QUEUE};
use bindery_engine::{WorkerOptions, aggregator, feed::Consumed, message::ROUTER_QUEUE};
use bindery_server::Watched;
use bindery_store::executions::{ExecutionFilter, ExecutionStatus};
use std::{sync::Arc, time::Duration};
use tokio::net::TcpListener;

/// Work on whatever waits in the store
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery worker                          every queue, one thread for each core
  bindery worker --queues word_counter    only this queue (and the engine's own small jobs)
  bindery worker --stages count           only the queues of the stages called count
  bindery worker --until-idle             until nothing is left that can be done now
  bindery worker --listen 0.0.0.0:9464    with /livez, /readyz and /metrics
Any number of workers may share a store. Ctrl-C or SIGTERM: finish what is under way, then stop.
A second one: stop at once. A worker that dies loses nothing: others take its jobs when its lease ends.")]
pub(crate) struct Args {
    /// Only these queues, separated by commas (default: all)
    #[arg(long, value_delimiter = ',', value_name = "QUEUES")]
    queues: Vec<String>,

    /// Only the queues of these stages, separated by commas; words/count means one workflow's (default: all)
    #[arg(long, value_delimiter = ',', value_name = "STAGES")]
    stages: Vec<String>,

    /// How many processors run at once (default: one for each core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// How long others wait for a sign of life before they take its jobs
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    lease_seconds: u64,

    /// How long work under way may take to finish after the first signal
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    drain_seconds: u64,

    /// How it is shown; unique among the workers of a store (default: host, process id and start)
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    name: Option<String>,

    /// The RabbitMQ broker that carries the jobs: amqp://user:password@host:5672/vhost (default: none)
    #[arg(long, value_name = "URL", env = env_vars::AMQP, hide_env = true, hide_env_values = true)]
    amqp: Option<String>,

    /// Answer here whether it lives (/livez), is ready (/readyz), and its metrics (/metrics)
    #[arg(long, value_name = "HOST:PORT", env = env_vars::LISTEN, hide_env = true)]
    listen: Option<String>,

    /// Stop when nothing is left that can be done now
    #[arg(long)]
    until_idle: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    // Before anything is waited for, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let watched = Watched::default();
    if let Some(address) = &args.listen {
        listen(address, watched.clone()).await?;
    }
    let app = tokio::select! {
        app = settings.create_patiently() => app?,
        () = signals.next() => return Ok(Exit::Interrupted),
    };
    let mut options = WorkerOptions {
        queues: tokio::select! {
            queues = patiently(|| queues(&app, &args.queues, &args.stages)) => queues?,
            () = signals.next() => return Ok(Exit::Interrupted),
        },
        lease: Duration::from_secs(args.lease_seconds),
        drain: Duration::from_secs(args.drain_seconds),
        name: args.name.map_or_else(names::of_worker, Name::from),
        ..WorkerOptions::default()
    };
    if let Some(threads) = args.threads {
        options.threads = usize::from(threads);
    }
    let of = match &options.queues {
        None => "every queue".to_owned(),
        Some(queues) => queues.iter().map(Name::as_str).collect::<Vec<_>>().join(", "),
    };
    output::note(format!("{} works on {of} with {} threads", options.name, options.threads));
    let own = options.queues.clone();
    let mut broker = Broker::connect(&app, args.amqp.filter(|url| !url.is_empty()), &mut options).await?;
    let mut running = Running::start_with(&app, options, broker.start());
    if own.is_none() {
        // One for some queues leaves state machines to others.
        running = running.with_machines(&app, settings.functions(&app)?);
    }
    watched.begin(Arc::clone(app.engine.store()), Arc::clone(running.metrics()));
    let end = tokio::select! {
        () = signals.next() => {
            output::note("finishing what is under way; a second signal stops at once");
            Ok(())
        }
        end = wait(&app, own.as_deref(), args.until_idle, &running) => end,
    };
    watched.drain();
    let finished = running.stop(&mut signals).await?;
    broker.stop().await;
    output::note(format!("finished {}", output::count(finished, "job")));
    end.map(|()| Exit::Ok)
}

/// Answers from now on, also while the store is waited for, and until the process ends.
pub(crate) async fn listen(address: &str, watched: Watched) -> anyhow::Result<()> {
    let wrong = |error: std::io::Error| {
        Failure::usage(format!("--listen or {}: {address:?} cannot be listened on: {error}", env_vars::LISTEN))
            .hint("an address is a host and a port, such as 127.0.0.1:9464 or 0.0.0.0:9464")
    };
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    output::note(format!("answers on http://{}", listener.local_addr().map_err(wrong)?));
    tokio::spawn(async move {
        if let Err(error) = bindery_server::serve(listener, watched, std::future::pending()).await {
            tracing::error!(error = %error, "nobody is answered any more");
        }
    });
    Ok(())
}

/// The queues to work on, or all. Somebody has to do the engine's own small jobs, which bring submissions forward: a
/// worker for some queues does them, too.
async fn queues(app: &App, named: &[String], stages: &[String]) -> anyhow::Result<Option<Vec<Name>>> {
    let mut queues = Vec::new();
    if let Some(component) = std::env::var(env_vars::COMPONENT).ok().filter(|name| !name.is_empty()) {
        queues.push(component_queue(app, &component).await?);
    }
    for name in named {
        queues.push(app.queue_named(name).await?);
    }
    for stage in stages {
        queues.extend(app.queues_of_stage(stage).await?);
    }
    if queues.is_empty() {
        return Ok(None);
    }
    queues.push(ENGINE_QUEUE.into());
    queues.sort_unstable();
    queues.dedup();
    Ok(Some(queues))
}

async fn component_queue(app: &App, component: &str) -> anyhow::Result<Name> {
    let wanted = Name::from(format!("q.{component}"));
    let known = app.queues().await?;
    // The router has no stage: it starts the requests that come as messages.
    if known.contains(&wanted) || wanted == *ROUTER_QUEUE {
        return Ok(wanted);
    }
    let components: Vec<&str> =
        known.iter().filter(|queue| **queue != *ENGINE_QUEUE).filter_map(|queue| queue.strip_prefix("q.")).collect();
    let message =
        format!("{}: there is no component {component:?}; known are {}", env_vars::COMPONENT, components.join(", "));
    Err(Failure::new(Exit::Unexpected, message).into())
}

/// Returns when nothing is left that can be done now, if that is wanted.
pub(crate) async fn wait(app: &App, own: Option<&[Name]>, until_idle: bool, running: &Running) -> anyhow::Result<()> {
    loop {
        anyhow::ensure!(!running.has_ended(), "the worker has ended too early");
        let mark = app.store().change_mark();
        if until_idle && patiently(|| is_idle(app, own)).await? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        app.store().changed(mark, Duration::from_millis(500)).await;
    }
}

/// Nothing runs, nothing is ready (except in paused queues) and nothing waits for its next try or its time.
async fn is_idle(app: &App, own: Option<&[Name]>) -> anyhow::Result<bool> {
    // Reports first: following them can make new work.
    while !matches!(aggregator::step(&app.engine).await?, Consumed::Nothing) {}
    let queues = app.store().queues().await?;
    let mine = queues.iter().filter(|view| own.is_none_or(|own| own.contains(&view.queue)));
    let no_jobs = mine.into_iter().all(|view| view.running == 0 && (view.paused || view.ready + view.scheduled == 0));
    if !no_jobs || own.is_some() {
        return Ok(no_jobs);
    }
    // State machines that wait for somebody are no work.
    let running = ExecutionFilter { status: Some(ExecutionStatus::Running), ..ExecutionFilter::default() };
    let executions = app.store().executions(running).await?;
    Ok(executions.iter().all(|execution| !execution.is_held && execution.due_at.is_none()))
}
