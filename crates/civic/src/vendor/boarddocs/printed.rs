//! The printed agenda of one meeting: what its items say, and their files.

use super::{HOST, base};
use crate::{
    dates,
    html::Element,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Site, VendorItem, VendorMeeting, address, fallback_id,
        numbering, open, pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

/// `Offer.pdf (340 KB)`.
static SIZE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\s*\([\d.,]+\s*[KMG]?B\)\s*$"));

pub(super) fn read(page: &FetchedPage, site: &Site) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a printed agenda")?;
    let elements = html.select("div.item");
    if elements.is_empty() && html.first(".print-meeting-name").is_none() {
        return Err(open::other_page(page, &html, "a printed agenda"));
    }
    let mut reading = PageReading::default();
    reading.landmark("div.item", elements.len());
    // The ids of the meeting and of its items, each with its name.
    let (id, known) = match page.about.split_first() {
        Some((id, items)) => (Some(id.clone()), items),
        None => (None, Default::default()),
    };
    let mut known: Vec<(&str, String)> =
        known.chunks_exact(2).map(|pair| (pair[0].as_str(), folded(&pair[1]))).collect();
    let title = html.first(".print-meeting-name").map(|name| name.text());
    let mut meeting = VendorMeeting::new(id.clone().unwrap_or_else(|| {
        let day = html.first(".print-meeting-date").and_then(|day| dates::date(&day.text()));
        fallback_id(title.as_deref().unwrap_or_default(), day)
    }));
    let site = base(site).unwrap_or_else(|_| HOST.to_owned());
    let base = address::base_of(&page.url, &site);
    for element in elements {
        let mut item = item(element, base);
        if id.is_some() {
            let name = folded(&field(element, "Subject").unwrap_or_default());
            let Some(at) = known.iter().position(|(_, known)| *known == name) else {
                reading.doubts.push(format!(
                    "meeting {}: the printed item '{}' is on no list of items",
                    meeting.vendor_id, item.title
                ));
                continue;
            };
            item.vendor_item_id = Some(known.remove(at).0.to_owned());
            // The list has said the place of each already.
            meeting.items.push(item);
        } else {
            item.append_to(&mut meeting.items);
        }
    }
    if id.is_none() {
        meeting.title = title;
        meeting.has_agenda = true;
    }
    reading.meeting(meeting);
    Ok(reading)
}

fn item(element: Element<'_>, base: &str) -> VendorItem {
    let subject = field(element, "Subject").unwrap_or_default();
    let (agenda_number, title) = numbering::split(&subject);
    let text: Vec<String> = element.select(".itembody").iter().flat_map(Element::lines).collect();
    let mut item = VendorItem {
        title: title.to_owned(),
        agenda_number,
        body_text: Some(text.join("\n")).filter(|text| !text.is_empty()),
        ..VendorItem::default()
    };
    item.put_under(field(element, "Category"));
    for link in element.select("a[href*='/files/'], a[href*='$file']") {
        let Some(url) = address::target(base, link) else { continue };
        let vendor_id = link.attribute("unique").filter(|id| !id.is_empty()).map(str::to_owned);
        let name = SIZE.replace(&link.text(), "").into_owned();
        item.attach(Attachment { name, url, vendor_id, portal_url: None });
    }
    item
}

/// The value beside a label.
fn field(element: Element<'_>, label: &str) -> Option<String> {
    let value = element.select("dt").into_iter().find(|term| term.text() == label)?;
    value.next_siblings().find(|next| next.name() == "dd").map(|value| value.text())
}

fn folded(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{self, site};

    const PRINTED: &str = "<html><body><div class='print-meeting-name'>Spring Meeting</div>
        <div class='container item agendaorder'><div><dl><dt>Subject</dt><dd>1.  Welcome of guests</dd></dl></div>
          <dl><dt>Category</dt><dd>A. START</dd></dl><div class=itembody><p>Three schools visit.</p></div></div>
        <div class='container item agendaorder'><dl><dt>Subject</dt><dd>1. Kitchen equipment</dd></dl>
          <dl><dt>Category</dt><dd>B. Consent items</dd></dl>
          <div class=print-files><a unique=F1 href='/oh/x/Board.nsf/files/F1/$file/offer.pdf'>Offer.pdf (340 KB)</a>
            <a unique=F1 href='/oh/x/Board.nsf/files/F1/$file/offer.pdf'>Offer.pdf (340 KB)</a></div></div>
        </body></html>";

    fn page(about: &[&str]) -> FetchedPage {
        let url = "https://go.boarddocs.com/oh/x/Board.nsf/PRINT-AgendaDetailed?open";
        let mut page = testing::page(url, "agenda", PRINTED);
        page.about = about.iter().map(|&word| word.to_owned()).collect();
        page
    }

    #[test]
    fn printed_items_find_the_ids_of_the_list() {
        let read_page = read(&page(&["M2", "I2", "1. Kitchen Equipment"]), &site("oh/x")).unwrap();
        let meeting = &read_page.meetings[0];
        assert_eq!(meeting.vendor_id, "M2");
        assert_eq!(meeting.items.len(), 1);
        assert_eq!(meeting.items[0].vendor_item_id.as_deref(), Some("I2"));
        let file = &meeting.items[0].attachments;
        assert_eq!(file.len(), 1);
        assert_eq!((file[0].name.as_str(), file[0].vendor_id.as_deref()), ("Offer.pdf", Some("F1")));
        assert_eq!(file[0].url, "https://go.boarddocs.com/oh/x/Board.nsf/files/F1/$file/offer.pdf");
        assert_eq!(read_page.doubts, ["meeting M2: the printed item 'Welcome of guests' is on no list of items"]);
    }

    #[test]
    fn a_kept_agenda_stands_for_itself() {
        let kept = FetchedPage::from_kept("kept.html", PRINTED);
        let read = read(&kept, &site("oh/x")).unwrap();
        let meeting = &read.meetings[0];
        assert_eq!((meeting.title.as_deref(), meeting.items.len()), (Some("Spring Meeting"), 2));
        assert_eq!(meeting.items[1].section.as_deref(), Some("B. Consent items"));
        assert_eq!(meeting.items[0].body_text.as_deref(), Some("Three schools visit."));
        let file = &meeting.items[1].attachments[0].url;
        assert_eq!(file, "https://go.boarddocs.com/oh/x/Board.nsf/files/F1/$file/offer.pdf");
    }
}
