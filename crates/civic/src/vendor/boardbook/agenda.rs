//! An agenda: rows that name the row above them by its id, each with a heading, a description and files.

use super::{HOST, base};
use crate::{
    html::Element,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Site, VendorItem, VendorMeeting, address, numbering, open,
    },
};

struct Row {
    id: String,
    above: Option<String>,
    number: Option<String>,
    title: String,
    presenter: String,
    text: Vec<String>,
    files: Vec<Attachment>,
}

pub(super) fn read(page: &FetchedPage, site: &Site) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let elements = html.select("tr.agenda-item-information");
    if elements.is_empty() {
        return Err(open::other_page(page, &html, "an agenda (tr.agenda-item-information)"));
    }
    let Some(id) = page.about.first().cloned().or_else(|| address::value(&page.url, "meeting")) else {
        return Err(PageFault::new_unexpected(
            &page.url,
            "the agenda of a known meeting",
            "an address without a meeting",
        ));
    };
    let mut reading = PageReading::default();
    reading.landmark("tr.agenda-item-information", elements.len());
    let organisation = organisation(page, site);
    let (mut rows, mut doubts) = (Vec::new(), 0);
    for element in elements {
        match row(element, page, &organisation) {
            Some(row) => rows.push(row),
            None => doubts += 1,
        }
    }
    if doubts > 0 {
        reading.doubts.push(format!("meeting {id}: {doubts} rows of the agenda have no id or no words"));
    }
    let mut meeting = VendorMeeting { has_agenda: true, ..VendorMeeting::new(id) };
    let packet = html.first("a[href*='/Public/DownloadAgenda/']");
    meeting.packet_url = packet.and_then(|link| address::target(base(page), link));
    for row in &rows {
        let has_rows_below =
            rows.iter().any(|other| other.id != row.id && other.above.as_deref() == Some(row.id.as_str()));
        // A heading with words or files of its own is an item too.
        if has_rows_below && row.text.is_empty() && row.files.is_empty() {
            continue;
        }
        let mut item = VendorItem {
            vendor_item_id: Some(row.id.clone()),
            title: row.title.clone(),
            agenda_number: row.number.clone(),
            body_text: Some(row.text.join("\n")).filter(|text| !text.is_empty()),
            attachments: row.files.clone(),
            ..VendorItem::default()
        };
        if !row.presenter.is_empty() {
            item.raw.insert("presenter".to_owned(), row.presenter.clone().into());
        }
        let section = above(&rows, row).join(" > ");
        item.put_under(Some(section).filter(|section| !section.is_empty()));
        item.append_to(&mut meeting.items);
    }
    reading.meeting(meeting);
    Ok(reading)
}

/// The headings around a row, the outermost first. A circle of rows ends at the first that comes again.
fn above<'a>(rows: &'a [Row], row: &'a Row) -> Vec<&'a str> {
    let (mut titles, mut ids, mut at) = (Vec::new(), vec![row.id.as_str()], row);
    while let Some(outer) = at.above.as_deref().and_then(|id| rows.iter().find(|other| other.id == id)) {
        if ids.contains(&outer.id.as_str()) {
            break;
        }
        ids.push(&outer.id);
        titles.push(outer.title.as_str());
        at = outer;
    }
    titles.reverse();
    titles
}

