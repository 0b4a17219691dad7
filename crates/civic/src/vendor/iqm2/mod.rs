//! IQM2: a calendar of all boards, a page per meeting with its agenda, and a page per file with its sponsors, documents
//! and votes.

mod calendar;
mod detail;
mod file;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window, address, pattern::pattern};
use regex::Regex;
use std::sync::LazyLock;

const DOMAIN: &str = "iqm2.com";
const CALENDAR: &str = "calendar";
const DETAIL: &str = "detail";
const FILE: &str = "file";

#[derive(Debug)]
pub struct Iqm2;

impl Adapter for Iqm2 {
    fn name(&self) -> &'static str {
        "iqm2"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let origin = address::origin(site, DOMAIN)?;
        let (from, to) = (window.from.strftime("%-m/%-d/%Y"), window.to.strftime("%-m/%-d/%Y"));
        Ok(vec![Request::get(format!("{origin}/Citizens/Calendar.aspx?From={from}&To={to}"), CALENDAR)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let base = citizens(page, site);
        match page.purpose.as_ref() {
            CALENDAR => calendar::read(*window, page, &base),
            DETAIL => detail::read(page, &base),
            FILE => file::read(page, &base),
            _ => Err(PageFault::purpose(page, "IQM2")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.contains("tblLegiFileInfo") {
            Some(FILE)
        } else if text.contains("id=\"MeetingDetail\"") {
            Some(DETAIL)
        } else {
            (text.contains("MeetingRow") && text.contains("Detail_Meeting.aspx")).then_some(CALENDAR)
        }
    }
}

/// What links are seen from; those of a kept file, from the folder that all pages are in.
fn citizens(page: &FetchedPage, site: &Site) -> String {
    let base = address::base(page, site, DOMAIN);
    if base == page.url { base } else { format!("{base}Citizens/") }
}

/// `RES24-0123` at the beginning.
static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Z]{2,5}\d{2}-\d{4,5}\b"));
/// `COF 2025 #141` at the beginning.
static YEARLY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([A-Z]{2,5})\s+(\d{4})\s+#\s*(\d{1,5})\b"));
/// `2025-17 / `: a number set apart by a stroke.
static APART: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([A-Z]{0,5}[ -]?\d[\w.-]{0,15}) / "));

/// The public number of a file, where a text begins with one. Words in front of a colon are none: `Discussion: Budget`.
fn file_number(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(code) = CODE.find(text) {
        return Some(code.as_str().to_owned());
    }
    if let Some(found) = YEARLY.captures(text) {
        let part = |group: usize| found.get(group).map(|text| text.as_str()).unwrap_or_default();
        return Some(format!("{}-{}-{}", part(1), part(2), part(3)));
    }
    APART.captures(text)?.get(1).map(|number| number.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_numbers_of_files() {
        for (text, expected) in [
            ("RES24-0123 : A resolution", Some("RES24-0123")),
            ("COF 2025 #141 : Communication", Some("COF-2025-141")),
            ("2025-17 / Rezoning of Main Street", Some("2025-17")),
            ("Discussion: Budget", None),
            ("Parks / Recreation plan", None),
            ("Resolution authorizing a contract", None),
        ] {
            assert_eq!(file_number(text).as_deref(), expected, "{text}");
        }
    }
}
