//! Matters on Legistar's pages: the page of one, and the results of a search.

use super::{
    Place,
    grid::{self, cell_below, text_below},
    postback,
};
use crate::{
    dates,
    html::{Element, Html},
    vendor::{Attachment, FetchedPage, MatterAction, PageFault, PageReading, VendorItem, VendorMatter, address, open},
};
use serde_json::Value;

/// The page of one matter. `about`: the meeting and the item that it belongs to.
pub(super) fn detail(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a matter's page")?;
    let base = place.base(page);
    let words = |name: &str| {
        let found = html.first(&format!("[id$=_{name}]"));
        found.map(|element| element.text()).filter(|text| !text.is_empty())
    };
    // Labels are named `lblFile`, what stands behind them `lblFile2`.
    let labelled = |name: &str| words(&format!("{name}2"));
    let action = html.first("form#aspnetForm").and_then(|form| form.attribute("action")).unwrap_or_default();
    let mut reading = PageReading::default();
    let attachments = attachments(&html, &base);
    reading.landmark("attachments", attachments.len());
    let matter = VendorMatter {
        matter_id: address::value(&page.url, "ID").or_else(|| address::value(action, "ID")),
        matter_file: labelled("lblFile"),
        matter_type: labelled("lblType"),
        status: labelled("lblStatus"),
        title: labelled("lblTitle").or_else(|| labelled("lblName")),
        body: labelled("hypInControlOf").or_else(|| words("hypInControl")),
        introduced: labelled("lblIntroduced").and_then(|text| dates::date(&text)),
        decided: labelled("lblPassed").and_then(|text| dates::date(&text)),
        sponsors: sponsors(&html, labelled("lblSponsors").as_deref()),
        url: Some(page.url.clone()).filter(|url| url.starts_with("http")),
        attachments,
        actions: actions(&html, &base),
        ..VendorMatter::default()
    };
    if matter.matter_file.is_none() && matter.title.is_none() && matter.attachments.is_empty() {
        return Err(open::other_page(page, &html, "a matter's page"));
    }
    if let (Some(meeting), Some(item)) = (page.about.first(), page.about.get(1)) {
        let piece = VendorItem {
            vendor_item_id: Some(item.clone()),
            matter_file: matter.matter_file.clone(),
            matter_type: matter.matter_type.clone(),
            matter_status: matter.status.clone(),
            sponsors: matter.sponsors.clone(),
            body_text: words("divText"),
            attachments: matter.attachments.clone(),
            ..VendorItem::default()
        };
        reading.item(meeting, piece);
    }
    reading.matters.push(matter);
    Ok(reading)
}

/// What was done with the matter, oldest first.
fn actions(html: &Html, base: &str) -> Vec<MatterAction> {
    let grids = grid::grids(html);
    let Some(grid) = grids.iter().find(|grid| grid.headers.iter().any(|header| header == "action by")) else {
        return Vec::new();
    };
    let mut actions: Vec<MatterAction> = Vec::new();
    for row in &grid.rows {
        let cells = grid.cells(row);
        let meeting = cell_below(&cells, &["meeting details"]).and_then(|cell| cell.first("a"));
        let meeting = meeting.and_then(|link| grid::target(base, &link));
        actions.push(MatterAction {
            date: text_below(&cells, &["date"]).and_then(|text| dates::date(&text)),
            body: text_below(&cells, &["action by"]),
            action: text_below(&cells, &["action"]),
            result: text_below(&cells, &["result"]),
            meeting_id: meeting.as_deref().and_then(|url| address::value(url, "ID")),
            ..MatterAction::default()
        });
    }
    actions.sort_by_key(|action| action.date);
    actions
}

fn attachments(html: &Html, base: &str) -> Vec<Attachment> {
    let table = html.first("[id$=_tblAttachments]");
    let span = table.and_then(|table| table.first("[id$=_lblAttachments2]")).or(table);
    let links = if let Some(place) = span.or_else(|| html.first("[id$=_lblAttachments2]")) {
        place.select("a")
    } else {
        // Elsewhere they stand near the word.
        let near = |link: &Element<'_>| {
            let row = link.closest("tr, div");
            row.is_some_and(|row| row.text().to_lowercase().contains("attachments"))
        };
        html.select("a[href*=View.ashx]").into_iter().filter(near).collect()
    };
    let mut found: Vec<Attachment> = Vec::new();
    for link in links {
        let Some(url) = grid::target(base, &link) else { continue };
        if !found.iter().any(|known| known.url == url) {
            let vendor_id = address::value(&url, "ID");
            found.push(Attachment { name: link.text(), url, vendor_id, portal_url: None });
        }
    }
    found
}

fn sponsors(html: &Html, text: Option<&str>) -> Vec<String> {
    let linked = html.first("[id$=_lblSponsors2]").map(|list| list.select("a")).unwrap_or_default();
    if !linked.is_empty() {
        return linked.iter().map(Element::text).filter(|name| !name.is_empty()).collect();
    }
    let names = text.unwrap_or_default().split(',').map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// The results of a search.
pub(super) fn list(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a list of matters")?;
    let base = place.base(page);
    let grids = grid::grids(&html);
    let Some(grid) = grids.iter().find(|grid| grid.headers.iter().any(|header| header == "file #")) else {
        return Err(open::other_page(page, &html, "a grid with the column File #"));
    };
    let mut reading = PageReading::default();
    reading.landmark("tr.rgRow, tr.rgAltRow", grid.rows.len());
    for (at, row) in grid.rows.iter().enumerate() {
        let cells = grid.cells(row);
        match matter(&base, &cells) {
            Some(matter) => reading.matters.push(matter),
            None => reading.doubts.push(format!("row {} of the list names no file", at + 1)),
        }
    }
    reading.follow.extend(postback::next_page(&html, page, "gridMain"));
    Ok(reading)
}

fn matter(base: &str, cells: &[(&str, Element<'_>)]) -> Option<VendorMatter> {
    const KNOWN: [&str; 12] = [
        "file #",
        "type",
        "status",
        "title",
        "name",
        "committee",
        "in control",
        "prime sponsor",
        "file created",
        "introduced",
        "final action",
        "on agenda",
    ];
    let text = |names: &[&str]| text_below(cells, names);
    let date = |names: &[&str]| text_below(cells, names).and_then(|text| dates::date(&text));
    let matter_file = text(&["file #"])?;
    let url =
        cell_below(cells, &["file #"]).and_then(|cell| cell.first("a")).and_then(|link| grid::target(base, &link));
    let besides = cells.iter().filter(|(header, _)| !header.is_empty() && !KNOWN.contains(header));
    let raw = besides.map(|(header, cell)| ((*header).to_owned(), cell.text())).filter(|(_, text)| !text.is_empty());
    Some(VendorMatter {
        matter_id: url.as_deref().and_then(|url| address::value(url, "ID")),
        matter_file: Some(matter_file),
        matter_type: text(&["type"]),
        status: text(&["status"]),
        title: text(&["title"]).or_else(|| text(&["name"])),
        body: text(&["committee", "in control"]),
        introduced: date(&["file created", "introduced"]),
        decided: date(&["final action"]),
        sponsors: text(&["prime sponsor"]).into_iter().collect(),
        url,
        raw: raw.map(|(header, text)| (header, Value::String(text))).collect(),
        ..VendorMatter::default()
    })
}
