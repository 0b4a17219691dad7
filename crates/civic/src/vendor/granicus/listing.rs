//! Lists of meetings, in whatever markup a city has chosen for them.
//!
//! What all of them share are the links: each carries the number of its meeting. So the links are looked for first, and
//! the row is what stands around them: the table row, or the smallest block with a date. Rows of tables with a title and
//! a date but no link (meetings to come, without an agenda yet) count too.

use super::{DOMAIN, agenda_request, hour_in, mark_as_the_same, meeting_id};
use crate::{
    dates,
    html::{Element, Html},
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Site, VendorMeeting, Window, address, fallback_id,
        model::Start, open, pattern::pattern,
    },
};
use jiff::Timestamp;
use regex::Regex;
use std::{collections::HashMap, sync::LazyLock};

static STAMP: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(\d{10})(?:\D|$)"));
static DURATION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\d{1,2}\s*(?:h|hr|hrs|hours?)\.?\s*\d{1,2}\s*(?:m|min|mins|minutes?)\.?$"));
/// `Board of Directors (following Committee meetings)`
static FOLLOWING: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\(((?:immediately\s+)?following\b[^)]*)\)"));
/// The address in `window.open('//city.granicus.com/MediaPlayer.php?…','player',…)`.
static IN_QUOTES: LazyLock<Regex> = LazyLock::new(|| pattern(r#"['"]([^'"]*(?:clip|event)_id=[^'"]*)['"]"#));

/// A row, and what it links to.
struct Row<'a> {
    id: Option<String>,
    element: Element<'a>,
}

pub(super) fn read(site: &Site, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a list of meetings")?;
    let base = address::base(page, site, DOMAIN);
    let mut reading = PageReading::default();
    let rows = rows(&html, &mut reading);
    let body = page.about.get(1);
    for row in &rows {
        let Some(mut meeting) = meeting(site, row, &base, &mut reading.doubts) else { continue };
        meeting.body = body.cloned();
        if let Some(view) = page.about.first() {
            meeting.raw.insert("view_id".into(), view.as_str().into());
        }
        mark_as_the_same(&mut meeting);
        reading.meeting(meeting);
    }
    if reading.meetings.is_empty() && !is_empty_listing(&page.text()) {
        return Err(open::other_page(page, &html, "a list of meetings"));
    }
    reading.follow = reading.meetings.iter().filter_map(|meeting| agenda_request(window, meeting)).collect();
    Ok(reading)
}

/// A page of the vendor's that just has no meetings to show.
fn is_empty_listing(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("granicus")
        && ["listingtable", "no upcoming events", "archive"].iter().any(|word| text.contains(word))
}

/// The rows, each once for each meeting that it speaks of.
fn rows<'a>(html: &'a Html, reading: &mut PageReading) -> Vec<Row<'a>> {
    let (mut rows, mut links, mut by_id) = (Vec::<Row<'a>>::new(), 0, HashMap::<String, Vec<usize>>::new());
    let (mut table_rows, mut row_end) = (0, None::<Element<'a>>);
    for element in html.root().descendants() {
        match element.name() {
            "tr" if is_listing_row(element) => {
                table_rows += 1;
                row_end = Some(element);
                if element.descendants().all(|inner| link_id(inner).is_none()) {
                    rows.push(Row { id: None, element });
                }
            }
            "a" | "option" | "button" => {
                let Some(id) = link_id(element) else { continue };
                links += 1;
                let around = row_end.filter(|row| row.first("td").is_some() && is_around(*row, element));
                // An event that has become a clip can have links under both numbers in one row.
                let last = rows.last_mut().filter(|last| around.is_some_and(|row| row == last.element));
                if let Some(last) = last.filter(|last| last.id.as_ref() != Some(&id)) {
                    let known = last.id.get_or_insert_with(|| id.clone());
                    if known.starts_with("event:") && id.starts_with("clip:") {
                        *known = id;
                    }
                    continue;
                }
                let same = by_id.entry(id.clone()).or_default();
                let is_known = |at: &usize| rows.get(*at).is_some_and(|row| is_around(row.element, element));
                if same.iter().any(is_known) {
                    continue;
                }
                if let Some(element) = around.or_else(|| row_around(element, &id)) {
                    same.push(rows.len());
                    rows.push(Row { id: Some(id), element });
                }
            }
            _ => {}
        }
    }
    reading.landmark("links with the number of a meeting", links);
    reading.landmark("rows of listing tables", table_rows);
    rows
}

fn is_around(outer: Element<'_>, inner: Element<'_>) -> bool {
    std::iter::successors(Some(inner), Element::parent).any(|element| element == outer)
}

/// A row that by its class, or that of its table, lists a meeting.
fn is_listing_row(row: Element<'_>) -> bool {
    ["listingRow", "odd", "even", "shade", "noshade"].iter().any(|class| row.has_class(class))
        || row.closest("table").is_some_and(|table| table.has_class("listingTable"))
}

/// The row that a link stands in: the table row, or the smallest block that has a date besides its links. It speaks of
/// no other meeting.
fn row_around<'a>(link: Element<'a>, id: &str) -> Option<Element<'a>> {
    let alone = |element: &Element<'a>| element.descendants().filter_map(link_id).all(|other| other == id);
    let mut around = std::iter::successors(link.parent(), Element::parent);
    let mut blocks = Vec::new();
    for element in around.by_ref() {
        if matches!(element.name(), "body" | "html" | "" | "tbody" | "table") || !alone(&element) {
            break;
        }
        if element.name() == "tr" {
            return Some(element);
        }
        blocks.push(element);
    }
    let has_date = |element: &Element<'a>| lines_beside_links(*element).iter().any(|line| dates::date(line).is_some());
    // Without a date the meeting is still there: its largest block says what it can.
    blocks.iter().copied().find(has_date).or_else(|| blocks.last().copied())
}

