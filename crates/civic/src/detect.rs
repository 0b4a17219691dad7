//! Which vendor a city's site is with: the addresses that it would have, tried.

use crate::client::{Arrived, Client, Failure, FetchError, Fetched, Kind, Session, Trouble, Want, address};
use bindery_core::fold;
use bindery_engine::StopSignal;
use futures_util::future::join_all;
use serde::Serialize;
use std::collections::HashSet;
use thiserror::Error;

/// An address that a vendor would give a city.
struct Probe {
    vendor: &'static str,
    /// What stands behind the slug.
    domain: &'static str,
    path: &'static str,
    /// A shorter answer is an excuse.
    least_bytes: usize,
    wants_json: bool,
}

const fn probe(vendor: &'static str, domain: &'static str, path: &'static str) -> Probe {
    Probe { vendor, domain, path, least_bytes: 200, wants_json: false }
}

const fn json_probe(vendor: &'static str, domain: &'static str, path: &'static str) -> Probe {
    Probe { least_bytes: 2, wants_json: true, ..probe(vendor, domain, path) }
}

/// In the order in which they count, if several answer.
const PROBES: [Probe; 9] = [
    Probe { least_bytes: 1000, ..probe("legistar", "legistar.com", "/Calendar.aspx") },
    probe("granicus", "granicus.com", "/ViewPublisher.php?view_id=1"),
    json_probe("primegov", "primegov.com", "/api/v2/PublicPortal/ListUpcomingMeetings"),
    Probe { least_bytes: 5000, ..probe("novusagenda", "novusagenda.com", "/agendapublic") },
    json_probe("civicclerk", "api.civicclerk.com", "/v1/Events"),
    probe("civicplus", "civicplus.com", "/AgendaCenter"),
    probe("iqm2", "iqm2.com", "/"),
    probe("municode", "municodemeetings.com", "/"),
    probe("escribe", "escribemeetings.com", "/"),
];

/// A vendor that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    pub vendor: &'static str,
    pub slug: String,
    pub url: String,
    pub bytes: usize,
}

/// What came of trying.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Detection {
    /// The first is the likeliest.
    pub hits: Vec<Hit>,
    /// Addresses that were tried.
    pub tried: usize,
    /// Addresses that could not be judged, each a sentence.
    pub troubles: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DetectError {
    #[error("{0:?} is no name of a city; give one such as \"Palo Alto\"")]
    Name(String),
    #[error("{0:?} is no state; give two letters such as CA")]
    State(String),
    #[error("the program is stopping")]
    Stopped,
}

/// The slugs that vendors make of a city's name, the likeliest first.
pub fn slugs(name: &str, state: &str) -> Result<Vec<String>, DetectError> {
    let state = state.trim().to_ascii_lowercase();
    if state.len() != 2 || !state.bytes().all(|letter| letter.is_ascii_lowercase()) {
        return Err(DetectError::State(state));
    }
    let mut folded = String::new();
    for letter in name.chars().filter(|letter| !fold::is_mark(*letter) && !"'’.".contains(*letter)) {
        fold::fold_letter(letter, &mut folded);
    }
    let words: Vec<&str> =
        folded.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Err(DetectError::Name(name.to_owned()));
    }
    let (whole, hyphened) = (words.concat(), words.join("-"));
    let mut slugs = vec![
        whole.clone(),
        format!("{whole}{state}"),
        format!("cityof{whole}"),
        format!("{whole}-{state}"),
        hyphened.clone(),
        format!("{hyphened}-{state}"),
        format!("cityof{whole}{state}"),
        format!("townof{whole}"),
    ];
    if let Some(rest) = whole.strip_prefix("st").filter(|_| words.first() == Some(&"st")) {
        slugs.push(format!("saint{rest}"));
    }
    let mut seen = HashSet::new();
    slugs.retain(|slug| slug.len() <= 63 && seen.insert(slug.clone()));
    Ok(slugs)
}

/// Tries the addresses that a city would have with each vendor, until one of the vendor's answers.
pub async fn detect(client: &Client, name: &str, state: &str, stop: &StopSignal) -> Result<Detection, DetectError> {
    let slugs = slugs(name, state)?;
    let each = join_all(PROBES.iter().map(|probe| one_vendor(client, probe, &slugs, stop))).await;
    let mut detection = Detection::default();
    for of_vendor in each {
        let of_vendor = of_vendor?;
        detection.hits.extend(of_vendor.hits);
        detection.tried += of_vendor.tried;
        detection.troubles.extend(of_vendor.troubles);
    }
    Ok(detection)
}

