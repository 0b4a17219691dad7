//! A calendar of a district's own site, as Finalsite shows it.

use crate::{
    dates,
    html::Element,
    status,
    vendor::{FetchedPage, PageFault, PageReading, VendorMeeting, open},
};

pub(super) fn read(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a calendar")?;
    let links = html.select("a.fsCalendarEventLink");
    if links.is_empty() && html.first(".fsCalendar").is_none() {
        return Err(open::other_page(page, &html, "a calendar (a.fsCalendarEventLink)"));
    }
    let mut reading = PageReading::default();
    reading.landmark("a.fsCalendarEventLink", links.len());
    for link in links {
        match meeting(link) {
            Ok(meeting) => reading.meeting(meeting),
            Err(doubt) => reading.doubts.push(doubt),
        }
    }
    Ok(reading)
}

fn meeting(link: Element<'_>) -> Result<VendorMeeting, String> {
    let title = link.text();
    // `672_2026-06-01T23:00:00Z_…`: the number is the event's, what follows moves with it.
    let id = link.attribute("data-occur-id").and_then(|id| id.split('_').next()).filter(|id| !id.is_empty());
    let Some(id) = id else { return Err(format!("an event without an id was left out: '{title}'")) };
    let mut meeting = VendorMeeting::new(format!("event-{id}"));
    if let Some(event) = link.closest("article") {
        let begins = event.first("time.fsStartTime").or_else(|| event.first("time"));
        // The hour is the one on the wall; what follows it is how far the wall is from Greenwich.
        meeting.start = begins.and_then(|time| time.attribute("datetime")).and_then(dates::start);
        if event.first("time.fsStartTime").is_none()
            && let Some(start) = &mut meeting.start
        {
            // Events of a whole day begin at midnight.
            start.time = None;
        }
        meeting.location = event.first(".fsLocation").map(|place| place.text()).filter(|place| !place.is_empty());
    }
    meeting.status = status::find(&[&title]);
    meeting.title = Some(title).filter(|title| !title.is_empty());
    Ok(meeting)
}
