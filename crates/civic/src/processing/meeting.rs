//! A meeting: which of the paths it takes, and what it has come to when its items are done.

use super::{
    digest,
    documents::store_trouble,
    events,
    job::Running,
    packet,
    reading::{Made, NotRead, Sources},
    requests::{self, Plan, Unit},
    saving::{Saved, with_summary},
};
use crate::records::Civic as _;
use crate::records::{AgendaItem, CivicChanges, ItemRevision, Jurisdiction, Meeting, Processing, SummaryOf};
use crate::{
    analyst::local_topics::topics_of, ids, participation::Participation, prose::topics, search,
    vendor::model::MeetingStatus,
};
use bindery_core::{Disposition, StepError};
use bindery_models::{Advice, ModelError};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// So many items are named where a job has not read all of them.
const MOST_NAMED: usize = 5;

/// What the items have come to.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Items that another try may read, with the reasons.
    later: Vec<(String, String)>,
    after: Option<Duration>,
    park: Option<ModelError>,
    broken: Option<StepError>,
}

impl Results {
    /// Of a single item that another try may read.
    pub(super) fn of_one(item: String, reason: String, after: Option<Duration>) -> Self {
        Self { later: vec![(item, reason)], after, ..Self::default() }
    }

    fn is_over(&self) -> bool {
        self.park.is_some() || self.broken.is_some()
    }

    /// What becomes of the job, where it is not done.
    pub(super) fn error(self, all: usize) -> Option<StepError> {
        if let Some(broken) = self.broken {
            return Some(broken);
        }
        if let Some(park) = self.park {
            return Some(park.into());
        }
        let failed = self.later.len();
        if failed == 0 {
            return None;
        }
        let named = self.later.iter().take(MOST_NAMED).map(|(item, reason)| format!("{item}: {reason}"));
        let mut named = named.collect::<Vec<_>>().join("; ");
        if failed > MOST_NAMED {
            named.extend(["; and ", &*(failed - MOST_NAMED).to_string(), " more"]);
        }
        let message = format!("{failed} of {all} items were not read and are tried again: {named}");
        let error = match self.after {
            Some(after) => StepError::retry_after(after, message),
            None => StepError::retry(message),
        };
        Some(error.named("Partial"))
    }
}

