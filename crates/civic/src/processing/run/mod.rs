//! Cities processed to their end: the jobs of each are worked on here until none of them can go on by itself.
//!
//! ```text
//!  list of cities ──three at a time──► a worker that claims the jobs of one city ──► its result, as soon as it is quiet
//! ```
//!
//! A city is *quiet* when none of its jobs is ready or running, whoever runs it. What failed and is tried again later, or
//! waits for a quota, does not hold a city up for longer than one cares to wait ([`RunOptions::wait`]): it is told as
//! waiting, with the reason and the time, and whoever works on the queue then takes it up.
//!
//! | module | what it owns |
//! |---|---|
//! | `city` | one city, from its first job to its result |
//! | `list` | many cities, three at a time; visited before, if that is wanted |
//! | [`dead`] | jobs that a process left behind which is known to be gone |
//! | [`hearing`] | what becomes of each job, as whoever reads it says |
//! | [`result`] | what a city came to |

mod city;
pub mod dead;
pub mod hearing;
mod list;
pub mod result;

pub use hearing::{Hearing, ProcessingObserver};
pub use list::Visited;
pub use result::{CityProcessed, CityStatus, Waiting};

use bindery_core::Name;
use bindery_engine::Engine;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Jobs that are worked on at the same time, unless somebody says otherwise.
pub const JOBS_AT_ONCE: usize = 3;

/// Cities that are worked on at the same time.
pub const CITIES_AT_ONCE: usize = 3;

/// The end of the name of whoever works on all that waits, until somebody says stop.
pub const PROCESSOR: &str = "-processor";

/// The end of the name of whoever works on some cities; a number follows.
pub const PROCESSING: &str = "-process";

/// Whether somebody of this name reads what waits of councils.
pub fn is_processor(worker: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_some = |(name, number): (&str, &str)| name.ends_with(PROCESSING) && is_number(number);
    worker.ends_with(PROCESSOR) || worker.rsplit_once('-').is_some_and(of_some)
}

/// How cities are worked on.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// What the workers are called, each with a number behind it; unique among those of a store.
    pub name: Name,
    /// Jobs at the same time, over all cities.
    pub threads: usize,
    /// How long a city waits for jobs that are tried again later.
    pub wait: Duration,
    /// How long work under way may take to finish when it should stop.
    pub drain: Duration,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            name: Name::from(format!("process-{}", std::process::id())),
            threads: JOBS_AT_ONCE,
            wait: Duration::ZERO,
            drain: Duration::from_secs(30),
        }
    }
}

/// Processes cities. Clones share everything.
#[derive(Debug, Clone)]
pub struct Processing {
    engine: Engine,
    hearing: Arc<Hearing>,
    options: RunOptions,
    /// The numbers that workers have at the moment.
    numbers: Arc<Mutex<BTreeSet<usize>>>,
}

impl Processing {
    /// With an engine whose processors are of a workshop that is heard.
    pub fn new(engine: Engine, hearing: Arc<Hearing>, options: RunOptions) -> Self {
        Self { engine, hearing, options, numbers: Arc::default() }
    }

    /// The smallest number that no worker has.
    fn number(&self) -> Number {
        let mut taken = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (1..=usize::MAX).find(|number| !taken.contains(number)).unwrap_or_default();
        taken.insert(free);
        Number { number: free, taken: Arc::clone(&self.numbers) }
    }
}

/// A worker's number, free again when it is dropped: few workers are seen, however many cities there are.
#[derive(Debug)]
struct Number {
    number: usize,
    taken: Arc<Mutex<BTreeSet<usize>>>,
}

impl Drop for Number {
    fn drop(&mut self) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}
