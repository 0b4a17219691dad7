//! A matter: one reading for all its appearances.
//!
//! The newest appearance with the richest title stands for all, with the documents of every one of them. Appearances that
//! have a summary keep it: it says what the council had before it then.

use super::{
    documents::store_trouble,
    events,
    job::Running,
    meeting::Results,
    reading::{Made, NotRead, Sources, taken_over},
    requests::{self, Unit},
    saving::{Saved, summarised, with_canonical, with_summary},
};
use crate::records::Civic as _;
use crate::records::{AgendaItem, CivicChanges, ItemRevision, Matter, Meeting};
use crate::{analyst::local_topics::topics_of, filter::title::lowered, hash::canonical_url, search};
use bindery_core::{StepError, Timestamp};
use std::collections::{BTreeMap, HashMap, HashSet};

/// An appearance with when it was, or will be.
#[derive(Debug, Clone)]
struct Seen {
    item: AgendaItem,
    starts_at: Option<Timestamp>,
    vendor: String,
}

impl Running<'_> {
    pub(super) async fn matter(&self, id: &str, item_ids: &[String]) -> Result<(), StepError> {
        let civic = self.workshop.store.civic();
        let _turn = self.workshop.desk.matters.take(id).await;
        let Some(matter) = civic.matter(id).await.map_err(store_trouble)? else {
            return Err(StepError::reject(format!("{id}: there is no such matter")).named("MatterMissing"));
        };
        let seen = self.appearances(&matter, item_ids).await?;
        let Some(unit) = representative(&matter, &seen) else {
            // Nothing of it is on an agenda any more.
            return Ok(());
        };
        if !requests::has_content(&unit.item) {
            self.count(|tally| tally.items_skipped += seen.len() as u64);
            return Ok(());
        }
        let is_same = matter.summary_hash.is_some() && matter.summary_hash == matter.attachment_hash;
        let made = match matter.canonical_summary.as_ref().filter(|_| is_same) {
            // The meeting's job, or an earlier one of ours, has read the very same documents.
            Some(summary) => Made {
                summary: Some(summary.clone()),
                topics: matter.canonical_topics.clone(),
                summary_of: taken_over(&matter, self.workshop.store.clock().now()),
                is_reused: true,
                ..Made::default()
            },
            None => match self.read_matter(&matter, &unit, &seen).await? {
                Some(made) => made,
                None => return Ok(()),
            },
        };
        self.fill(&matter, &made, &seen).await?;
        // Whoever searches can index again: the job is done without it.
        if let Err(error) = search::index_matter(&*self.workshop.store, id).await {
            tracing::warn!(matter = %id, error = %error, "a matter was read and cannot be searched");
        }
        Ok(())
    }

    /// The appearances that the job names, as far as they are there; else all.
    async fn appearances(&self, matter: &Matter, item_ids: &[String]) -> Result<Vec<Seen>, StepError> {
        let civic = self.workshop.store.civic();
        let all = civic.items_of_matter(&matter.id).await.map_err(store_trouble)?;
        let wanted: HashSet<&str> = item_ids.iter().map(String::as_str).collect();
        let named: Vec<AgendaItem> = all.iter().filter(|item| wanted.contains(item.id.as_str())).cloned().collect();
        let chosen = if named.is_empty() { all } else { named };
        let mut meetings: HashMap<String, (Option<Meeting>, Vec<ItemRevision>)> = HashMap::new();
        let mut seen = Vec::new();
        for item in chosen.into_iter().filter(requests::is_live) {
            if !meetings.contains_key(&item.meeting_id) {
                let meeting = civic.meeting(&item.meeting_id).await.map_err(store_trouble)?;
                let revisions = civic.item_revisions(&item.meeting_id).await.map_err(store_trouble)?;
                meetings.insert(item.meeting_id.clone(), (meeting, revisions));
            }
            if let Some((Some(meeting), revisions)) = meetings.get(&item.meeting_id) {
                let of_item = revisions.iter().filter(|revision| revision.item_id == item.id);
                // A matter is what it is now, also where an appearance stays as it was summarised.
                let item = match of_item.max_by_key(|revision| revision.revision) {
                    Some(latest) => requests::became(&item, latest),
                    None => item,
                };
                seen.push(Seen { item, starts_at: meeting.starts_at, vendor: meeting.vendor.clone() });
            }
        }
        // The newest first.
        seen.sort_by_key(|one| (std::cmp::Reverse(one.starts_at), one.item.sequence));
        Ok(seen)
    }

    /// One reading. None: there is nothing that could be read, which the newest appearance says.
    async fn read_matter(&self, matter: &Matter, unit: &Unit, seen: &[Seen]) -> Result<Option<Made>, StepError> {
        let newest = seen.first();
        let errand = self.errand(newest.map_or("", |one| one.vendor.as_str()));
        let urls: Vec<String> = unit.documents.iter().map(|document| document.url.clone()).collect();
        let papers = self.workshop.obtain_all(&errand, &urls).await?;
        let starts_at = newest.and_then(|one| one.starts_at);
        let city = self.workshop.store.civic().jurisdiction(self.city_key).await.map_err(store_trouble)?;
        let topics = topics_of(&city.unwrap_or_default());
        let sources = Sources { papers, starts_at, topics, ..Sources::default() };
        let made = match self.read(unit, &sources, None).await {
            Ok(made) => made,
            Err(NotRead::Broken(error)) => return Err(error),
            Err(NotRead::Park(error)) => return Err(error.into()),
            Err(NotRead::Later { reason, after }) => {
                self.count(|tally| tally.items_failed += 1);
                return Results::of_one(unit.label(), reason, after).error(1).map_or(Ok(None), Err);
            }
        };
        if let Some(reason) = &made.reading_error {
            self.count(|tally| tally.items_failed += 1);
            return Err(StepError::reject(format!("{}: {reason}", unit.label())).named("Unreadable"));
        }
        let mut made = made;
        made.summary_of.notes.extend(disagreements(seen));
        let told = with_canonical(matter, &made, matter.attachment_hash.clone());
        let mut changes = CivicChanges::of_city(self.city_key);
        let (topics, method) = (&made.topics, &made.summary_of.method);
        changes.events.push(events::matter_summarised(self.city_key, &matter.id, topics, method));
        changes.matters.push(told);
        self.apply(changes).await?;
        self.count(|tally| tally.matters_summarised += 1);
        let unknown = &made.unknown_topics;
        self.workshop.store.civic().count_unknown_topics(self.city_key, unknown).await.map_err(store_trouble)?;
        Ok(Some(made))
    }

    /// Gives the summary to the appearances that have none.
    async fn fill(&self, matter: &Matter, made: &Made, seen: &[Seen]) -> Result<(), StepError> {
        let now = self.workshop.store.clock().now();
        for one in seen {
            self.check()?;
            if one.item.summary.is_some() || one.item.filter_reason.is_some() {
                self.count(|tally| tally.items_skipped += 1);
                continue;
            }
            let mut of = made.summary_of.clone();
            (of.method, of.at, of.cost_micros) = (super::reading::BY_MATTER.to_owned(), Some(now), 0);
            if one.item.attachment_hash != matter.attachment_hash {
                of.notes.push("made from the documents of another appearance of the matter".to_owned());
            }
            let mut filled = Made { summary_of: of, is_reused: true, ..made.clone() };
            filled.attachments.clone_from(&one.item.attachments);
            let unit = Unit::new(one.item.clone(), None);
            let saved = self
                .change(&one.item.meeting_id, async |meeting: Meeting| {
                    let civic = self.workshop.store.civic();
                    let item = civic.agenda_item(&one.item.id).await.map_err(store_trouble)?;
                    let Some(item) = item.filter(|item| item.summary.is_none()) else { return Ok(None) };
                    let mut changes = CivicChanges::of_meeting(self.city_key, &meeting.id, meeting.revision);
                    changes.events.push(summarised(self.city_key, &unit, &filled).event());
                    changes.items.push(with_summary(item, &filled));
                    Ok(Some(changes))
                })
                .await?;
            self.count(|tally| match saved {
                Saved::Passed => tally.items_skipped += 1,
                Saved::Stored => {
                    tally.items_processed += 1;
                    *(if made.is_reused { &mut tally.items_reused } else { &mut tally.items_new }) += 1;
                }
            });
            if let Some(observer) = self.workshop.observer.as_ref().filter(|_| saved == Saved::Stored) {
                observer.item_done(self.city_key, &one.item.id, &one.item.title);
            }
        }
        Ok(())
    }
}