/// The number of the meeting that a link leads to.
fn link_id(element: Element<'_>) -> Option<String> {
    address_of(element).and_then(|address| meeting_id(&address))
}

/// Where a link leads, also if a script opens it.
fn address_of(element: Element<'_>) -> Option<String> {
    let value = |name: &str| element.attribute(name).filter(|value| !value.is_empty());
    match element.name() {
        "option" => value("value").map(str::to_owned),
        "a" | "button" => {
            let href = value("href").filter(|href| !href.starts_with("javascript:") && !href.starts_with('#'));
            href.map(str::to_owned).or_else(|| {
                let script = value("onclick").or_else(|| value("href"))?;
                IN_QUOTES.captures(script)?.get(1).map(|found| found.as_str().to_owned())
            })
        }
        _ => None,
    }
}

fn meeting(site: &Site, row: &Row<'_>, base: &str, doubts: &mut Vec<String>) -> Option<VendorMeeting> {
    let said = Said::from_row(row.element);
    let start = said.when.as_deref().and_then(|when| start(site, when));
    let vendor_id = match (&row.id, &said.title, &start) {
        (Some(id), ..) => id.clone(),
        (None, Some(title), Some(start)) => fallback_id(title, Some(start.date)),
        // The heading of a table, or a row that says that there is nothing.
        (None, ..) => return None,
    };
    let mut meeting = VendorMeeting::new(vendor_id);
    meeting.start = start.map(|start| {
        let title = said.title.as_deref().unwrap_or_default();
        let note = || FOLLOWING.captures(title)?.get(1).map(|note| note.as_str().to_owned());
        Start { date: start.date, time: start.time.or_else(|| hour_in(title)), note: start.note.or_else(note) }
    });
    meeting.title = said.title.or_else(|| panel_title(row.element));
    if meeting.start.is_none() {
        let when = said.when.map_or_else(|| "no date".to_owned(), |when| format!("the date \"{when}\""));
        doubts.push(format!("{} (\"{}\") has {when}", meeting.vendor_id, meeting.title.as_deref().unwrap_or_default()));
    }
    if let Some(duration) = said.duration {
        meeting.raw.insert("duration".into(), duration.into());
    }
    meeting.status = status::find(&[&row.element.text()]);
    documents(row.element, base, &mut meeting);
    Some(meeting)
}

/// What a row says in words.
#[derive(Default)]
struct Said {
    title: Option<String>,
    when: Option<String>,
    duration: Option<String>,
}

impl Said {
    fn from_row(row: Element<'_>) -> Self {
        let cells: Vec<Element<'_>> = row.children().filter(|cell| matches!(cell.name(), "td" | "th")).collect();
        if row.name() == "tr" && cells.len() > 1 { Self::in_cells(&cells) } else { Self::in_lines(row) }
    }

