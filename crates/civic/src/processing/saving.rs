//! What was made, stored: each item by itself, as soon as it is done.
//!
//! Every change is stored only while the job is ours, and only on the meeting as it was looked at a moment before. So
//! nothing is written over what a sync has just brought: an item that has changed while it was read stays without this
//! summary, and the sync has queued its meeting again.

use super::{
    documents::store_trouble,
    events::{self, ItemSummarised},
    job::Running,
    reading::{Made, SUMMARY_OF},
    requests::Unit,
};
use crate::records::{AgendaItem, Applied, Civic as _, CivicChanges, ItemRevision, Matter, Meeting};
use bindery_core::StepError;
use bindery_store::JobEnd;

/// How often a change is decided again because others change the same meeting.
const PATIENCE: usize = 30;

/// What became of something that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saved {
    Stored,
    /// It is not what was read any more, or somebody else was faster.
    Passed,
}

impl Running<'_> {
    /// Stores changes while the job is ours.
    pub(super) async fn apply(&self, mut changes: CivicChanges) -> Result<Applied, StepError> {
        // Whatever has a summary is not done again.
        let has_advanced = changes.events.iter().any(events::is_summary);
        changes.claim = self.claim.map(|(job, token)| (job, token, JobEnd::Hold { has_advanced }));
        let applied = self.workshop.store.civic().apply(vec![changes]).await.map_err(store_trouble)?;
        match applied.into_iter().next() {
            Some(Applied::LeaseLost) => {
                Err(StepError::retry("another worker has the job now; nothing was stored").named("LeaseLost"))
            }
            Some(applied) => Ok(applied),
            None => Err(StepError::bug("the store did not say what became of a change")),
        }
    }

    /// Changes a meeting as it is. `decide` is asked anew whenever somebody else was faster; none: there is nothing to
    /// change.
    pub(super) async fn change(
        &self,
        meeting_id: &str,
        decide: impl AsyncFn(Meeting) -> Result<Option<CivicChanges>, StepError>,
    ) -> Result<Saved, StepError> {
        let _turn = self.saving.lock().await;
        for _ in 0..PATIENCE {
            let found = self.workshop.store.civic().meeting(meeting_id).await.map_err(store_trouble)?;
            let Some(meeting) = found else { return Ok(Saved::Passed) };
            let Some(changes) = decide(meeting).await? else { return Ok(Saved::Passed) };
            if self.apply(changes).await?.is_stored() {
                return Ok(Saved::Stored);
            }
        }
        Err(StepError::retry(format!("{meeting_id} is changed by others all the time")).named("Busy"))
    }

    /// Stores what was made of an item, with its matter and its event.
    pub(super) async fn save(&self, unit: &Unit, made: &Made) -> Result<Saved, StepError> {
        let civic = || self.workshop.store.civic();
        let saved = self
            .change(&unit.item.meeting_id, async |meeting: Meeting| {
                let Some(item) = civic().agenda_item(&unit.item.id).await.map_err(store_trouble)? else {
                    return Ok(None);
                };
                if has_moved_on(unit, &item) {
                    return Ok(None);
                }
                let mut changes = CivicChanges::of_meeting(self.city_key, &meeting.id, meeting.revision);
                if let Some(matter_id) = item.matter_id.as_deref().filter(|_| made.summary.is_some()) {
                    let matter = civic().matter(matter_id).await.map_err(store_trouble)?;
                    let told = matter.and_then(|matter| canonical(unit, made, &meeting, &matter));
                    if let Some(matter) = told {
                        let (topics, method) = (&matter.canonical_topics, &made.summary_of.method);
                        changes.events.push(events::matter_summarised(self.city_key, matter_id, topics, method));
                        changes.matters.push(matter);
                    }
                }
                if made.summary.is_some() {
                    changes.events.push(summarised(self.city_key, unit, made).event());
                }
                match &unit.revision {
                    Some(revision) => changes.item_revisions.push(revised(revision, made)),
                    None => changes.items.push(with_summary(item, made)),
                }
                Ok(Some(changes))
            })
            .await?;
        self.count_item(unit, made, saved);
        if saved == Saved::Stored {
            let unknown = &made.unknown_topics;
            civic().count_unknown_topics(self.city_key, unknown).await.map_err(store_trouble)?;
        }
        Ok(saved)
    }

    fn count_item(&self, unit: &Unit, made: &Made, saved: Saved) {
        self.count(|tally| match saved {
            Saved::Passed => tally.items_skipped += 1,
            Saved::Stored if made.summary.is_none() => tally.items_failed += 1,
            Saved::Stored => {
                tally.items_processed += 1;
                *(if made.is_reused { &mut tally.items_reused } else { &mut tally.items_new }) += 1;
                tally.revisions += u64::from(unit.revision.is_some());
            }
        });
        let is_told = saved == Saved::Stored && made.summary.is_some();
        if let Some(observer) = self.workshop.observer.as_ref().filter(|_| is_told) {
            observer.item_done(self.city_key, &unit.item.id, &unit.item.title);
        }
    }
}

