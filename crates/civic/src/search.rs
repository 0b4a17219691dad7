//! Items, meetings and matters, found by their words: titles, summaries, and the texts of items' own pages.
//!
//! Each jurisdiction is a collection of the store's index. Indexing a meeting again replaces what was indexed of it, so
//! it may be done at any time and as often as one likes.

use crate::records::{
    AgendaItem, Civic as _, ItemRevision, Jurisdiction, Matter, MatterFilter, Meeting, MeetingFilter,
};
use crate::{
    export::{Begins, city_name, full_title},
    ids,
};
use bindery_core::Timestamp;
use bindery_store::{
    Store, StoreResult,
    search::{Hit, IndexedDocument, Query, SearchRequest, TextChunk},
};
use jiff::{civil::Date, tz::TimeZone};
use serde::Serialize;
use serde_json::json;
use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

/// What a jurisdiction's collection is called: this and its city key.
const COLLECTION: &str = "civic:";

/// Fewer words than an index takes in one piece.
const WORDS_OF_A_CHUNK: usize = 5_000;

/// How many hits are asked for at a time, and how often: what does not fit a filter is left out afterwards.
const AT_A_TIME: usize = 100;
const MOST_TIMES: usize = 50;

/// How many meetings are read at a time.
const MEETINGS: usize = 50;

/// How much was indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Indexed {
    pub meetings: usize,
    pub items: usize,
    pub matters: usize,
}

/// Makes a meeting, its items and their matters findable, as they are now. Nothing happens where there is no such
/// meeting.
pub async fn index_meeting(store: &dyn Store, meeting_id: &str) -> StoreResult<Indexed> {
    let Some(meeting) = store.civic().meeting(meeting_id).await? else { return Ok(Indexed::default()) };
    let items = store.civic().agenda(meeting_id).await?;
    let matters: BTreeSet<String> = items.iter().filter_map(|item| item.matter_id.clone()).collect();
    let mut indexed = index_items(store, &meeting, &items).await?;
    indexed.matters = index_matters(store, matters).await?;
    Ok(indexed)
}

/// Makes a matter and its items findable, as they are now.
pub async fn index_matter(store: &dyn Store, matter_id: &str) -> StoreResult<Indexed> {
    let Some(matter) = store.civic().matter(matter_id).await? else { return Ok(Indexed::default()) };
    store.index_document(document_of_matter(&matter)).await?;
    let mut indexed = Indexed { matters: 1, ..Indexed::default() };
    for item in store.civic().items_of_matter(matter_id).await? {
        let revisions = match item.revisions {
            0 => Vec::new(),
            _ => store.civic().item_revisions(&item.meeting_id).await?,
        };
        indexed.items += index_item(store, &matter.city_key, &item, &revisions).await?;
    }
    Ok(indexed)
}

/// Makes everything of a jurisdiction findable.
pub async fn reindex(store: &dyn Store, city_key: &str) -> StoreResult<Indexed> {
    let filter = MeetingFilter { city_key: Some(city_key.to_owned()), with_removed: true, ..MeetingFilter::default() };
    let meetings = store.civic().meetings(filter).await?;
    let mut indexed = Indexed::default();
    for some in meetings.chunks(MEETINGS) {
        let of_ids: Vec<String> = some.iter().map(|meeting| meeting.id.clone()).collect();
        let mut items: HashMap<String, Vec<AgendaItem>> = HashMap::new();
        for item in store.civic().agendas(&of_ids).await? {
            items.entry(item.meeting_id.clone()).or_default().push(item);
        }
        for meeting in some {
            let items = items.remove(&meeting.id).unwrap_or_default();
            let more = index_items(store, meeting, &items).await?;
            indexed.meetings += more.meetings;
            indexed.items += more.items;
        }
    }
    let filter = MatterFilter { city_key: Some(city_key.to_owned()), ..MatterFilter::default() };
    for matter in store.civic().matters(filter).await? {
        store.index_document(document_of_matter(&matter)).await?;
        indexed.matters += 1;
    }
    Ok(indexed)
}

