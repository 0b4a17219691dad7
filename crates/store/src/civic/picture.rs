//! What is stored of some meetings of a city, in one look: all that their sync decides by.

use super::{
    CivicRecords,
    matters::{Appearance, Matter, VoteEvent},
    meetings::{AgendaItem, Meeting},
    people::{Committee, Person},
    places::Jurisdiction,
    work::{Question, Row, nouns},
};
use crate::error::StoreResult;
use bindery_core::Timestamp;
use std::collections::{BTreeSet, HashMap};

/// Which meetings and matters to look at.
#[derive(Debug, Clone, Default)]
pub struct PictureRequest {
    pub banana: String,
    /// Vendor and vendor's id.
    pub meetings: Vec<(String, String)>,
    /// Ids.
    pub matters: Vec<String>,
}

/// What is stored, as of one moment.
#[derive(Debug, Clone, Default)]
pub struct CivicPicture {
    pub jurisdiction: Option<Jurisdiction>,
    /// Some meeting of the city is stored, whether or not it was asked for. Until then the next one is its first.
    pub has_meetings: bool,
    /// By vendor and vendor's id; those that are stored.
    pub meetings: HashMap<(String, String), MeetingPicture>,
    pub matters: HashMap<String, Matter>,
    /// Every item of the matters that were asked for, the newest meeting first, by matter.
    pub matter_items: HashMap<String, Vec<MatterItem>>,
    /// All of the city.
    pub committees: Vec<Committee>,
    pub people: Vec<Person>,
}

impl CivicPicture {
    pub fn meeting(&self, vendor: &str, vendor_id: &str) -> Option<&MeetingPicture> {
        self.meetings.get(&(vendor.to_owned(), vendor_id.to_owned()))
    }
}

/// A meeting with what is part of it.
#[derive(Debug, Clone, Default)]
pub struct MeetingPicture {
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
    pub async fn picture(&self, request: PictureRequest) -> StoreResult<CivicPicture> {
        let of_city = |sql: &str| Question::new(sql).whose("banana = ?", &request.banana);
        let wanted: BTreeSet<&(String, String)> = request.meetings.iter().collect();
        let vendor_ids: Vec<&str> = wanted.iter().map(|(_, vendor_id)| vendor_id.as_str()).collect();
        let part = |columns: &str, table: &str| {
            let sql = format!("SELECT {columns} FROM {table} p JOIN civic_meeting m ON m.id = p.meeting_id");
            Question::new(sql).whose("m.banana = ?", &request.banana).whose("m.vendor_id = ANY(?)", &vendor_ids)
        };
        let matter_items = "SELECT i.data, m.starts_at FROM civic_item i JOIN civic_meeting m ON m.id = i.meeting_id";
        let questions = vec![
            of_city("SELECT data FROM civic_jurisdiction"),
            Question::new("SELECT id FROM civic_meeting").whose("banana = ?", &request.banana).by("id", Some(1)),
            of_city("SELECT data FROM civic_meeting").whose("vendor_id = ANY(?)", &vendor_ids),
            part("p.data", "civic_item").by("p.meeting_id, p.sequence, p.id", None),
            part("p.data", "civic_appearance").by("p.matter_id, p.meeting_id, p.item_id", None),
            part("p.data", "civic_vote_event").by("p.id", None),
            Question::of::<Matter>().whose("id = ANY(?)", &request.matters),
            Question::new(matter_items)
                .whose("i.matter_id = ANY(?)", &request.matters)
                .by("coalesce(m.starts_at, 0) DESC, i.id", None),
            of_city("SELECT data FROM civic_committee").by("id", None),
            of_city("SELECT data FROM civic_person").by("id", None),
        ];
        let answers = self.backend.ask(questions).await?;
        let answer = |place: usize| answers.get(place).map_or(&[][..], Vec::as_slice);
        let mut picture = CivicPicture {
            jurisdiction: nouns(answer(0))?.pop(),
            has_meetings: !answer(1).is_empty(),
            meetings: meetings(answer(2), answer(3), answer(4), answer(5), &wanted)?,
            matters: nouns::<Matter>(answer(6))?.into_iter().map(|matter| (matter.id.clone(), matter)).collect(),
            committees: nouns(answer(8))?,
            people: nouns(answer(9))?,
            ..CivicPicture::default()
        };
        for row in answer(7) {
            let found = MatterItem { item: row.noun()?, starts_at: row.time(1)? };
            if let Some(matter) = &found.item.matter_id {
                picture.matter_items.entry(matter.clone()).or_default().push(found);
            }
        }
        Ok(picture)
    }
}

/// The parts of each meeting put together. A vendor's id may be that of another vendor, too, whose meeting was not asked
/// for.
fn meetings(
    found: &[Row],
    items: &[Row],
    appearances: &[Row],
    votes: &[Row],
    wanted: &BTreeSet<&(String, String)>,
) -> StoreResult<HashMap<(String, String), MeetingPicture>> {
    let mut pictures: HashMap<String, MeetingPicture> = HashMap::new();
    for meeting in nouns::<Meeting>(found)? {
        pictures.insert(meeting.id.clone(), MeetingPicture { meeting, ..MeetingPicture::default() });
    }
    for item in nouns::<AgendaItem>(items)? {
        if let Some(picture) = pictures.get_mut(&item.meeting_id) {
            picture.items.push(item);
        }
    }
    for appearance in nouns::<Appearance>(appearances)? {
        if let Some(picture) = pictures.get_mut(&appearance.meeting_id) {
            picture.appearances.push(appearance);
        }
    }
    for vote in nouns::<VoteEvent>(votes)? {
        if let Some(picture) = pictures.get_mut(&vote.meeting_id) {
            picture.votes.push(vote);
        }
    }
    let identity = |picture: &MeetingPicture| (picture.meeting.vendor.clone(), picture.meeting.vendor_id.clone());
    let named = pictures.into_values().map(|picture| (identity(&picture), picture));
    Ok(named.filter(|(identity, _)| wanted.contains(identity)).collect())
}
