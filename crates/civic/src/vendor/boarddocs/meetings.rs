//! The XML with all meetings.
//!
//! It is not always well-formed: where items are outside any category, a category ends that never began. So nothing is
//! taken from how elements end, only from which begins last.

use super::{AGENDA, base};
use crate::{
    dates,
    html::Html,
    status,
    vendor::{
        FetchedPage, PageFault, PageReading, Request, Site, VendorItem, VendorMeeting, Window, model::Start, numbering,
        open,
    },
};
use bindery_reader::{
    Limits,
    package::{Pull, Pulled},
};

const FORM: &str = "application/x-www-form-urlencoded";
/// How far behind its day a description says the hour.
const NEAR: usize = 60;

/// What a text belongs to.
#[derive(Clone, Copy)]
enum Place {
    Meeting,
    Category,
    Item,
}

/// A meeting while its elements come in.
struct Open {
    meeting: VendorMeeting,
    day: String,
    place: Place,
    section: Option<String>,
}

pub(super) fn read(page: &FetchedPage, site: &Site, window: Window) -> Result<PageReading, PageFault> {
    let text = page.text();
    if !text.contains("<meetings") {
        return Err(open::other_page(page, &Html::parse(&text), "an XML file of meetings"));
    }
    if !text.contains("</meetings>") {
        return Err(PageFault::cut_short(&page.url, "<meetings> has no end"));
    }
    let mut reading = PageReading::default();
    let mut open: Option<Open> = None;
    let limits = Limits::default();
    let mut pull = Pull::new(&text, &limits);
    let mut counts = [("meeting", 0), ("category", 0), ("item", 0)];
    loop {
        let pulled = pull.next().map_err(|error| PageFault::new_unexpected(&page.url, "XML", error.to_string()))?;
        let tag = match pulled {
            Pulled::Start(tag) => tag,
            Pulled::Finished => break,
            Pulled::End | Pulled::Text(_) => continue,
        };
        let name = tag.name().to_owned();
        if let Some((_, count)) = counts.iter_mut().find(|(counted, _)| *counted == name) {
            *count += 1;
        }
        match name.as_str() {
            "meeting" => {
                finish(open.take(), &mut reading);
                let mut meeting = VendorMeeting::new(tag.attribute("id").unwrap_or_default());
                meeting.body = tag.attribute("bodyname").filter(|name| !name.is_empty());
                meeting.body_id = tag.attribute("bodyid").filter(|id| !id.is_empty());
                open = Some(Open { meeting, day: String::new(), place: Place::Meeting, section: None });
            }
            "category" => {
                if let Some(open) = &mut open {
                    open.place = Place::Category;
                    open.section = None;
                }
            }
            "item" => {
                if let Some(open) = &mut open {
                    let id = tag.attribute("id").filter(|id| !id.is_empty());
                    begin_item(open, id);
                }
            }
            "name" | "description" | "link" | "actiontype" | "recommendedaction" | "date" => {
                // The day stands there in figures and in words.
                let is_day = name == "date" && tag.attribute("format").is_some();
                let said = text_of(&mut pull, page)?;
                if let Some(open) = &mut open {
                    take(open, if is_day { "day" } else { &name }, said);
                }
            }
            _ => {}
        }
    }
    finish(open, &mut reading);
    for (name, count) in counts {
        reading.landmark(name, count);
    }
    follow(site, window, &mut reading);
    Ok(reading)
}

/// The text up to where the element ends.
fn text_of(pull: &mut Pull<'_>, page: &FetchedPage) -> Result<String, PageFault> {
    let mut said = String::new();
    loop {
        match pull.next().map_err(|error| PageFault::new_unexpected(&page.url, "XML", error.to_string()))? {
            Pulled::Text(text) => said.push_str(&text),
            Pulled::Start(_) => {}
            Pulled::End | Pulled::Finished => return Ok(said.trim().to_owned()),
        }
    }
}

fn begin_item(open: &mut Open, id: Option<String>) {
    open.place = Place::Item;
    let mut item = VendorItem { vendor_item_id: id, ..VendorItem::default() };
    item.put_under(open.section.clone());
    item.append_to(&mut open.meeting.items);
}