/// How many documents of a jurisdiction are findable.
pub async fn indexed_documents(store: &dyn Store, city_key: &str) -> StoreResult<u64> {
    let name = format!("{COLLECTION}{city_key}");
    let found = store.collections().await?.into_iter().find(|view| view.collection == name);
    Ok(found.map_or(0, |view| view.documents))
}

/// How many documents of all jurisdictions are findable.
pub async fn all_indexed_documents(store: &dyn Store) -> StoreResult<u64> {
    let views = store.collections().await?;
    Ok(views.iter().filter(|view| view.collection.starts_with(COLLECTION)).map(|view| view.documents).sum())
}

async fn index_items(store: &dyn Store, meeting: &Meeting, items: &[AgendaItem]) -> StoreResult<Indexed> {
    let collection = format!("{COLLECTION}{}", meeting.city_key);
    let mut indexed = Indexed::default();
    if meeting.removed_at.is_some() || meeting.superseded_by.is_some() {
        store.remove_document(&collection, &meeting.id).await?;
        for item in items {
            store.remove_document(&collection, &item.id).await?;
        }
        return Ok(indexed);
    }
    let title = full_title(meeting);
    let texts =
        [Some(title.as_str()), meeting.summary.as_deref(), meeting.notes.as_deref(), meeting.location.as_deref()];
    store.index_document(document(&meeting.city_key, &meeting.id, &title, &texts)).await?;
    indexed.meetings = 1;
    let revisions = if items.iter().any(|item| item.revisions > 0) {
        store.civic().item_revisions(&meeting.id).await?
    } else {
        Vec::new()
    };
    for item in items {
        indexed.items += index_item(store, &meeting.city_key, item, &revisions).await?;
    }
    Ok(indexed)
}

/// One, unless it is not on the agenda any more.
async fn index_item(
    store: &dyn Store,
    city_key: &str,
    item: &AgendaItem,
    revisions: &[ItemRevision],
) -> StoreResult<usize> {
    if item.removed_at.is_some() {
        store.remove_document(&format!("{COLLECTION}{city_key}"), &item.id).await?;
        return Ok(0);
    }
    let mut texts = vec![
        Some(item.title.as_str()),
        item.summary.as_deref(),
        item.matter_file.as_deref(),
        item.body_text.as_deref(),
    ];
    for later in revisions.iter().filter(|revision| revision.item_id == item.id) {
        texts.extend([Some(later.title.as_str()), later.summary.as_deref()]);
    }
    store.index_document(document(city_key, &item.id, &item.title, &texts)).await?;
    Ok(1)
}

async fn index_matters(store: &dyn Store, matter_ids: BTreeSet<String>) -> StoreResult<usize> {
    let ids: Vec<String> = matter_ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(0);
    }
    let matters = store.civic().matters(MatterFilter { ids, ..MatterFilter::default() }).await?;
    for matter in &matters {
        store.index_document(document_of_matter(matter)).await?;
    }
    Ok(matters.len())
}

fn document_of_matter(matter: &Matter) -> IndexedDocument {
    let texts = [
        Some(matter.title.as_str()),
        matter.matter_file.as_deref(),
        matter.matter_type.as_deref(),
        matter.canonical_summary.as_deref(),
    ];
    document(&matter.city_key, &matter.id, &matter.title, &texts)
}

