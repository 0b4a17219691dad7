//! From counted rows to what people see: the same for every backend, which only counts.

use crate::query::{ItemCounts, QueueView, StageRow};
use bindery_core::{Timestamp, item::ItemKind, job::JobState, outcome::OutcomeStatus, progress::StageCounts};
use std::collections::BTreeMap;

/// A name, a code, and how many rows have both.
pub(crate) type Counted = (String, i64, u64);

/// From the kinds of items.
pub(crate) fn item_counts(kinds: Vec<(String, u64)>) -> ItemCounts {
    let mut counts = ItemCounts::default();
    for (kind, count) in kinds {
        match ItemKind::from_name(&kind) {
            Some(ItemKind::File) => counts.files = count,
            Some(ItemKind::Page) => counts.pages = count,
            Some(ItemKind::Document) => counts.documents = count,
            None => {}
        }
    }
    counts
}

/// From the outcomes of stages by status, and their jobs by state.
pub(crate) fn stage_rows(outcomes: Vec<Counted>, jobs: Vec<Counted>) -> Vec<StageRow> {
    let mut stages: BTreeMap<String, StageCounts> = BTreeMap::new();
    for (stage, status, count) in outcomes {
        let counts = stages.entry(stage).or_default();
        match OutcomeStatus::from_code(status) {
            Some(OutcomeStatus::Completed) => counts.completed = count,
            Some(OutcomeStatus::Failed) => counts.failed = count,
            Some(OutcomeStatus::Skipped) => counts.skipped = count,
            Some(OutcomeStatus::Review) => counts.review = count,
            None => {}
        }
    }
    for (stage, state, count) in jobs {
        let counts = stages.entry(stage).or_default();
        match JobState::from_code(state) {
            Some(JobState::Ready) => counts.waiting = count,
            Some(JobState::Scheduled) => counts.scheduled = count,
            Some(JobState::Running) => counts.running = count,
            Some(JobState::Parked) => counts.parked = count,
            Some(JobState::Awaiting) => counts.awaiting = count,
            Some(JobState::Cancelled) => counts.cancelled = count,
            Some(JobState::Dead) | None => {} // its outcome is counted
        }
    }
    stages.into_iter().map(|(stage, counts)| StageRow { stage: stage.into(), counts }).collect()
}

/// From the jobs of queues by state, with the oldest of each, and the queues that are paused, with the reasons.
pub(crate) fn queue_views(jobs: Vec<(Counted, Timestamp)>, paused: Vec<(String, String)>) -> Vec<QueueView> {
    let mut queues: BTreeMap<String, QueueView> = BTreeMap::new();
    for ((queue, state, count), oldest) in jobs {
        let view = queues.entry(queue.clone()).or_insert_with(|| empty(&queue));
        match JobState::from_code(state) {
            Some(JobState::Ready) => (view.ready, view.oldest_ready_at) = (count, Some(oldest)),
            Some(JobState::Scheduled) => view.scheduled = count,
            Some(JobState::Running) => view.running = count,
            Some(JobState::Parked) => view.parked = count,
            Some(JobState::Awaiting) => view.awaiting = count,
            Some(JobState::Dead) => view.dead = count,
            Some(JobState::Cancelled) | None => {}
        }
    }
    for (queue, because) in paused {
        let view = queues.entry(queue.clone()).or_insert_with(|| empty(&queue));
        view.paused = true;
        view.paused_because = Some(because).filter(|because| !because.is_empty());
    }
    queues.into_values().collect()
}

fn empty(queue: &str) -> QueueView {
    QueueView {
        queue: queue.into(),
        paused: false,
        paused_because: None,
        ready: 0,
        scheduled: 0,
        running: 0,
        parked: 0,
        awaiting: 0,
        dead: 0,
        oldest_ready_at: None,
    }
}
