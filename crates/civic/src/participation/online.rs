//! Links to join and to watch a meeting, its id and passcode. Hosts are compared as names, never as pieces of text.

use super::Streaming;
use crate::pattern::pattern;
use regex::Regex;
use std::{ops::Range, sync::LazyLock};

static URL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b(?:https?://|www\.)[^\s<>"“”]+|\b(?:[a-z0-9-]+\.)*(?:zoom\.us|zoomgov\.com|youtube\.com|youtu\.be|webex\.com|gotomeeting\.com|vimeo\.com|granicus\.com|facebook\.com|midpenmedia\.org)(?:/[^\s<>"“”]*)?"#,
    )
});
/// Hosts where people meet.
const MEETS: &[&str] = &[
    "zoom.us",
    "zoomgov.com",
    "meet.google.com",
    "teams.microsoft.com",
    "teams.live.com",
    "webex.com",
    "gotomeeting.com",
    "gotowebinar.com",
    "meet.goto.com",
    "bluejeans.com",
];
/// Hosts where people watch.
const SHOWS: &[(&str, &str)] = &[
    ("youtube.com", "YouTube"),
    ("youtu.be", "YouTube"),
    ("facebook.com", "Facebook Live"),
    ("granicus.com", "Granicus"),
    ("midpenmedia.org", "Midpen Media"),
    ("vimeo.com", "Vimeo"),
];
static MEETING_ID: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:(?:meeting|webinar|conference)\s*(?:id|number|no\.?)(?:\s+number)?(?:\s+is)?[:#\s]+|enter(?:ing)?\s+(?:the\s+)?(?:meeting\s+)?(?:code|id)[:#\s]+)(\d[\d\s-]{7,14}\d)",
    )
});
static ID_IN_URL: LazyLock<Regex> = LazyLock::new(|| pattern(r"/(?:j|w|s)/(\d{9,11})\b"));
static PASSCODE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bpass\s?(?:code|word)(?:\s+is)?(\s*[:#]\s*|\s+)([A-Za-z0-9!@$%^&*+=._-]{3,16})"));
static CABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:cable|tv|television)\b[^.\n]{0,60}?\bchannels?\s+(\d{1,4})|\bchannel\s+(\d{1,4})\b[^.\n]{0,40}\b(?:cable|comcast|spectrum|cox|at&t|tv)\b",
    )
});

#[derive(Debug, Default)]
pub(super) struct Online {
    pub(super) virtual_url: Option<String>,
    pub(super) meeting_id: Option<String>,
    pub(super) passcode: Option<String>,
    pub(super) streaming: Vec<Streaming>,
    /// Where ids stand, which are no telephone numbers.
    pub(super) spent: Vec<Range<usize>>,
}

/// The addresses in a text, with their places.
pub(super) fn urls(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    URL.find_iter(text).filter_map(|found| {
        let before = text.get(..found.start()).unwrap_or_default();
        // The host of an e-mail address, and the end of a longer name, are no links.
        let stands_free = !before.ends_with(['@', '.', '-', '/']);
        let url = found.as_str().trim_end_matches(['.', ',', ';', ':', ')', ']', '\'', '"', '>', '*']);
        (stands_free && !url.is_empty()).then_some((found.start()..found.start() + url.len(), url))
    })
}

/// The host that an address leads to, in small letters.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default().to_lowercase()
}

/// Whether a host is this one, or below it.
fn is_at(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

/// Leads into a meeting, rather than to a firm's front page or its help.
fn leads_in(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path).to_lowercase();
    !path.is_empty()
        && !["download", "support", "test", "hc/", "help", "signup", "en-us"].iter().any(|word| path.starts_with(word))
}

pub(super) fn find(text: &str) -> Online {
    let mut online = Online::default();
    for (place, url) in urls(text) {
        let host = host(url);
        if MEETS.iter().any(|name| is_at(&host, name)) && leads_in(url) {
            online.spent.push(place.clone());
            online.virtual_url.get_or_insert_with(|| with_scheme(url));
        }
        if let Some((_, platform)) = SHOWS.iter().find(|(name, _)| is_at(&host, name)) {
            // Of a platform one link is enough; those of single items and of files show no meeting.
            let lowered = url.to_lowercase();
            let is_piece = lowered.contains("meta_id=") || lowered.contains("metaviewer");
            let is_known = online.streaming.iter().any(|known| known.platform == *platform);
            if !is_piece && !is_known {
                let url = Some(with_scheme(url));
                online.streaming.push(Streaming { url, platform: (*platform).to_owned(), channel: None });
            }
        }
    }
    for found in CABLE.captures_iter(text) {
        let channel = found.get(1).or(found.get(2)).map(|number| number.as_str().to_owned());
        let stream = Streaming { url: None, platform: "Cable TV".to_owned(), channel };
        if !online.streaming.contains(&stream) {
            online.streaming.push(stream);
        }
    }
    for found in MEETING_ID.captures_iter(text) {
        let Some(number) = found.get(1) else { continue };
        let digits: String = number.as_str().chars().filter(char::is_ascii_digit).collect();
        if (9..=11).contains(&digits.len()) {
            online.spent.push(number.range());
            online.meeting_id.get_or_insert(digits);
        }
    }
    let in_url = |url: &String| ID_IN_URL.captures(url).and_then(|found| Some(found.get(1)?.as_str().to_owned()));
    online.meeting_id = online.meeting_id.take().or_else(|| online.virtual_url.as_ref().and_then(in_url));
    online.passcode = PASSCODE.captures_iter(text).find_map(|found| {
        let (mark, code) = (found.get(1)?.as_str(), found.get(2)?.as_str().trim_end_matches(['.', ',', '-']));
        // "The passcode will be sent" names none.
        let is_code = code.chars().any(|c| c.is_ascii_digit()) || (mark.contains(':') && !code.is_empty());
        (is_code && code.len() >= 3).then(|| code.to_owned())
    });
    online
}

fn with_scheme(url: &str) -> String {
    if url.contains("://") { url.to_owned() } else { format!("https://{url}") }
}
