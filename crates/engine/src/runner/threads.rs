//! Several inputs at once, each on a thread of this process.

use super::{OnResult, Ran, Runner, RunnerKind, RunnerReport, Task, Unit, too_slow};
use crate::steps::StepTimes;
use bindery_core::{AwakeInstant, outcome::Step};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Sender},
    },
    time::Duration,
};

/// How often time limits and the end are looked for while no result comes.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// At most so many at once. A step whose time is over cannot be killed: its thread is left behind, another takes its
/// place, and what it returns later counts for nothing.
#[derive(Debug, Clone, Copy)]
pub struct Threads {
    max_workers: usize,
}

impl Threads {
    /// At least one.
    pub fn new(max_workers: usize) -> Self {
        Self { max_workers: max_workers.max(1) }
    }
}

/// What the threads take their units from.
struct Pile {
    units: std::iter::Enumerate<std::vec::IntoIter<Unit>>,
    /// How many were taken.
    taken: usize,
    /// What is under way, and since when; kept only where there is a time limit.
    begun: HashMap<usize, (AwakeInstant, Step)>,
}

struct Shared {
    task: Task,
    pile: Mutex<Pile>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Pile> {
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<(usize, Unit)> {
        let mut pile = self.lock();
        if self.task.cancel.is_cancelled() {
            // Nothing is begun any more, so the number of those that were is final.
            pile.units = Vec::new().into_iter().enumerate();
        }
        let (place, unit) = pile.units.next()?;
        pile.taken += 1;
        if self.task.limits.time.is_some() {
            pile.begun.insert(place, (AwakeInstant::now(), unit.from));
        }
        Some((place, unit))
    }

    /// How many were begun in all, once none is left to begin.
    fn begun_so_far(&self) -> Option<usize> {
        let pile = self.lock();
        (pile.units.len() == 0).then_some(pile.taken)
    }

    /// False if it was given up meanwhile, and so is the thread that ran it.
    fn is_still_wanted(&self, place: usize) -> bool {
        self.task.limits.time.is_none() || self.lock().begun.remove(&place).is_some()
    }

    /// Takes out what has been under way for too long; also says when to look again.
    fn overdue(&self, limit: Duration) -> (Vec<(usize, Step)>, Duration) {
        let mut overdue = Vec::new();
        let mut next = limit;
        self.lock().begun.retain(|place, (since, step)| {
            let left = limit.saturating_sub(since.elapsed());
            if left.is_zero() {
                overdue.push((*place, *step));
            } else {
                next = next.min(left);
            }
            !left.is_zero()
        });
        (overdue, next)
    }
}

fn start(shared: &Arc<Shared>, results: &Sender<(usize, Ran)>) -> bool {
    let (shared, results) = (Arc::clone(shared), results.clone());
    let work = move || {
        while let Some((place, unit)) = shared.next() {
            let ran = shared.task.run(unit);
            if !shared.is_still_wanted(place) || results.send((place, ran)).is_err() {
                return;
            }
        }
    };
    let spawned = std::thread::Builder::new().name("bindery-run".to_owned()).spawn(work);
    if let Err(error) = &spawned {
        tracing::error!(error = %error, "a thread did not start; going on with fewer");
    }
    spawned.is_ok()
}

impl Runner for Threads {
    fn kind(&self) -> RunnerKind {
        RunnerKind::Threads
    }

    fn run(&self, task: &Task, units: Vec<Unit>, on_result: OnResult<'_>) -> RunnerReport {
        let workers = self.max_workers.min(units.len());
        let limit = task.limits.time;
        let pile = Pile { units: units.into_iter().enumerate(), taken: 0, begun: HashMap::new() };
        let shared = Arc::new(Shared { task: task.clone(), pile: Mutex::new(pile) });
        let (results, inbox) = mpsc::channel();
        let started = (0..workers).filter(|_| start(&shared, &results)).count();
        let mut report = RunnerReport { workers: started, ..RunnerReport::default() };
        if started == 0 {
            while let Some((place, unit)) = shared.next() {
                on_result(place, task.run(unit));
            }
            return report;
        }
        let mut handed = 0;
        let mut wait = LOOK_EVERY;
        while shared.begun_so_far().is_none_or(|begun| handed < begun) {
            // A sender stays here for threads that take the place of stuck ones, so this never disconnects.
            if let Ok((place, ran)) = inbox.recv_timeout(wait) {
                handed += 1;
                on_result(place, ran);
            }
            let Some(limit) = limit else { continue };
            let (overdue, next) = shared.overdue(limit);
            wait = next.min(LOOK_EVERY);
            for (place, step) in overdue {
                handed += 1;
                report.replaced += 1;
                on_result(place, Ran::failed(step, too_slow(limit), StepTimes::default()));
                start(&shared, &results);
            }
        }
        report
    }
}
