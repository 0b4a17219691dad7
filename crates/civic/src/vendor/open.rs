//! Pages opened as what they should be, or one sentence about what came instead: a login, half a page, another format,
//! another page. Once for all vendors, before anybody reads a word.
//!
//! `expected` names, for that sentence, what the page was asked for: "a calendar of meetings".

use super::{FetchedPage, PageFault, json};
use crate::html::Html;
use serde_json::Value;

/// A page of a council has more.
const FEW_LINKS: usize = 5;
/// So has one with an agenda on it.
const FEW_LETTERS: usize = 1500;
/// Of what a page calls itself.
const LONGEST_TITLE: usize = 80;

/// A page of HTML, to its end. It need not be a whole page: templates and scripts leave out the frame around it.
pub fn html(page: &FetchedPage, expected: &str) -> Result<Html, PageFault> {
    let text = page.text();
    if let Some(found) = no_markup(&text) {
        return Err(PageFault::new_unexpected(&page.url, expected, found));
    }
    if let Some(detail) = missing_end(&text).or_else(|| open_table(&text)) {
        return Err(PageFault::cut_short(&page.url, detail));
    }
    let html = Html::parse(&text);
    if html.is_incomplete() {
        // Half of a listing would tell that the other half is gone.
        return Err(PageFault::new_unexpected(&page.url, expected, "a page larger or deeper than can be read"));
    }
    if asks_for_login(&page.url, &html) {
        return Err(PageFault::Login { url: page.url.clone() });
    }
    Ok(html)
}

/// An answer of JSON, to its end.
pub fn json(page: &FetchedPage, expected: &str) -> Result<Value, PageFault> {
    let text = page.text();
    let start = text.trim_start();
    if start.is_empty() {
        return Err(PageFault::new_unexpected(&page.url, expected, "an empty page"));
    }
    if start.starts_with('<') {
        return Err(other_page(page, &Html::parse(&text), expected));
    }
    serde_json::from_str(&text).map_err(|error| {
        if error.is_eof() {
            PageFault::cut_short(&page.url, format!("the JSON ends after {} bytes", text.len()))
        } else {
            PageFault::new_unexpected(&page.url, expected, format!("no JSON ({error})"))
        }
    })
}

/// An answer of JSON that is a list.
pub fn json_list(page: &FetchedPage, expected: &str) -> Result<Vec<Value>, PageFault> {
    match json(page, expected)? {
        Value::Array(entries) => Ok(entries),
        other => Err(PageFault::new_unexpected(&page.url, expected, json::kind(&other))),
    }
}

/// What to say of a page of HTML on which nothing is of what was expected: a login, or what it calls itself.
pub fn other_page(page: &FetchedPage, html: &Html, expected: &str) -> PageFault {
    if asks_for_login(&page.url, html) {
        return PageFault::Login { url: page.url.clone() };
    }
    let titles = ["title", "h1", "h2"].into_iter().filter_map(|name| html.first(name)).map(|title| title.text());
    let found = titles.into_iter().find(|title| !title.is_empty()).map_or_else(
        || "an HTML page without a title".to_owned(),
        |title| format!("the page \"{}\"", title.chars().take(LONGEST_TITLE).collect::<String>()),
    );
    PageFault::new_unexpected(&page.url, expected, found)
}

/// Many a page has a field for a password in its corner, for staff. This one says that it is for that, or has little else.
pub(crate) fn asks_for_login(url: &str, html: &Html) -> bool {
    if html.first("input[type=password]").is_none() {
        return false;
    }
    let title = html.first("title").map(|title| title.text()).unwrap_or_default();
    let path = url.split(['?', '#']).next().unwrap_or_default();
    says_login(&title)
        || says_login(path)
        || (html.select("a[href]").len() < FEW_LINKS && html.root().text().chars().count() < FEW_LETTERS)
}

/// As words of their own: "Design Institute" does not ask anybody to sign in.
fn says_login(text: &str) -> bool {
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let is_one = |word: &String| matches!(word.as_str(), "login" | "logon" | "signin");
    let is_pair = |pair: &[String]| matches!(pair, [first, second] if matches!((first.as_str(), second.as_str()), ("log", "in" | "on") | ("sign", "in")));
    words.iter().any(is_one) || words.windows(2).any(is_pair)
}

