//! Pages are read when they are what they should be, and whole: a login page, an error page and half a page are told
//! apart here, once for all vendors.

use super::{FetchedPage, PageFault};
use crate::html::Html;

/// The page as HTML, if it is not cut and asks for no login.
pub fn html(page: &FetchedPage, expected: &str) -> Result<Html, PageFault> {
    let text = page.text();
    if !text.trim_start().starts_with('<') {
        let found = if text.trim().is_empty() { "nothing" } else { "something that is not HTML" };
        return Err(PageFault::unexpected(&page.url, expected, found));
    }
    if let Some(detail) = missing_end(&text) {
        return Err(PageFault::CutShort { url: page.url.clone(), detail });
    }
    let html = Html::parse(&text);
    if asks_for_login(&text, &html) {
        return Err(PageFault::Login { url: page.url.clone() });
    }
    Ok(html)
}

/// What is wrong where something else than HTML was expected.
pub fn not_html(page: &FetchedPage, text: &str, expected: &str) -> PageFault {
    let html = Html::parse(text);
    if asks_for_login(text, &html) {
        return PageFault::Login { url: page.url.clone() };
    }
    let title = html.first("title, h1").map(|title| title.text()).filter(|title| !title.is_empty());
    let found = title.map_or_else(|| "an HTML page".to_owned(), |title| format!("an HTML page \"{title}\""));
    PageFault::unexpected(&page.url, expected, found)
}

/// A text without tags, on one line.
pub fn plain(text: &str) -> String {
    if text.contains(['<', '&']) {
        return Html::parse(text).root().text();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A page with a field for a password and few words besides. Pages full of meetings have such a field too, for staff.
fn asks_for_login(text: &str, html: &Html) -> bool {
    const FEW: usize = 1500;
    count(text, "password") > 0
        && html.first("input[type=password]").is_some()
        && html.root().text().chars().count() < FEW
}

fn missing_end(text: &str) -> Option<String> {
    let (opened, closed) = (count(text, "<table"), count(text, "</table"));
    if opened > closed {
        return Some(format!("{opened} tables begin and {closed} end"));
    }
    (count(text, "<html") > 0 && count(text, "</html") == 0).then(|| "</html> is missing".to_owned())
}

fn count(text: &str, words: &str) -> usize {
    let Some((first, rest)) = words.as_bytes().split_first() else { return 0 };
    let begins = text.as_bytes().iter().enumerate().filter(|(_, byte)| byte.eq_ignore_ascii_case(first));
    begins
        .filter(|(at, _)| {
            let behind = text.as_bytes().get(at + 1..at + 1 + rest.len());
            behind.is_some_and(|behind| behind.eq_ignore_ascii_case(rest))
        })
        .count()
}
