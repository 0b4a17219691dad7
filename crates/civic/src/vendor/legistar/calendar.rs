//! The calendar page: one grid, or one of upcoming meetings and one of all. A body's own page has the same grid, without
//! a column for the body, and a grid of its members.

use super::{
    Place, besides,
    grid::{self, Grid},
    postback, rows,
};
use crate::{
    html::{Element, Html},
    vendor::{FetchedPage, PageFault, PageReading, Window, open},
};

pub(super) fn read(place: &Place, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a calendar")?;
    let base = place.base(page);
    let grids = grid::grids(&html);
    let calendars: Vec<&Grid<'_>> = grids.iter().filter(|grid| is_calendar(grid)).collect();
    if calendars.is_empty() {
        return Err(open::other_page(page, &html, "a grid of meetings"));
    }
    let body = body_of_page(&html);
    let mut reading = PageReading::default();
    reading.landmark("table.rgMasterTable", calendars.len());
    reading.landmark("tr.rgRow, tr.rgAltRow", calendars.iter().map(|grid| grid.rows.len()).sum());
    for grid in &calendars {
        for row in &grid.rows {
            let cells: Vec<rows::Cell> =
                grid.cells(row).iter().map(|(header, cell)| cell_of(&base, header, cell)).collect();
            // "No records to display." fills a row of its own.
            if cells.len() < 3 {
                continue;
            }
            if let Some(meeting) = rows::meeting(&cells, body.as_deref(), &mut reading.doubts) {
                reading.meeting(meeting);
            }
        }
    }
    reading.people = besides::people_of(&base, &grids, body.as_deref());
    rows::follow(&mut reading, window);
    reading.follow.extend(postback::years(&html, window, page));
    reading.follow.extend(postback::next_page(&html, page, "gridCalendar"));
    Ok(reading)
}

fn is_calendar(grid: &Grid<'_>) -> bool {
    let named = grid.id.contains("gridCalendar") || grid.id.contains("gridUpcoming");
    named || grid.headers.iter().any(|header| header == "meeting date")
}

/// A body's own page is named `County - Body`.
fn body_of_page(html: &Html) -> Option<String> {
    let form = html.first("form#aspnetForm")?.attribute("action")?;
    if !form.contains("DepartmentDetail.aspx") {
        return None;
    }
    let title = html.first("title")?.text();
    Some(title.split_once(" - ").map_or(title.clone(), |(_, body)| body.to_owned())).filter(|body| !body.is_empty())
}

fn cell_of(base: &str, header: &str, cell: &Element<'_>) -> rows::Cell {
    let below: Vec<Element<'_>> = cell.descendants().collect();
    let small: Vec<String> = below.iter().filter(|element| element.name() == "em").flat_map(Element::lines).collect();
    let text = if small.is_empty() {
        cell.text()
    } else {
        cell.lines().into_iter().filter(|line| !small.contains(line)).collect::<Vec<_>>().join(" ")
    };
    let links = below.iter().filter(|element| element.name() == "a").filter_map(|link| {
        let id = link.attribute("id").unwrap_or_default();
        let role = id.rsplit_once("_hyp").map_or("", |(_, role)| role).to_owned();
        Some(rows::Link { label: link.text(), url: grid::target(base, link)?, role })
    });
    let note = Some(small.join(" ")).filter(|note| !note.is_empty());
    rows::Cell { header: header.to_owned(), text, note, links: links.collect() }
}