/// What came in place of HTML.
fn no_markup(text: &str) -> Option<&'static str> {
    let start = text.trim_start();
    if start.is_empty() {
        Some("an empty page")
    } else if start.starts_with(['{', '[']) {
        Some("JSON")
    } else if start.starts_with("%PDF") {
        Some("a PDF")
    } else {
        (!start.contains('<')).then_some("text without markup")
    }
}

/// What says that a page of HTML stops half-way. JSON may hold the beginnings of such pages, and a page may leave out
/// its last tag.
pub(crate) fn missing_end(text: &str) -> Option<&'static str> {
    let has = |tag: &str| contains(text, tag);
    let stops = text.trim_start().starts_with('<') && has("<html") && !has("</html") && !has("</body");
    stops.then_some("</html> is missing")
}

/// The same of a page without a frame: there, the last table has no end. Tables within a frame may end as they like, as
/// browsers let them.
fn open_table(text: &str) -> Option<&'static str> {
    if contains(text, "</html") || contains(text, "</body") || !contains(text, "<table") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let end = lower.rfind("</table");
    (lower.rfind("<table") > end || lower.rfind("<tr") > end).then_some("a table has no end")
}

/// Whatever the case.
fn contains(text: &str, wanted: &str) -> bool {
    text.as_bytes().windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> FetchedPage {
        FetchedPage::from_kept("https://example.com/x", text)
    }

    fn fault_text(fault: Option<PageFault>) -> String {
        let said = fault.map(|fault| fault.to_string()).unwrap_or_default();
        said.strip_prefix("https://example.com/x: ").unwrap_or(&said).to_owned()
    }

    #[test]
    fn what_came_in_place_of_json_is_one_sentence() {
        for (text, expected) in [
            ("", "expected meetings, found an empty page"),
            ("{\"events\": [1, ", "the page stops half-way (the JSON ends after 15 bytes)"),
            ("<html><form><input type=password></form></html>", "the site asks for a login"),
            (
                "<html><title>Service Unavailable</title></html>",
                "expected meetings, found the page \"Service Unavailable\"",
            ),
            ("<html></html>", "expected meetings, found an HTML page without a title"),
            ("Sorry", "expected meetings, found no JSON (expected value at line 1 column 1)"),
        ] {
            assert_eq!(fault_text(json(&page(text), "meetings").err()), expected, "{text}");
        }
        assert_eq!(
            fault_text(json_list(&page("{\"a\": 1}"), "a list").err()),
            "expected a list, found an object with a"
        );
        assert_eq!(json_list(&page("[1]"), "a list").unwrap().len(), 1);
    }

    #[test]
    fn what_came_in_place_of_html_is_one_sentence() {
        for (text, expected) in [
            (" ", "expected an agenda, found an empty page"),
            ("{}", "expected an agenda, found JSON"),
            ("%PDF-1.4", "expected an agenda, found a PDF"),
            ("Sorry", "expected an agenda, found text without markup"),
            ("<html><table><tr><td>one", "the page stops half-way (</html> is missing)"),
            ("<TABLE><tr><td>one", "the page stops half-way (a table has no end)"),
            ("<table><tr><td><table></table><tr><td>two", "the page stops half-way (a table has no end)"),
        ] {
            assert_eq!(fault_text(html(&page(text), "an agenda").err()), expected, "{text}");
        }
        // A page may leave out its last tag, tables may be sloppy, and rows may come alone.
        for whole in [
            "<html><body><table></body>",
            "<html><table><table></table></html>",
            "<tr><td>one</tr>",
            "Notice <p>Hearing</p>",
        ] {
            assert_eq!(fault_text(html(&page(whole), "an agenda").err()), "", "{whole}");
        }
    }

    #[test]
    fn a_field_for_staff_is_no_login() {
        let field = "<input type=password>";
        let links = "<a href=/agenda>Agenda</a>".repeat(5);
        let words = "Contract with a supplier of salt. ".repeat(60);
        for (title, rest, is_login) in [
            ("", "", true),
            ("Sign in", links.as_str(), true),
            ("City of Springfield - Log In", links.as_str(), true),
            ("Design Institute", links.as_str(), false),
            ("", words.as_str(), false),
        ] {
            let html = Html::parse(&format!("<html><title>{title}</title>{field}{rest}</html>"));
            assert_eq!(asks_for_login("https://example.com/x", &html), is_login, "{title} {rest}");
            assert!(asks_for_login("https://example.com/Account/LogOn?back=x", &html), "by its address");
        }
        assert!(!asks_for_login("https://example.com/login", &Html::parse("<p>No field</p>")));
    }
}
