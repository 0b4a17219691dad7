//! Addresses of pages: made fit for a request, joined, taken apart, and shown without their secrets.

use regex::Regex;
use serde_json::Value;
use std::{fmt::Write as _, sync::LazyLock};
use thiserror::Error;
use ureq::http::Uri;

/// What stands in place of a secret.
pub const HIDDEN: &str = "HIDDEN";

/// Parameters whose values open doors.
const SECRET_PARAMETERS: &str =
    "token|access_token|api_key|apikey|subscription-key|client_secret|secret|password|sig|signature";

static IN_QUERY: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!("(?i)(^|[?&])({SECRET_PARAMETERS})=([^&#\\s\"'<>]+)")));
static USER_INFO: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/?#@\s:]*:[^/?#@\s]+@"));
static IN_JSON: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r#"(?i)("(?:{SECRET_PARAMETERS})"\s*:\s*")([^"]+)""#)));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is fixed")
}

/// Why an address cannot be asked; the end of a sentence that does not repeat it, for it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum AddressError {
    #[error("is no address such as https://example.com/")]
    NoAddress,
    #[error("should begin with https:// or http://")]
    Scheme,
    #[error("names no host")]
    NoHost,
    #[error("holds a user or a password")]
    Password,
}

/// An address that can be asked, as it is written: with a scheme and a host, and without a password.
pub fn strict(url: &str) -> Result<Uri, AddressError> {
    let uri: Uri = url.trim().parse().map_err(|_| AddressError::NoAddress)?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(AddressError::Scheme);
    }
    let authority = uri.authority().filter(|authority| !authority.host().is_empty()).ok_or(AddressError::NoHost)?;
    if authority.as_str().contains('@') { Err(AddressError::Password) } else { Ok(uri) }
}

/// The same of a link on a page: without its fragment, and with nothing in it that may not stand in a request (spaces and
/// letters beyond ASCII are written as bytes).
pub fn checked(url: &str) -> Result<Uri, AddressError> {
    let url = url.trim();
    let url = url.split_once('#').map_or(url, |(before, _)| before);
    let mut clean = String::with_capacity(url.len());
    for byte in url.bytes() {
        match byte {
            b'\t' | b'\n' | b'\r' => {}
            0x00..=0x20 | 0x7f.. | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                let _ = write!(clean, "%{byte:02X}");
            }
            _ => clean.push(char::from(byte)),
        }
    }
    strict(&clean)
}

/// The host, in small letters, without the port.
pub fn host(uri: &Uri) -> String {
    uri.host().unwrap_or_default().to_ascii_lowercase()
}

/// The host, with its port where it has one: a machine to be polite to.
pub fn authority(uri: &Uri) -> String {
    uri.authority().map(|authority| authority.as_str().to_ascii_lowercase()).unwrap_or_default()
}

/// Scheme, host and port: what a robots.txt speaks for.
pub fn origin(uri: &Uri) -> String {
    format!("{}://{}", uri.scheme_str().unwrap_or("https"), authority(uri))
}

/// Where a link on a page, or a redirect, leads.
pub fn join(base: &Uri, target: &str) -> Result<Uri, AddressError> {
    let target = target.trim();
    let has_scheme = target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    });
    if has_scheme {
        return checked(target);
    }
    if let Some(rest) = target.strip_prefix("//") {
        return checked(&format!("{}://{rest}", base.scheme_str().unwrap_or("https")));
    }
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (target, String::new()),
    };
    let path = if path.is_empty() {
        base.path().to_owned()
    } else if path.starts_with('/') {
        without_dots(path)
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        without_dots(&format!("{folder}/{path}"))
    };
    checked(&format!("{}{path}{query}", origin(base)))
}

/// A path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

/// Whether a parameter or a setting of this name is nobody else's business.
pub fn is_secret(name: &str) -> bool {
    SECRET_PARAMETERS.split('|').any(|secret| secret.eq_ignore_ascii_case(name))
}

/// An address for people and recordings, or a sentence with one in it: without the secrets.
pub fn redact(url: &str) -> String {
    let url = USER_INFO.replace_all(url, format!("${{1}}{HIDDEN}@"));
    let hide = |found: &regex::Captures<'_>| format!("{}{}={HIDDEN}", &found[1], &found[2]);
    IN_QUERY.replace_all(&url, hide).into_owned()
}