/// All on one page: words are found together wherever they stand.
fn document(city_key: &str, id: &str, title: &str, texts: &[Option<&str>]) -> IndexedDocument {
    let text = texts.iter().flatten().map(|text| text.trim()).filter(|text| !text.is_empty());
    let text = text.collect::<Vec<_>>().join("\n");
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let chunk = |(ordinal, words): (u32, &[&str])| TextChunk { page: 1, ordinal, text: words.concat() };
    let plain = |text: &str| text.replace('\0', " ");
    IndexedDocument {
        collection: format!("{COLLECTION}{city_key}"),
        document_id: id.to_owned(),
        file_guid: id.to_owned(),
        file_name: plain(title),
        metadata: json!({"banana": city_key}).to_string(),
        chunks: (0..).zip(words.chunks(WORDS_OF_A_CHUNK)).map(chunk).collect(),
        submission: None,
        owner: None,
    }
}

/// What somebody typed, understood as [`Query`] says, but for this: a word finds its plural and what else begins with it,
/// and a plural its singular. In quotation marks it finds itself alone.
pub fn query(typed: &str) -> Result<Query, String> {
    let mut in_quotes = false;
    let word = |word: &str| -> String {
        let is_phrase = in_quotes;
        in_quotes ^= word.matches('"').count() % 2 == 1;
        let is_plain = word.chars().count() >= 4 && word.chars().all(char::is_alphabetic);
        match word {
            _ if is_phrase || !is_plain => word.to_owned(),
            word => {
                let is_plural = word.ends_with('s') && !word.ends_with("ss") && word.chars().count() > 4;
                format!("{}*", if is_plural { word.trim_end_matches('s') } else { word })
            }
        }
    };
    Query::parse(&typed.split_whitespace().map(word).collect::<Vec<_>>().join(" "))
}

/// What is looked for.
#[derive(Debug, Clone)]
pub struct SearchFor {
    pub query: Query,
    pub city_key: Option<String>,
    /// The key of a topic.
    pub topic: Option<String>,
    /// Meetings of these days, both included, by their own clocks; matters that were last seen on them.
    pub from: Option<Date>,
    pub to: Option<Date>,
    pub only_matters: bool,
    pub limit: usize,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// `item`, `meeting` or `matter`.
    pub kind: &'static str,
    /// For `civic show` and `civic matter`.
    pub id: String,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub city: String,
    pub meeting_id: Option<String>,
    pub meeting_title: Option<String>,
    /// Of the meeting, or when the matter was last seen: `2026-03-09`.
    pub day: Option<String>,
    pub agenda_number: Option<String>,
    pub matter_file: Option<String>,
    pub title: String,
    pub topics: Vec<String>,
    pub is_summarised: bool,
    pub snippet: String,
    /// Bytes of the snippet that were looked for.
    pub matches: Vec<Range<usize>>,
}

/// The best first.
pub async fn find(store: &dyn Store, wanted: &SearchFor) -> StoreResult<Vec<Found>> {
    let mut known = Known { store, cities: HashMap::new(), meetings: HashMap::new() };
    let collection = wanted.city_key.as_ref().map(|city_key| format!("{COLLECTION}{city_key}"));
    let mut found = Vec::new();
    for time in 0..MOST_TIMES {
        let (query, collection) = (wanted.query.clone(), collection.clone());
        let request = SearchRequest { query, collection, limit: AT_A_TIME, offset: time * AT_A_TIME };
        let hits = store.search(request).await?;
        let is_last = hits.len() < AT_A_TIME;
        for hit in hits.into_iter().filter(|hit| hit.collection.starts_with(COLLECTION)) {
            if let Some(one) = known.look_up(hit).await?.filter(|one| fits(one, wanted)) {
                found.push(one);
                if found.len() >= wanted.limit {
                    return Ok(found);
                }
            }
        }
        if is_last {
            break;
        }
    }
    Ok(found)
}

fn fits(found: &Found, wanted: &SearchFor) -> bool {
    let day = found.day.as_deref().and_then(|day| day.parse::<Date>().ok());
    let in_days = match (wanted.from, wanted.to) {
        (None, None) => true,
        (from, to) => day.is_some_and(|day| from.is_none_or(|from| from <= day) && to.is_none_or(|to| day <= to)),
    };
    in_days
        && (!wanted.only_matters || found.kind == "matter")
        && wanted.topic.as_ref().is_none_or(|topic| found.topics.contains(topic))
}

