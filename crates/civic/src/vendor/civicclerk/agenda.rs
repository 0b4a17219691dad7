//! An agenda: a tree of sections and items, with the documents of each.

use super::Place;
use crate::vendor::{
    Attachment, FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, json, open, pattern::pattern,
};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Deeper trees are not read: no agenda is nested like that.
const DEEPEST: usize = 16;

static TITLE_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\W*(board bill|resolution|ordinance)\s+(?:(?:number|no\.?|#)\s*)?(\d+)(?:-(\d{2,4}))?\b")
});

/// `about`: the meeting's id.
pub(super) fn read(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "an agenda")?;
    let entries = json::required(page, &answer, "items", "an agenda")?;
    let id = page.about.first().cloned().or_else(|| json::text(&answer, "eventId"));
    let Some(id) = id.or_else(|| json::text(&answer, "id")) else {
        return Err(PageFault::new_unexpected(&page.url, "an agenda that names its meeting", "one without an id"));
    };
    let year = json::text(&answer, "meetingDate").or_else(|| json::text(&answer, "eventDate"));
    let year = year.and_then(|date| crate::dates::date(&date)).map(jiff::civil::Date::year);
    let mut reading = PageReading::default();
    let mut meeting = VendorMeeting::new(id);
    // Sections are walked with a list of what is still to be read, so that no tree exhausts the stack.
    let mut ahead: Vec<(&Value, Vec<String>)> = sorted(entries).map(|item| (item, Vec::new())).collect();
    ahead.reverse();
    let mut sections = 0;
    while let Some((entry, path)) = ahead.pop() {
        let name = json::plain(entry, "agendaObjectItemName").unwrap_or_default();
        let children = json::entries(entry, "childItems");
        let is_section = json::flag(entry, "isSection") == Some(true);
        sections += usize::from(is_section);
        if !is_section && !name.is_empty() {
            let mut item = item(place, &meeting.vendor_id, entry, year);
            item.title.clone_from(&name);
            item.put_under((!path.is_empty()).then(|| path.join(" > ")));
            item.append_to(&mut meeting.items);
        }
        if !children.is_empty() {
            let mut below = path;
            below.push(name);
            if below.len() >= DEEPEST {
                reading.doubts.push(format!("the agenda of meeting {} is nested too deeply", meeting.vendor_id));
                continue;
            }
            let mut next: Vec<(&Value, Vec<String>)> = sorted(children).map(|child| (child, below.clone())).collect();
            next.reverse();
            ahead.extend(next);
        }
    }
    reading.landmark("sections", sections);
    reading.landmark("items", meeting.items.len());
    if is_placeholder(&meeting.items) {
        meeting.items.clear();
    }
    meeting.has_agenda = !meeting.items.is_empty();
    reading.meeting(meeting);
    Ok(reading)
}

fn sorted(entries: &[Value]) -> impl Iterator<Item = &Value> {
    let mut entries: Vec<&Value> = entries.iter().collect();
    entries.sort_by_key(|entry| json::number(entry, "sortOrder"));
    entries.into_iter()
}

/// A single line that sends people to the files.
fn is_placeholder(items: &[VendorItem]) -> bool {
    let sends_on = |item: &VendorItem| {
        let title = item.title.to_lowercase();
        title.contains("select meeting files") || title.contains("view meeting materials")
    };
    !items.is_empty() && items.len() <= 2 && items.iter().any(sends_on)
}

fn item(place: &Place, meeting: &str, entry: &Value, year: Option<i16>) -> VendorItem {
    const READ: [&str; 9] = [
        "id",
        "isSection",
        "sortOrder",
        "agendaObjectItemNumber",
        "agendaObjectItemOutlineNumber",
        "agendaObjectItemName",
        "agendaObjectItemDescription",
        "childItems",
        "attachmentsList",
    ];
    let title = json::plain(entry, "agendaObjectItemName").unwrap_or_default();
    let given = ["agendaObjectItemNumber", "resolutionFormattedNumber", "ordinanceFormattedNumber"];
    let mut item = VendorItem {
        vendor_item_id: json::text(entry, "id"),
        agenda_number: json::plain(entry, "agendaObjectItemOutlineNumber"),
        matter_file: given.iter().find_map(|name| json::plain(entry, name)).or_else(|| number_in_title(&title, year)),
        body_text: json::plain(entry, "agendaObjectItemDescription"),
        raw: json::besides(entry, &READ),
        ..VendorItem::default()
    };
    for file in json::entries(entry, "attachmentsList") {
        let hidden = json::flag(file, "isDeleted") == Some(true) || json::flag(file, "isPublished") == Some(false);
        let Some(id) = json::text(file, "id").filter(|_| !hidden) else { continue };
        let url = format!("{}/v1/Meetings/GetAttachmentFile(fileId={id})", place.api);
        let name = json::plain(file, "fileName").or_else(|| json::plain(file, "mediaFileName"));
        let portal_url = Some(format!("{}/event/{meeting}/files/attachment/{id}", place.portal));
        let name = name.unwrap_or_else(|| "Attachment".to_owned());
        item.attach(Attachment { name, url, portal_url, vendor_id: Some(id) });
    }
    item
}

/// `Resolution No. 12` of 2026 is `RES2026-12`: the number alone comes back every year.
fn number_in_title(title: &str, year: Option<i16>) -> Option<String> {
    let found = TITLE_NUMBER.captures(title)?;
    let kind = match found.get(1)?.as_str().to_lowercase().as_str() {
        "board bill" => "BB",
        "resolution" => "RES",
        _ => "ORDN",
    };
    let number = found.get(2)?.as_str();
    let year = found.get(3).map(|year| year.as_str().to_owned()).or_else(|| year.map(|year| year.to_string()))?;
    Some(format!("{kind}{year}-{number}"))
}
