//! The worker: claims jobs in batches, keeps every core busy, commits in groups, drains when asked to stop.
//!
//! ```text
//!  store ──claim──► dispatcher ──► threads (the processors' steps) ──► settlers ──commit──► store
//!                      ▲                                                  │
//!                      └──────────── room for more ◄──────────────────────┘
//!  heartbeat: extends the leases of what is in hand; keeper: time-outs of what takes too long, the sweep
//! ```
//!
//! Everything in hand is held by a lease. If the process dies, the leases expire and others take the jobs; if it is
//! only frozen, its late commits are rejected by their tokens. Jobs whose worker died run [apart](suspects) from others.

mod health;
mod in_flight;
mod keeper;
pub mod metrics;
mod settling;
mod source;
mod suspects;
mod threads;

pub use health::StoreHealth;
pub use metrics::WorkerMetrics;
pub use source::Source;

use crate::{
    engine::Engine,
    error::EngineResult,
    heartbeat::{Heartbeat, interval_for},
    stop::StopSignal,
    store_retry::STORE_BACKOFF,
};
use bindery_core::{Name, SubmissionId, fault::FaultPoint};
use bindery_store::query::ClaimRequest;
use health::Call;
use in_flight::InFlight;
use source::FromStore;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use threads::Threads;
use tokio::sync::{Notify, RwLock, mpsc, watch};

/// How long a worker that stops goes on trying to say so.
const LAST_WORD: Duration = Duration::from_secs(2);

/// How a worker works.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// How it is shown; unique among the workers of a store.
    pub name: Name,
    /// None: every queue.
    pub queues: Option<Vec<Name>>,
    /// Only work of these submissions, which it claims itself; None: of all.
    pub submissions: Option<Vec<SubmissionId>>,
    /// How many processors run at once.
    pub threads: usize,
    /// How long a claim holds without a heartbeat.
    pub lease: Duration,
    /// How often time-outs, expired leases and deadlines are looked for.
    pub sweep_every: Duration,
    /// How long running work may take to finish when the worker is asked to stop.
    pub drain: Duration,
    /// Whether reports from outside processors are followed, too.
    pub follow_reports: bool,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            name: Name::from(format!("worker-{}", std::process::id())),
            queues: None,
            submissions: None,
            threads: cores,
            lease: Duration::from_secs(30),
            sweep_every: Duration::from_secs(1),
            drain: Duration::from_secs(30),
            follow_reports: true,
        }
    }
}

/// The most jobs that one claim takes.
const LARGEST_CLAIM: usize = 2_000;

/// How many times as many jobs as the threads need may be in hand, those included that are worked on but not stored.
const MAX_UNCOMMITTED: usize = 4;

/// How much work, in time, is claimed ahead of the threads.
const CLAIM_AHEAD: Duration = Duration::from_millis(100);

/// What the parts of a worker share.
#[derive(Debug)]
struct Shared {
    engine: Engine,
    options: WorkerOptions,
    in_flight: InFlight,
    /// Notified when jobs were claimed.
    claimed: Notify,
    /// Shared by those who claim ordinary work, until they have handed it over; held alone by whoever runs suspects.
    claiming: RwLock<()>,
    /// Notified when a sweep has found that workers are lost.
    workers_lost: Notify,
    /// Notified when a job is no longer in flight, and when the threads have little left to do.
    room_for_more: watch::Sender<()>,
    finished: AtomicU64,
    /// How many threads have nothing to do, and that one more has not.
    idle_threads: AtomicUsize,
    thread_idle: Notify,
    metrics: Arc<WorkerMetrics>,
    health: Arc<StoreHealth>,
}

/// A worker that can be run.
#[derive(Debug)]
pub struct Worker {
    engine: Engine,
    options: WorkerOptions,
    source: Option<Arc<dyn Source>>,
    metrics: Arc<WorkerMetrics>,
    health: Arc<StoreHealth>,
}

