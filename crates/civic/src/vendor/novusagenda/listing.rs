//! The list of meetings as JSON: `dtMtg` names meetings, `dtItm` the latest items of their agendas. The items are not
//! all there are, so that none counts as gone which is not among them.

use super::agendas;
use crate::{
    dates, status,
    vendor::{FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, Window, address, json, open},
};
use serde_json::Value;
use std::collections::HashMap;

pub(super) fn read(window: Window, page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let all = open::json(page, "a list of meetings as JSON")?;
    let list = |name: &str| all.get(name).and_then(Value::as_array);
    let (meetings, items) = (list("dtMtg"), list("dtItm"));
    if meetings.is_none() && items.is_none() {
        return Err(PageFault::new_unexpected(&page.url, "`dtMtg` or `dtItm`", "JSON without either"));
    }
    let mut reading = PageReading::default();
    reading.landmark("dtMtg", meetings.map_or(0, Vec::len));
    reading.landmark("dtItm", items.map_or(0, Vec::len));
    let mut known: HashMap<String, usize> = HashMap::new();
    for (name, rows) in [("dtMtg", meetings), ("dtItm", items)] {
        for (row, number) in rows.into_iter().flatten().zip(1..) {
            let Some(id) = number_in(row, "MeetingID") else {
                reading.doubts.push(format!("entry {number} of {name} has no MeetingID"));
                continue;
            };
            let at = *known.entry(id.clone()).or_insert_with(|| {
                reading.meetings.push(meeting(&id, row, base, &mut reading.doubts));
                reading.meetings.len() - 1
            });
            let Some(meeting) = reading.meetings.get_mut(at) else { continue };
            if name == "dtMtg" {
                files(&id, row, base, meeting);
            } else {
                item(row, meeting);
            }
        }
    }
    reading.follow = agendas(window, &reading.meetings);
    Ok(reading)
}

/// A number of something, as text; what is absent is -1.
fn number_in(row: &Value, name: &str) -> Option<String> {
    json::number(row, name).filter(|number| *number > 0).map(|number| number.to_string())
}

fn meeting(id: &str, row: &Value, base: &str, doubts: &mut Vec<String>) -> VendorMeeting {
    let mut meeting = VendorMeeting::new(id);
    let when = json::plain(row, "MeetingDate").unwrap_or_default();
    // Midnight is a day without an hour.
    meeting.start = dates::combine(&when, "");
    if meeting.start.is_none() {
        doubts.push(format!("the meeting {id} has the date \"{when}\""));
    }
    meeting.title = json::plain(row, "MeetingType");
    meeting.body.clone_from(&meeting.title);
    meeting.body_id = number_in(row, "MeetingTypeID");
    meeting.location = json::plain(row, "Location");
    let told = [&meeting.title, &meeting.location].map(|text| text.as_deref().unwrap_or_default());
    meeting.status = status::find(&told);
    let minutes = number_in(row, "MinutesMeetingID").unwrap_or_else(|| "-1".to_owned());
    let view = format!("MeetingView.aspx?MeetingID={id}&MinutesMeetingID={minutes}&doctype=Agenda");
    meeting.agenda_url = address::absolute(base, &view);
    meeting
}

fn files(id: &str, row: &Value, base: &str, meeting: &mut VendorMeeting) {
    let exists = |name: &str| json::flag(row, name) == Some(true);
    if exists("AgendaPDFExists") {
        meeting.packet_url = address::absolute(base, &format!("DisplayAgendaPDF.ashx?MeetingID={id}"));
    }
    if let Some(minutes) = number_in(row, "MinutesMeetingID").filter(|_| exists("MinutesPDFExists")) {
        meeting.minutes_url = address::absolute(base, &format!("DisplayAgendaPDF.ashx?MinutesMeetingID={minutes}"));
    }
}

fn item(row: &Value, meeting: &mut VendorMeeting) {
    let Some(title) = json::plain(row, "Title") else { return };
    let vendor_item_id = number_in(row, "AgendaItemID");
    if vendor_item_id.is_some() && meeting.items.iter().any(|known| known.vendor_item_id == vendor_item_id) {
        return;
    }
    let mut item = VendorItem { vendor_item_id, title, ..VendorItem::default() };
    item.put_under(json::plain(row, "AgendaCategory"));
    item.append_to(&mut meeting.items);
}
