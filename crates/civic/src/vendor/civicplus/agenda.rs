//! An agenda as HTML: lines of up to three levels, each with a number, a title, a description and files.

use crate::{
    html::Element,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, address, open, pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

/// Titles that only count: "Consent A", "Resolution 2". What it is about is in the description.
static COUNTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:consent|resolution|ordinance|item|motion|action|discussion|hearing)s?\s+(?:[a-z]|\d{1,3}|[ivx]+)\.?$",
    )
});

struct Line<'a> {
    level: u8,
    element: Element<'a>,
    number: Option<String>,
    title: String,
    description: Vec<String>,
    files: Vec<Attachment>,
}

pub(super) fn read(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let Some(id) = page.about.first().cloned().or_else(|| id_in(&page.url)) else {
        let found = "an address without a file's id (…/_MMDDYYYY-ID)";
        return Err(PageFault::new_unexpected(&page.url, "the agenda of a known meeting", found));
    };
    let elements = html.select("#divItems div.item");
    if elements.is_empty() && html.first("#divItems").is_none() {
        return Err(open::other_page(page, &html, "an agenda with #divItems"));
    }
    let mut reading = PageReading::default();
    reading.landmark("#divItems div.item", elements.len());
    let lines: Vec<Line<'_>> = elements.into_iter().map(|element| line(element, base)).collect();
    let mut meeting = VendorMeeting { has_agenda: true, ..VendorMeeting::new(id) };
    let mut sections: [Option<String>; 2] = [None, None];
    for (at, line) in lines.iter().enumerate() {
        let has_lines_below = lines.get(at + 1).is_some_and(|next| next.level > line.level);
        let place = usize::from(line.level.saturating_sub(1));
        for deeper in sections.iter_mut().skip(place) {
            *deeper = None;
        }
        // A heading is one because of what is below it; with files of its own it is an item too.
        if has_lines_below && let Some(section) = sections.get_mut(place) {
            *section = Some(line.title.clone());
            if line.files.is_empty() {
                continue;
            }
        }
        let section = sections.iter().take(place).flatten().cloned().collect::<Vec<_>>().join(" > ");
        item(line, section).append_to(&mut meeting.items);
    }
    meeting.packet_url = packet(&meeting.items);
    reading.meeting(meeting);
    Ok(reading)
}

/// `808` of `/AgendaCenter/ViewFile/Agenda/_11192020-808?html=true`.
fn id_in(url: &str) -> Option<String> {
    let file = url.split(['?', '#']).next()?.rsplit('/').next()?;
    let id = file.strip_prefix('_')?.split_once('-')?.1;
    id.chars().all(|c| c.is_ascii_digit()).then(|| id.to_owned())
}

fn line<'a>(element: Element<'a>, base: &str) -> Line<'a> {
    // Levels can be put into each other; what belongs to a deeper line is not this one's.
    let own = |selector: &str| {
        let found = element.select(selector).into_iter();
        found.filter(|found| found.closest("div.item") == Some(element)).collect::<Vec<_>>()
    };
    let first_text = |selector: &str| own(selector).first().map(Element::text).filter(|text| !text.is_empty());
    let level = (1..=3).find(|level| element.has_class(&format!("level{level}"))).unwrap_or(1);
    let mut files: Vec<Attachment> = Vec::new();
    for link in own(".documents a[href]") {
        let Some(url) = address::target(base, link) else { continue };
        if !files.iter().any(|known| known.url == url) {
            files.push(Attachment { name: link.text(), url, ..Attachment::default() });
        }
    }
    Line {
        level,
        element,
        number: first_text(".bullet span").or_else(|| first_text(".bullet")),
        title: first_text(".title").unwrap_or_default(),
        description: own(".desc").iter().flat_map(Element::lines).collect(),
        files,
    }
}

