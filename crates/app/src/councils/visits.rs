//! Visiting councils and reading what was found, as a service: one of several processes on a store visits, all read.

use crate::{
    app::App,
    error::{AppError, AppResult},
    names,
    notice::Notice,
    readiness::Readiness,
    signals::Signals,
    supervisor::Supervisor,
};
use bindery_civic::records::CIVIC_QUEUE;
use bindery_civic::{
    client::Client,
    conductor::{Conductor, Heartbeat, LOOK_AROUND, SyncObserver, WindowRule},
    notices::{Channels, Sender},
    processing::run::dead,
    vendor::adapters,
};
use bindery_core::{Name, job::ENGINE_QUEUE};
use bindery_engine::{StopHandle, StopSignal, WorkerOptions};
use std::{future::Future, sync::Arc, time::Duration};

/// How often it is looked whether another one has stopped.
const STANDING_BY: Duration = Duration::from_secs(2);

/// How often it is looked for digests that are due.
pub const DIGESTS_EVERY: Duration = Duration::from_mins(1);

/// Whoever visits cities of a store, under a name; each is told of as it ends.
pub fn conductor(
    app: &App,
    client: Arc<Client>,
    window: WindowRule,
    observer: Arc<dyn SyncObserver>,
    name: Name,
) -> Conductor {
    Conductor::new(Arc::clone(app.engine.store()), client, adapters())
        .with_pages(Arc::clone(app.engine.blobs()))
        .with_window(window)
        .with_observer(observer)
        .named(name)
}

/// Says that it is at work from now on, and which visits were interrupted.
pub async fn enter(app: &App, conductor: &Conductor) -> AppResult<Heartbeat> {
    let heartbeat = conductor.enter(names::is_dead).await?;
    for run in &heartbeat.closed {
        app.notify(&Notice::VisitInterrupted { city: run.city_key.clone() });
    }
    Ok(heartbeat)
}

/// Does the work, visible to others, until it ends or somebody asks twice to stop: then none.
pub async fn attended<T>(
    app: &App,
    conductor: &Conductor,
    handle: &StopHandle,
    signals: &mut Signals,
    work: impl Future<Output = T>,
) -> AppResult<Option<T>> {
    let heartbeat = enter(app, conductor).await?;
    let done = signals.attend(handle, &[Notice::VisitsEnd], app.observer(), work).await;
    heartbeat.leave(0).await?;
    Ok(done)
}

/// Waits until nobody else visits the cities of this store.
async fn stand_by(app: &App, conductor: &Conductor) -> AppResult<()> {
    let mut told = None;
    while let Some(other) = conductor.other_fetcher(names::is_dead).await? {
        if told.as_ref() != Some(&other) {
            app.notify(&Notice::StandingBy { for_whom: other.clone() });
            told = Some(other);
        }
        tokio::time::sleep(STANDING_BY).await;
    }
    Ok(())
}

/// An error when somebody else visits the cities of this store.
pub async fn must_be_alone(conductor: &Conductor) -> AppResult<()> {
    match conductor.other_fetcher(names::is_dead).await? {
        None => Ok(()),
        Some(by) => Err(AppError::VisitedAlready { by }),
    }
}

/// Visits cities when they are due, until it is stopped. Others that do the same are waited for before it begins.
pub async fn visit_when_due(
    app: &App,
    conductor: &Conductor,
    stop: &StopSignal,
    begin: impl FnOnce(),
) -> AppResult<()> {
    let mut stopped = stop.clone();
    tokio::select! {
        free = stand_by(app, conductor) => free?,
        () = stopped.stopping() => return Ok(()),
    }
    begin();
    conductor.run(LOOK_AROUND, stop).await;
    Ok(())
}

/// What processes left behind that are gone is taken up at once.
pub async fn recover(app: &App) -> AppResult<()> {
    let jobs = dead::recover(app.store(), names::is_dead).await?;
    if jobs > 0 {
        app.notify(&Notice::JobsRecovered { jobs });
    }
    Ok(())
}

/// The queues with the jobs of councils, and the engine's own small ones.
pub fn queues() -> Vec<Name> {
    vec![Name::from(CIVIC_QUEUE), Name::from(ENGINE_QUEUE)]
}

/// A worker for the jobs of councils, seen by its name.
pub fn processor(app: &App, threads: usize, drain: Duration, readiness: Readiness) -> Supervisor {
    let (name, queues) = (names::of_processor(), Some(queues()));
    let options = WorkerOptions { name, queues, threads, drain, ..WorkerOptions::default() };
    Supervisor::start_with(app, options, crate::broker::Broker::default(), readiness)
}

/// Whoever finds out what is to be told and delivers it, seen by its name.
pub fn sender(app: &App, channels: Channels) -> Sender {
    Sender::new(Arc::clone(app.engine.store()), Arc::clone(app.engine.blobs()), channels, names::of_sender())
}

/// Adds to a processor what makes it a daemon: visits, and messages where channels are given.
pub fn with_visits(processor: Supervisor, app: &App, conductor: Conductor, channels: Option<Channels>) -> Supervisor {
    let visits_app = app.clone();
    let daemon = processor.with_restarts().with_loop("visiting cities", move |stop| {
        let (app, conductor) = (visits_app.clone(), conductor.clone());
        async move {
            let heartbeat = enter(&app, &conductor).await?;
            let visited = visit_when_due(&app, &conductor, &stop, || ()).await;
            heartbeat.leave(0).await?;
            visited
        }
    });
    let Some(channels) = channels else { return daemon };
    let sender = sender(app, channels);
    daemon.with_loop("telling people", move |stop| {
        let sender = sender.clone();
        async move {
            sender.run(DIGESTS_EVERY, stop).await;
            Ok(())
        }
    })
}
