//! What a link to an agenda leads to: a file, a page of another site, or an agenda in one of several layouts. They are
//! told apart by the address that the link ended at and by what is on the page.

use super::{DOMAIN, VIEWER, agenda_online, grid, hour_in, meeting_id, outline, prose};
use crate::{
    dates,
    html::Html,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, address, fallback_id,
        model::Start, open,
    },
};
use jiff::civil::Date;

/// Longer lines are text, in which other hours stand.
const LONGEST_HEADING: usize = 120;

pub(super) fn read(site: &Site, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let known = page.about.first().cloned();
    let named = |known: &Option<String>| known.clone().or_else(|| meeting_id(&page.url));
    let is_file =
        page.bytes.starts_with(b"%PDF") || page.content_type.as_deref().is_some_and(|kind| kind.contains("pdf"));
    if is_file {
        let id = named(&known).unwrap_or_else(|| fallback_id(&page.url, None));
        return Ok(one(with_file(id, page, None)));
    }
    if let Some(file) = shown_by_google(&page.url) {
        let id = named(&known).unwrap_or_else(|| fallback_id(&file, None));
        return Ok(one(with_file(id, page, Some(file))));
    }
    if let Some(request) = known.as_deref().and_then(|id| agenda_online::agenda_of(&page.url, id)) {
        return Ok(PageReading { follow: vec![request], ..PageReading::default() });
    }
    let html = open::html(page, "an agenda")?;
    let base = address::base(page, site, DOMAIN);
    let (title, start) = heading(&html);
    let id = named(&known).or_else(|| meeting_id(&page.text()));
    let id =
        id.unwrap_or_else(|| fallback_id(title.as_deref().unwrap_or_default(), start.as_ref().map(|start| start.date)));
    let mut reading = PageReading::default();
    let mut meeting = VendorMeeting::new(id);
    let cells = html.select(grid::CELLS).len();
    reading.landmark("cells of a grid", cells);
    if cells > 0 {
        meeting.items = grid::read(&html, &base);
    }
    if meeting.items.is_empty() {
        let outline = outline::read(&html, &base);
        reading.landmark("rows with a number", outline.rows);
        if !outline.items.is_empty() {
            (meeting.items, meeting.documents) = (outline.items, outline.documents);
        }
    }
    if meeting.items.is_empty() {
        let prose = prose::read(&html, &base);
        reading.landmark("lines with a number", prose.items.len());
        // One or two numbered lines are no agenda.
        if prose.items.len() > 2 {
            reading.follow = prose::placeholder_requests(&meeting.vendor_id, &prose);
            (meeting.items, meeting.documents) = (prose.items, prose.documents);
        }
    }
    if meeting.items.is_empty() {
        return elsewhere(page, &html, &base, meeting, reading);
    }
    meeting.has_agenda = true;
    // The listing knows the title and the day better; a page that was kept alone has only itself.
    let listed: Option<Date> = page.about.get(2).and_then(|day| day.parse().ok());
    if known.is_none() {
        meeting.title = title;
        meeting.start = start;
    } else if start.as_ref().is_some_and(|start| start.time.is_some() && Some(start.date) == listed) {
        meeting.start = start;
    }
    reading.meeting(meeting);
    Ok(reading)
}

/// A page without items: it may only be a frame around what is wanted.
fn elsewhere(
    page: &FetchedPage,
    html: &Html,
    base: &str,
    meeting: VendorMeeting,
    mut reading: PageReading,
) -> Result<PageReading, PageFault> {
    let frame = html.first("iframe[src], frame[src], embed[src]").and_then(|frame| frame.attribute("src"));
    let frame = frame.and_then(|source| address::absolute(base, source));
    let Some(frame) = frame else { return Err(open::other_page(page, html, "an agenda with items")) };
    if let Some(file) = shown_by_google(&frame).or_else(|| outline::is_document(&frame).then(|| frame.clone())) {
        reading.meeting(with_file(meeting.vendor_id, page, Some(file)));
        return Ok(reading);
    }
    // A frame in a frame is nobody's agenda.
    if page.about.get(3).is_some() {
        return Err(open::other_page(page, html, "an agenda with items"));
    }
    let mut request = Request::get(frame, VIEWER).optional();
    request.about.clone_from(&page.about);
    request.about.resize(3, String::new());
    reading.follow.push(request.with_about("framed"));
    Ok(reading)
}

fn one(meeting: VendorMeeting) -> PageReading {
    PageReading { meetings: vec![meeting], ..PageReading::default() }
}

/// The agenda is a file. The link that leads to it stays, while the address that it led to expires.
fn with_file(id: String, page: &FetchedPage, file: Option<String>) -> VendorMeeting {
    let mut meeting = VendorMeeting::new(id);
    let portal = page.about.get(1).filter(|url| !url.is_empty()).cloned();
    let url = file.or_else(|| portal.clone()).unwrap_or_else(|| page.url.clone());
    meeting.documents.push(Attachment { name: "Agenda".into(), url, portal_url: portal, vendor_id: None });
    meeting
}

/// The file that Google's viewer shows.
fn shown_by_google(url: &str) -> Option<String> {
    let is_viewer = url.contains("docs.google.com/") && url.contains("view");
    let file = address::value(url, "url").filter(|_| is_viewer)?;
    address::absolute(url, &file)
}

/// The title of the page, and the first day on it, with its hour if that stands beside it.
fn heading(html: &Html) -> (Option<String>, Option<Start>) {
    let title = ["title", "h1"].iter().find_map(|name| {
        let text = html.first(name)?.text();
        (!text.is_empty()).then_some(text)
    });
    let lines = html.root().lines();
    let dated = lines.iter().position(|line| dates::date(line).is_some());
    let start = dated.and_then(|at| {
        let mut start = dates::start(lines.get(at)?)?;
        let next = lines.get(at + 1).filter(|next| next.chars().count() < 20).and_then(|next| dates::time(next));
        // The day can stand in a heading, and again with its hour.
        let again = || {
            let others = lines
                .iter()
                .skip(at + 1)
                .filter(|line| line.len() <= LONGEST_HEADING)
                .filter_map(|line| dates::start(line));
            others.filter(|other| other.date == start.date).find_map(|other| other.time)
        };
        let time = start.time.or(next).or_else(again);
        start.time = time.or_else(|| title.as_deref().and_then(hour_in));
        Some(start)
    });
    (title, start)
}