fn item(line: &Line<'_>, section: String) -> VendorItem {
    let says_what = line.description.first().filter(|_| line.title.is_empty() || COUNTS.is_match(&line.title));
    let title = says_what.unwrap_or(&line.title).clone();
    let mut item = VendorItem {
        vendor_item_id: line.element.attribute("id").filter(|id| !id.is_empty()).map(str::to_owned),
        title,
        agenda_number: line.number.as_ref().map(|number| number.trim_end_matches('.').to_owned()),
        body_text: Some(line.description.join("\n")).filter(|text| !text.is_empty()),
        attachments: line.files.clone(),
        ..VendorItem::default()
    };
    item.put_under(Some(section).filter(|section| !section.is_empty()));
    item
}

/// The file of an item named like "Agenda packet", when hardly any other item has files: then everything is in it.
fn packet(items: &[VendorItem]) -> Option<String> {
    let is_packet = |item: &VendorItem| item.title.to_lowercase().contains("agenda packet");
    let file = items.iter().find(|item| is_packet(item))?.attachments.first()?;
    let others = items.iter().filter(|item| !is_packet(item));
    let (with_files, all) =
        others.fold((0, 0), |(with, all), item| (with + usize::from(!item.attachments.is_empty()), all + 1));
    (with_files * 10 <= all * 3).then(|| file.url.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing;

    const URL: &str = "https://city.example.gov/AgendaCenter/ViewFile/Agenda/_03032026-11?html=true";

    fn page(lines: &str) -> FetchedPage {
        FetchedPage::from_kept(URL, format!("<html><body><div id=divItems>{lines}</div></body></html>"))
    }

    fn line(level: u8, number: &str, title: &str, rest: &str) -> String {
        format!(
            "<div class='item level{level}'><div class=bullet><span>{number}</span></div><div class=title>{title}</div>{rest}</div>"
        )
    }

    #[test]
    fn headings_are_sections_and_lines_are_items() {
        let lines = [
            line(1, "I.", "Call to Order", ""),
            line(1, "II.", "Consent Agenda", ""),
            line(2, "A.", "Consent A", "<div class=desc><p>Purchase of two trucks</p><p>$90,000</p></div>"),
            line(2, "B.", "Contracts", ""),
            line(
                3,
                "1.",
                "Bridge repair",
                "<div class=documents><a class=file href=/f/1>Bid</a><a class=file href=/f/1>Bid</a></div>",
            ),
            line(1, "III.", "Adjourn", ""),
        ]
        .concat();
        let read = read(&page(&lines), URL).unwrap();
        let meeting = &read.meetings[0];
        assert_eq!(meeting.vendor_id, "11");
        assert_eq!(
            testing::outline(&meeting.items),
            [
                ("I", "Call to Order", None),
                ("A", "Purchase of two trucks", Some("Consent Agenda")),
                ("1", "Bridge repair", Some("Consent Agenda > Contracts")),
                ("III", "Adjourn", None),
            ]
        );
        assert_eq!(meeting.items[1].body_text.as_deref(), Some("Purchase of two trucks\n$90,000"));
        assert_eq!(meeting.items[2].attachments.len(), 1, "each file once");
        assert_eq!(meeting.items[2].attachments[0].url, "https://city.example.gov/f/1");
        assert_eq!(meeting.items[1].is_consent, Some(true));
    }

    #[test]
    fn a_packet_with_everything_in_it_is_the_packet() {
        let packet = "<div class=documents><a class=file href=/f/9>Packet</a></div>";
        let lines =
            [line(1, "1", "Agenda Packet", packet), line(1, "2", "Minutes", ""), line(1, "3", "Budget", "")].concat();
        assert_eq!(
            read(&page(&lines), URL).unwrap().meetings[0].packet_url.as_deref(),
            Some("https://city.example.gov/f/9")
        );
    }

    #[test]
    fn another_page_is_told() {
        let mut other = page("");
        other.bytes = b"<html><title>Error</title><body>500</body></html>".to_vec();
        let said = read(&other, URL).unwrap_err().to_string();
        assert!(said.ends_with("expected an agenda with #divItems, found the page \"Error\""), "{said}");
    }
}
