//! The printed agenda of one meeting: what its items say, and their files.

use crate::{
    dates,
    html::Element,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, fallback_id::fallback_id, links,
        numbering, open,
    },
};
use regex::Regex;
use std::sync::LazyLock;

/// `Offer.pdf (340 KB)`.
#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and tests use it")]
static SIZE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?i)\s*\([\d.,]+\s*[KMG]?B\)\s*$").unwrap());

pub(super) fn read(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page)?;
    let elements = html.select("div.item");
    if elements.is_empty() && html.first(".print-meeting-name").is_none() {
        return Err(open::stranger(page, &html, "a printed agenda"));
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
    for element in elements {
        let mut item = item(element, page, meeting.items.len());
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
            // The list has said them already, with the place of each.
            item.sequence = 0;
        }
        meeting.items.push(item);
    }
    if id.is_none() {
        meeting.title = title;
        meeting.has_agenda = true;
    }
    reading.meetings.push(meeting);
    Ok(reading)
}

fn item(element: Element<'_>, page: &FetchedPage, before: usize) -> VendorItem {
    let subject = field(element, "Subject").unwrap_or_default();
    let (number, title) = numbering::split(&subject);
    let text: Vec<String> = element.select(".itembody").iter().flat_map(Element::lines).collect();
    let mut attachments: Vec<Attachment> = Vec::new();
    for link in element.select("a[href*='/files/'], a[href*='$file']") {
        let Some(url) = link.attribute("href").and_then(|href| links::absolute(&page.url, href)) else { continue };
        let vendor_id = link.attribute("unique").filter(|id| !id.is_empty()).map(str::to_owned);
        if !attachments
            .iter()
            .any(|known| known.url == url || known.vendor_id.is_some() && known.vendor_id == vendor_id)
        {
            let name = SIZE.replace(&link.text(), "").into_owned();
            attachments.push(Attachment { name, url, vendor_id, portal_url: None });
        }
    }
    let section = field(element, "Category");
    let is_consent = section.as_deref().and_then(numbering::consent);
    VendorItem {
        title: title.to_owned(),
        sequence: numbering::place(before),
        agenda_number: number,
        is_consent,
        section,
        body_text: Some(text.join("\n")).filter(|text| !text.is_empty()),
        attachments,
        ..VendorItem::default()
    }
}

/// The value beside a label.
fn field(element: Element<'_>, label: &str) -> Option<String> {
    let value = element.select("dt").into_iter().find(|term| term.text() == label)?;
    value.following().find(|next| next.name() == "dd").map(|value| value.text())
}

fn folded(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    const PRINTED: &str = "<html><body><div class='print-meeting-name'>Spring Meeting</div>
        <div class='container item agendaorder'><div><dl><dt>Subject</dt><dd>1.  Welcome of guests</dd></dl></div>
          <dl><dt>Category</dt><dd>A. START</dd></dl><div class=itembody><p>Three schools visit.</p></div></div>
        <div class='container item agendaorder'><dl><dt>Subject</dt><dd>1. Kitchen equipment</dd></dl>
          <dl><dt>Category</dt><dd>B. Consent items</dd></dl>
          <div class=print-files><a unique=F1 href='/oh/x/Board.nsf/files/F1/$file/offer.pdf'>Offer.pdf (340 KB)</a>
            <a unique=F1 href='/oh/x/Board.nsf/files/F1/$file/offer.pdf'>Offer.pdf (340 KB)</a></div></div>
        </body></html>";

    fn page(about: &[&str]) -> FetchedPage {
        FetchedPage {
            url: "https://go.boarddocs.com/oh/x/Board.nsf/PRINT-AgendaDetailed?open".into(),
            content_type: None,
            bytes: PRINTED.as_bytes().to_vec(),
            purpose: Cow::Borrowed("agenda"),
            about: about.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    #[test]
    fn printed_items_find_the_ids_of_the_list() {
        let read_page = read(&page(&["M2", "I2", "1. Kitchen Equipment"])).unwrap();
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
        let read = read(&page(&[])).unwrap();
        let meeting = &read.meetings[0];
        assert_eq!((meeting.title.as_deref(), meeting.items.len()), (Some("Spring Meeting"), 2));
        assert_eq!(meeting.items[1].section.as_deref(), Some("B. Consent items"));
        assert_eq!(meeting.items[0].body_text.as_deref(), Some("Three schools visit."));
    }
}