/// What was read is not what is stored now.
fn has_moved_on(unit: &Unit, item: &AgendaItem) -> bool {
    if unit.revision.is_some() {
        return item.revisions != unit.item.revisions;
    }
    item.summary.is_some() || item.latest_hash != unit.item.latest_hash || item.body_text != unit.item.body_text
}

pub(super) fn with_summary(mut item: AgendaItem, made: &Made) -> AgendaItem {
    item.update_agenda_item(made.summary.clone(), made.topics.clone());
    if made.summary.is_some() {
        item.summary_of = Some(made.summary_of.clone());
    }
    if !made.attachments.is_empty() {
        item.attachments.clone_from(&made.attachments);
    }
    item.reading_error.clone_from(&made.reading_error);
    item
}

fn revised(revision: &ItemRevision, made: &Made) -> ItemRevision {
    let mut revision = revision.clone();
    revision.summary.clone_from(&made.summary);
    revision.topics.clone_from(&made.topics);
    revision.summary_of = made.summary.as_ref().map(|_| made.summary_of.clone());
    revision.reading_error.clone_from(&made.reading_error);
    if !made.attachments.is_empty() {
        revision.attachments.clone_from(&made.attachments);
    }
    revision
}

/// The matter with this summary, if it is of the newest documents that are known of it. Only what is new is said, so that
/// whatever else a sync has just brought stays.
fn canonical(unit: &Unit, made: &Made, meeting: &Meeting, matter: &Matter) -> Option<Matter> {
    let is_newest = matter.canonical_summary.is_none()
        || matter.attachment_hash == unit.item.attachment_hash
        || meeting.starts_at >= matter.last_seen;
    if made.is_reused || unit.is_brief || !is_newest {
        return None;
    }
    Some(with_canonical(matter, made, unit.item.attachment_hash.clone()))
}

/// A summary for a matter and the hash of what it was made from, which belong together.
pub(super) fn with_canonical(matter: &Matter, made: &Made, summary_hash: Option<String>) -> Matter {
    let mut told = Matter {
        id: matter.id.clone(),
        city_key: matter.city_key.clone(),
        canonical_summary: made.summary.clone(),
        canonical_topics: made.topics.clone(),
        summary_hash,
        ..Matter::default()
    };
    if let Ok(of) = serde_json::to_value(&made.summary_of) {
        told.metadata.insert(SUMMARY_OF.to_owned(), of);
    }
    told
}

pub(super) fn summarised<'a>(city_key: &'a str, unit: &'a Unit, made: &'a Made) -> ItemSummarised<'a> {
    ItemSummarised {
        city_key,
        meeting_id: &unit.item.meeting_id,
        item_id: &unit.item.id,
        matter_id: unit.item.matter_id.as_deref(),
        title: &unit.item.title,
        topics: &made.topics,
        method: &made.summary_of.method,
        revision: unit.revision.as_ref().map_or(0, |revision| revision.revision),
    }
}