fn take(open: &mut Open, what: &str, said: String) {
    if said.is_empty() {
        return;
    }
    match (what, open.place) {
        ("day", _) => open.day = said,
        ("name", Place::Meeting) => open.meeting.title = Some(said),
        ("name", Place::Category) => open.section = Some(said),
        ("description", Place::Meeting) => open.meeting.notes = Some(said),
        ("link", Place::Meeting) => open.meeting.agenda_url = Some(said),
        (_, Place::Item) => {
            let Some(item) = open.meeting.items.last_mut() else { return };
            match what {
                "name" => {
                    let (number, title) = numbering::split(&said);
                    item.title = title.to_owned();
                    item.agenda_number = number;
                    item.raw.insert("name".to_owned(), said.into());
                }
                "actiontype" => {
                    if said.contains("Consent") {
                        item.is_consent = Some(true);
                    }
                    item.raw.insert(what.to_owned(), said.into());
                }
                "recommendedaction" => item.body_text = Some(format!("Recommended action: {said}")),
                "link" => {
                    item.raw.insert(what.to_owned(), said.into());
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn finish(open: Option<Open>, reading: &mut PageReading) {
    let Some(Open { mut meeting, day, .. }) = open else { return };
    let title = meeting.title.clone().unwrap_or_default();
    if meeting.vendor_id.is_empty() {
        reading.doubts.push(format!("a meeting without an id was left out: '{title}'"));
        return;
    }
    match dates::date(&day) {
        Some(date) => {
            let notes = meeting.notes.as_deref().unwrap_or_default();
            let time = dates::time(&title).or_else(|| hour_in(notes, date));
            meeting.start = Some(Start { date, time, note: None });
        }
        None => reading.doubts.push(format!("meeting {}: '{day}' is no day", meeting.vendor_id)),
    }
    meeting.status = status::find(&[&title]);
    meeting.has_agenda = !meeting.items.is_empty();
    reading.meeting(meeting);
}

/// The hour that a description says right behind the meeting's own day. It names other meetings too.
fn hour_in(description: &str, date: jiff::civil::Date) -> Option<jiff::civil::Time> {
    let (found, rest) = dates::find_date(description)?;
    let near: String = rest.chars().take(NEAR).collect();
    dates::time(&near).filter(|_| found == date)
}

fn follow(site: &Site, window: Window, reading: &mut PageReading) {
    // A kept file can be read without a site.
    let Ok(base) = base(site) else { return };
    let asked = reading.meetings.iter().filter(|meeting| window.holds(meeting));
    reading.follow = asked.map(|meeting| printed_agenda(&base, meeting)).collect();
}

fn printed_agenda(base: &str, meeting: &VendorMeeting) -> Request {
    let (id, body) = (&meeting.vendor_id, meeting.body_id.as_deref().unwrap_or_default());
    let form = format!("id={id}&current_committee_id={body}");
    let request = Request::get(format!("{base}/PRINT-AgendaDetailed?open"), AGENDA).post(FORM, form);
    let mut request = request.with_about(id).optional();
    for item in &meeting.items {
        let name = item.raw.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        if let Some(id) = &item.vendor_item_id {
            request = request.with_about(id).with_about(name);
        }
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{page, site, window};

    fn read_xml(xml: &str) -> Result<PageReading, PageFault> {
        let page = page("https://go.boarddocs.com/oh/x/Board.nsf/XML-ActiveMeetings", "meetings", xml);
        read(&page, &site("oh/x"), window("2026-01-01", "2026-12-31"))
    }

    #[test]
    fn bad_entries_are_told_and_the_rest_goes_on() {
        let read = read_xml(
            "<meetings><meeting bodyid='B' bodyname='Board'><name>Without an id</name></meeting>
            <meeting id='M1' bodyid='B' bodyname='Board'><name>Impossible</name><start><date format='yyyy-mm-dd'>2026-02-30</date></start></meeting>
            <meeting id='M2' bodyid='B' bodyname='Board'><name>CANCELLED Meeting at 6 p.m.</name>
              <start><date format='yyyy-mm-dd'>2026-03-03</date></start>
              <agendaitems><item id='I1'><name>1.1 Outside any category</name></item></agendaitems></category></category></meeting>
            </meetings>",
        )
        .unwrap();
        assert_eq!(
            read.doubts,
            ["a meeting without an id was left out: 'Without an id'", "meeting M1: '2026-02-30' is no day"]
        );
        assert_eq!(read.meetings.len(), 2);
        let second = &read.meetings[1];
        assert_eq!(second.start.as_ref().and_then(|start| start.time), jiff::civil::Time::new(18, 0, 0, 0).ok());
        assert_eq!(second.items[0].title, "Outside any category");
        let body = read.follow[0].body.as_ref().map(|body| body.text.as_str());
        assert_eq!(body, Some("id=M2&current_committee_id=B"));
        assert_eq!(read.follow[0].about, ["M2", "I1", "1.1 Outside any category"]);
    }

    #[test]
    fn other_pages_are_told() {
        let half = read_xml("<meetings><meeting id='M1'><name>Cut").unwrap_err();
        assert!(matches!(half, PageFault::CutShort { .. }), "{half}");
        let login = read_xml("<html><form><input type=password></form></html>").unwrap_err();
        assert!(matches!(login, PageFault::Login { .. }), "{login}");
    }
}
