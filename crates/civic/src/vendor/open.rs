//! Pages opened as what they should be, or one sentence about what came instead.

use super::{FetchedPage, PageFault, Site};
use crate::html::Html;
use serde_json::Value;

/// A page of HTML, to its end.
pub(super) fn html(page: &FetchedPage) -> Result<Html, PageFault> {
    let text = page.text();
    let start = text.trim_start();
    if start.is_empty() {
        return Err(PageFault::unexpected(&page.url, "a page of HTML", "an empty page"));
    }
    if start.starts_with("%PDF") {
        return Err(PageFault::unexpected(&page.url, "a page of HTML", "a PDF file"));
    }
    if start.starts_with(['{', '[']) {
        return Err(PageFault::unexpected(&page.url, "a page of HTML", "JSON"));
    }
    if let Some(open) = left_open(&text) {
        return Err(PageFault::CutShort { url: page.url.clone(), detail: format!("<{open}> has no end") });
    }
    let html = Html::parse(&text);
    if html.is_incomplete() {
        return Err(PageFault::unexpected(&page.url, "a page of HTML", "one that is nested deeper than can be read"));
    }
    Ok(html)
}

/// An answer of JSON.
pub(super) fn json(page: &FetchedPage) -> Result<Value, PageFault> {
    let text = page.text();
    if text.trim().is_empty() {
        return Err(PageFault::unexpected(&page.url, "JSON", "an empty page"));
    }
    if text.trim_start().starts_with('<') {
        return Err(stranger(page, &Html::parse(&text), "JSON"));
    }
    serde_json::from_str(&text).map_err(|error| {
        if error.is_eof() {
            PageFault::CutShort { url: page.url.clone(), detail: error.to_string() }
        } else {
            PageFault::unexpected(&page.url, "JSON", error.to_string())
        }
    })
}

/// What to say of a page on which nothing is that it should be known by: a login, or what it calls itself.
pub(super) fn stranger(page: &FetchedPage, html: &Html, expected: &str) -> PageFault {
    if html.first("input[type=password]").is_some() {
        return PageFault::Login { url: page.url.clone() };
    }
    let named = html.first("title").or_else(|| html.first("h1")).map(|title| title.text());
    let named = named.filter(|name| !name.is_empty());
    let found =
        named.map_or_else(|| "another page of HTML".to_owned(), |name| format!("a page of HTML named '{name}'"));
    PageFault::unexpected(&page.url, expected, found)
}

/// The host of a jurisdiction's site: the slug itself when it has a dot, otherwise below the vendor's own domain.
pub(super) fn host(site: &Site, domain: &str) -> Result<String, PageFault> {
    let slug = site.slug.trim();
    let is_plain = slug.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if slug.is_empty() || !is_plain || slug.starts_with('.') || slug.ends_with('.') {
        let hint = "expected a subdomain like 'ca-springfield' or a host like 'www.springfield.gov'";
        return Err(PageFault::Site(format!("slug '{slug}': {hint}")));
    }
    Ok(if slug.contains('.') { slug.to_owned() } else { format!("{slug}.{domain}") })
}

/// A whole page that stops before its end, or a part of one that stops within a table.
fn left_open(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    if lower.contains("<html") {
        return (!lower.contains("</html")).then_some("html");
    }
    (lower.rfind("<table") > lower.rfind("</table")).then_some("table")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn page(text: &str) -> FetchedPage {
        FetchedPage {
            url: "https://example.com/x".into(),
            content_type: None,
            bytes: text.as_bytes().to_vec(),
            purpose: Cow::Borrowed("listing"),
            about: Vec::new(),
        }
    }

    fn site(slug: &str) -> Site {
        Site { slug: slug.into(), zone: jiff::tz::TimeZone::UTC, settings: serde_json::Map::new() }
    }

    #[test]
    fn what_came_instead_is_one_sentence() {
        for (text, said) in [
            ("", "https://example.com/x: expected JSON, found an empty page"),
            (
                "{\"events\": [1, ",
                "https://example.com/x: the page stops half-way (EOF while parsing a value at line 1 column 15)",
            ),
            ("<html><form><input type=password></form></html>", "https://example.com/x: the site asks for a login"),
            (
                "<html><title>Service Unavailable</title></html>",
                "https://example.com/x: expected JSON, found a page of HTML named 'Service Unavailable'",
            ),
        ] {
            assert_eq!(json(&page(text)).unwrap_err().to_string(), said);
        }
        for (text, said) in [
            ("{}", "https://example.com/x: expected a page of HTML, found JSON"),
            ("%PDF-1.4", "https://example.com/x: expected a page of HTML, found a PDF file"),
            ("<html><table><tr><td>one", "https://example.com/x: the page stops half-way (<html> has no end)"),
            ("<table><tr><td>one", "https://example.com/x: the page stops half-way (<table> has no end)"),
        ] {
            assert_eq!(html(&page(text)).unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn slugs_are_subdomains_or_hosts() {
        assert_eq!(host(&site("wi-columbus"), "civicplus.com").unwrap(), "wi-columbus.civicplus.com");
        assert_eq!(host(&site("www.example.gov"), "civicplus.com").unwrap(), "www.example.gov");
        for bad in ["", "two words", "a/b", ".gov"] {
            assert!(matches!(host(&site(bad), "civicplus.com"), Err(PageFault::Site(_))), "{bad}");
        }
    }
}
