//! What is stored of some meetings of a city, in one look: all that their sync decides by.

use super::{
    CivicRecords,
    documents::{KnownDocument, Replacement},
    matters::{Appearance, Matter, VoteEvent},
    meetings::{AgendaItem, Meeting},
    people::{Committee, Person},
    places::Jurisdiction,
    tables::MEETING,
};
use bindery_core::Timestamp;
use bindery_store::{
    StoreResult,
    rows::{Query, QueryRow, Record, column, decode, joined},
};
use std::collections::{BTreeSet, HashMap};

/// Which meetings and matters to look at.
#[derive(Debug, Clone, Default)]
pub struct SnapshotRequest {
    pub city_key: String,
    /// Vendor and vendor's id.
    pub meetings: Vec<(String, String)>,
    /// Ids.
    pub matters: Vec<String>,
    /// Addresses, without what changes from visit to visit.
    pub documents: Vec<String>,
}

/// What is stored, as of one moment.
#[derive(Debug, Clone, Default)]
pub struct CivicSnapshot {
    pub jurisdiction: Option<Jurisdiction>,
    /// Some meeting of the city is stored, whether or not it was asked for. Until then the next one is its first.
    pub has_meetings: bool,
    /// By vendor and vendor's id; those that are stored.
    pub meetings: HashMap<(String, String), MeetingSnapshot>,
    pub matters: HashMap<String, Matter>,
    /// Every item of the matters that were asked for, the newest meeting first, by matter.
    pub matter_items: HashMap<String, Vec<MatterItem>>,
    /// Of the documents, those that took the place of a file that was read, by address.
    pub replaced: HashMap<String, Replacement>,
    /// All of the city.
    pub committees: Vec<Committee>,
    pub people: Vec<Person>,
}

impl CivicSnapshot {
    pub fn meeting(&self, vendor: &str, vendor_id: &str) -> Option<&MeetingSnapshot> {
        self.meetings.get(&(vendor.to_owned(), vendor_id.to_owned()))
    }
}

/// A meeting with what is part of it.
#[derive(Debug, Clone, Default)]
pub struct MeetingSnapshot {
    pub meeting: Meeting,
    /// In the order of the agenda, also those that were removed from it.
    pub items: Vec<AgendaItem>,
    pub appearances: Vec<Appearance>,
    pub votes: Vec<VoteEvent>,
}

/// An appearance of a matter, as far as a later one may go by it.
#[derive(Debug, Clone, PartialEq)]
pub struct MatterItem {
    pub item: AgendaItem,
    pub starts_at: Option<Timestamp>,
}

impl CivicRecords<'_> {
    /// What is stored of these meetings and matters, and of their city.
    pub async fn snapshot(&self, request: SnapshotRequest) -> StoreResult<CivicSnapshot> {
        let city_key = request.city_key.as_str();
        let wanted: BTreeSet<&(String, String)> = request.meetings.iter().collect();
        let vendor_ids: Vec<&str> = wanted.iter().map(|(_, vendor_id)| vendor_id.as_str()).collect();
        // What is part of the meetings.
        let part = |query: Query| {
            let query = query.join(&MEETING, "meeting_id", "id").filter(joined("city_key").equals(city_key));
            query.filter(joined("vendor_id").is_any_of(&vendor_ids))
        };
        let queries = vec![
            of_city::<Jurisdiction>(city_key),
            Query::select(&MEETING, &["id"])
                .filter(column("city_key").equals(city_key))
                .ascending(&["id"])
                .limit(Some(1)),
            of_city::<Meeting>(city_key).filter(column("vendor_id").is_any_of(&vendor_ids)),
            part(Query::records::<AgendaItem>()).ascending(&["meeting_id", "sequence", "id"]),
            part(Query::records::<Appearance>()).ascending(&["matter_id", "meeting_id", "item_id"]),
            part(Query::records::<VoteEvent>()).ascending(&["id"]),
            Query::records::<Matter>().filter(column("id").is_any_of(&request.matters)),
            Query::records::<AgendaItem>()
                .join(&MEETING, "meeting_id", "id")
                .and_column(joined("starts_at"))
                .filter(column("matter_id").is_any_of(&request.matters))
                .order(joined("starts_at").descending().nulls_last())
                .ascending(&["id"]),
            of_city::<Committee>(city_key).ascending(&["id"]),
            of_city::<Person>(city_key).ascending(&["id"]),
            Query::records::<KnownDocument>().filter(column("url").is_any_of(&request.documents)),
        ];
        let answers = self.store.query_rows(queries).await?;
        let answer = |place: usize| answers.get(place).map_or(&[][..], Vec::as_slice);
        let mut snapshot = CivicSnapshot {
            jurisdiction: decode(answer(0))?.pop(),
            has_meetings: !answer(1).is_empty(),
            meetings: meetings(answer(2), answer(3), answer(4), answer(5), &wanted)?,
            matters: decode::<Matter>(answer(6))?.into_iter().map(|matter| (matter.id.clone(), matter)).collect(),
            committees: decode(answer(8))?,
            people: decode(answer(9))?,
            replaced: decode::<KnownDocument>(answer(10))?
                .into_iter()
                .filter_map(|document| Some((document.url, document.replaced?)))
                .collect(),
            ..CivicSnapshot::default()
        };
        for row in answer(7) {
            let found = MatterItem { item: row.record()?, starts_at: row.time(1)? };
            if let Some(matter) = &found.item.matter_id {
                snapshot.matter_items.entry(matter.clone()).or_default().push(found);
            }
        }
        Ok(snapshot)
    }
}

/// The nouns of a city.
fn of_city<R: Record>(city_key: &str) -> Query {
    Query::records::<R>().filter(column("city_key").equals(city_key))
}

/// The parts of each meeting put together. A vendor's id may be that of another vendor, too, whose meeting was not asked
/// for.
fn meetings(
    found: &[QueryRow],
    items: &[QueryRow],
    appearances: &[QueryRow],
    votes: &[QueryRow],
    wanted: &BTreeSet<&(String, String)>,
) -> StoreResult<HashMap<(String, String), MeetingSnapshot>> {
    let mut snapshots: HashMap<String, MeetingSnapshot> = HashMap::new();
    for meeting in decode::<Meeting>(found)? {
        snapshots.insert(meeting.id.clone(), MeetingSnapshot { meeting, ..MeetingSnapshot::default() });
    }
    for item in decode::<AgendaItem>(items)? {
        if let Some(snapshot) = snapshots.get_mut(&item.meeting_id) {
            snapshot.items.push(item);
        }
    }
    for appearance in decode::<Appearance>(appearances)? {
        if let Some(snapshot) = snapshots.get_mut(&appearance.meeting_id) {
            snapshot.appearances.push(appearance);
        }
    }
    for vote in decode::<VoteEvent>(votes)? {
        if let Some(snapshot) = snapshots.get_mut(&vote.meeting_id) {
            snapshot.votes.push(vote);
        }
    }
    let identity = |snapshot: &MeetingSnapshot| (snapshot.meeting.vendor.clone(), snapshot.meeting.vendor_id.clone());
    let named = snapshots.into_values().map(|snapshot| (identity(&snapshot), snapshot));
    Ok(named.filter(|(identity, _)| wanted.contains(identity)).collect())
}
