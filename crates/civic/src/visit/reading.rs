//! One page, read by its adapter, with a look at what adapters cannot know: that a site wants a login, or that a page
//! stops half-way.

use crate::{
    html::Html,
    vendor::{Adapter, FetchedPage, PageFault, PageReading, Site, Window, open},
};
use std::sync::Arc;

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
        Err(PageFault::new_unexpected(&url, "a page that can be read", "one that its reader stumbles over"))
    })
}

fn judged(reading: Result<PageReading, PageFault>, page: &FetchedPage) -> Result<(PageReading, bool), PageFault> {
    let comes_to_nothing =
        reading.as_ref().map_or(true, |reading| reading.meetings.is_empty() && reading.follow.is_empty());
    let text = page.text();
    let is_markup = text.trim_start().starts_with('<');
    if comes_to_nothing && is_markup && open::asks_for_login(&page.url, &Html::parse(&text)) {
        return Err(PageFault::Login { url: page.url.clone() });
    }
    match (reading, open::missing_end(&text)) {
        // What the adapter says of it is less to the point.
        (Ok(_) | Err(PageFault::Unexpected { .. }), Some(detail)) if comes_to_nothing => {
            Err(PageFault::cut_short(&page.url, detail))
        }
        (reading, missing) => reading.map(|reading| (reading, missing.is_some())),
    }
}