impl Worker {
    pub fn new(engine: Engine, options: WorkerOptions) -> Self {
        Self { engine, options, source: None, metrics: Arc::default(), health: Arc::default() }
    }

    /// What it has counted so far; grows while it runs.
    pub fn metrics(&self) -> &Arc<WorkerMetrics> {
        &self.metrics
    }

    /// Whether it can use the store; changes while it runs.
    pub fn health(&self) -> &Arc<StoreHealth> {
        &self.health
    }

    /// Takes jobs from this source, too: besides those of its own queues, which it claims itself.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn Source>) -> Self {
        self.source = Some(source);
        self
    }

    /// Those that it claims from itself, and those that its source brings work of; none: all.
    fn all_queues(&self) -> Option<Vec<Name>> {
        let mut queues = self.options.queues.clone()?;
        queues.extend(self.source.iter().flat_map(|source| source.queues()));
        Some(queues)
    }

    /// Works until it is asked to stop, and returns how many jobs it has finished. Trouble with the store is waited
    /// out: work in hand is kept, and nothing is lost.
    pub async fn run(&self, stop: StopSignal) -> EngineResult<u64> {
        let shared = &Arc::new(Shared {
            engine: self.engine.clone(),
            options: self.options.clone(),
            in_flight: InFlight::new(self.source.clone()),
            claimed: Notify::new(),
            claiming: RwLock::new(()),
            workers_lost: Notify::new(),
            room_for_more: watch::Sender::default(),
            finished: AtomicU64::new(0),
            idle_threads: AtomicUsize::new(0),
            thread_idle: Notify::new(),
            metrics: Arc::clone(&self.metrics),
            health: Arc::clone(&self.health),
        });
        let (results, inbox) = mpsc::unbounded_channel();
        let threads = Threads::start(Arc::clone(shared), results);
        let settlers = settling::start(shared, inbox);
        keeper::come_or_go(shared, true).await;
        let beating = Arc::clone(shared);
        let heartbeat = Heartbeat::start(interval_for(self.options.lease), move || keeper::beat(Arc::clone(&beating)));
        let keeper = tokio::spawn(keeper::keep(Arc::clone(shared), threads.handle()));
        let sweeper = tokio::spawn(crate::retention::sweep_slowly(shared.engine.clone()));
        let follower = shared.options.follow_reports.then(|| {
            let (engine, stop) = (shared.engine.clone(), stop.clone());
            tokio::spawn(async move { crate::aggregator::follow(&engine, stop).await })
        });
        let mut stop = stop;
        let own = FromStore::new(self.engine.clone());
        let others = async {
            // What a source brings is of any submission.
            if let Some(source) = &self.source
                && self.options.submissions.is_none()
            {
                shared.dispatch(&**source, &threads, stop.clone()).await;
            }
        };
        let suspects = suspects::run(self, shared, &threads, stop.clone());
        tokio::join!(shared.dispatch(&own, &threads, stop.clone()), others, suspects);
        shared.drain(&threads, &mut stop).await;
        drop(threads);
        drop(heartbeat);
        keeper.abort();
        sweeper.abort();
        if let Some(follower) = follower {
            follower.abort();
        }
        settlers.finish().await;
        if shared.in_flight.len() == 0 {
            // Nobody waits for long because the store cannot be reached.
            let _ = tokio::time::timeout(LAST_WORD, keeper::come_or_go(shared, false)).await;
        }
        Ok(shared.finished.load(Ordering::Relaxed))
    }
}

