//! The page of a file: who brought it in, its documents, its text, and how each meeting voted on it.
//!
//! A file goes through several meetings. The votes of one meeting are those below its own heading in the history.

use super::{detail::attachment, file_number};
use crate::{
    html::{Element, Html},
    vendor::{Ballot, FetchedPage, ItemVote, PageFault, PageReading, VendorItem, address, open},
};

pub(super) fn read(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "the page of a file")?;
    let Some(info) = html.first("table#tblLegiFileInfo") else {
        return Err(open::other_page(page, &html, "the page of a file (table#tblLegiFileInfo)"));
    };
    let known = |at: usize, name: &str| {
        page.about.get(at).map(String::as_str).or_else(|| address::parameter(&page.url, name)).map(str::to_owned)
    };
    let (meeting_id, file_id) = (known(0, "MeetingID"), known(1, "ID"));
    let mut item = VendorItem { vendor_item_id: file_id.clone(), matter_id: file_id, ..VendorItem::default() };
    information(info, &mut item);
    headings(&html, &mut item);
    for link in html.select("a[href*='FileOpen.aspx']") {
        if let Some(document) = attachment(link, base) {
            item.attach(document);
        }
    }
    let body = html.first("#divBody .LegiFileSectionContents").map(|body| body.lines().join("\n"));
    item.body_text = body.filter(|body| !body.is_empty());
    let records = html.select("table.VoteRecord");
    let mut reading = PageReading::default();
    reading.landmark("table.VoteRecord", records.len());
    item.votes = votes(&html, meeting_id.as_deref());
    let Some(meeting_id) = meeting_id.or_else(|| last_meeting(&html)) else {
        return Err(PageFault::new_unexpected(&page.url, "the number of a meeting", "a file of no known meeting"));
    };
    reading.item(&meeting_id, item);
    Ok(reading)
}

/// The pairs of label and value.
fn information(table: Element<'_>, item: &mut VendorItem) {
    let mut label = None;
    for cell in table.descendants().filter(|cell| matches!(cell.name(), "th" | "td")) {
        let text = cell.text();
        let is_label = cell.name() == "th" || (label.is_none() && text.ends_with(':'));
        if is_label {
            label = Some(text.trim_end_matches(':').trim().to_lowercase());
            continue;
        }
        let Some(name) = label.take() else { continue };
        if text.is_empty() {
            continue;
        }
        match name.as_str() {
            "category" => item.matter_type = Some(text),
            "sponsors" | "sponsor" => item.sponsors = names_in(&text),
            _ => {
                item.raw.insert(name, text.into());
            }
        }
    }
}

/// Number, type, status and title above the table.
fn headings(html: &Html, item: &mut VendorItem) {
    let text = |end: &str| {
        let found = html.first(&format!("[id$={end}]")).map(|element| element.text());
        found.filter(|text| !text.is_empty())
    };
    if let Some(number) = text("lblResNum") {
        item.matter_file = file_number(&number).or(Some(number));
    }
    let kind = text("lblLegiFileType");
    if let Some(kind) = &kind {
        item.raw.insert("file_type".into(), kind.as_str().into());
    }
    item.matter_type = item.matter_type.take().or(kind);
    item.matter_status = text("lblStatus");
    if let Some(title) = text("lblLegiFileTitle") {
        item.raw.insert("file_title".into(), title.into());
    }
}

/// The votes of a meeting; those of all meetings when it is not known.
fn votes(html: &Html, meeting: Option<&str>) -> Vec<ItemVote> {
    let Some(history) = html.first("table.MeetingHistory") else {
        return html.select("table.VoteRecord").into_iter().filter_map(vote).collect();
    };
    let (mut votes, mut at) = (Vec::new(), None);
    for element in history.descendants() {
        if element.has_class("HistorySection") {
            at = meeting_of(element);
        } else if element.name() == "table" && element.has_class("VoteRecord") {
            let is_other = meeting.is_some_and(|meeting| at.is_some_and(|at| at != meeting));
            votes.extend(vote(element).filter(|_| !is_other));
        }
    }
    votes
}

fn meeting_of(heading: Element<'_>) -> Option<&str> {
    let link = heading.first("a[href*='Detail_Meeting.aspx']")?;
    address::parameter(link.attribute("href")?, "ID")
}

fn last_meeting(html: &Html) -> Option<String> {
    html.select(".HistorySection").into_iter().rev().find_map(meeting_of).map(str::to_owned)
}

fn vote(table: Element<'_>) -> Option<ItemVote> {
    let mut vote = ItemVote::default();
    for row in table.select("tr") {
        let cells: Vec<String> = row.children().map(|cell| cell.text()).collect();
        let [label, value, ..] = cells.as_slice() else { continue };
        let label = label.trim_end_matches(':').trim();
        match label.to_uppercase().as_str() {
            "RESULT" => {
                let (result, tally) = value.split_once('[').unwrap_or((value, ""));
                vote.result = Some(result.trim().to_owned()).filter(|result| !result.is_empty());
                vote.tally = Some(tally.trim_end_matches(']').trim().to_owned()).filter(|tally| !tally.is_empty());
            }
            "MOVER" => vote.mover = person(value),
            "SECONDER" => vote.seconder = person(value),
            "" | "VOTE" | "MOTION" => {}
            _ => {
                let ballots = names_in(value).into_iter();
                vote.ballots.extend(ballots.map(|name| Ballot { name, vote: label.to_owned(), person_id: None }));
            }
        }
    }
    (vote.result.is_some() || !vote.ballots.is_empty()).then_some(vote)
}

/// A name in front of the person's office: `Jane Roe, Council Member`.
fn person(text: &str) -> Option<String> {
    let name = text.split(',').next().unwrap_or_default().trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn names_in(text: &str) -> Vec<String> {
    let names = text.split([',', ';']).map(str::trim);
    names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("none")).map(str::to_owned).collect()
}
