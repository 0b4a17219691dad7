//! A meeting's page, the outline of its agenda, and the pages of its items.
//!
//! The outline comes in two kinds. One is a document turned to HTML: nothing marks an item but the script that opens it,
//! `loadAgendaItem(id, is a section)`; its number stands in the cell before, its description below its title. The other
//! has sections within sections, and marks everything as what it is.

use super::{AGENDA, ITEM};
use crate::{
    html::Element,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorItem, VendorMeeting, address, numbering, open,
        pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

static OPENS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"loadAgendaItem\(\s*['\x22]?(\d+)['\x22]?\s*(?:,\s*(true|false))?"));

const LINKS: &str = "a[href*='loadAgendaItem('], a[onclick*='loadAgendaItem(']";

/// The page of a meeting is only the frame; it tells where this site keeps the outline.
pub(super) fn read_meeting(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "the page of a meeting")?;
    let id = parameter_of(page, "id", "the page of a known meeting")?;
    let mut reading = PageReading::default();
    if !html.select(LINKS).is_empty() {
        return read(page, base);
    }
    let text = page.text();
    let has_documents = text.contains("Documents/ViewAgenda");
    reading.landmark("Documents/ViewAgenda", usize::from(has_documents));
    let marked = format!("{base}/Meetings/ViewMeetingAgenda?meetingId={id}&type=agenda");
    let document = format!("{base}/Documents/ViewAgenda?meetingId={id}&type=agenda&doctype=1");
    let (first, otherwise) = if has_documents { (document, marked) } else { (marked, document) };
    // A site has one of the two, and an error page in place of the other.
    if !base.is_empty() {
        reading.follow.push(from_script(Request::get(first, AGENDA)).with_about(id).with_about(otherwise).optional());
    }
    Ok(reading)
}

pub(super) fn read(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let id = parameter_of(page, "meetingId", "the agenda of a known meeting")?;
    let (marked, opening) = (html.select("div.accessible-item"), html.select(LINKS));
    let mut reading = PageReading::default();
    reading.landmark("div.accessible-item", marked.len());
    reading.landmark("loadAgendaItem", opening.len());
    if marked.is_empty() && opening.is_empty() {
        let Some(otherwise) = page.about.get(1) else {
            return Err(open::other_page(page, &html, "an agenda with loadAgendaItem"));
        };
        reading.follow.push(from_script(Request::get(otherwise.clone(), AGENDA)).with_about(id).optional());
        return Ok(reading);
    }
    let mut meeting = VendorMeeting { has_agenda: true, ..VendorMeeting::new(id.clone()) };
    meeting.items = if marked.is_empty() { of_document(opening) } else { marked_items(marked) };
    if !base.is_empty() {
        for item_id in meeting.items.iter().filter_map(|item| item.vendor_item_id.as_ref()) {
            let url = format!(
                "{base}/Meetings/ViewMeetingAgendaItem?meetingId={id}&itemId={item_id}&isSection=false&type=agenda"
            );
            reading.follow.push(from_script(Request::get(url, ITEM)).with_about(&id).with_about(item_id).optional());
        }
    }
    reading.meeting(meeting);
    Ok(reading)
}

/// What a script opens, and whether that is a section.
fn link_target(link: Element<'_>) -> Option<(String, bool)> {
    let scripts = [link.attribute("href"), link.attribute("onclick")];
    let found = scripts.into_iter().flatten().find_map(|script| OPENS.captures(script))?;
    Some((found.get(1)?.as_str().to_owned(), found.get(2).is_some_and(|said| said.as_str() == "true")))
}

fn of_document(links: Vec<Element<'_>>) -> Vec<VendorItem> {
    let (mut items, mut section): (Vec<VendorItem>, _) = (Vec::new(), None);
    for link in links {
        let Some((id, is_section)) = link_target(link) else { continue };
        let title = link.text();
        if title.is_empty() {
            continue;
        }
        if is_section {
            section = Some(title);
            continue;
        }
        match items.iter_mut().find(|known| known.vendor_item_id.as_deref() == Some(id.as_str())) {
            // Number and title may each be a link to the same item.
            Some(known) if is_number(&known.title) => {
                known.agenda_number = Some(neat_number(&known.title));
                known.title = title;
            }
            Some(_) => {}
            None => item(link, id, &title, section.clone()).append_to(&mut items),
        }
    }
    items
}

