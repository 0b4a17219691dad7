//! Chicago's own system (ELMS): meetings, agendas, matters and votes as JSON.
//!
//! Times are true instants, which become those on the wall by the site's zone.

use super::{
    Adapter, Attachment, Ballot, FetchedPage, ItemVote, PageFault, PageReading, Request, Site, VendorItem,
    VendorMatter, VendorMeeting, Window, address, json, open,
};
use crate::{dates, status};
use serde_json::{Value, json};

#[derive(Debug)]
pub struct Chicago;

const API: &str = "https://api.chicityclerkelms.chicago.gov";
const LARGEST_ANSWER: usize = 500;

impl Adapter for Chicago {
    fn name(&self) -> &'static str {
        "chicago"
    }

    fn begin(&self, _: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        Ok(vec![list(*window, 0)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        match page.purpose.as_ref() {
            "listing" => listing(site, *window, page),
            "agenda" => agenda(site, page),
            "matter" => matter(page),
            "votes" => votes(page),
            _ => Err(PageFault::purpose(page, "ELMS")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let answer = open::json(page, "meetings").ok()?;
        let is_meeting = |entry: &Value| entry.get("meetingId").is_some() && entry.get("bodyId").is_some();
        if json::entries(&answer, "data").first().is_some_and(is_meeting) {
            return Some("listing");
        }
        if is_meeting(&answer) {
            return Some("agenda");
        }
        (answer.get("matterId").is_some() && answer.get("recordNumber").is_some()).then_some("matter")
    }
}

/// The newest first, from a day before the window on: the zone decides which day it is.
fn list(window: Window, skip: usize) -> Request {
    let from = window.from.yesterday().unwrap_or(window.from);
    let filter = address::encoded(&format!("date gt datetime'{from}T00:00:00Z'"));
    let sort = address::encoded("date desc");
    let url = format!("{API}/meeting-agenda?filter={filter}&top={LARGEST_ANSWER}&skip={skip}&sort={sort}");
    Request::get(url, "listing").header("Accept", "application/json").with_about(skip.to_string())
}

fn listing(site: &Site, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "a page of meetings")?;
    let entries = json::required(page, &answer, "data", "a page of meetings")?;
    let mut reading = PageReading::default();
    reading.landmark("meetingId", entries.iter().filter(|entry| entry.get("meetingId").is_some()).count());
    for (at, entry) in entries.iter().enumerate() {
        let Some(meeting) = meeting(site, entry) else {
            reading.doubts.push(format!("entry {} of the list has no meetingId", at + 1));
            continue;
        };
        if meeting.start.is_none() {
            reading.doubts.push(format!("meeting {} has no possible date", meeting.vendor_id));
        }
        if window.holds(&meeting) {
            let url = format!("{API}/meeting-agenda/{}", meeting.vendor_id);
            reading.follow.push(Request::get(url, "agenda").with_about(&meeting.vendor_id).optional());
        }
        reading.meeting(meeting);
    }
    let skipped: Option<usize> = page.about.first().and_then(|skip| skip.parse().ok());
    let total = answer.get("meta").and_then(|meta| json::number(meta, "count")).unwrap_or(0);
    if let Some(skipped) = skipped.filter(|_| !entries.is_empty()) {
        let seen = skipped + entries.len();
        if usize::try_from(total).is_ok_and(|total| seen < total) {
            reading.follow.push(list(window, seen));
        }
    }
    Ok(reading)
}

fn meeting(site: &Site, entry: &Value) -> Option<VendorMeeting> {
    let field = |name: &str| json::plain(entry, name);
    let mut meeting = VendorMeeting::new(field("meetingId")?);
    meeting.start = field("date").and_then(|text| json::instant(&text, &site.zone).or_else(|| dates::start(&text)));
    meeting.title = field("body");
    meeting.body.clone_from(&meeting.title);
    meeting.body_id = field("bodyId");
    meeting.location = field("location");
    meeting.notes = field("comment");
    let state = field("status").unwrap_or_default();
    meeting.status = status::find(&[&state, meeting.notes.as_deref().unwrap_or_default()]);
    // Several recordings stand in one field, between blanks.
    let mut recordings: Vec<String> = json::text(entry, "videoLink")
        .map(|links| links.split_whitespace().filter_map(|link| address::absolute(API, link)).collect())
        .unwrap_or_default();
    for link in entry.get("videoLink").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        recordings.extend(address::absolute(API, link));
    }
    meeting.video_url = recordings.first().cloned();
    if recordings.len() > 1 {
        meeting.raw.insert("recordings".into(), json!(recordings));
    }
    for file in json::entries(entry, "files") {
        take_file(&mut meeting, file);
    }
    meeting.raw.extend(json::picked(entry, &["status", "bodyAbbreviation", "transcriptLink"]));
    Some(meeting)
}

fn take_file(meeting: &mut VendorMeeting, file: &Value) {
    let Some(url) = json::text(file, "path").and_then(|path| address::absolute(API, &path)) else { return };
    let kind = json::text(file, "attachmentType").unwrap_or_default();
    match kind.as_str() {
        // A later file of the same kind is the newer one.
        "Agenda" => meeting.agenda_url = Some(url.clone()),
        "Summary" | "Minutes" | "Journal" => meeting.minutes_url = Some(url.clone()),
        _ => {}
    }
    let name = json::plain(file, "fileName").map_or_else(|| kind.clone(), |name| format!("{kind}: {name}"));
    meeting.attach(Attachment { name, url, ..Attachment::default() });
}

/// A meeting with its agenda. `about`: its id.
fn agenda(site: &Site, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "a meeting with its agenda")?;
    let Some(mut meeting) = meeting(site, &answer) else {
        return Err(PageFault::new_unexpected(&page.url, "a meeting with its agenda", json::kind(&answer)));
    };
    let mut reading = PageReading::default();
    // Older answers have the items without groups.
    let agenda = answer.get("agenda").filter(|agenda| !agenda.is_null());
    let bare = agenda.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let groups = agenda.map(|agenda| json::entries(agenda, "groups")).unwrap_or_default();
    for (title, entries) in
        [(None, bare)].into_iter().chain(groups.iter().map(|group| (group_title(group), json::entries(group, "items"))))
    {
        for entry in entries {
            let Some(mut item) = item(entry) else {
                reading.doubts.push(format!("an item of meeting {} has no title", meeting.vendor_id));
                continue;
            };
            item.put_under(title.clone());
            follow(&mut reading, &meeting.vendor_id, entry, &item);
            item.append_to(&mut meeting.items);
        }
    }
    reading.landmark("groups", groups.len());
    reading.landmark("items", meeting.items.len());
    meeting.has_agenda = !meeting.items.is_empty();
    let attendance = json::entries(&answer, "attendance");
    if !attendance.is_empty() {
        meeting.raw.insert("attendance".into(), Value::Array(attendance.to_vec()));
    }
    reading.meeting(meeting);
    Ok(reading)
}

