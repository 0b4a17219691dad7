//! What Legistar tells besides meetings: matters and their histories, index words, and who sits on which body.

use super::{
    LARGEST_ANSWER, Place, api,
    grid::{self, Grid, cell_below, text_below},
};
use crate::{
    dates,
    vendor::{
        FetchedPage, MatterAction, PageFault, PageReading, VendorMatter, VendorPerson, Window, address, json, open,
    },
};
use jiff::civil::Date;
use serde_json::Value;

fn day(record: &Value, field: &str) -> Option<Date> {
    json::text(record, field).and_then(|text| dates::date(&text))
}

pub(super) fn matters(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    const READ: [&str; 10] = [
        "MatterId",
        "MatterFile",
        "MatterTypeName",
        "MatterStatusName",
        "MatterTitle",
        "MatterBodyName",
        "MatterIntroDate",
        "MatterPassedDate",
        "MatterRowVersion",
        "MatterLastModifiedUtc",
    ];
    let records = api::records(page)?;
    let mut reading = PageReading::default();
    reading.landmark("MatterId", records.len());
    for record in &records {
        let id = json::text(record, "MatterId");
        let url = id.as_ref().map(|id| format!("{}/gateway.aspx?m=l&id=/matter.aspx?key={id}", place.pages));
        reading.matters.push(VendorMatter {
            matter_id: id,
            matter_file: json::text(record, "MatterFile"),
            matter_type: json::text(record, "MatterTypeName"),
            status: json::text(record, "MatterStatusName"),
            title: json::plain(record, "MatterTitle").or_else(|| json::plain(record, "MatterName")),
            body: json::text(record, "MatterBodyName"),
            introduced: day(record, "MatterIntroDate"),
            decided: day(record, "MatterPassedDate"),
            url,
            raw: json::besides(record, &READ),
            ..VendorMatter::default()
        });
    }
    Ok(reading)
}

/// What was done with one matter. `about`: its id. An action stands twice in the list when the agenda has a row for it
/// and the minutes have another; it is one action.
pub(super) fn histories(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = api::records(page)?;
    let mut reading = PageReading::default();
    reading.landmark("MatterHistoryId", records.len());
    let mut actions: Vec<(MatterAction, &Value)> = Vec::new();
    for record in &records {
        let field = |name: &str| json::plain(record, name);
        let action = MatterAction {
            date: day(record, "MatterHistoryActionDate"),
            body: field("MatterHistoryActionBodyName"),
            action: field("MatterHistoryActionName"),
            text: field("MatterHistoryActionText"),
            result: field("MatterHistoryPassedFlagName"),
            meeting_id: field("MatterHistoryEventId"),
            item_id: field("MatterHistoryId"),
        };
        let twin = actions.iter_mut().find(|(known, other)| {
            let same = known.meeting_id.is_some()
                && (&known.meeting_id, &known.action, &known.date)
                    == (&action.meeting_id, &action.action, &action.date);
            same && halves(other, record)
        });
        match twin {
            Some((known, _)) => {
                known.text = known.text.take().or(action.text);
                known.result = known.result.take().or(action.result);
            }
            None => actions.push((action, record)),
        }
    }
    actions.sort_by_key(|(action, _)| action.date);
    let from_address = page.url.split("/Matters/").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
    reading.matters.push(VendorMatter {
        matter_id: page.about.first().cloned().or(from_address),
        actions: actions.into_iter().map(|(action, _)| action).collect(),
        ..VendorMatter::default()
    });
    Ok(reading)
}

/// One is on the agenda only, the other in the minutes only.
fn halves(one: &Value, other: &Value) -> bool {
    let agenda = |record: &Value| json::number(record, "MatterHistoryAgendaSequence").is_some();
    let minutes = |record: &Value| json::number(record, "MatterHistoryMinutesSequence").is_some();
    let only = |first: &Value, second: &Value| agenda(first) && !minutes(first) && !agenda(second) && minutes(second);
    only(one, other) || only(other, one)
}