fn marked_items(elements: Vec<Element<'_>>) -> Vec<VendorItem> {
    let mut items: Vec<VendorItem> = Vec::new();
    for element in elements {
        let id = element.first(LINKS).and_then(link_target).map(|(id, _)| id);
        let said = element.first(".accessible-item-text").unwrap_or(element).text();
        let is_known = id.is_some() && items.iter().any(|known| known.vendor_item_id == id);
        if said.is_empty() || is_known {
            continue;
        }
        // The innermost section comes first.
        let around = std::iter::successors(element.parent(), Element::parent);
        let around = around.filter(|outer| outer.has_class("accessible-section"));
        let names = around.filter_map(|outer| {
            let mut headers = outer.select(".accessible-header-text").into_iter();
            headers.find(|header| header.closest(".accessible-section") == Some(outer)).map(|header| header.text())
        });
        let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        names.reverse();
        let (agenda_number, title) = numbering::split(&said);
        let title = title.to_owned();
        let mut item = VendorItem { vendor_item_id: id, title, agenda_number, ..VendorItem::default() };
        item.put_under(Some(names.join(" > ")).filter(|section| !section.is_empty()));
        item.append_to(&mut items);
    }
    items
}

/// The files of one item.
pub(super) fn read_item(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an item of an agenda")?;
    let id = parameter_of(page, "meetingId", "the item of a known meeting")?;
    let Some(item_id) = page.about.get(1).cloned().or_else(|| address::value(&page.url, "itemId")) else {
        return Err(PageFault::new_unexpected(&page.url, "a known item", "an address without an itemId"));
    };
    let mut reading = PageReading::default();
    let mut item = VendorItem { vendor_item_id: Some(item_id), ..VendorItem::default() };
    let files = html.select("a[href*='/Documents/'], a[href*='DownloadFile'], a[href*='ViewDocument']");
    reading.landmark("links to documents", files.len());
    let folder = format!("{base}/");
    let seen_from = address::base_of(&page.url, &folder);
    for link in files {
        let Some(url) = address::target(seen_from, link) else { continue };
        let vendor_id = ["documentId", "docId", "publishId"].iter().find_map(|name| address::value(&url, name));
        let name =
            Some(link.text()).filter(|name| !name.is_empty()).or_else(|| link.attribute("title").map(str::to_owned));
        let name = name.unwrap_or_else(|| "Document".to_owned());
        item.attach(Attachment { name, url, vendor_id, portal_url: None });
    }
    reading.item(&id, item);
    Ok(reading)
}

fn item(link: Element<'_>, id: String, title: &str, section: Option<String>) -> VendorItem {
    let cell = link.closest("td");
    let number = cell.and_then(|cell| {
        let before = cell.parent()?.children().take_while(|other| *other != cell).map(|other| other.text());
        before.filter(|text| is_number(text)).last()
    });
    let (own_number, rest) = numbering::split(title);
    // A cell with several items does not tell which of them a line describes.
    let lines = cell.filter(|cell| cell.select(LINKS).len() == 1).map(|cell| cell.lines()).unwrap_or_default();
    let text: Vec<String> = lines.into_iter().skip_while(|line| line != title).skip(1).collect();
    let mut item = VendorItem {
        vendor_item_id: Some(id),
        title: rest.to_owned(),
        agenda_number: own_number.or_else(|| number.map(|number| neat_number(&number))),
        body_text: Some(text.join("\n")).filter(|text| !text.is_empty()),
        ..VendorItem::default()
    };
    item.put_under(section);
    item
}

/// `5.`, `IV`, `A.1)`.
fn is_number(text: &str) -> bool {
    (1..=8).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || ".()-".contains(c)) && {
        text.len() <= 2 || text.contains(['.', ')']) || text.chars().all(|c| c.is_ascii_digit() || "IVXLC".contains(c))
    }
}

fn neat_number(text: &str) -> String {
    text.trim_matches(['.', '(', ')']).to_owned()
}

/// As the site's own script asks; without it an empty frame comes back.
fn from_script(request: Request) -> Request {
    request.header("X-Requested-With", "XMLHttpRequest")
}