async fn one_vendor(
    client: &Client,
    probe: &Probe,
    slugs: &[String],
    stop: &StopSignal,
) -> Result<Detection, DetectError> {
    let session = Session::new(probe.vendor, "detect-vendor");
    let mut detection = Detection::default();
    for slug in slugs {
        let url = format!("https://{slug}.{}{}", probe.domain, probe.path);
        detection.tried += 1;
        match client.fetch(&session, &Want::new(url, Kind::Page), stop).await {
            Ok(Fetched::Page(page)) if answers(probe, &page) => {
                let bytes = page.bytes.len();
                detection.hits.push(Hit { vendor: probe.vendor, slug: slug.clone(), url: page.url, bytes });
                break;
            }
            Ok(_) => {}
            Err(FetchError { trouble: Trouble::Stopped, .. }) => return Err(DetectError::Stopped),
            Err(error) if is_nobody(&error.trouble) => {}
            Err(error) => detection.troubles.push(error.to_string()),
        }
    }
    Ok(detection)
}

/// Whether a page is a city's, and not the vendor's own way of saying that there is none.
fn answers(probe: &Probe, page: &Arrived) -> bool {
    let host = address::checked(&page.url).map(|uri| address::host(&uri)).unwrap_or_default();
    let is_the_vendors_own = host == probe.domain || host.strip_prefix("www.") == Some(probe.domain);
    let is_json = || {
        serde_json::from_slice::<serde_json::Value>(&page.bytes)
            .is_ok_and(|value| value.is_array() || value.get("value").is_some())
    };
    !is_the_vendors_own && page.bytes.len() >= probe.least_bytes && (!probe.wants_json || is_json())
}

/// There is no such host or page: an answer, too.
fn is_nobody(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Status(status) => (400..500).contains(status) && !matches!(status, 403 | 429),
        Trouble::Exchange(failure) => matches!(failure, Failure::Unreachable(_) | Failure::NotRecorded { .. }),
        Trouble::RobotsUnread(trouble) => is_nobody(trouble),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Settings;
    use bindery_engine::stop_pair;
    use std::fs;

    #[test]
    fn slugs_are_what_vendors_make_of_names() {
        let found = slugs("Palo Alto", "CA").unwrap();
        assert_eq!(found[..5], ["paloalto", "paloaltoca", "cityofpaloalto", "paloalto-ca", "palo-alto"]);
        let found = slugs("St. Louis", "mo").unwrap();
        assert!(found.contains(&"stlouis".to_owned()) && found.contains(&"saintlouis".to_owned()), "{found:?}");
        assert_eq!(slugs("Coeur d'Alene", "ID").unwrap()[0], "coeurdalene");
        assert_eq!(slugs(" – ", "CA"), Err(DetectError::Name(" – ".to_owned())));
        assert!(slugs("Palo Alto", "Calif").unwrap_err().to_string().contains("two letters"));
    }

    #[tokio::test]
    async fn vendors_that_answer_are_named_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(1200);
        let lines = [
            // Says nothing of a city, in few words.
            r#"{"url":"https://testville.legistar.com/Calendar.aspx","text":"Invalid parameters!"}"#.to_owned(),
            // The vendor's own front page.
            r#"{"url":"https://testville.granicus.com/ViewPublisher.php?view_id=1","status":302,"headers":{"location":"https://granicus.com/"}}"#.to_owned(),
            format!(r#"{{"url":"https://granicus.com/","text":"{long}"}}"#),
            // HTML where JSON should be; and then a slug that does.
            format!(r#"{{"url":"https://testville.primegov.com/*","text":"<html>{long}"}}"#),
            r#"{"url":"https://testvilleca.primegov.com/api/*","json":[]}"#.to_owned(),
            r#"{"url":"https://testville.api.civicclerk.com/v1/Events","json":{"value":[]}}"#.to_owned(),
            r#"{"url":"https://testville.iqm2.com/","status":503,"text":"busy"}"#.to_owned(),
        ];
        fs::write(folder.path().join("recording.jsonl"), lines.join("\n")).unwrap();
        let client = Client::replaying(&Settings::default(), folder.path()).unwrap();
        let (_handle, stop) = stop_pair();
        let found = detect(&client, "Testville", "CA", &stop).await.unwrap();
        let hits: Vec<(&str, &str)> = found.hits.iter().map(|hit| (hit.vendor, hit.slug.as_str())).collect();
        assert_eq!(hits, [("primegov", "testvilleca"), ("civicclerk", "testville")]);
        assert_eq!(found.troubles.len(), 1, "{:?}", found.troubles);
        assert!(found.troubles[0].contains("503"), "{:?}", found.troubles);
    }
}