impl Shared {
    /// Claims from a source as long as there is room, and hands over to the threads.
    async fn dispatch(&self, source: &dyn Source, threads: &Threads, mut stop: StopSignal) {
        let mut pace = Pace::new(self.options.threads);
        let mut room_for_more = self.room_for_more.subscribe();
        let mut trouble = STORE_BACKOFF.retries();
        while !stop.is_stopping() {
            room_for_more.mark_unchanged();
            let target = pace.target(self.finished.load(Ordering::Relaxed));
            // Results on their way into the store keep no thread busy. But a store that is slow must not let them pile up:
            // a crash loses them.
            let for_threads = target.saturating_sub(self.in_flight.at_work());
            let room = for_threads.min((target * MAX_UNCOMMITTED).saturating_sub(self.in_flight.len()));
            if room < pace.worth_a_claim() {
                tokio::select! {
                    _ = room_for_more.changed() => {}
                    () = stop.stopping() => {}
                }
                continue;
            }
            let request = ClaimRequest {
                worker: self.options.name.clone(),
                queues: self.options.queues.clone(),
                submissions: self.options.submissions.clone(),
                max: room.min(LARGEST_CLAIM),
                lease: self.options.lease,
                counts: true,
            };
            let claiming = tokio::select! {
                claiming = self.claiming.read() => claiming,
                () = stop.stopping() => break,
            };
            let claimed = source.claim(request).await;
            if claimed.is_ok() {
                self.health.record_answer(Call::Claim);
            }
            match claimed {
                Ok(claimed) if claimed.is_empty() => {
                    drop(claiming);
                    trouble.reset();
                    tokio::select! {
                        () = source.wait(Duration::from_millis(500)) => {}
                        () = stop.stopping() => {}
                    }
                }
                Ok(claimed) => {
                    trouble.reset();
                    self.metrics.claimed(claimed.len());
                    self.engine.faults().hit(FaultPoint::AfterClaim);
                    threads.hand_over(claimed).await;
                    drop(claiming);
                }
                Err(error) => {
                    drop(claiming);
                    self.metrics.store_error();
                    let wait = trouble.next_delay();
                    self.health.failed(Call::Claim, &error);
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = stop.stopping() => {}
                    }
                }
            }
        }
    }

    /// Gives back what has not begun, and waits for what has.
    async fn drain(&self, threads: &Threads, stop: &mut StopSignal) {
        let waiting = threads.take_back();
        for held in &waiting {
            self.in_flight.remove(*held);
        }
        if let Err(error) = self.engine.store().release(waiting).await {
            tracing::warn!(error = %error, "claimed jobs were not given back; their leases will expire");
        }
        let mut room_for_more = self.room_for_more.subscribe();
        let deadline = Instant::now() + self.options.drain;
        while self.in_flight.len() > 0 && Instant::now() < deadline {
            tokio::select! {
                _ = room_for_more.changed() => {}
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
                () = stop.now() => break,
            }
        }
        let left = self.in_flight.len();
        if left > 0 {
            tracing::warn!(jobs = left, "stopping with work under way; its leases will expire and others take it up");
            self.in_flight.cancel_all();
        }
    }
}

/// How many jobs to have in hand: enough to keep the threads busy until the next claim, no more, so that other workers
/// get their share.
#[derive(Debug)]
struct Pace {
    threads: usize,
    since: Instant,
    finished: u64,
    per_second: f64,
}

impl Pace {
    fn new(threads: usize) -> Self {
        Self { threads, since: Instant::now(), finished: 0, per_second: 0.0 }
    }

    fn target(&mut self, finished: u64) -> usize {
        let elapsed = self.since.elapsed();
        if elapsed > Duration::from_millis(50) {
            let rate = (finished - self.finished) as f64 / elapsed.as_secs_f64();
            self.per_second = if self.per_second == 0.0 { rate } else { 0.5 * self.per_second + 0.5 * rate };
            self.since = Instant::now();
            self.finished = finished;
        }
        let ahead = (self.per_second * CLAIM_AHEAD.as_secs_f64()) as usize;
        (self.threads * 2).max(ahead * 2).min(2 * LARGEST_CLAIM)
    }

    /// A claim is a transaction: not for every single job, unless they are slow. Nor only when the threads run dry: the
    /// claim has to wait for its turn in the store.
    fn worth_a_claim(&self) -> usize {
        ((self.per_second * CLAIM_AHEAD.as_secs_f64()) as usize / 2).clamp(1, LARGEST_CLAIM / 2)
    }
}
