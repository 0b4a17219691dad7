//! The list of meetings as JSON: `dtMtg` names meetings, `dtItm` the latest items of their agendas. The items are not
//! all there are, so that none counts as gone which is not among them.

use super::agendas;
use crate::{
    dates, status,
    vendor::{FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, Window, address, checks},
};
use serde_json::{Map, Value};
use std::collections::HashMap;

pub(super) fn read(window: Window, page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let all = checks::json(page, "a list of meetings as JSON")?;
    let list = |name: &str| all.get(name).and_then(Value::as_array);
    let (meetings, items) = (list("dtMtg"), list("dtItm"));
    if meetings.is_none() && items.is_none() {
        return Err(PageFault::unexpected(&page.url, "`dtMtg` or `dtItm`", "JSON without either"));
    }
    let mut reading = PageReading::default();
    reading.landmark("dtMtg", meetings.map_or(0, Vec::len));
    reading.landmark("dtItm", items.map_or(0, Vec::len));
    let mut known: HashMap<String, usize> = HashMap::new();
    for (name, rows) in [("dtMtg", meetings), ("dtItm", items)] {
        for (row, number) in rows.into_iter().flatten().zip(1..) {
            let Some((fields, id)) = row.as_object().and_then(|fields| Some((fields, number_in(fields, "MeetingID")?)))
            else {
                reading.doubts.push(format!("entry {number} of {name} has no MeetingID"));
                continue;
            };
            let at = *known.entry(id.clone()).or_insert_with(|| {
                reading.meetings.push(meeting(&id, fields, base, &mut reading.doubts));
                reading.meetings.len() - 1
            });
            let Some(meeting) = reading.meetings.get_mut(at) else { continue };
            if name == "dtMtg" {
                files(&id, fields, base, meeting);
            } else {
                item(fields, meeting);
            }
        }
    }
    reading.follow = agendas(window, &reading.meetings);
    Ok(reading)
}

fn text_in(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// A number of something, as text; what is absent is -1.
fn number_in(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let value = fields.get(name)?;
    let number = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())?;
    (number > 0).then(|| number.to_string())
}

fn meeting(id: &str, fields: &Map<String, Value>, base: &str, doubts: &mut Vec<String>) -> VendorMeeting {
    let mut meeting = VendorMeeting::new(id);
    let when = text_in(fields, "MeetingDate").unwrap_or_default();
    // Midnight is a day without an hour.
    meeting.start = dates::combine(&when, "");
    if meeting.start.is_none() {
        doubts.push(format!("the meeting {id} has the date \"{when}\""));
    }
    meeting.title = text_in(fields, "MeetingType");
    meeting.body.clone_from(&meeting.title);
    meeting.body_id = number_in(fields, "MeetingTypeID");
    meeting.location = text_in(fields, "Location");
    let told = [&meeting.title, &meeting.location].map(|text| text.as_deref().unwrap_or_default());
    meeting.status = status::of(&told);
    let minutes = number_in(fields, "MinutesMeetingID").unwrap_or_else(|| "-1".to_owned());
    let view = format!("MeetingView.aspx?MeetingID={id}&MinutesMeetingID={minutes}&doctype=Agenda");
    meeting.agenda_url = address::absolute(base, &view);
    meeting
}

fn files(id: &str, fields: &Map<String, Value>, base: &str, meeting: &mut VendorMeeting) {
    let exists = |name: &str| fields.get(name).and_then(Value::as_bool) == Some(true);
    if exists("AgendaPDFExists") {
        meeting.packet_url = address::absolute(base, &format!("DisplayAgendaPDF.ashx?MeetingID={id}"));
    }
    if let Some(minutes) = number_in(fields, "MinutesMeetingID").filter(|_| exists("MinutesPDFExists")) {
        meeting.minutes_url = address::absolute(base, &format!("DisplayAgendaPDF.ashx?MinutesMeetingID={minutes}"));
    }
}

fn item(fields: &Map<String, Value>, meeting: &mut VendorMeeting) {
    let Some(title) = text_in(fields, "Title") else { return };
    let vendor_item_id = number_in(fields, "AgendaItemID");
    if vendor_item_id.is_some() && meeting.items.iter().any(|known| known.vendor_item_id == vendor_item_id) {
        return;
    }
    let mut item = VendorItem { vendor_item_id, title, ..VendorItem::default() };
    item.put_under(text_in(fields, "AgendaCategory"));
    item.append_to(&mut meeting.items);
}