/// The id of the meeting, from the request or from the page's address.
fn parameter_of(page: &FetchedPage, parameter: &str, expected: &str) -> Result<String, PageFault> {
    let known = page.about.first().cloned().or_else(|| address::value(&page.url, parameter));
    known.ok_or_else(|| PageFault::new_unexpected(&page.url, expected, format!("an address without {parameter}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://docs.example.gov/AgendaOnline";

    fn page(path: &str, body: &str) -> FetchedPage {
        FetchedPage::from_kept(format!("{BASE}/{path}"), body)
    }

    #[test]
    fn the_frame_leads_to_the_outline_that_the_site_has() {
        let frame = page("Meetings/ViewMeeting?id=7&doctype=1", "<html><title>Agenda Online</title></html>");
        let read = read_meeting(&frame, BASE).unwrap();
        assert_eq!(
            read.follow[0].url,
            "https://docs.example.gov/AgendaOnline/Meetings/ViewMeetingAgenda?meetingId=7&type=agenda"
        );
        assert_eq!(read.follow[0].headers[0].0, "X-Requested-With");
        let frame = page("Meetings/ViewMeeting?id=7", "<html><script>load('/Documents/ViewAgenda')</script></html>");
        let outline = &read_meeting(&frame, BASE).unwrap().follow[0].url;
        assert_eq!(
            outline,
            "https://docs.example.gov/AgendaOnline/Documents/ViewAgenda?meetingId=7&type=agenda&doctype=1"
        );
    }

    #[test]
    fn the_outline_has_sections_items_and_their_descriptions() {
        let outline = page(
            "Documents/ViewAgenda?meetingId=7&type=agenda",
            "<table><tr><td><p><a href='javascript:loadAgendaItem(1,true);'>CONSENT</a></p></td></tr></table>
            <table><tr><td><p>5.</p></td><td><p><a href='javascript:loadAgendaItem(21,false);'>Snow plough purchase</a></p>
              <p>Two vehicles for the north depot</p><p>Funded by the road levy</p></td></tr></table>
            <table><tr><td><a href='javascript:loadAgendaItem(22,false);'>6.</a></td>
              <td><a href='javascript:loadAgendaItem(22,false);'>Library hours</a></td></tr></table>",
        );
        let read = read(&outline, BASE).unwrap();
        let items = &read.meetings[0].items;
        assert_eq!(items.len(), 2);
        assert_eq!(
            (
                items[0].title.as_str(),
                items[0].agenda_number.as_deref(),
                items[0].section.as_deref(),
                items[0].is_consent
            ),
            ("Snow plough purchase", Some("5"), Some("CONSENT"), Some(true))
        );
        assert_eq!(items[0].body_text.as_deref(), Some("Two vehicles for the north depot\nFunded by the road levy"));
        assert_eq!((items[1].title.as_str(), items[1].agenda_number.as_deref()), ("Library hours", Some("6")));
        assert_eq!(read.follow.len(), 2);
        assert_eq!(read.follow[1].about, ["7", "22"]);
    }

    #[test]
    fn an_outline_that_marks_everything_is_read_by_its_marks() {
        let outline = page(
            "Meetings/ViewMeetingAgenda?meetingId=7&type=agenda",
            "<div class='accessible-section accessible-section-level-0'>
              <div class='accessible-section'><span class=accessible-header-text>CONSENT CALENDAR</span>
                <div class='accessible-section'><span class=accessible-header-text>Contracts</span>
                  <div class=accessible-item><a class=amitem href='#' onclick='loadAgendaItem(31); return false;'><span class=accessible-item-text>4.A. Paving</span></a></div>
                </div></div>
              <div class=accessible-item><a href='#' onclick='loadAgendaItem(32); return false;'><span class=accessible-item-text>Adjourn</span></a></div></div>",
        );
        let read = read(&outline, BASE).unwrap();
        let shown: Vec<_> = read.meetings[0]
            .items
            .iter()
            .map(|item| {
                (
                    item.vendor_item_id.as_deref(),
                    item.agenda_number.as_deref(),
                    item.title.as_str(),
                    item.section.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                (Some("31"), Some("4.A"), "Paving", Some("CONSENT CALENDAR > Contracts")),
                (Some("32"), None, "Adjourn", None)
            ]
        );
        assert_eq!(read.follow.len(), 2);
    }

    #[test]
    fn an_error_in_place_of_one_outline_leads_to_the_other() {
        let mut error = page("Error", "<html><title>Error - OnBase Agenda Online</title></html>");
        error.about = vec!["7".into(), "https://docs.example.gov/AgendaOnline/Documents/ViewAgenda?meetingId=7".into()];
        let read_page = read(&error, BASE).unwrap();
        assert_eq!((read_page.meetings.len(), read_page.follow[0].url.as_str()), (0, error.about[1].as_str()));
        error.about.pop();
        let said = read(&error, BASE).unwrap_err().to_string();
        assert!(said.ends_with("found the page \"Error - OnBase Agenda Online\""), "{said}");
    }

    #[test]
    fn an_item_has_each_file_once() {
        let body = "<div><a href='/AgendaOnline/Documents/ViewDocument/Memo.pdf?meetingId=7&documentType=Agenda&itemId=21&publishId=900'>Memo</a>
            <a href='/AgendaOnline/Documents/DownloadFileBytes/Memo.pdf?publishId=900'>Memo</a></div>";
        let read = read_item(&page("Meetings/ViewMeetingAgendaItem?meetingId=7&itemId=21", body), BASE).unwrap();
        let item = &read.meetings[0].items[0];
        assert_eq!((item.vendor_item_id.as_deref(), item.attachments.len()), (Some("21"), 1));
        assert_eq!(item.attachments[0].name, "Memo");
    }
}
