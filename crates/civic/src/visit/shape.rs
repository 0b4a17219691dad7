//! Whether pages still look as they did: a page that gave something and gives nothing now is an alarm, and one that is
//! built as none before is worth a look.

use super::known::{Counts, Known, KnownKind, landmarks_or};
use crate::vendor::PageReading;
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// A page that comes to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alarm {
    pub url: String,
    pub purpose: String,
    /// What there was.
    pub before: Counts,
    /// What there is.
    pub now: Counts,
    /// What is different about it.
    pub changed: String,
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lost = Vec::new();
        if self.before.meetings > 0 && self.now.meetings == 0 {
            lost.push(format!("{} meetings", self.before.meetings));
        }
        if self.before.items > 0 && self.now.items == 0 {
            lost.push(format!("{} items", self.before.items));
        }
        let Self { url, purpose, changed, .. } = self;
        write!(f, "{url} ({purpose}) gave {} on an earlier visit and gives none now: {changed}", lost.join(" and "))
    }
}

/// A page built as none before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewShape {
    pub url: String,
    pub purpose: String,
    /// The landmarks that are on it.
    pub layout: String,
}

/// What this visit has seen of the pages of one purpose.
#[derive(Debug, Default)]
struct SeenKind {
    /// The first page of it.
    url: String,
    counts: Counts,
    landmarks: BTreeMap<String, usize>,
}

/// Compares pages with what is known of them.
#[derive(Debug)]
pub(super) struct Shapes<'a> {
    known: &'a Known,
    kinds: BTreeMap<String, SeenKind>,
    alarms: Vec<Alarm>,
    new: Vec<NewShape>,
    learnt: BTreeMap<String, KnownKind>,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(known: &'a Known) -> Self {
        let (kinds, alarms, new) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { known, kinds, alarms, new, learnt: known.kinds.clone() }
    }

    /// Takes in what a page said.
    pub(super) fn saw(&mut self, key: &str, url: &str, purpose: &str, reading: &PageReading) {
        let counts = Counts::from_reading(reading);
        if let Some(before) = self.known.pages.get(key).filter(|before| has_dried_up(before.counts, counts)) {
            let changed = what_changed(&before.landmarks, &reading.landmarks);
            let (url, purpose) = (url.to_owned(), purpose.to_owned());
            self.alarms.push(Alarm { url, purpose, before: before.counts, now: counts, changed });
        }
        let kind = self.kinds.entry(purpose.to_owned()).or_default();
        if kind.url.is_empty() {
            url.clone_into(&mut kind.url);
        }
        kind.counts.add(counts);
        for (name, count) in &reading.landmarks {
            *kind.landmarks.entry(name.clone()).or_default() += count;
        }
        let there: Vec<&str> =
            reading.landmarks.iter().filter(|(_, count)| **count > 0).map(|(name, _)| name.as_str()).collect();
        let layout = there.join(", ");
        if !layout.is_empty() && self.learnt.entry(purpose.to_owned()).or_default().layouts.insert(layout.clone()) {
            self.new.push(NewShape { url: url.to_owned(), purpose: purpose.to_owned(), layout });
        }
    }

    /// What it comes to. Where no page of a purpose gives anything any more, that is said once.
    pub(super) fn end(mut self) -> (Vec<Alarm>, Vec<NewShape>, BTreeMap<String, KnownKind>) {
        for (purpose, seen) in &self.kinds {
            let before = self.known.kinds.get(purpose).cloned().unwrap_or_default();
            if has_dried_up(before.counts, seen.counts) && !self.alarms.iter().any(|alarm| alarm.purpose == *purpose) {
                self.alarms.push(Alarm {
                    url: seen.url.clone(),
                    purpose: purpose.clone(),
                    before: before.counts,
                    now: seen.counts,
                    changed: what_changed(&before.landmarks, &seen.landmarks),
                });
            }
            let learnt = self.learnt.entry(purpose.clone()).or_default();
            learnt.counts = seen.counts.or(before.counts);
            learnt.landmarks = landmarks_or(&seen.landmarks, &before.landmarks);
        }
        (self.alarms, self.new, self.learnt)
    }
}

fn has_dried_up(before: Counts, now: Counts) -> bool {
    (before.meetings > 0 && now.meetings == 0) || (before.items > 0 && now.items == 0)
}

/// The landmarks then and now, as a sentence.
fn what_changed(before: &BTreeMap<String, usize>, now: &BTreeMap<String, usize>) -> String {
    let count = |of: &BTreeMap<String, usize>, name: &str| of.get(name).copied().unwrap_or(0);
    let mut said = Vec::new();
    for (name, was) in before.iter().filter(|(_, was)| **was > 0) {
        said.push(match count(now, name) {
            0 => format!("{name} was there {was} times and is gone"),
            is if is == *was => format!("{name} is there as before"),
            is => format!("{name} was there {was} times and is now {is} times"),
        });
    }
    for (name, is) in now.iter().filter(|(name, is)| **is > 0 && count(before, name) == 0) {
        said.push(format!("{name} is new ({is} times)"));
    }
    if said.is_empty() { "nothing that it is known by was on it then or now".to_owned() } else { said.join("; ") }
}