/// One item that stands for the matter, with the documents and texts of all appearances.
fn representative(matter: &Matter, seen: &[Seen]) -> Option<Unit> {
    let newest = seen.first()?;
    // Of those on the same day, the one that says the most.
    let same_time = seen.iter().filter(|one| one.starts_at == newest.starts_at);
    let richest = same_time.max_by_key(|one| (one.item.title.chars().count(), std::cmp::Reverse(one.item.sequence)))?;
    let mut item = richest.item.clone();
    let mut known = HashSet::new();
    item.attachments.clear();
    let of_items = seen.iter().flat_map(|one| &one.item.attachments);
    for attachment in matter.attachments.iter().chain(of_items) {
        if known.insert(canonical_url(&attachment.url)) {
            item.attachments.push(attachment.clone());
        }
    }
    let mut texts: Vec<&str> = Vec::new();
    for text in seen.iter().filter_map(|one| one.item.body_text.as_deref()).map(str::trim) {
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    item.body_text = Some(texts.join("\n\n")).filter(|text| !text.is_empty());
    item.matter_type = item.matter_type.or_else(|| matter.matter_type.clone());
    (item.summary, item.summary_of) = (None, None);
    Some(Unit::new(item, None))
}

/// Where appearances say different things of the matter, in sentences.
fn disagreements(seen: &[Seen]) -> Vec<String> {
    let Some(newest) = seen.first() else { return Vec::new() };
    let mut notes = Vec::new();
    let files: BTreeMap<String, &str> =
        seen.iter().filter_map(|one| one.item.matter_file.as_deref()).map(|file| (lowered(file), file)).collect();
    if files.len() > 1 {
        let files: Vec<&str> = files.into_values().collect();
        notes.push(format!("its appearances name different files: {}", files.join(", ")));
    }
    let titled = seen.iter().filter(|one| lowered(&one.item.title) != lowered(&newest.item.title));
    let titles: BTreeMap<String, &str> =
        titled.map(|one| (lowered(&one.item.title), one.item.title.as_str())).collect();
    for title in titles.into_values().take(3) {
        notes.push(format!("it has also been called {:?}", requests::shorten(title, 160)));
    }
    notes
}