    fn in_cells(cells: &[Element<'_>]) -> Self {
        let texts: Vec<String> = cells.iter().map(Element::text).collect();
        let links =
            |at: usize| cells.get(at).is_some_and(|cell| cell.descendants().any(|inner| link_id(inner).is_some()));
        let when = texts.iter().position(|text| is_just_a_date(text)).or_else(|| {
            texts.iter().enumerate().position(|(at, text)| at > 0 && !links(at) && dates::date(text).is_some())
        });
        let when = when.or_else(|| texts.iter().position(|text| STAMP.is_match(text)));
        let duration = texts.iter().position(|text| DURATION.is_match(text));
        let is_free = |at: usize| Some(at) != when && Some(at) != duration;
        let named = cells.iter().position(|cell| {
            let headers = cell.attribute("headers").unwrap_or_default();
            cell.has_class("name") || headers.ends_with("Name")
        });
        let has_words = |at: &usize| texts.get(*at).is_some_and(|text| text.chars().any(char::is_alphabetic));
        let title = named.filter(|at| is_free(*at) && has_words(at)).or_else(|| {
            let plain = (0..texts.len()).find(|at| is_free(*at) && has_words(at) && !links(*at));
            plain.filter(|at| when.is_none_or(|when| *at <= when + 1)).or_else(|| {
                let is_label = |text: &String| {
                    ["agenda", "minutes", "video", "audio"].iter().any(|label| text.to_lowercase().starts_with(label))
                };
                (0..texts.len()).find(|at| is_free(*at) && has_words(at) && !texts.get(*at).is_some_and(is_label))
            })
        });
        let text = |at: Option<usize>| at.and_then(|at| texts.get(at)).cloned();
        Self { title: text(title), when: text(when), duration: text(duration) }
    }

    fn in_lines(row: Element<'_>) -> Self {
        let mut said = Self::default();
        let lines = lines_beside_links(row);
        let when = lines.iter().position(|line| is_just_a_date(line));
        let when = when.or_else(|| lines.iter().position(|line| dates::date(line).is_some()));
        said.when = when.and_then(|at| lines.get(at)).cloned();
        for (at, line) in lines.into_iter().enumerate() {
            if DURATION.is_match(&line) {
                said.duration.get_or_insert(line);
            } else if Some(at) != when && line.chars().any(char::is_alphabetic) {
                said.title.get_or_insert(line);
            }
        }
        // One line with both, e.g. `City Council - March 3, 2022`: what is in front of the date.
        if said.title.is_none() {
            let both = said.when.as_deref().unwrap_or_default();
            let front = both.split(" - ").next().unwrap_or_default().trim();
            if dates::date(front).is_none() && front.chars().any(char::is_alphabetic) {
                said.title = Some(front.to_owned());
            }
        }
        said
    }
}

/// The lines of a block that are not just the words of a link.
fn lines_beside_links(block: Element<'_>) -> Vec<String> {
    let links: Vec<String> = block.select("a, option").iter().map(Element::text).collect();
    let mut lines = block.lines();
    lines.retain(|line| !links.contains(line));
    lines
}

/// The text is a date, perhaps with an hour, and nothing else.
fn is_just_a_date(text: &str) -> bool {
    const NAMES: [&str; 19] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let known = |word: &str| {
        let word = word.to_lowercase();
        word.len() <= 2 || word == "noon" || (word.len() >= 3 && NAMES.iter().any(|name| name.starts_with(&word)))
    };
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.into_iter().all(known) && dates::date(without_stamp(text)).is_some()
}

/// Some cells begin with a hidden number of seconds, to be sorted by.
fn without_stamp(text: &str) -> &str {
    let digits = STAMP.captures(text).and_then(|found| found.get(1));
    digits.and_then(|digits| text.get(digits.end()..)).unwrap_or(text)
}

fn start(site: &Site, when: &str) -> Option<Start> {
    dates::start(without_stamp(when)).or_else(|| {
        let seconds = STAMP.captures(when)?.get(1)?.as_str().parse().ok()?;
        Some(Start::at(Timestamp::from_second(seconds).ok()?, &site.zone).without_midnight())
    })
}

/// The tab of the panel that a row without a title is folded into.
fn panel_title(row: Element<'_>) -> Option<String> {
    let panel = row.closest(".CollapsiblePanelContent")?;
    let before = panel.parent()?.children().take_while(|child| *child != panel);
    let tab = before.filter(|child| child.has_class("CollapsiblePanelTab")).last()?;
    Some(tab.text()).filter(|text| !text.is_empty())
}

/// What a row links to, each by its kind.
fn documents(row: Element<'_>, base: &str, meeting: &mut VendorMeeting) {
    for element in row.descendants() {
        let Some(found) = address_of(element).and_then(|address| address::absolute(base, &address)) else { continue };
        let lower = found.to_lowercase();
        let is = |word: &str| lower.contains(word);
        if is("agendaviewer.php") {
            // It counts before a bare file, which may come first.
            if !meeting.agenda_url.as_deref().is_some_and(|known| known.contains("AgendaViewer.php")) {
                meeting.agenda_url = Some(found);
            }
        } else if is("minutesviewer.php") {
            meeting.minutes_url.get_or_insert(found);
        } else if is("mediaplayer.php") || is("/player/") {
            meeting.video_url.get_or_insert(found);
        } else if is(".mp4") || is(".mp3") {
            let kind = if is(".mp4") { "mp4_url" } else { "mp3_url" };
            meeting.raw.entry(kind).or_insert(found.into());
        } else if super::outline::is_document(&found) {
            let cell = element.closest("td").and_then(|cell| cell.attribute("headers")).unwrap_or_default();
            let name = element.text();
            let told = format!("{name} {cell}").to_lowercase();
            if told.contains("minutes") {
                meeting.minutes_url.get_or_insert(found);
            } else if told.contains("packet") {
                meeting.packet_url.get_or_insert(found);
            } else if told.contains("agenda") && meeting.agenda_url.is_none() {
                meeting.agenda_url = Some(found);
            } else {
                meeting.attach(Attachment { name, url: found, ..Attachment::default() });
            }
        }
    }
}
