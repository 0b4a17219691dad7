//! Whose machines a host is one of, and how much may be asked of them.

pub use bindery_http::rate::hosts::Budget;
use bindery_http::{Uri, address, rate::hosts::Place};
use std::{collections::BTreeMap, time::Duration};

/// Hosts that belong to no vendor we know: the sites of cities themselves, and networks that serve everybody.
pub const UNKNOWN: &str = "unknown";

const fn polite(slots: usize, gap_millis: u64) -> Budget {
    Budget { slots, gap: Duration::from_millis(gap_millis), jitter: Duration::from_secs(1) }
}

/// The budget of a vendor.
pub fn budget(vendor: &str) -> Budget {
    match vendor {
        "legistar" | "primegov" | "civicclerk" => polite(3, 2700),
        "granicus" => polite(3, 3600),
        "novusagenda" => polite(1, 3600),
        "civicplus" => Budget { jitter: Duration::from_secs(2), ..polite(1, 7200) },
        "boardbook" => polite(5, 1500),
        "iqm2" | "escribe" | "municode" | "onbase" | "civicweb" | "visioninternet" | "agendaonline" | "proudcity"
        | "wp_events" | "berkeley" | "menlopark" | "chicago" | "ross" | "destiny" => polite(1, 2700),
        // civicengage, and whoever we do not know.
        _ => polite(1, 4500),
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
    let host = address::host(uri);
    DOMAINS.iter().find(|(domain, _)| is_below(&host, domain)).map_or(UNKNOWN, |(_, vendor)| vendor)
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Who is asked for an address, on behalf of a city. `budgets` take the place of those that vendors have. Hosts of no
/// vendor share nothing.
pub(super) fn place(uri: &Uri, scope: &str, budgets: &BTreeMap<String, Budget>) -> Place {
    let (vendor, host) = (vendor_of(uri), address::authority(uri));
    let serves_pool = serves_all(&host);
    Place {
        pool: if vendor == UNKNOWN { format!("host {host}") } else { vendor.to_owned() },
        budget: budgets.get(vendor).copied().unwrap_or_else(|| budget(vendor)),
        scope: if serves_pool { scope.to_owned() } else { String::new() },
        serves_pool,
        host,
    }
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
    fn s001_15_no_pause_between_vendors_and_no_queue_for_cities_on_their_own_domains() {
        // ▲ The seed pauses for 30 to 40 s between groups of vendors; limits of vendors are independent instead.
        let place = |url: &str| place(&url.parse().unwrap(), "testvilleCA", &BTreeMap::new());
        let (legistar, granicus) = (place("https://a.legistar.com/"), place("https://a.granicus.com/"));
        assert_eq!((legistar.pool.as_str(), granicus.pool.as_str()), ("legistar", "granicus"));
        assert_eq!(place("https://www.one.example/").pool, "host www.one.example");
        assert_ne!(place("https://www.one.example/").pool, place("https://www.other.example/").pool);
        let shared = place("https://webapi.legistar.com/v1/seattle/Events");
        assert_eq!(
            (shared.pool.as_str(), shared.serves_pool, shared.scope.as_str()),
            ("legistar", true, "testvilleCA")
        );
        assert_eq!((legistar.serves_pool, legistar.scope.as_str()), (false, ""));
        let exact = Budget { jitter: Duration::ZERO, ..polite(9, 1) };
        let budgets = BTreeMap::from([("legistar".to_owned(), exact)]);
        assert_eq!(super::place(&"https://a.legistar.com/".parse().unwrap(), "", &budgets).budget, exact);
    }

    #[test]
    fn each_vendor_has_its_budget() {
        assert_eq!(budget("legistar"), polite(3, 2700));
        assert_eq!((budget("granicus").slots, budget("granicus").gap), (3, Duration::from_millis(3600)));
        assert_eq!((budget("boardbook").slots, budget("boardbook").gap), (5, Duration::from_millis(1500)));
        assert_eq!(budget("civicplus").jitter, Duration::from_secs(2));
        assert_eq!(budget("no such vendor"), polite(1, 4500));
    }
}
