//! An agenda, or minutes, as HTML: containers in containers. The innermost are the items; those around them are
//! sections, and items too when they have documents or a motion of their own.

use crate::{
    html::{Element, Html},
    vendor::{
        Attachment, Ballot, FetchedPage, ItemVote, PageFault, PageReading, VendorItem, VendorMeeting, address, open,
        pattern::pattern,
    },
};
use regex::Regex;
use std::{iter, sync::LazyLock};

const CONTAINER: &str = "AgendaItemContainer";

static FILES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\b([A-Z]{2,10}-\d{4}-\d{4,6})\b",
        r"\b(\d{4}-[A-Z]{2,10}-\d{4,6}|\d{4,6}-\d{4}-[A-Z]{2,10})\b",
        r"\b((?:RES|ORD)-\d{4}-\d+)\b",
        r"(?i)\bFile\s*#\s*(\d{4}-\d+)\b",
        r"^\s*([A-Z]{1,8}-[\w-]*\d[\w-]*)\s*:",
    ]
    .map(pattern)
    .into()
});
static SECTION_LETTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-G]\.$"));

/// What the letters in front of a file's number stand for.
const TYPES: [(&str, &str); 13] = [
    ("BOA", "Board of Adjustment"),
    ("COA", "Certificate of Appropriateness"),
    ("RES", "Resolution"),
    ("ORD", "Ordinance"),
    ("PLANDEV", "Planned Development"),
    ("TC", "Text Change"),
    ("Z", "Zoning"),
    ("SP", "Site Plan"),
    ("SUP", "Special Use Permit"),
    ("AN", "Annexation"),
    ("AX", "Annexation"),
    ("CUP", "Conditional Use Permit"),
    ("VAR", "Variance"),
];

/// `about`: the meeting's id.
pub(super) fn read(root: &str, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let containers = html.select("div.AgendaItemContainer");
    let Some(id) = page.about.first().cloned().or_else(|| meeting_of(&html, page)) else {
        return Err(PageFault::new_unexpected(&page.url, "an agenda that names its meeting", "one without an id"));
    };
    if containers.is_empty() {
        return Err(open::other_page(page, &html, "an agenda with items"));
    }
    let root = format!("{root}/");
    let base = address::base_of(&page.url, &root);
    let mut reading = PageReading::default();
    reading.landmark("div.AgendaItemContainer", containers.len());
    let mut meeting = VendorMeeting::new(id);
    for container in &containers {
        let Some(item) = item(base, container) else { continue };
        if item.vendor_item_id.is_some()
            && meeting.items.iter().any(|known| known.vendor_item_id == item.vendor_item_id)
        {
            continue;
        }
        item.append_to(&mut meeting.items);
    }
    meeting.has_agenda = !meeting.items.is_empty();
    reading.meeting(meeting);
    Ok(reading)
}

fn meeting_of(html: &Html, page: &FetchedPage) -> Option<String> {
    let action = html.first("form[action*=Meeting.aspx]").and_then(|form| form.attribute("action"));
    let from = |url: &str| address::value(url, "Id").map(|id| id.to_lowercase());
    from(&page.url).or_else(|| action.and_then(from))
}

/// The container that an element belongs to.
fn container_of<'a>(element: &Element<'a>) -> Option<Element<'a>> {
    iter::successors(element.parent(), Element::parent).find(|around| around.has_class(CONTAINER))
}