fn group_title(group: &Value) -> Option<String> {
    ["title", "name", "groupTitle"].iter().find_map(|name| json::plain(group, name))
}

fn item(entry: &Value) -> Option<VendorItem> {
    const READ: [&str; 10] = [
        "lineId",
        "matterId",
        "recordNumber",
        "matterTitle",
        "title",
        "matterType",
        "actionName",
        "actionText",
        "lineNumber",
        "votes",
    ];
    let field = |name: &str| json::plain(entry, name);
    let title = field("matterTitle").or_else(|| field("title")).or_else(|| field("recordNumber"))?;
    let motion = field("actionName").or_else(|| field("actionText"));
    let votes = motion.map(|motion| ItemVote { motion: Some(motion), ..ItemVote::default() });
    Some(VendorItem {
        vendor_item_id: field("lineId").or_else(|| field("matterId")),
        title,
        agenda_number: field("lineNumber"),
        matter_file: field("recordNumber"),
        matter_id: field("matterId"),
        matter_type: field("matterType"),
        votes: votes.into_iter().collect(),
        raw: json::besides(entry, &READ),
        ..VendorItem::default()
    })
}

fn follow(reading: &mut PageReading, meeting: &str, entry: &Value, item: &VendorItem) {
    let (Some(matter), Some(id)) = (&item.matter_id, &item.vendor_item_id) else { return };
    let page = |url: String, purpose| Request::get(url, purpose).with_about(meeting).with_about(id).optional();
    reading.follow.push(page(format!("{API}/matter/{matter}"), "matter"));
    if !item.votes.is_empty() {
        let line = json::text(entry, "lineId").unwrap_or_else(|| matter.clone());
        reading.follow.push(page(format!("{API}/meeting-agenda/{meeting}/matter/{line}/votes"), "votes"));
    }
}