pub(super) fn matter_indexes(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = api::records(page)?;
    let mut reading = PageReading::default();
    reading.landmark("MatterIndexId", records.len());
    for record in &records {
        let (id, Some(name)) = (json::text(record, "MatterIndexMatterId"), json::plain(record, "MatterIndexName"))
        else {
            continue;
        };
        if let Some(matter) = reading.matters.iter_mut().find(|matter| matter.matter_id == id) {
            matter.subjects.push(name);
        } else {
            let subjects = vec![name];
            reading.matters.push(VendorMatter { matter_id: id, subjects, ..VendorMatter::default() });
        }
    }
    Ok(reading)
}

/// The words that matters are indexed by.
pub(super) fn indexes(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = api::records(page)?;
    let mut reading = PageReading::default();
    reading.landmark("IndexId", records.len());
    reading.subjects = records.iter().filter_map(|record| json::plain(record, "IndexName")).collect();
    Ok(reading)
}

/// Who holds which office.
pub(super) fn roster(place: &Place, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = api::records(page)?;
    let mut reading = PageReading::default();
    let skipped: Option<usize> = page.about.first().and_then(|skip| skip.parse().ok());
    if let Some(skipped) = skipped.filter(|_| records.len() >= LARGEST_ANSWER) {
        reading.follow.push(place.roster(window, skipped + records.len()));
    }
    reading.landmark("OfficeRecordId", records.len());
    for record in &records {
        let field = |name: &str| json::plain(record, name);
        let whole_name = field("OfficeRecordFullName")
            .or_else(|| Some(format!("{} {}", field("OfficeRecordFirstName")?, field("OfficeRecordLastName")?)));
        let Some(name) = whole_name else {
            reading.doubts.push("an office record names nobody".to_owned());
            continue;
        };
        reading.people.push(VendorPerson {
            name,
            person_id: field("OfficeRecordPersonId"),
            title: field("OfficeRecordTitle"),
            body: field("OfficeRecordBodyName"),
            email: field("OfficeRecordEmail"),
            website: None,
            from: day(record, "OfficeRecordStartDate"),
            until: day(record, "OfficeRecordEndDate"),
            raw: json::besides(record, &[]).into_iter().filter(|(name, _)| name.ends_with("BodyId")).collect(),
        });
    }
    Ok(reading)
}

pub(super) fn people(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a list of people")?;
    let grids = grid::grids(&html);
    if !grids.iter().any(is_of_people) {
        return Err(open::other_page(page, &html, "a grid with the column Person Name"));
    }
    let mut reading = PageReading { people: people_of(&place.base(page), &grids, None), ..PageReading::default() };
    reading.landmark("tr.rgRow, tr.rgAltRow", reading.people.len());
    Ok(reading)
}

fn is_of_people(grid: &Grid<'_>) -> bool {
    grid.headers.iter().any(|header| header == "person name")
}

/// The members in the grids of a page that list people.
pub(super) fn people_of(base: &str, grids: &[Grid<'_>], body: Option<&str>) -> Vec<VendorPerson> {
    let rows =
        grids.iter().filter(|grid| is_of_people(grid)).flat_map(|grid| grid.rows.iter().map(|row| grid.cells(row)));
    rows.filter_map(|cells| {
        let link = |names: &[&str]| cell_below(&cells, names).and_then(|cell| cell.first("a"));
        let url = link(&["person name"]).and_then(|link| grid::target(base, &link));
        let date = |names: &[&str]| text_below(&cells, names).and_then(|text| dates::date(&text));
        Some(VendorPerson {
            name: text_below(&cells, &["person name"])?,
            person_id: url.as_deref().and_then(|url| address::value(url, "ID")),
            title: text_below(&cells, &["title"]),
            body: body.map(str::to_owned),
            email: text_below(&cells, &["e-mail", "email"]).filter(|text| text.contains('@')),
            website: link(&["web site", "website"]).and_then(|link| grid::target(base, &link)),
            from: date(&["start date", "appointed"]),
            until: date(&["end date", "term expires"]),
            raw: serde_json::Map::new(),
        })
    })
    .collect()
}
