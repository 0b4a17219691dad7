//! The Web API on the items of a meeting: what is on the agenda, its documents, sponsors and votes.

use super::{Place, api};
use crate::vendor::{
    Attachment, Ballot, FetchedPage, ItemVote, PageFault, PageReading, Request, VendorItem, VendorMeeting, address,
    json,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ITEM_FIELDS: [&str; 22] = [
    "EventItemId",
    "EventItemEventId",
    "EventItemTitle",
    "EventItemAgendaSequence",
    "EventItemMinutesSequence",
    "EventItemAgendaNumber",
    "EventItemAgendaNote",
    "EventItemConsent",
    "EventItemMatterId",
    "EventItemMatterFile",
    "EventItemMatterName",
    "EventItemMatterType",
    "EventItemMatterStatus",
    "EventItemMatterAttachments",
    "EventItemActionName",
    "EventItemPassedFlagName",
    "EventItemTally",
    "EventItemMover",
    "EventItemSeconder",
    "EventItemGuid",
    "EventItemRowVersion",
    "EventItemLastModifiedUtc",
];

/// The items of one meeting. `about` is the meeting's id and the address of its page.
pub(super) fn items(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = api::records(page)?;
    let mut reading = PageReading::default();
    reading.landmark("EventItemId", records.len());
    let named = records.iter().find_map(|record| json::text(record, "EventItemEventId"));
    let Some(meeting_id) = page.about.first().cloned().or(named) else {
        return if records.is_empty() {
            Ok(reading)
        } else {
            Err(PageFault::new_unexpected(&page.url, "items that name their meeting", "items without EventItemEventId"))
        };
    };
    let mut meeting = VendorMeeting::new(&meeting_id);
    let on_agenda = agenda_rows(&records);
    let detail = page.about.get(1).filter(|url| !url.is_empty());
    if let Some(url) = detail
        && (on_agenda.is_empty() || is_garbage(&on_agenda))
    {
        // The page that people see has the agenda in order.
        reading.follow.push(Request::get(url, "detail").with_about(&meeting_id).optional());
        return Ok(reading);
    }
    meeting.has_agenda = !on_agenda.is_empty();
    for record in &on_agenda {
        match item(place, record) {
            Ok(item) => item.append_to(&mut meeting.items),
            Err(why) => reading.doubts.push(format!("an item of event {meeting_id} {why}")),
        }
    }
    take_outcomes_from_minutes(&mut meeting.items, &records, &on_agenda);
    if !page.about.is_empty() {
        reading.follow = details(place, &meeting_id, &meeting.items, &on_agenda);
    }
    reading.meeting(meeting);
    Ok(reading)
}

/// The rows that are on the agenda, in its order. Draft minutes come in the same list: rows without a place on the
/// agenda, where others have one, are minutes only.
fn agenda_rows(records: &[Value]) -> Vec<&Value> {
    let place = |record: &Value| json::number(record, "EventItemAgendaSequence");
    let any = records.iter().any(|record| place(record).is_some());
    let mut rows: Vec<&Value> = records.iter().filter(|record| !any || place(record).is_some()).collect();
    rows.sort_by_key(|record| place(record).or_else(|| json::number(record, "EventItemMinutesSequence")));
    rows
}

/// The layout of a printed agenda, row by row, in place of its items.
fn is_garbage(rows: &[&Value]) -> bool {
    let title = |record: &Value| json::plain(record, "EventItemTitle").unwrap_or_default().to_lowercase();
    if !rows.iter().any(|record| title(record) == "page break") {
        return false;
    }
    let bare = |record: &Value| {
        json::text(record, "EventItemAgendaNumber").is_none() && json::text(record, "EventItemMatterId").is_none()
    };
    let is_decoration = |record: &Value| {
        let title = title(record);
        matches!(
            title.as_str(),
            "" | "page break" | "agenda" | "meetings" | "attendance and participation by the public"
        ) || title.chars().all(|c| c == '_')
            || (title.chars().count() < 3 && bare(record))
    };
    let count = |test: &dyn Fn(&Value) -> bool| rows.iter().filter(|record| test(record)).count();
    count(&bare) * 2 > rows.len() || count(&is_decoration) * 100 > rows.len() * 15
}

fn item(place: &Place, record: &Value) -> Result<VendorItem, String> {
    let field = |name: &str| json::text(record, name);
    let id = field("EventItemId").ok_or("has no EventItemId")?;
    let title = json::plain(record, "EventItemTitle").or_else(|| json::plain(record, "EventItemMatterName"));
    let mut item = VendorItem {
        vendor_item_id: Some(id),
        title: title.unwrap_or_else(|| "Untitled Item".to_owned()),
        agenda_number: field("EventItemAgendaNumber"),
        is_consent: json::flag(record, "EventItemConsent"),
        matter_file: field("EventItemMatterFile"),
        matter_id: field("EventItemMatterId"),
        matter_type: field("EventItemMatterType"),
        matter_status: field("EventItemMatterStatus"),
        body_text: json::plain(record, "EventItemAgendaNote"),
        votes: outcome(record).into_iter().collect(),
        raw: json::besides(record, &ITEM_FIELDS),
        ..VendorItem::default()
    };
    for attachment in json::entries(record, "EventItemMatterAttachments") {
        attach(place, &mut item, attachment);
    }
    Ok(item)
}

/// What was decided, as far as the item itself says it.
fn outcome(record: &Value) -> Option<ItemVote> {
    let field = |name: &str| json::plain(record, name);
    let vote = ItemVote {
        motion: field("EventItemActionName"),
        result: field("EventItemPassedFlagName"),
        tally: field("EventItemTally"),
        mover: field("EventItemMover"),
        seconder: field("EventItemSeconder"),
        ballots: Vec::new(),
    };
    (vote != ItemVote::default()).then_some(vote)
}

/// A decision is sometimes only told by the row in the minutes: it belongs to the item of the same matter.
fn take_outcomes_from_minutes(items: &mut [VendorItem], records: &[Value], on_agenda: &[&Value]) {
    let in_minutes = records.iter().filter(|record| !on_agenda.iter().any(|row| std::ptr::eq(*row, *record)));
    for record in in_minutes {
        let (Some(matter), Some(vote)) = (json::text(record, "EventItemMatterId"), outcome(record)) else { continue };
        let same = |item: &&mut VendorItem| item.votes.is_empty() && item.matter_id.as_ref() == Some(&matter);
        if let Some(item) = items.iter_mut().find(same) {
            item.votes.push(vote);
        }
    }
}

fn attach(place: &Place, item: &mut VendorItem, record: &Value) {
    if json::flag(record, "MatterAttachmentShowOnInternetPage") == Some(false) {
        return;
    }
    let file = json::text(record, "MatterAttachmentFileName");
    let link = json::text(record, "MatterAttachmentHyperlink").or_else(|| file.clone());
    let Some(url) = link.and_then(|link| file_address(place, &link)) else { return };
    let name = json::plain(record, "MatterAttachmentName").or(file).unwrap_or_else(|| "Attachment".to_owned());
    item.attach(Attachment { name, url, vendor_id: json::text(record, "MatterAttachmentId"), portal_url: None });
}

/// A bare file name stands for a file in the client's folder.
fn file_address(place: &Place, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("//") {
        return address::absolute(&place.pages, link);
    }
    let folder = format!("https://{0}.legistar1.com/{0}/attachments/", place.client);
    address::absolute(&folder, link.trim_start_matches('/'))
}

/// The pages with what the items do not say themselves.
fn details(place: &Place, meeting: &str, items: &[VendorItem], rows: &[&Value]) -> Vec<Request> {
    let mut follow = Vec::new();
    // A matter can be listed twice: it is asked for once.
    let mut of_matter: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let silent_about_files = rows.iter().all(|row| row.get("EventItemMatterAttachments").is_none());
    for item in items {
        let Some(id) = item.vendor_item_id.as_deref() else { continue };
        if let Some(matter) = item.matter_id.as_deref() {
            of_matter.entry(matter).or_default().push(id);
        }
        if item.votes.iter().any(|vote| vote.result.is_some() || vote.tally.is_some()) {
            let votes = place.api(&format!("EventItems/{id}/Votes"), "", "votes");
            follow.push(votes.with_about(meeting).with_about(id).optional());
        }
        if item.raw.get("EventItemRollCallFlag").is_some_and(|flag| flag == 1 || flag == "1") {
            let calls = place.api(&format!("EventItems/{id}/RollCalls"), "", "roll_call");
            follow.push(calls.with_about(meeting).with_about(id).optional());
        }
    }
    for (matter, ids) in of_matter {
        let about = |mut request: Request| {
            request.about = [meeting].into_iter().chain(ids.iter().copied()).map(str::to_owned).collect();
            request.optional()
        };
        if place.wants_sponsors {
            follow.push(about(place.api(&format!("Matters/{matter}/Sponsors"), "", "sponsors")));
        }
        if silent_about_files {
            follow.push(about(place.api(&format!("Matters/{matter}/Attachments"), "", "attachments")));
        }
    }
    follow
}

/// A piece for every item that the page is about.
fn piece(page: &FetchedPage, fill: impl Fn(&mut VendorItem)) -> PageReading {
    let mut reading = PageReading::default();
    let Some((meeting, items)) = page.about.split_first() else {
        reading.doubts.push(format!("{} does not say which item of which meeting it is about", page.url));
        return reading;
    };
    let mut piece = VendorMeeting::new(meeting);
    for id in items {
        let mut item = VendorItem { vendor_item_id: Some(id.clone()), ..VendorItem::default() };
        fill(&mut item);
        piece.items.push(item);
    }
    reading.meeting(piece);
    reading
}

/// The ballots on one item. Members without a value are listed on consent items, and have cast none.
pub(super) fn votes(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let mut records = api::records(page)?;
    records.sort_by_key(|record| json::number(record, "VoteSort"));
    let ballot = |record: &Value| {
        let (name, vote) = (json::plain(record, "VotePersonName")?, json::plain(record, "VoteValueName")?);
        Some(Ballot { name, vote, person_id: json::text(record, "VotePersonId") })
    };
    let ballots: Vec<Ballot> = records.iter().filter_map(ballot).collect();
    let mut reading = piece(page, |item| {
        if !ballots.is_empty() {
            item.votes = vec![ItemVote { ballots: ballots.clone(), ..ItemVote::default() }];
        }
    });
    reading.landmark("VotePersonName", records.len());
    Ok(reading)
}

pub(super) fn roll_call(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = api::records(page)?;
    let present = |record: &Value| {
        Some(json!({
            "name": json::plain(record, "RollCallPersonName")?,
            "value": json::plain(record, "RollCallValueName")?,
        }))
    };
    let calls: Vec<Value> = records.iter().filter_map(present).collect();
    let mut reading = piece(page, |item| {
        item.raw.insert("roll_call".into(), Value::Array(calls.clone()));
    });
    reading.landmark("RollCallPersonName", records.len());
    Ok(reading)
}

/// Who brought a matter in. Sponsors without a person's number are bodies.
pub(super) fn sponsors(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let mut records = api::records(page)?;
    records.sort_by_key(|record| json::number(record, "MatterSponsorSequence"));
    let (mut people, mut bodies): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for record in &records {
        let Some(name) = json::plain(record, "MatterSponsorName") else { continue };
        let list = if json::text(record, "MatterSponsorNameId").is_some() { &mut people } else { &mut bodies };
        if !list.contains(&name) {
            list.push(name);
        }
    }
    let mut reading = piece(page, |item| {
        item.sponsors.clone_from(&people);
        if !bodies.is_empty() {
            item.raw.insert("sponsoring_bodies".into(), json!(bodies));
        }
    });
    reading.landmark("MatterSponsorName", records.len());
    Ok(reading)
}

pub(super) fn attachments(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = api::records(page)?;
    let mut reading = piece(page, |item| {
        for record in &records {
            attach(place, item, record);
        }
    });
    reading.landmark("MatterAttachmentName", records.len());
    Ok(reading)
}