impl Running<'_> {
    /// Reads a meeting to its end.
    pub(super) async fn meeting(&self, id: &str) -> Result<(), StepError> {
        let civic = self.workshop.store.civic();
        let Some(meeting) = civic.meeting(id).await.map_err(store_trouble)? else {
            return Err(StepError::reject(format!("{id}: there is no such meeting")).named("MeetingMissing"));
        };
        let is_off = meeting.status.as_deref() == Some(MeetingStatus::Cancelled.as_str());
        if is_off || meeting.removed_at.is_some() {
            return Ok(());
        }
        let city = civic.jurisdiction(&meeting.city_key).await.map_err(store_trouble)?.unwrap_or_default();
        self.mark(id, Processing::Processing, None).await?;
        let ended = self.read_meeting(&meeting, &city).await;
        if let Err(error) = &ended {
            let is_waiting = matches!(error.disposition, Disposition::Park { .. });
            let status = if is_waiting { Processing::Pending } else { Processing::Failed };
            // Who has lost the job says nothing of the meeting.
            if !matches!(error.kind.as_str(), "LeaseLost" | "Stopped") {
                self.mark(id, status, Some(&error.message)).await?;
            }
        }
        ended
    }

    async fn read_meeting(&self, meeting: &Meeting, city: &Jurisdiction) -> Result<(), StepError> {
        let civic = self.workshop.store.civic();
        let items = civic.agenda(&meeting.id).await.map_err(store_trouble)?;
        let listed: Vec<AgendaItem> = items.iter().filter(|item| !ids::is_from_packet(item)).cloned().collect();
        let has_items = listed.iter().any(|item| requests::is_live(item) && requests::has_content(item));
        if has_items {
            let revisions = civic.item_revisions(&meeting.id).await.map_err(store_trouble)?;
            return self.by_items(meeting, city, &listed, &revisions).await;
        }
        match packet::address(meeting) {
            Some(url) => self.by_packet(meeting, city, url).await,
            // Nothing that could be read: everything is said already.
            None => {
                self.finish(meeting, city, Ended { method: "nothing_to_read".to_owned(), ..Ended::default() }).await
            }
        }
    }

    async fn by_items(
        &self,
        meeting: &Meeting,
        city: &Jurisdiction,
        items: &[AgendaItem],
        revisions: &[ItemRevision],
    ) -> Result<(), StepError> {
        let Plan { units, skipped, shared } = requests::plan(items, revisions);
        self.count(|tally| tally.items_skipped += skipped);
        let errand = self.errand(&meeting.vendor);
        let urls: Vec<String> = units
            .iter()
            .filter(|unit| !unit.is_brief)
            .flat_map(|unit| unit.documents.iter().map(|document| document.url.clone()))
            .collect();
        let papers = self.workshop.obtain_all(&errand, &urls).await?;
        let sources = Sources { papers, shared, packet: None, starts_at: meeting.starts_at, topics: topics_of(city) };
        let all = units.len();
        let results = self.read_all(units, &sources).await;
        drop(sources);
        let participation = self.participation(meeting, items).await?;
        let error = results.error(all);
        let ended = Ended { method: String::new(), participation, error: error.clone(), ..Ended::default() };
        self.finish(meeting, city, ended).await?;
        error.map_or(Ok(()), Err)
    }

    /// Reads items, several at once, and stores each as it is done. Those of one matter come one after another, so that
    /// the second finds what the first has made.
    pub(super) async fn read_all(&self, units: Vec<Unit>, sources: &Sources) -> Results {
        let mut groups: BTreeMap<String, Vec<Unit>> = BTreeMap::new();
        for unit in units {
            let group = unit.item.matter_id.clone().unwrap_or_else(|| unit.item.id.clone());
            groups.entry(group).or_default().push(unit);
        }
        // In the order of the agenda, for those who watch.
        let mut groups: Vec<Vec<Unit>> = groups.into_values().collect();
        groups.sort_by_key(|group| group.first().map(|unit| unit.item.sequence));
        let results = Mutex::new(Results::default());
        let work = groups.into_iter().map(|group| self.read_group(group, sources, &results));
        stream::iter(work).buffer_unordered(self.workshop.items_at_once()).for_each(|()| async {}).await;
        results.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read_group(&self, group: Vec<Unit>, sources: &Sources, results: &Mutex<Results>) {
        let results = || results.lock().unwrap_or_else(PoisonError::into_inner);
        for unit in group {
            if results().is_over() {
                return;
            }
            let fault = match self.read_and_save(&unit, sources).await {
                Ok(()) => continue,
                Err(fault) => fault,
            };
            let mut results = results();
            match fault {
                NotRead::Later { reason, after } => {
                    self.count(|tally| tally.items_failed += 1);
                    results.after = results.after.max(after);
                    results.later.push((unit.label(), reason));
                }
                NotRead::Park(error) => results.park = Some(latest(results.park.take(), error)),
                NotRead::Broken(error) => results.broken = results.broken.take().or(Some(error)),
            }
        }
    }

    async fn read_and_save(&self, unit: &Unit, sources: &Sources) -> Result<(), NotRead> {
        self.check()?;
        let (_turn, matter) = match &unit.item.matter_id {
            Some(id) => {
                let turn = self.workshop.desk.matters.take(id).await;
                (Some(turn), self.workshop.store.civic().matter(id).await.map_err(store_trouble)?)
            }
            None => (None, None),
        };
        let made = self.read(unit, sources, matter.as_ref()).await?;
        self.save(unit, &made).await?;
        Ok(())
    }

    /// How to take part, as the agenda tells it: in its file, and in what its first and last items say.
    async fn participation(&self, meeting: &Meeting, items: &[AgendaItem]) -> Result<Participation, StepError> {
        let mut found = Participation::default();
        if let Some(url) = meeting.agenda_url.as_deref().filter(|url| packet::is_file(url)) {
            let errand = self.errand(&meeting.vendor);
            if let Ok(agenda) = self.workshop.packet(&errand, url).await? {
                found.absorb(agenda.participation.clone());
            }
        }
        found.absorb(said_by_items(meeting, items));
        Ok(found)
    }

    /// What the meeting as a whole has come to: topics, a few lines, how to take part, and that it is done.
    pub(super) async fn finish(&self, read: &Meeting, city: &Jurisdiction, ended: Ended) -> Result<(), StepError> {
        let civic = || self.workshop.store.civic();
        let saved = self
            .change(&read.id, async |meeting: Meeting| {
                let items = civic().agenda(&read.id).await.map_err(store_trouble)?;
                let revisions = civic().item_revisions(&read.id).await.map_err(store_trouble)?;
                let mut changes = CivicChanges::of_meeting(self.city_key, &meeting.id, meeting.revision);
                let current = as_they_are(&items, &revisions);
                let all: Vec<&[String]> = current.iter().map(|item| item.topics.as_slice()).collect();
                let mut row = meeting.clone();
                let of_items: Vec<String> = topics::aggregate(all).into_iter().map(|(topic, _)| topic).collect();
                let topics = if ended.topics.is_empty() { of_items } else { ended.topics.clone() };
                row.update_meeting_summary(ended.summary.clone().or_else(|| digest::build(&current)), topics);
                row.participation = with_participation(row.participation, city, ended.participation.clone());
                row.processing_seconds = Some(self.seconds());
                if ended.error.is_none() {
                    let summarised = current.iter().filter(|item| item.summary.is_some()).count();
                    let by_items = || format!("item_level_{summarised}_items");
                    let method = if ended.method.is_empty() { by_items() } else { ended.method.clone() };
                    row.mark_processing_complete(method, read.content_hash.clone());
                    row.processed_by =
                        self.queue_job().await?.map(|job| job.completed(self.workshop.store.clock().now()));
                    let (title, topics, items) = (&row.title, &row.topics, summarised as u64);
                    changes.events.push(events::meeting_processed(self.city_key, &read.id, title, topics, items));
                }
                changes.items = duplicates(&items);
                changes.meeting = Some(row);
                Ok(Some(changes))
            })
            .await?;
        if saved == Saved::Passed {
            return Err(StepError::reject(format!("{}: the meeting is gone", read.id)).named("MeetingMissing"));
        }
        // Whoever searches can index again: the job is done without it.
        if let Err(error) = search::index_meeting(&*self.workshop.store, &read.id).await {
            tracing::warn!(meeting = %read.id, error = %error, "a meeting was read and cannot be searched");
        }
        Ok(())
    }

    /// How the meeting stands, where that is news.
    async fn mark(&self, id: &str, status: Processing, error: Option<&str>) -> Result<(), StepError> {
        self.change(id, async |meeting: Meeting| {
            if meeting.processing_status == Some(status) && meeting.processing_error.as_deref() == error {
                return Ok(None);
            }
            let mut changes = CivicChanges::of_meeting(self.city_key, id, meeting.revision);
            let mut row = meeting;
            if let (Processing::Failed, Some(error)) = (status, error) {
                row.mark_processing_failed(error);
            } else {
                (row.processing_status, row.processing_error) = (Some(status), error.map(str::to_owned));
            }
            changes.meeting = Some(row);
            Ok(Some(changes))
        })
        .await
        .map(drop)
    }
}

