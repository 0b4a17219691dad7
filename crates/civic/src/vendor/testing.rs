//! What the tests of all adapters begin with: a page, a site, a window.

use super::{FetchedPage, Site, VendorItem, Window};
use jiff::tz::TimeZone;

/// A page with a known address.
pub(super) fn page(url: &str, purpose: &'static str, text: impl Into<String>) -> FetchedPage {
    FetchedPage { purpose: purpose.into(), ..FetchedPage::from_kept(url, text.into()) }
}

/// A site by the clock of Greenwich.
pub(super) fn site(slug: &str) -> Site {
    Site { slug: slug.into(), zone: TimeZone::UTC, settings: serde_json::Map::new() }
}

/// From one day to another, both as in `2026-03-01`.
pub(super) fn window(from: &str, to: &str) -> Window {
    Window { from: from.parse().unwrap(), to: to.parse().unwrap() }
}

/// Number, title and section of each item.
pub(super) fn outline(items: &[VendorItem]) -> Vec<(&str, &str, Option<&str>)> {
    items
        .iter()
        .map(|item| (item.agenda_number.as_deref().unwrap_or_default(), item.title.as_str(), item.section.as_deref()))
        .collect()
}