fn item(base: &str, container: &Element<'_>) -> Option<VendorItem> {
    let below: Vec<Element<'_>> = container.descendants().collect();
    let has_children = below.iter().any(|element| element.has_class(CONTAINER));
    let own: Vec<Element<'_>> = below
        .into_iter()
        .filter(|element| !has_children || container_of(element).as_ref() == Some(container))
        .collect();
    let text_of = |class: &str| {
        let text = own.iter().find(|element| element.has_class(class)).map(Element::text);
        text.filter(|text| !text.is_empty())
    };
    let attachments = attachments(base, &own);
    let votes: Vec<ItemVote> = vote(&own).into_iter().collect();
    let number = text_of("AgendaItemCounter");
    let is_heading = has_children || number.as_deref().is_some_and(|number| SECTION_LETTER.is_match(number));
    if is_heading && attachments.is_empty() && votes.is_empty() {
        return None;
    }
    let title = text_of("AgendaItemTitle")?;
    let sections: Vec<String> = iter::successors(container_of(container), container_of).filter_map(heading).collect();
    let section = sections.into_iter().rev().collect::<Vec<_>>().join(" > ");
    let matter_file = FILES.iter().find_map(|pattern| Some(pattern.captures(&title)?.get(1)?.as_str().to_owned()));
    let kind = matter_file.as_deref().and_then(|file| {
        let (_, name) = TYPES.iter().find(|(letters, _)| file.split('-').any(|part| part == *letters))?;
        Some((*name).to_owned())
    });
    let mut item = VendorItem {
        vendor_item_id: item_id(&own),
        agenda_number: number,
        matter_file,
        matter_type: kind,
        body_text: text_of("AgendaItemContentRow").or_else(|| text_of("AgendaItemDescription")),
        attachments,
        votes,
        title,
        ..VendorItem::default()
    };
    item.put_under(Some(section).filter(|section| !section.is_empty()));
    Some(item)
}

/// The title of a section.
fn heading(container: Element<'_>) -> Option<String> {
    let title = container.descendants().find(|element| element.has_class("AgendaItemTitle"))?;
    (container_of(&title) == Some(container)).then(|| title.text()).filter(|text| !text.is_empty())
}

/// From `class="AgendaItem AgendaItem17"`, or `SelectItem(17)`.
fn item_id(own: &[Element<'_>]) -> Option<String> {
    let number = |text: &str| (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())).then(|| text.to_owned());
    own.iter().find_map(|element| {
        let classes = element.attribute("class").unwrap_or_default().split_ascii_whitespace();
        let by_class = classes.filter_map(|class| class.strip_prefix("AgendaItem")).find_map(number);
        by_class.or_else(|| {
            let called = element.attribute("href").or_else(|| element.attribute("onclick"))?;
            number(called.split_once("SelectItem(")?.1.split(')').next()?)
        })
    })
}

fn attachments(base: &str, own: &[Element<'_>]) -> Vec<Attachment> {
    let mut found: Vec<Attachment> = Vec::new();
    for link in own.iter().filter(|element| element.name() == "a") {
        let href = link.attribute("href").unwrap_or_default();
        if !href.to_ascii_lowercase().contains("filestream.ashx") {
            continue;
        }
        let (Some(url), Some(id)) = (address::absolute(base, href), address::value(href, "DocumentId")) else {
            continue;
        };
        if found.iter().any(|known| known.vendor_id.as_ref() == Some(&id)) {
            continue;
        }
        let told = || link.attribute("title").or_else(|| link.attribute("data-original-title")).map(str::to_owned);
        let name = Some(link.text()).filter(|text| !text.is_empty()).or_else(told);
        let name = name.unwrap_or_else(|| format!("Document {id}"));
        found.push(Attachment { name, url, vendor_id: Some(id), portal_url: None });
    }
    found
}

/// What minutes tell of a motion.
fn vote(own: &[Element<'_>]) -> Option<ItemVote> {
    let with = |class: &str| own.iter().find(|element| element.has_class(class));
    let value = |class: &str| {
        let element = with(class)?;
        let text = element.first(".Value").map_or_else(|| element.text(), |value| value.text());
        let text = text.trim_start_matches("Moved by").trim_start_matches("Seconded by").trim_start_matches(':').trim();
        Some(text.to_owned()).filter(|text| !text.is_empty())
    };
    let mut vote = ItemVote {
        motion: value("MotionText"),
        result: value("MotionResult"),
        mover: value("MovedBy"),
        seconder: value("SecondedBy"),
        ..ItemVote::default()
    };
    for row in with("MotionVoters").map(|table| table.select("tr")).unwrap_or_default() {
        let (Some(label), Some(names)) = (row.first(".VoterVote"), row.first(".VotesUsers")) else { continue };
        // `For (5)`.
        let how = label.text().split('(').next().unwrap_or_default().trim().trim_end_matches(':').to_owned();
        let names = names.text();
        let ballots = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let ballot = |name: &str| Ballot { name: name.to_owned(), vote: how.clone(), person_id: None };
        vote.ballots.extend(ballots.map(|name| ballot(name.trim_start_matches("and ").trim())));
    }
    (vote != ItemVote::default()).then_some(vote)
}
