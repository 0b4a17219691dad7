//! What a run is about: its inputs in their order, where they begin, and which of them are done.

use crate::execution::{Duplicates, Finished, ProcessorInput};
use std::collections::HashMap;

/// One input id.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) input: ProcessorInput,
    /// How often the id was given; the last one is `input`.
    pub(super) times: usize,
    /// Its payload comes from an outcome in the store, and need not be stored again.
    pub(super) resumes: bool,
}

impl Entry {
    pub(super) fn is_refused_under(&self, duplicates: Duplicates) -> bool {
        self.input.unreadable.is_some() || (self.times > 1 && duplicates == Duplicates::Refuse)
    }
}

/// One entry for each id, in the order of first appearance.
pub(super) fn entries_of(inputs: Vec<ProcessorInput>) -> Vec<Entry> {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(inputs.len());
    let mut entries: Vec<Entry> = Vec::with_capacity(inputs.len());
    for input in inputs {
        if let Some(place) = places.get(&input.input_id) {
            let entry = &mut entries[*place];
            entry.times += 1;
            entry.input = input;
        } else {
            places.insert(input.input_id.clone(), entries.len());
            entries.push(Entry { input, times: 1, resumes: false });
        }
    }
    entries
}

/// All inputs of a run, and what earlier runs have done of them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) entries: Vec<Entry>,
    pub(super) finished: Finished,
}

impl Plan {
    /// Everything is to be done.
    pub(super) fn for_entries(entries: Vec<Entry>) -> Self {
        Self { entries, finished: Finished::new() }
    }

    /// What is to be done, with its place.
    pub(super) fn executed(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(|(_, entry)| !self.finished.contains_key(&entry.input.input_id))
    }

    /// As the execution is given it: an id that was given twice is there twice, so that it is warned of or refused.
    pub(super) fn into_inputs(self) -> (Vec<ProcessorInput>, Finished) {
        let repeated = self.entries.into_iter().flat_map(|entry| std::iter::repeat_n(entry.input, entry.times));
        (repeated.collect(), self.finished)
    }
}