/// JSON for people, without secrets: values under the names of secrets, and those in addresses.
pub fn shown_json(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let hide = |(name, value): (String, Value)| match value {
                Value::String(_) | Value::Number(_) if is_secret(&name) => (name, HIDDEN.into()),
                other => (name, shown_json(other)),
            };
            Value::Object(map.into_iter().map(hide).collect())
        }
        Value::Array(list) => list.into_iter().map(shown_json).collect(),
        Value::String(text) => redact(&text).into(),
        other => other,
    }
}

/// What a POST sends, without the secrets in it.
pub fn shown_body(text: &str) -> String {
    let text = IN_JSON.replace_all(text, |found: &regex::Captures<'_>| format!("{}{HIDDEN}\"", &found[1]));
    redact(&text)
}

/// The secrets in an address: what a page may repeat of them must not be kept either. Very short ones stay: they would
/// be found everywhere.
pub fn secrets(url: &str) -> Vec<String> {
    IN_QUERY.captures_iter(url).map(|found| found[3].to_owned()).filter(|value| value.len() >= 6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_made_fit_for_requests() {
        let shown = |url: &str| checked(url).map(|uri| uri.to_string());
        assert_eq!(
            shown(" https://example.com/a b?$filter=x ge datetime'2026-01-01'#top ").unwrap(),
            "https://example.com/a%20b?$filter=x%20ge%20datetime'2026-01-01'"
        );
        assert_eq!(shown("https://example.com/Ñ|").unwrap(), "https://example.com/%C3%91%7C");
        for bad in
            ["", "example.com", "ftp://example.com/", "https://", "https:///x", "https://a:b@example.com/", "http://[/"]
        {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn links_are_joined_as_browsers_do() {
        let base = checked("https://Example.com:8443/a/b/Calendar.aspx?x=1").unwrap();
        let joined = |target: &str| join(&base, target).map(|uri| uri.to_string()).unwrap();
        assert_eq!(joined("Detail.aspx?ID=7"), "https://example.com:8443/a/b/Detail.aspx?ID=7");
        assert_eq!(joined("../c/./d"), "https://example.com:8443/a/c/d");
        assert_eq!(joined("../../../x/.."), "https://example.com:8443/");
        assert_eq!(joined("/Root?u=https://other.example/"), "https://example.com:8443/Root?u=https://other.example/");
        assert_eq!(joined("?page=2"), "https://example.com:8443/a/b/Calendar.aspx?page=2");
        assert_eq!(joined("//cdn.example.com/f.pdf"), "https://cdn.example.com/f.pdf");
        assert_eq!(joined("http://other.example/x y"), "http://other.example/x%20y");
        assert!(join(&base, "javascript:void(0)").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_link_is_survived(url: String, target: String, segments in "[./a?#%:]{0,20}") {
            let base = checked("https://example.com/a/b").unwrap();
            for link in [&target, &segments] {
                if let Ok(joined) = join(&base, link) {
                    assert!(checked(&joined.to_string()).is_ok());
                }
            }
            let _ = checked(&url);
            let _ = checked(&format!("https://{url}"));
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let url = "https://example.com/v1/nyc/Events?token=Uvkhdfshdfs&$top=5&SIG=abc#x";
        assert_eq!(redact(url), "https://example.com/v1/nyc/Events?token=HIDDEN&$top=5&SIG=HIDDEN#x");
        assert_eq!(
            redact("https://x.example/?token=a: expected JSON"),
            "https://x.example/?token=HIDDEN expected JSON"
        );
        assert_eq!(secrets(url), ["Uvkhdfshdfs"]);
        assert_eq!(redact("https://ann:s3cret@x.example/a@b:c"), "https://HIDDEN@x.example/a@b:c");
        assert_eq!(redact("at https://x.example:8080/a:b@c"), "at https://x.example:8080/a:b@c");
        let listed = serde_json::json!({"settings": {"Token": "abc", "view": 2}, "at": ["https://x.example/?sig=abc"]});
        let hidden =
            serde_json::json!({"settings": {"Token": HIDDEN, "view": 2}, "at": ["https://x.example/?sig=HIDDEN"]});
        assert_eq!(shown_json(listed), hidden);
        assert_eq!(shown_body(r#"{"token": "abc", "day": 1}"#), r#"{"token": "HIDDEN", "day": 1}"#);
        assert_eq!(shown_body("token=abc&day=1"), "token=HIDDEN&day=1");
    }
}
