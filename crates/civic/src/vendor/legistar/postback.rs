//! Legistar's pages show one month, or a hundred rows. More of them is asked for by sending the page's own form back.

use crate::{
    html::Html,
    vendor::{FetchedPage, Request, Window, address},
};

const YEARS: &str = "ctl00$ContentPlaceHolder1$lstYears";
const FORM: &str = "application/x-www-form-urlencoded";
/// What the form must carry to be taken back.
const HIDDEN: [&str; 4] = ["__VIEWSTATE", "__VIEWSTATEGENERATOR", "__EVENTVALIDATION", "__PREVIOUSPAGE"];

/// The calendar of each year of the window, if the page shows less.
pub(super) fn years(html: &Html, window: Window, page: &FetchedPage) -> Vec<Request> {
    if !page.about.is_empty() || !page.url.starts_with("http") {
        return Vec::new();
    }
    let Some(shown) = html.first("input[id$=_lstYears_Input]").and_then(|input| input.attribute("value")) else {
        return Vec::new();
    };
    if shown.contains("All") {
        return Vec::new();
    }
    let missing = (window.from.year()..=window.to.year()).take(10).filter(|year| shown.trim() != year.to_string());
    missing
        .map(|year| {
            let chosen = ("ctl00_ContentPlaceHolder1_lstYears_ClientState", format!("{{\"value\":\"{year}\"}}"));
            submitted(html, page, "calendar", YEARS, &[chosen]).with_about(year.to_string())
        })
        .collect()
}

/// The rows behind those that are shown.
pub(super) fn next_page(html: &Html, page: &FetchedPage, grid: &str) -> Option<Request> {
    if !page.url.starts_with("http") {
        return None;
    }
    let links = html.select("a.rgCurrentPage");
    let current = links.iter().find(|link| link.attribute("href").is_some_and(|href| href.contains(grid)))?;
    let next = current.next_siblings().find(|link| link.name() == "a")?;
    let script = next.attribute("href")?.split_once("__doPostBack('")?.1;
    let target = script.split('\'').next()?.replace("%24", "$");
    let purpose = if grid == "gridMain" { "legislation_list" } else { "calendar" };
    let number = next.text();
    let mut request = submitted(html, page, purpose, &target, &[]).optional();
    request.about = page.about.iter().take(1).cloned().chain([format!("page {number}")]).collect();
    Some(request)
}

fn submitted(html: &Html, page: &FetchedPage, purpose: &'static str, target: &str, more: &[(&str, String)]) -> Request {
    let hidden = HIDDEN.iter().filter_map(|name| {
        let value = html.first(&format!("input[name={name}]"))?.attribute("value")?;
        Some((*name, value.to_owned()))
    });
    let event = [("__EVENTTARGET", target.to_owned()), ("__EVENTARGUMENT", String::new())];
    let fields = event.into_iter().chain(hidden).chain(more.iter().cloned());
    let form: Vec<String> =
        fields.map(|(name, value)| format!("{}={}", address::encoded(name), address::encoded(&value))).collect();
    Request::get(&page.url, purpose).post(FORM, form.join("&"))
}
