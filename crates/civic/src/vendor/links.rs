//! Addresses as pages write them, made whole, and what is in them.

use std::fmt::Write;

/// The address that a page means by `href`; none if it leads nowhere, like `#` or `javascript:…`. `//host` becomes
/// https. On a page that was kept as a file, whose own address is not known, it stays as it is written.
pub(super) fn absolute(base: &str, href: &str) -> Option<String> {
    let href = href.trim();
    let scheme = href.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| is_scheme(scheme));
    match scheme {
        Some(scheme) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
            return Some(without_spaces(href));
        }
        Some(_) => return None,
        None => {}
    }
    if href.is_empty() || href.starts_with('#') {
        return None;
    }
    if let Some(rest) = href.strip_prefix("//") {
        return Some(without_spaces(&format!("https://{rest}")));
    }
    let Some((origin, path)) = origin_and_path(base) else { return Some(without_spaces(href)) };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let whole = if href.starts_with('/') {
        href.to_owned()
    } else if href.starts_with('?') {
        format!("{path}{href}")
    } else {
        let folder = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("/");
        stepped(&format!("{folder}{href}"))
    };
    Some(without_spaces(&format!("{origin}{whole}")))
}

/// `https://host` of an address.
pub(super) fn origin(url: &str) -> Option<&str> {
    origin_and_path(url).map(|(origin, _)| origin)
}

/// The value of a parameter, decoded; whatever the case of its name.
pub(super) fn parameter(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    let query = query.split('#').next().unwrap_or_default();
    let values = query.split(['&', ';']).filter_map(|pair| pair.split_once('='));
    let mut wanted =
        values.filter(|(key, value)| key.trim_start_matches("amp;").eq_ignore_ascii_case(name) && !value.is_empty());
    wanted.next().map(|(_, value)| decoded(value))
}

/// A text as the value of a parameter.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// `%2F` as `/` and `+` as a space; what is no such code stays as it is.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = tail.get(2..).unwrap_or_default();
        } else {
            bytes.push(if first == b'+' { b' ' } else { first });
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `mailto` or `javascript`, but not the beginning of a path with a colon in it.
fn is_scheme(text: &str) -> bool {
    text.chars().next().is_some_and(|first| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn origin_and_path(url: &str) -> Option<(&str, &str)> {
    let host_at = url.find("://")? + 3;
    let end = url.get(host_at..)?.find(['/', '?', '#']).map_or(url.len(), |at| host_at + at);
    Some((url.get(..end)?, url.get(end..)?))
}

/// A path without its `.` and `..`; the query stays as it is.
fn stepped(path: &str) -> String {
    let (path, query) = path.find(['?', '#']).map_or((path, ""), |at| path.split_at(at));
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/').skip(1) {
        match step {
            "." => {}
            ".." => {
                steps.pop();
            }
            _ => steps.push(step),
        }
    }
    format!("/{}{query}", steps.join("/"))
}

fn without_spaces(url: &str) -> String {
    url.replace(' ', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_made_whole() {
        let base = "https://city.example.com/AgendaCenter/Search/?term=&CIDs=all";
        for (href, whole) in [
            ("/ViewFile/Agenda/_1-2?html=true", Some("https://city.example.com/ViewFile/Agenda/_1-2?html=true")),
            ("//cdn.example.com/a b.pdf", Some("https://cdn.example.com/a%20b.pdf")),
            ("../View/7", Some("https://city.example.com/AgendaCenter/View/7")),
            ("?page=2", Some("https://city.example.com/AgendaCenter/Search/?page=2")),
            ("HTTP://other.example.com", Some("HTTP://other.example.com")),
            ("javascript:changeYear(2020)", None),
            ("#top", None),
            ("", None),
        ] {
            assert_eq!(absolute(base, href).as_deref(), whole, "{href}");
        }
        assert_eq!(absolute("kept/page.html", "/View/7").as_deref(), Some("/View/7"));
        assert_eq!(absolute("https://example.com", "a").as_deref(), Some("https://example.com/a"));
    }

    #[test]
    fn parameters_are_found_and_decoded() {
        let url = "https://example.com/d/f?u=https%3A%2F%2Fa.example%2Fx.pdf&N=Agenda%20one&amp;Id=7";
        assert_eq!(parameter(url, "u").as_deref(), Some("https://a.example/x.pdf"));
        assert_eq!(parameter(url, "n").as_deref(), Some("Agenda one"));
        assert_eq!(parameter(url, "id").as_deref(), Some("7"));
        assert_eq!(parameter(url, "missing"), None);
        assert_eq!(decoded("50%"), "50%");
        assert_eq!(encoded("08/29/2020 a"), "08%2F29%2F2020%20a");
    }
}
