//! Whether a page is what was asked for, before anybody reads it: not half of it, not a login, not another format.

use super::{FetchedPage, PageFault};
use crate::html::Html;
use serde_json::Value;

/// The page as HTML.
pub fn html(page: &FetchedPage, expected: &str) -> Result<Html, PageFault> {
    let text = page.text();
    let start = text.trim_start();
    if !start.starts_with('<') {
        let found = match start.chars().next() {
            None => "an empty page",
            Some('{' | '[') => "JSON",
            Some('%') if start.starts_with("%PDF") => "a PDF",
            Some(_) => "text without markup",
        };
        return Err(PageFault::unexpected(&page.url, expected, found));
    }
    let has = |tag: &str| contains(text.as_bytes(), tag.as_bytes());
    if !has("</html") {
        if has("<html") {
            return Err(cut_short(page, "</html> is missing"));
        }
        // Templates leave out the frame of a page, but not the end of a table.
        if text.rfind("<tr") > text.rfind("</table").max(text.rfind("</TABLE")) {
            return Err(cut_short(page, "a table has no end"));
        }
    }
    let parsed = Html::parse(&text);
    if parsed.is_incomplete() {
        return Err(cut_short(page, "it is larger or deeper than any page of a calendar"));
    }
    Ok(parsed)
}

/// The page as JSON.
pub fn json(page: &FetchedPage, expected: &str) -> Result<Value, PageFault> {
    let text = page.text();
    if text.trim_start().starts_with('<') {
        return Err(nothing_found(page, &Html::parse(&text), expected));
    }
    serde_json::from_str(&text).map_err(|error| {
        if error.is_eof() && !text.trim().is_empty() {
            cut_short(page, &format!("the JSON ends in line {}", error.line()))
        } else {
            PageFault::unexpected(&page.url, expected, format!("no JSON ({error})"))
        }
    })
}

/// Why an HTML page has nothing of what was expected: a login in its place, or another page altogether.
pub fn nothing_found(page: &FetchedPage, html: &Html, expected: &str) -> PageFault {
    if html.first("input[type=password]").is_some() {
        return PageFault::Login { url: page.url.clone() };
    }
    let heading = ["title", "h1", "h2"].iter().find_map(|name| {
        let text = html.first(name)?.text();
        (!text.is_empty()).then_some(text)
    });
    let found = heading.map_or_else(
        || "an HTML page without a title".to_owned(),
        |text| format!("the page \"{}\"", text.chars().take(80).collect::<String>()),
    );
    PageFault::unexpected(&page.url, expected, found)
}

fn cut_short(page: &FetchedPage, detail: &str) -> PageFault {
    PageFault::CutShort { url: page.url.clone(), detail: detail.to_owned() }
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}
