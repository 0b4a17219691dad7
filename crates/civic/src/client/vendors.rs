//! Whose machines a host is one of, and how much may be asked of them.

use bindery_http::Uri;
use std::time::Duration;

/// Hosts that belong to no vendor we know: the sites of cities themselves, and networks that serve everybody.
pub const UNKNOWN: &str = "unknown";

/// What may be asked of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Requests at the same time.
    pub slots: usize,
    /// From one request to the next in the same slot.
    pub gap: Duration,
    /// Up to this much is added to a gap by chance, so that requests do not march in step.
    pub jitter: Duration,
}

impl Budget {
    const fn new(slots: usize, gap_millis: u64) -> Self {
        Self { slots, gap: Duration::from_millis(gap_millis), jitter: Duration::from_secs(1) }
    }
}

/// The budget of a vendor.
pub fn budget(vendor: &str) -> Budget {
    match vendor {
        "legistar" | "primegov" | "civicclerk" => Budget::new(3, 2700),
        "granicus" => Budget::new(3, 3600),
        "novusagenda" => Budget::new(1, 3600),
        "civicplus" => Budget { jitter: Duration::from_secs(2), ..Budget::new(1, 7200) },
        "boardbook" => Budget::new(5, 1500),
        "iqm2" | "escribe" | "municode" | "onbase" | "civicweb" | "visioninternet" | "agendaonline" | "proudcity"
        | "wp_events" | "berkeley" | "menlopark" | "chicago" | "ross" | "destiny" => Budget::new(1, 2700),
        // civicengage, and whoever we do not know.
        _ => Budget::new(1, 4500),
    }
}

/// Domains and whose they are; a host belongs to the first that it is, or lies below.
const DOMAINS: &[(&str, &str)] = &[
    ("meetings.boardbook.org", "boardbook"),
    ("legistar.granicus.com", "legistar"),
    ("legistar1.granicus.com", "legistar"),
    ("legistar2.granicus.com", "legistar"),
    ("legistar3.granicus.com", "legistar"),
    ("legistar.com", "legistar"),
    ("legistar1.com", "legistar"),
    ("granicus.com", "granicus"),
    ("primegov.com", "primegov"),
    ("civicclerk.com", "civicclerk"),
    ("novusagenda.com", "novusagenda"),
    ("civicplus.com", "civicplus"),
    ("civicweb.net", "civicweb"),
    ("iqm2.com", "iqm2"),
    ("municodemeetings.com", "municode"),
    ("escribemeetings.com", "escribe"),
    ("destinyhosted.com", "destiny"),
    ("meetings.municode.com", "municode"),
    ("hylandcloud.com", "onbase"),
    ("berkeleyca.gov", "berkeley"),
    ("menlopark.gov", "menlopark"),
    ("chicityclerkelms.chicago.gov", "chicago"),
    ("boarddocs.com", "boarddocs"),
];

/// Whose machines answer for an address.
pub fn vendor_of(uri: &Uri) -> &'static str {
    if uri.path().contains("granicus_production_attachments") {
        return "granicus";
    }
    let host = super::address::host(uri);
    DOMAINS.iter().find(|(domain, _)| is_below(&host, domain)).map_or(UNKNOWN, |(_, vendor)| vendor)
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// One host that serves all cities of its vendor. It may use the whole budget, and what one city's pages do wrong says
/// nothing about the others.
pub fn serves_all(host: &str) -> bool {
    matches!(
        host,
        "webapi.legistar.com"
            | "meetings.boardbook.org"
            | "meetings.municode.com"
            | "public.destinyhosted.com"
            | "go.boarddocs.com"
            | "api.chicityclerkelms.chicago.gov"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_belong_to_their_vendors() {
        for (url, vendor) in [
            ("https://webapi.legistar.com/v1/seattle/Events", "legistar"),
            ("https://legistar2.granicus.com/x/attachments/1.pdf", "legistar"),
            ("https://seattle.legistar1.com/x.pdf", "legistar"),
            ("https://walnutcreek.granicus.com/ViewPublisher.php", "granicus"),
            ("https://s3.amazonaws.com/granicus_production_attachments/x.pdf", "granicus"),
            ("https://lascruces.api.civicclerk.com/v1/Events", "civicclerk"),
            ("https://PALOALTO.PrimeGov.com/", "primegov"),
            ("https://meetings.boardbook.org/Public/Organization/7", "boardbook"),
            ("https://api.chicityclerkelms.chicago.gov/meeting", "chicago"),
            ("https://example.hylandcloud.com/", "onbase"),
            ("https://notlegistar.com/", UNKNOWN),
            ("https://www.example.gov/AgendaCenter", UNKNOWN),
        ] {
            assert_eq!(vendor_of(&url.parse().unwrap()), vendor, "{url}");
        }
    }

    #[test]
    fn each_vendor_has_its_budget() {
        assert_eq!(budget("legistar"), Budget::new(3, 2700));
        assert_eq!((budget("granicus").slots, budget("granicus").gap), (3, Duration::from_millis(3600)));
        assert_eq!((budget("boardbook").slots, budget("boardbook").gap), (5, Duration::from_millis(1500)));
        assert_eq!(budget("civicplus").jitter, Duration::from_secs(2));
        assert_eq!(budget("no such vendor"), Budget::new(1, 4500));
    }
}
