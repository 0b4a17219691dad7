//! The agenda as HTML: sections with a numbered heading, items in a list, and below each the files of it.

use super::{HOST, table};
use crate::{
    html::Element,
    vendor::{Attachment, FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, address, open},
};

pub(super) fn read(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let sections = html.select("section.agenda-section");
    if sections.is_empty() && html.first(".ap-agenda").is_none() {
        return Err(open::other_page(page, &html, "an agenda (section.agenda-section)"));
    }
    let Some(id) = page.about.first().cloned().or_else(|| address::value(&page.url, "me")) else {
        return Err(PageFault::new_unexpected(&page.url, "the agenda of a known meeting", "an address without 'me'"));
    };
    let mut reading = PageReading::default();
    reading.landmark("section.agenda-section", sections.len());
    let base = address::base_of(&page.url, HOST);
    let mut meeting = VendorMeeting { has_agenda: true, ..VendorMeeting::new(id) };
    for section in sections {
        let heading = section.first(".section-header");
        let (number, name) = heading.map(numbered).unwrap_or_default();
        let before = meeting.items.len();
        for list in section.select("ol.agenda-items") {
            for child in list.children() {
                if child.fits("ul.agenda_item_attachments") {
                    if let Some(item) = meeting.items.get_mut(before..).and_then(<[_]>::last_mut) {
                        files(child, base, item);
                    }
                } else if child.name() == "li" {
                    let mut item = item(child, &name);
                    for files_below in child.select("ul.agenda_item_attachments") {
                        files(files_below, base, &mut item);
                    }
                    item.append_to(&mut meeting.items);
                }
            }
        }
        // A heading with nothing below it is a line of the agenda itself.
        if meeting.items.len() == before && !name.is_empty() {
            let item = VendorItem { title: name, agenda_number: number, ..VendorItem::default() };
            item.append_to(&mut meeting.items);
        }
    }
    reading.landmark("items", meeting.items.len());
    reading.meeting(meeting);
    Ok(reading)
}

/// The number, which is marked as such, and the words behind it.
fn numbered(element: Element<'_>) -> (Option<String>, String) {
    let number = element.first("num").map(|number| number.text()).filter(|number| !number.is_empty());
    let said = element.text();
    let words = number.as_deref().and_then(|number| said.strip_prefix(number)).unwrap_or(&said).trim().to_owned();
    (number.map(|number| number.trim_end_matches('.').to_owned()), words)
}

fn item(element: Element<'_>, section: &str) -> VendorItem {
    let (number, _) = numbered(element);
    // The files below it are not its words.
    let mut lines = Vec::new();
    for child in element.children().filter(|child| !child.fits("ul.agenda_item_attachments")) {
        lines.extend(child.lines());
    }
    if lines.is_empty() {
        lines = element.lines();
    }
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    let printed = element.first("num").map(|number| number.text()).unwrap_or_default();
    let title = first.strip_prefix(printed.as_str()).unwrap_or(&first).trim().to_owned();
    let text = lines.collect::<Vec<_>>().join("\n");
    let body_text = Some(text).filter(|text| !text.is_empty());
    let mut item = VendorItem { title, agenda_number: number, body_text, ..VendorItem::default() };
    item.put_under(Some(section.to_owned()).filter(|section| !section.is_empty()));
    item
}

fn files(list: Element<'_>, base: &str, item: &mut VendorItem) {
    for link in list.select("a[href]") {
        let Some(portal) = address::target(base, link) else { continue };
        let url = table::file(portal.clone());
        let portal_url = Some(portal).filter(|portal| *portal != url);
        item.attach(Attachment { name: link.text(), url, portal_url, vendor_id: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing;

    #[test]
    fn sections_items_and_files() {
        let body = "<html><div class=ap-agenda>
            <section class=agenda-section><h2 class=section-header><div><p><num>1.</num><span>WELCOME</span></p></div></h2></section>
            <section class=agenda-section><h2 class=section-header><p><num>2.</num><span>CONSENT AGENDA</span></p></h2>
              <ol class=agenda-items>
                <li><div><p><num>a.</num><span>Well permit 12</span></p><p>For the orchard</p></div></li>
                <ul class=agenda_item_attachments><li><a href='https://meetings.municode.com/d/f?u=https://files.example/well.pdf&n=w'>well.pdf</a> (2 MB)</li>
                  <li><a href='mailto:clerk@example.com'>Ask the clerk</a></li></ul>
                <li><div><p><num>b.</num><span>Barn lease</span></p></div></li>
              </ol></section></div></html>";
        let url = "https://meetings.municode.com/adaHtmlDocument/index?cc=X&me=abc&ip=True";
        let page = testing::page(url, "agenda", body);
        let read = read(&page).unwrap();
        let meeting = &read.meetings[0];
        assert_eq!(meeting.vendor_id, "abc");
        assert_eq!(
            testing::outline(&meeting.items),
            [
                ("1", "WELCOME", None),
                ("a", "Well permit 12", Some("CONSENT AGENDA")),
                ("b", "Barn lease", Some("CONSENT AGENDA")),
            ]
        );
        let minutes = &meeting.items[1];
        assert_eq!(minutes.body_text.as_deref(), Some("For the orchard"));
        assert_eq!(minutes.attachments.len(), 1, "what leads nowhere is no file");
        assert_eq!(minutes.attachments[0].url, "https://files.example/well.pdf");
        assert!(meeting.items[2].attachments.is_empty());
    }
}
