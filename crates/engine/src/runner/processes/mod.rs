//! Several inputs at once, each in a child process that can be killed.
//!
//! ```text
//!  parent                                             child
//!  ┌──────────────────────────────┐  stdin: orders   ┌──────────────────────────────┐
//!  │ lane: a thread of its own    │ ───────────────► │ reader: ends all at EOF      │
//!  │   pile ► frames ► results    │                  │ desk: setup, then the steps  │
//!  │                              │ ◄─────────────── │ pulse: "alive" during a step │
//!  ├──────────────────────────────┤  stdout: answers ├──────────────────────────────┤
//!  │ watch: time, memory, silence │ ── SIGKILL ────► │ group: with all it started   │
//!  │ stderr: read, logged, a tail │ ◄─────────────── │ stderr, and what is printed  │
//!  └──────────────────────────────┘                  └──────────────────────────────┘
//! ```
//!
//! **Children are kept.** They are started when they are needed, at most so many, and used for every later run of the
//! same [`Processes`] and its clones. They end when the last of those is dropped, and when the parent is gone, however
//! it went. What a child has started ends with it, unless it has left the child's process group.
//!
//! **What is promised of a bad input.** When a child dies, freezes, or breaks a limit, the input that was under way is
//! tried again in a fresh child, alone; those that were sent ahead go back to the pile and are not blamed. After as many
//! tries as it may have, the input fails, and it alone:
//!
//! | kind | when | what next |
//! |---|---|---|
//! | `WorkerDied` | the child ended, by a signal or an exit; it was silent for too long; its answer cannot be read | retry |
//! | `Timeout` | its time was over | retry |
//! | `MemoryLimit` | the child held, or asked for, more memory than it may | reject: the next try would need as much |
//! | `Cancelled` | the task was cancelled while it was under way, and it did not end in time | retry |
//! | `WorkerNotStarted` | no child comes up, at five starts in a row | retry |
//! | `TooLarge` | it, or its result, is larger than [`MAX_FRAME`] as JSON | reject |
//!
//! A panic in a step is an error of that step, as everywhere, and the child goes on. An attempt that was killed leaves
//! no costs: only the child knew of them.
//!
//! **Limits.** Time is counted for each input, from when its child could begin with it. Memory is what the child itself
//! has in memory, looked at many times a second while it is busy; what its steps start is not counted. Where a child
//! asks for far more than its limit at once, the allocation fails, which ends the child. A child that has no time limit
//! but is frozen (`SIGSTOP`) is noticed by its silence; one that is merely busy is not silent.
//!
//! **Services.** A child also answers requests to the [`Service`]s of its registry: bytes in, bytes out, one at a time,
//! under the same limits ([`Processes::call`]). A service may keep what later requests need; requests of one key go to the
//! child that had it before. A child that has grown to half of its limit is replaced after its answer, so that what one
//! request has left behind is not counted against the next.
//!
//! **Cancelling.** Nothing new is begun. Steps that are under way are told through their context, and have a moment
//! ([`Options::cancel_grace`]) to return, which counts as their result. Then their children are killed.

mod child;
mod command;
mod death;
mod frame;
mod lane;
mod pile;
mod pool;
mod serve;
mod service;
mod status;
mod stderr;
mod vitals;
mod watch;
pub(crate) mod wire;

pub use command::ChildCommand;
pub use frame::MAX_FRAME;
pub use serve::{OpenBlobs, local_blobs, serve, serve_with};
pub use service::{Call, Service};

use self::{
    lane::{Lane, Tally},
    pile::{Pile, too_large},
    pool::Pool,
    wire::{Order, Setup},
};
use super::{Limits, OnResult, Ran, Runner, RunnerKind, RunnerReport, Task, Unit};
use crate::steps::StepTimes;
use bindery_core::StepError;
use bindery_store::blobs::BlobsPlace;
use std::{
    fmt,
    sync::{Arc, atomic::Ordering, mpsc},
    time::Duration,
};

/// A child cannot be heard more often than its heart beats.
const LEAST_SILENCE: Duration = Duration::from_secs(1);

/// How children are used.
#[derive(Debug, Clone)]
pub struct Options {
    /// In how many children an input is tried before it fails; at least one.
    pub tries: u32,
    /// How long nothing may be heard of a busy child; at least a second.
    pub silent_for: Duration,
    /// How long steps may go on after their task was cancelled.
    pub cancel_grace: Duration,
    /// The blobs that the steps may read and write: a child opens them by itself, with what was given to [`serve`]. The
    /// blobs of a [`Task`] stay in the parent.
    pub blobs: Option<BlobsPlace>,
    /// What a request to a service may take in memory, in bytes, where nothing else is set for it.
    pub memory: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tries: 2,
            silent_for: Duration::from_secs(10),
            cancel_grace: Duration::from_secs(1),
            blobs: None,
            memory: Limits::DEFAULT_MEMORY,
        }
    }
}