/// What hits are about, read once each.
struct Known<'s> {
    store: &'s dyn Store,
    cities: HashMap<String, Option<Jurisdiction>>,
    meetings: HashMap<String, Option<Meeting>>,
}

impl Known<'_> {
    async fn city(&mut self, city_key: &str) -> StoreResult<Option<Jurisdiction>> {
        if !self.cities.contains_key(city_key) {
            let found = self.store.civic().jurisdiction(city_key).await?;
            self.cities.insert(city_key.to_owned(), found);
        }
        Ok(self.cities.get(city_key).cloned().flatten())
    }

    async fn meeting(&mut self, id: &str) -> StoreResult<Option<Meeting>> {
        if !self.meetings.contains_key(id) {
            let found = self.store.civic().meeting(id).await?;
            self.meetings.insert(id.to_owned(), found);
        }
        Ok(self.meetings.get(id).cloned().flatten())
    }

    /// None where it is not stored any more.
    async fn look_up(&mut self, hit: Hit) -> StoreResult<Option<Found>> {
        let city_key = hit.collection.trim_start_matches(COLLECTION).to_owned();
        let id = hit.document_id.clone();
        let city = self.city(&city_key).await?;
        let mut found = Found {
            kind: "meeting",
            city: city.as_ref().map_or_else(|| city_key.clone(), city_name),
            id: id.clone(),
            city_key,
            meeting_id: None,
            meeting_title: None,
            day: None,
            agenda_number: None,
            matter_file: None,
            title: String::new(),
            topics: Vec::new(),
            is_summarised: false,
            snippet: hit.snippet.text,
            matches: hit.snippet.matches,
        };
        if ids::is_matter_id(&id) {
            let Some(matter) = self.store.civic().matter(&id).await? else { return Ok(None) };
            found.kind = "matter";
            found.day = matter.last_seen.and_then(|at| day(at, city.as_ref()));
            found.is_summarised = matter.canonical_summary.is_some();
            (found.title, found.matter_file, found.topics) =
                (matter.title, matter.matter_file, matter.canonical_topics);
            return Ok(Some(found));
        }
        let meeting_id = ids::meeting_of_item(&id).unwrap_or(&id).to_owned();
        let Some(meeting) = self.meeting(&meeting_id).await? else { return Ok(None) };
        found.day = Begins::from_meeting(&meeting).map(|begins| begins.day_and_hour().0);
        found.meeting_title = Some(full_title(&meeting));
        found.meeting_id = Some(meeting_id.clone());
        if meeting_id == id {
            found.is_summarised = meeting.is_summarised();
            (found.title, found.topics) = (full_title(&meeting), meeting.topics);
            return Ok(Some(found));
        }
        let Some(item) = self.store.civic().agenda_item(&id).await? else { return Ok(None) };
        found.kind = "item";
        found.is_summarised = item.summary.is_some();
        (found.title, found.topics, found.matter_file) = (item.title, item.topics, item.matter_file);
        found.agenda_number = item.agenda_number;
        Ok(Some(found))
    }
}

fn day(at: Timestamp, city: Option<&Jurisdiction>) -> Option<String> {
    let zone = city.and_then(|city| TimeZone::get(city.tz.as_deref()?).ok()).unwrap_or(TimeZone::UTC);
    Some(jiff::Timestamp::from_millisecond(at.as_millis()).ok()?.to_zoned(zone).date().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_find_their_plurals_and_phrases_themselves() {
        let same = |typed: &str, meant: &str| assert_eq!(query(typed), Query::parse(meant), "{typed}");
        same("rentals tax", "rental* tax");
        same("\"rent control\" leases -draft", "\"rent control\" lease* -draft");
        same("pav* OR glass", "pav* OR glass*");
        assert!(query("  ").is_err());
    }
}