/// The end of a meeting's job.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Empty: by its items.
    pub(super) method: String,
    /// Of the meeting as a whole; none: that of its items.
    pub(super) summary: Option<String>,
    pub(super) topics: Vec<String>,
    pub(super) participation: Participation,
    /// It is not done.
    pub(super) error: Option<StepError>,
}

/// Of two reasons to wait the one that ends later; one without an end counts most.
fn latest(one: Option<ModelError>, other: ModelError) -> ModelError {
    let until = |error: &ModelError| match error.advice {
        Advice::Park { retry_at: Some(at), .. } => at.as_millis(),
        _ => i64::MAX,
    };
    match one {
        Some(one) if until(&one) >= until(&other) => one,
        _ => other,
    }
}

/// Each item with the summary and topics of what it has become.
fn as_they_are(items: &[AgendaItem], revisions: &[ItemRevision]) -> Vec<AgendaItem> {
    let live = items.iter().filter(|item| requests::is_live(item));
    live.map(|item| {
        let of_item = revisions.iter().filter(|revision| revision.item_id == item.id && revision.summary.is_some());
        let Some(latest) = of_item.max_by_key(|revision| revision.revision) else { return item.clone() };
        AgendaItem {
            summary: latest.summary.clone(),
            topics: latest.topics.clone(),
            summary_of: latest.summary_of.clone(),
            ..requests::became(item, latest)
        }
    })
    .collect()
}

/// Items that say the same as another have its summary, too.
fn duplicates(items: &[AgendaItem]) -> Vec<AgendaItem> {
    let filled = items.iter().filter(|item| requests::is_live(item) && item.summary.is_none()).filter_map(|item| {
        let original = items.iter().find(|other| Some(&other.id) == item.duplicate_of.as_ref())?;
        let made = Made {
            summary: Some(original.summary.clone()?),
            topics: original.topics.clone(),
            summary_of: SummaryOf { cost_micros: 0, ..original.summary_of.clone().unwrap_or_default() },
            ..Made::default()
        };
        Some(with_summary(item.clone(), &made))
    });
    filled.collect()
}

/// What the first and the last item of the agenda say about taking part, and what the vendor notes. Staff reports are
/// never asked: their addresses are those of applicants.
fn said_by_items(meeting: &Meeting, items: &[AgendaItem]) -> Participation {
    let mut listed: Vec<&AgendaItem> = items.iter().filter(|item| requests::is_live(item)).collect();
    listed.sort_by_key(|item| item.sequence);
    let ends = [listed.first(), listed.last().filter(|_| listed.len() > 1)];
    let texts = ends.into_iter().flatten().filter_map(|item| item.body_text.as_deref());
    let mut found = Participation::default();
    for text in meeting.notes.as_deref().into_iter().chain(texts) {
        found.absorb(Participation::of_text(text));
    }
    found
}

/// What was known with what was found: what was found counts, and nothing is erased. A jurisdiction with settings of its
/// own takes only what belongs to this meeting.
fn with_participation(known: Option<Value>, city: &Jurisdiction, found: Participation) -> Option<Value> {
    let found = if city.participation.is_some() { found.only_of_meeting() } else { found };
    if found.is_empty() {
        return known;
    }
    let mut merged: Participation =
        known.clone().and_then(|known| serde_json::from_value(known).ok()).unwrap_or_default();
    merged.absorb(found);
    match (known, serde_json::to_value(merged)) {
        (Some(Value::Object(mut known)), Ok(Value::Object(merged))) => {
            known.extend(merged);
            Some(Value::Object(known))
        }
        (_, Ok(merged)) => Some(merged),
        (known, Err(_)) => known,
    }
}