/// Runs steps in child processes. Clones share the same children.
#[derive(Clone)]
pub struct Processes {
    pool: Arc<Pool>,
    options: Options,
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processes")
            .field("children", &self.pids())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Processes {
    /// At least one worker. No child is started yet.
    pub fn new(command: ChildCommand, workers: usize) -> Self {
        Self { pool: Arc::new(Pool::new(command, workers)), options: Options::default() }
    }

    /// The same children, used in another way.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        let (tries, silent_for) = (options.tries.max(1), options.silent_for.max(LEAST_SILENCE));
        self.options = Options { tries, silent_for, ..options };
        self
    }

    pub const fn options(&self) -> &Options {
        &self.options
    }

    pub fn memory(&self) -> u64 {
        self.options.memory
    }

    /// The most children at a time.
    pub fn workers(&self) -> usize {
        self.pool.size()
    }

    /// The children that are there now, busy or idle.
    pub fn pids(&self) -> Vec<u32> {
        let numbers = self.pool.watch().children();
        numbers.iter().map(|child| child.pid.as_raw_nonzero().get().unsigned_abs()).collect()
    }

    /// Runs one unit in a child that is idle, or in a new one; waits while all are in use. For many threads at once.
    pub fn run_one(&self, task: &Task, unit: Unit) -> Ran {
        let from = unit.from;
        let setup = match self.setup(task) {
            Ok(setup) => setup,
            Err(error) => return Ran::failed(from, error, StepTimes::default()),
        };
        let (pile, tally) = (Pile::new(vec![unit], 1, task.cancel.clone()), Tally::default());
        let (results, inbox) = mpsc::channel();
        Lane { pool: &self.pool, options: &self.options, task, setup: &setup, pile: &pile, tally: &tally, results }
            .work();
        let ran = inbox.try_recv().map(|(_, ran)| ran);
        ran.unwrap_or_else(|_| Ran::failed(from, death::cancelled(), StepTimes::default()))
    }

    /// What a child is told about the task.
    fn setup(&self, task: &Task) -> Result<Vec<u8>, StepError> {
        let setup = Setup {
            processor: task.processor.name().to_owned(),
            version: task.processor.version(),
            settings: task.settings.as_ref().clone(),
            time: task.limits.time,
            memory: task.limits.memory,
            blobs: self.options.blobs.clone(),
        };
        frame::encode(&Order::Setup(setup)).map_err(|error| too_large(&error))
    }
}

impl Runner for Processes {
    fn kind(&self) -> RunnerKind {
        RunnerKind::Processes
    }

    fn run(&self, task: &Task, units: Vec<Unit>, on_result: OnResult<'_>) -> RunnerReport {
        let setup = match self.setup(task) {
            Ok(setup) => setup,
            Err(error) => {
                for (place, unit) in units.into_iter().enumerate() {
                    on_result(place, Ran::failed(unit.from, error.clone(), StepTimes::default()));
                }
                return RunnerReport::default();
            }
        };
        let lanes = self.pool.size().min(units.len());
        let (pile, tally) = (Pile::new(units, lanes, task.cancel.clone()), Tally::default());
        let (results, inbox) = mpsc::channel();
        let lane = |results| Lane {
            pool: &self.pool,
            options: &self.options,
            task,
            setup: &setup,
            pile: &pile,
            tally: &tally,
            results,
        };
        std::thread::scope(|scope| {
            // Gone when `on_result` panics, which the lanes notice.
            let inbox = inbox;
            let mut threads = 0;
            for _ in 0..lanes {
                let worker = lane(results.clone());
                let thread = std::thread::Builder::new().name("bindery-lane".to_owned());
                match thread.spawn_scoped(scope, move || worker.work()) {
                    Ok(_) => threads += 1,
                    Err(error) => tracing::error!(error = %error, "a thread did not start; going on with fewer"),
                }
            }
            // A lane whose thread did not start is run here, after the others have done what they could.
            for _ in threads..lanes {
                lane(results.clone()).work();
            }
            drop(results);
            for (place, ran) in inbox {
                on_result(place, ran);
            }
        });
        RunnerReport {
            workers: tally.workers.load(Ordering::Relaxed),
            replaced: tally.replaced.load(Ordering::Relaxed),
            peak_memory: tally.peak_memory(),
        }
    }
}
