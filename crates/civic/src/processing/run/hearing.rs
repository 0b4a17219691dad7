//! What becomes of each job, as whoever reads it says.
//!
//! A finished job leaves no row, so whoever wants to add up what a city came to has to hear it when it happens.

use crate::processing::{JobReport, ReadingObserver, Tally};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The kind of error of a job some of whose items are done and some are not.
pub const PARTIAL: &str = "Partial";

/// Is told how processing goes, from any thread and without being waited for: it should be quick.
pub trait ProcessingObserver: Send + Sync + fmt::Debug {
    /// An attempt at a job has ended, in whatever way.
    fn job_ended(&self, _report: &JobReport) {}

    /// Nothing of a city can go on by itself any more.
    fn city_ended(&self, _result: &super::CityProcessed) {}

    /// The same for one that was visited before.
    fn visited(&self, _visited: &super::Visited) {}
}

/// All attempts at a job since somebody asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Heard {
    /// Over all attempts: what each has stored counts.
    pub(super) tally: Tally,
    /// Why the last one did not end well.
    pub(super) error: Option<(String, String)>,
}

impl Heard {
    /// Some of its items are done and some are not. One of which nothing is done has failed, whatever it is called.
    pub(super) fn is_partial(&self) -> bool {
        self.tally.items_processed > 0 && self.error.as_ref().is_some_and(|(kind, _)| kind == PARTIAL)
    }
}

/// Hears a [`Workshop`](crate::processing::Workshop), whose observer it is.
#[derive(Debug, Default)]
pub struct Hearing {
    observer: Option<Arc<dyn ProcessingObserver>>,
    /// By city and job.
    heard: Mutex<BTreeMap<(String, String), Heard>>,
}

impl Hearing {
    /// Tells somebody else, too.
    pub fn telling(observer: Arc<dyn ProcessingObserver>) -> Self {
        Self { observer: Some(observer), ..Self::default() }
    }

    /// The jobs of a city that were heard of since it was last asked, by what they are about.
    pub(super) fn take(&self, city_key: &str) -> BTreeMap<String, Heard> {
        let mut heard = self.lock();
        let (ours, others) = std::mem::take(&mut *heard).into_iter().partition(|((city, _), _)| city == city_key);
        *heard = others;
        drop(heard);
        let ours: BTreeMap<(String, String), Heard> = ours;
        ours.into_iter().map(|((_, source_url), heard)| (source_url, heard)).collect()
    }

    pub(super) fn city_ended(&self, result: &super::CityProcessed) {
        if let Some(observer) = &self.observer {
            observer.city_ended(result);
        }
    }

    pub(super) fn visited(&self, visited: &super::Visited) {
        if let Some(observer) = &self.observer {
            observer.visited(visited);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, String), Heard>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadingObserver for Hearing {
    fn job_ended(&self, report: &JobReport) {
        let mut all = self.lock();
        let heard = all.entry((report.city_key.clone(), report.source_url.clone())).or_default();
        heard.tally.add(&report.tally);
        heard.error.clone_from(&report.error);
        drop(all);
        if let Some(observer) = &self.observer {
            observer.job_ended(report);
        }
    }
}
