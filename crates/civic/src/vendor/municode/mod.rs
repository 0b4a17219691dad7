//! Municode Meetings.
//!
//! A site of one's own (`springfield-oh.municodemeetings.com`) has an answer of JSON with all meetings and one with the
//! files of each; a site that is only a code (`CLOVIS`) has pages with a table. Both lead to the agenda as HTML.

mod agenda;
mod answers;
mod table;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window, address};

const TABLE: &str = "table";
const LIST: &str = "list";
const DETAILS: &str = "details";
const AGENDA: &str = "agenda";
const HOST: &str = "https://meetings.municode.com";

#[derive(Debug)]
pub(super) struct Municode;

impl Adapter for Municode {
    fn name(&self) -> &'static str {
        "municode"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        if is_code(&site.slug) {
            let page = site.settings.get("page_id").and_then(|id| id.as_str()).unwrap_or("0");
            return Ok(vec![Request::get(
                format!("{HOST}/PublishPage/index?cid={}&ppid={page}&p=-1", site.slug),
                TABLE,
            )]);
        }
        let origin = address::origin(site, "municodemeetings.com")?;
        let days = format!("datefrom={}&dateto={}", window.from, window.to);
        Ok(vec![Request::get(format!("{origin}/api/v1/public/meeting/list.json?{days}"), LIST)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        match page.purpose.as_ref() {
            LIST => answers::read_list(page, site, *window),
            DETAILS => answers::read_details(page),
            AGENDA => agenda::read(page),
            TABLE => table::read(page, site, *window),
            _ => Err(PageFault::purpose(page, "Municode")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.trim_start().starts_with('{') && text.contains("\"MeetingID\"") {
            return Some(LIST);
        }
        if text.contains("agenda-section") || text.contains("ap-agenda") {
            return Some(AGENDA);
        }
        text.contains("div-table-col").then_some(TABLE)
    }
}

/// `CLOVIS`, `DUNDEEFL`: codes are in capitals, subdomains are not.
fn is_code(slug: &str) -> bool {
    !slug.is_empty() && slug.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

/// Where the agenda of a meeting is as HTML, with its files.
fn agenda_page(code: &str, meeting: &str) -> String {
    format!("{HOST}/adaHtmlDocument/index?cc={code}&me={meeting}&ip=True")
}
