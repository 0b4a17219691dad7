//! BoardDocs, the sites of school boards.
//!
//! One XML file names all meetings with their items; the printed agenda of a meeting adds what the items say, and their
//! files. The printed agenda has no ids, so the request for it carries those of the XML.

mod meetings;
mod printed;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window};

const MEETINGS: &str = "meetings";
const AGENDA: &str = "agenda";
const HOST: &str = "https://go.boarddocs.com";

#[derive(Debug)]
pub(super) struct BoardDocs;

impl Adapter for BoardDocs {
    fn name(&self) -> &'static str {
        "boarddocs"
    }

    fn begin(&self, site: &Site, _: &Window) -> Result<Vec<Request>, PageFault> {
        Ok(vec![Request::get(format!("{}/XML-ActiveMeetings", base(site)?), MEETINGS)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        match page.purpose.as_ref() {
            AGENDA => printed::read(page, site),
            MEETINGS => meetings::read(page, site, *window),
            _ => Err(PageFault::purpose(page, "BoardDocs")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.contains("<meetings>") && text.contains("<meeting ") {
            return Some(MEETINGS);
        }
        (text.contains("print-meeting-name") || text.contains("agendaorder")).then_some(AGENDA)
    }
}

/// `https://go.boarddocs.com/oh/akron/Board.nsf` of the slug `oh/akron`.
fn base(site: &Site) -> Result<String, PageFault> {
    let slug = site.slug.trim_matches('/');
    let is_plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    match slug.split_once('/') {
        Some((state, board)) if is_plain(state) && is_plain(board) => Ok(format!("{HOST}/{state}/{board}/Board.nsf")),
        _ => Err(PageFault::Site(format!("slug '{}': expected a state and a board, like 'oh/akron'", site.slug))),
    }
}
