//! WordPress with The Events Calendar.
//!
//! Its answers of JSON have everything; a site that has switched them off is read from its list of events, whose path
//! the setting `listing` gives. The setting `categories` asks for some events alone.

mod events;
mod listing;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window, address};

/// Where a name without a dot is.
const DOMAIN: &str = "gov";
const EVENTS: &str = "events";
const LISTING: &str = "listing";

#[derive(Debug)]
pub(super) struct WordPress;

impl Adapter for WordPress {
    fn name(&self) -> &'static str {
        "wordpress"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let origin = address::origin(site, DOMAIN)?;
        let setting = |name: &str| site.settings.get(name).and_then(|value| value.as_str());
        if let Some(path) = setting("listing") {
            return Ok(vec![Request::get(format!("{origin}/{}", path.trim_start_matches('/')), LISTING)]);
        }
        let moment = |day: String, hour: &str| address::encoded(&format!("{day} {hour}"));
        let from = moment(window.from.to_string(), "00:00:00");
        let to = moment(window.to.to_string(), "23:59:59");
        let categories = setting("categories").map(|names| format!("&categories={}", address::encoded(names)));
        let query = format!("page=1&per_page=50&start_date={from}&end_date={to}&status=publish");
        let categories = categories.unwrap_or_default();
        Ok(vec![Request::get(format!("{origin}/wp-json/tribe/events/v1/events/?{query}{categories}"), EVENTS)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        match page.purpose.as_ref() {
            LISTING => listing::read(page, &address::base(page, site, DOMAIN), *window),
            EVENTS => events::read(page),
            _ => Err(PageFault::purpose(page, "WordPress")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.trim_start().starts_with('{') {
            return (text.contains("\"events\"") && text.contains("start_date")).then_some(EVENTS);
        }
        (text.contains("tribe-events") || text.contains("tribe_events")).then_some(LISTING)
    }
}
