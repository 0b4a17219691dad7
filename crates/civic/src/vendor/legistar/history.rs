//! One decision on Legistar's pages: the motion, and how each member voted.

use super::{
    Place,
    grid::{self, text_below},
};
use crate::vendor::{
    Ballot, FetchedPage, ItemVote, PageFault, PageReading, VendorItem, address, open, pattern::pattern,
};
use regex::Regex;
use std::sync::LazyLock;

/// `Votes (46:5)`, `Consent Votes (51:0)`.
static TALLY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(consent\s+)?votes?\s*\((\d+:\d+)\)"));

/// `about`: the meeting and the item that was decided on.
pub(super) fn read(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "the details of an action")?;
    let base = place.base(page);
    let labelled = |names: &[&str]| {
        let found = names.iter().find_map(|name| html.first(&format!("[id$=_{name}]")));
        found.map(|element| element.text()).filter(|text| !text.is_empty())
    };
    let mut vote = ItemVote {
        motion: labelled(&["lblAction", "lblActionText"]),
        result: labelled(&["lblResult"]),
        mover: labelled(&["hypMover", "lblMover"]),
        seconder: labelled(&["hypSeconder", "lblSeconder"]),
        ..ItemVote::default()
    };
    let text = html.root().text();
    let counted = TALLY.captures(&text);
    vote.tally = counted.as_ref().and_then(|found| found.get(2)).map(|tally| tally.as_str().to_owned());
    let is_consent = counted.and_then(|found| found.get(1)).map(|_| true);
    let grids = grid::grids(&html);
    let members = grids.iter().filter(|grid| grid.headers.iter().any(|header| header == "vote"));
    for cells in members.flat_map(|grid| grid.rows.iter().map(|row| grid.cells(row))) {
        // Members without a vote are listed too.
        let (Some(name), Some(how)) = (text_below(&cells, &["person name", "name"]), text_below(&cells, &["vote"]))
        else {
            continue;
        };
        let link = grid::cell_below(&cells, &["person name", "name"]).and_then(|cell| cell.first("a"));
        let person = link.and_then(|link| grid::target(&base, &link));
        let person_id = person.and_then(|url| address::value(&url, "ID"));
        vote.ballots.push(Ballot { name, vote: how, person_id });
    }
    let mut reading = PageReading::default();
    reading.landmark("ballots", vote.ballots.len());
    let (Some(meeting), Some(item)) = (page.about.first(), page.about.get(1)) else {
        reading.doubts.push(format!("{} does not say which item of which meeting it is about", page.url));
        return Ok(reading);
    };
    if vote != ItemVote::default() {
        let (vendor_item_id, votes) = (Some(item.clone()), vec![vote]);
        reading.item(meeting, VendorItem { vendor_item_id, is_consent, votes, ..VendorItem::default() });
    }
    Ok(reading)
}