/// One matter. `about`: the meeting and the item that it belongs to.
fn matter(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "a matter")?;
    let field = |name: &str| json::plain(&answer, name);
    let Some(id) = field("matterId") else {
        return Err(PageFault::new_unexpected(&page.url, "a matter", json::kind(&answer)));
    };
    let mut attachments: Vec<Attachment> = Vec::new();
    for file in json::entries(&answer, "attachments") {
        let Some(url) = json::text(file, "path").and_then(|path| address::absolute(API, &path)) else { continue };
        if !attachments.iter().any(|known| known.url == url) {
            let name = json::plain(file, "fileName").or_else(|| json::plain(file, "attachmentType"));
            attachments.push(Attachment {
                name: name.unwrap_or_else(|| "Attachment".into()),
                url,
                ..Attachment::default()
            });
        }
    }
    let sponsors = json::entries(&answer, "sponsors").iter();
    let matter = VendorMatter {
        matter_id: Some(id),
        matter_file: field("recordNumber"),
        matter_type: field("type").or_else(|| field("matterType")),
        status: field("status"),
        title: field("title").or_else(|| field("matterTitle")),
        body: field("controllingBody"),
        introduced: field("introductionDate").and_then(|text| dates::date(&text)),
        decided: field("finalActionDate").and_then(|text| dates::date(&text)),
        sponsors: sponsors.filter_map(|sponsor| json::plain(sponsor, "sponsorName")).collect(),
        attachments,
        ..VendorMatter::default()
    };
    let mut reading = PageReading::default();
    if let (Some(meeting), Some(item)) = (page.about.first(), page.about.get(1)) {
        let piece = VendorItem {
            vendor_item_id: Some(item.clone()),
            matter_type: matter.matter_type.clone(),
            matter_status: matter.status.clone(),
            sponsors: matter.sponsors.clone(),
            attachments: matter.attachments.clone(),
            ..VendorItem::default()
        };
        reading.item(meeting, piece);
    }
    reading.landmark("attachments", matter.attachments.len());
    reading.matters.push(matter);
    Ok(reading)
}

/// The ballots on one item. `about`: the meeting and the item.
fn votes(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "votes")?;
    let rows = match &answer {
        Value::Array(rows) => rows.as_slice(),
        Value::Object(_) if answer.get("votes").is_some() => json::entries(&answer, "votes"),
        Value::Object(_) if answer.get("data").is_some() => json::entries(&answer, "data"),
        other => return Err(PageFault::new_unexpected(&page.url, "votes", json::kind(other))),
    };
    let ballot = |row: &Value| {
        let (name, vote) = (json::plain(row, "voterName")?, json::plain(row, "vote")?);
        Some(Ballot { name, vote, person_id: json::text(row, "personId") })
    };
    let ballots: Vec<Ballot> = rows.iter().filter_map(ballot).collect();
    let mut reading = PageReading::default();
    reading.landmark("voterName", rows.len());
    let (Some(meeting), Some(item)) = (page.about.first(), page.about.get(1)) else {
        reading.doubts.push(format!("{} does not say which item of which meeting it is about", page.url));
        return Ok(reading);
    };
    if !ballots.is_empty() {
        let votes = vec![ItemVote { ballots, ..ItemVote::default() }];
        reading.item(meeting, VendorItem { vendor_item_id: Some(item.clone()), votes, ..VendorItem::default() });
    }
    Ok(reading)
}
