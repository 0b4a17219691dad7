//! `bindery worker`: works until it is told to stop.

use crate::{exit::Exit, listening::ListenArgs, output};
use bindery_app::{
    App, Notice, QueueChoice, Settings, Signals, Supervisor, broker::Broker, env_vars, idle::wait_until_idle, names,
    patiently, supervisor::WorkerOptions,
};
use bindery_core::Name;
use std::time::Duration;

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

    #[command(flatten)]
    listen: ListenArgs,

    /// Stop when nothing is left that can be done now
    #[arg(long)]
    until_idle: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    // Before anything is waited for, so that no signal finds us unprepared.
    let mut signals = Signals::new()?;
    let readiness = args.listen.serve().await?;
    let app = tokio::select! {
        app = settings.create_patiently() => app?,
        () = signals.next() => return Ok(Exit::Interrupted),
    };
    let component = std::env::var(env_vars::COMPONENT).ok().filter(|name| !name.is_empty());
    let chosen = QueueChoice { component, queues: args.queues, stages: args.stages };
    let mut options = WorkerOptions {
        queues: tokio::select! {
            queues = patiently(app.observer(), || app.queues_to_work_on(&chosen)) => queues?,
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
    let broker = Broker::connect(&app, args.amqp.filter(|url| !url.is_empty()), &mut options).await?;
    let mut supervisor = Supervisor::start_with(&app, options, broker, readiness);
    if own.is_none() {
        // One for some queues leaves state machines to others.
        supervisor = supervisor.with_machines(settings.functions(&app)?);
    }
    work(&app, supervisor, &mut signals, own.as_deref(), args.until_idle).await
}

/// Works until somebody asks to stop or, if that is wanted, until nothing is left that can be done now.
pub(crate) async fn work(
    app: &App,
    mut supervisor: Supervisor,
    signals: &mut Signals,
    queues: Option<&[Name]>,
    until_idle: bool,
) -> anyhow::Result<Exit> {
    let end = if until_idle {
        supervisor.run_until(signals, wait_until_idle(app, queues)).await
    } else {
        supervisor.run_until(signals, std::future::pending()).await
    };
    if matches!(end, Ok(None)) {
        app.notify(&Notice::Draining);
    }
    let stopped = supervisor.stop(signals).await?;
    output::note(format!("finished {}", output::count(stopped.jobs, "job")));
    end?;
    Ok(Exit::Ok)
}