fn row(element: Element<'_>, page: &FetchedPage, organisation: &str) -> Option<Row> {
    let id = element.attribute("data-agendaitemid").filter(|id| !id.is_empty())?.to_owned();
    let classes = element.attribute("class").unwrap_or_default().split_ascii_whitespace();
    let above = classes.filter_map(|class| class.strip_prefix("agenda-item-children-of-")).find(|id| *id != "0");
    let heading = element.first("div.form-check").or_else(|| element.first("div"))?;
    let presenter = heading.first("em").map(|name| name.text()).unwrap_or_default();
    let said = heading.text();
    let said = said.strip_suffix(presenter.as_str()).unwrap_or(&said);
    let (number, title) = numbering::split(said);
    let mut text: Vec<String> = element.select(".Description").iter().flat_map(Element::lines).collect();
    if let Some(first) = text.first_mut() {
        *first = first.trim_start_matches("Description:").trim().to_owned();
    }
    text.retain(|line| !line.is_empty());
    let mut files: Vec<Attachment> = Vec::new();
    for link in element.select("a[data-documentid]") {
        let Some(document) = link.attribute("data-documentid").filter(|id| !id.is_empty()) else { continue };
        if files.iter().any(|known| known.vendor_id.as_deref() == Some(document)) {
            continue;
        }
        let name = link.first(".fileNameValue").unwrap_or(link).text();
        files.push(Attachment {
            name,
            // Whatever the file was, here it is a PDF; the link itself leads to a viewer.
            url: format!("{HOST}/Documents/DownloadPDF/{document}?org={organisation}"),
            portal_url: address::target(base(page), link),
            vendor_id: Some(document.to_owned()),
        });
    }
    let is_empty = title.is_empty() && files.is_empty();
    let (title, above) = (title.to_owned(), above.map(str::to_owned));
    (!is_empty).then_some(Row { id, above, number, title, presenter, text, files })
}

/// The number in `/Public/Agenda/1810?meeting=…`.
fn organisation(page: &FetchedPage, site: &Site) -> String {
    let path = page.url.split(['?', '#']).next().unwrap_or_default();
    let own = path.split_once("/Public/").and_then(|(_, rest)| rest.split('/').nth(1)).filter(|id| !id.is_empty());
    own.unwrap_or(&site.slug).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{self, site};

    #[test]
    fn rows_know_the_rows_above_them() {
        let rows = "<tr class='agenda-item-information agenda-item-children-of-0' data-agendaitemid=1><td><div class=form-check>5. CONSENT AGENDA</div></td></tr>
            <tr class='agenda-item-information agenda-item-children-of-1' data-agendaitemid=2><td><div class=form-check>5.A. Purchase of buses <em>Chief of Operations</em></div>
              <div class=Description><strong>Description:</strong> Two electric buses</div>
              <a data-documentid=d1 href='/Documents/FileViewerOrPublic/7?file=d1'><span class=fileNameValue>Bid.docx</span></a>
              <a data-documentid=d1 href='/Documents/FileViewerOrPublic/7?file=d1'>again</a></td></tr>
            <tr class='agenda-item-information agenda-item-children-of-4' data-agendaitemid=4><td><div>Above itself</div></td></tr>
            <tr class='agenda-item-information'><td><div>Without an id</div></td></tr>";
        let text = format!("<html><a href='/Public/DownloadAgenda/7?meeting=55'>PDF</a><table>{rows}</table></html>");
        let page = testing::page("https://meetings.boardbook.org/Public/Agenda/7?meeting=55", "agenda", text);
        let read = read(&page, &site("7")).unwrap();
        let meeting = &read.meetings[0];
        assert_eq!(
            meeting.packet_url.as_deref(),
            Some("https://meetings.boardbook.org/Public/DownloadAgenda/7?meeting=55")
        );
        assert_eq!(meeting.items.len(), 2, "a heading is a section");
        assert_eq!(meeting.items[1].section, None, "what says to be above itself is below nothing");
        let item = &meeting.items[0];
        assert_eq!((item.agenda_number.as_deref(), item.title.as_str()), (Some("5.A"), "Purchase of buses"));
        assert_eq!((item.section.as_deref(), item.is_consent), (Some("CONSENT AGENDA"), Some(true)));
        assert_eq!(item.body_text.as_deref(), Some("Two electric buses"));
        assert_eq!(item.raw["presenter"], "Chief of Operations");
        assert_eq!(item.attachments.len(), 1);
        assert_eq!(item.attachments[0].name, "Bid.docx");
        assert_eq!(item.attachments[0].url, "https://meetings.boardbook.org/Documents/DownloadPDF/d1?org=7");
        assert_eq!(read.doubts, ["meeting 55: 1 rows of the agenda have no id or no words"]);
    }
}
