//! One page, read by its adapter, with a look at what adapters cannot know: that a site wants a login, or that a page
//! stops half-way.

use crate::{
    html::Html,
    vendor::{Adapter, FetchedPage, PageFault, PageReading, Site, Window},
};
use std::sync::Arc;

/// A page of a council has more.
const FEW_LINKS: usize = 5;

/// What a page says, and whether it stops half-way.
pub(super) async fn read(
    adapter: &'static dyn Adapter,
    site: &Arc<Site>,
    window: Window,
    page: FetchedPage,
) -> Result<(PageReading, bool), PageFault> {
    let (site, url) = (Arc::clone(site), page.url.clone());
    // Off the threads that wait for others; and a page that an adapter stumbles over does not bring the others down.
    let reading = tokio::task::spawn_blocking(move || judged(adapter.read(&site, &window, &page), &page)).await;
    reading.unwrap_or_else(|_| {
        Err(PageFault::unexpected(&url, "a page that can be read", "one that its reader stumbles over"))
    })
}

fn judged(reading: Result<PageReading, PageFault>, page: &FetchedPage) -> Result<(PageReading, bool), PageFault> {
    let comes_to_nothing =
        reading.as_ref().map_or(true, |reading| reading.meetings.is_empty() && reading.follow.is_empty());
    let text = page.text();
    if comes_to_nothing && wants_a_login(&page.url, &text) {
        return Err(PageFault::Login { url: page.url.clone() });
    }
    let is_cut = stops_half_way(&text);
    match reading {
        // What the adapter says of it is less to the point.
        Ok(_) | Err(PageFault::Unexpected { .. }) if comes_to_nothing && is_cut => {
            let detail = format!("{} bytes and no </html>", page.bytes.len());
            Err(PageFault::CutShort { url: page.url.clone(), detail })
        }
        reading => reading.map(|reading| (reading, is_cut)),
    }
}

/// Many a page has a field for members in its corner. This one says that it is for that, or is for little else.
fn wants_a_login(url: &str, text: &str) -> bool {
    if !contains(text, "password") {
        return false;
    }
    let page = Html::parse(text);
    if page.first("input[type=password]").is_none() {
        return false;
    }
    let heading = page.first("title").map(|title| title.text()).unwrap_or_default();
    let path = url.split('?').next().unwrap_or_default();
    let says_so =
        |words: &str| ["login", "log in", "logon", "signin", "sign in"].iter().any(|word| contains(words, word));
    says_so(path) || says_so(&heading) || page.select("a[href]").len() < FEW_LINKS
}

/// A page of HTML that begins and does not end. JSON may hold the beginnings of such pages.
fn stops_half_way(text: &str) -> bool {
    text.trim_start().starts_with('<')
        && contains(text, "<html")
        && !contains(text, "</html")
        && !contains(text, "</body")
}

/// `wanted` is in small letters.
fn contains(text: &str, wanted: &str) -> bool {
    text.as_bytes().windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}
