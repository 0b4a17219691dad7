//! Addresses as they stand in pages: made absolute, taken apart, and the host that a site's slug stands for.
//!
//! What comes out is absolute or nothing. A page that was kept as a file has no address of its own; its links are seen
//! from the jurisdiction's site ([`base`]). Nothing else is changed about an address: it is stored and shown as the vendor
//! writes it, and made fit for a request only when it is asked for.

use super::{FetchedPage, PageFault, Site};
use crate::html::Element;
use std::fmt::Write as _;

/// The whole address of a link on a page. None for what leads nowhere: an empty link, a jump within the page, a script,
/// a mail address, and a relative link on a page that has no address itself.
pub fn absolute(base: &str, link: &str) -> Option<String> {
    let link = link.trim();
    if link.is_empty() || link.starts_with('#') {
        return None;
    }
    if let Some(rest) = link.strip_prefix("//") {
        return Some(without_spaces(&format!("https://{rest}")));
    }
    if let Some(scheme) = scheme(link) {
        return is_of_the_web(scheme).then(|| without_spaces(link));
    }
    let (root, path) = split_root(base)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let joined = match link.chars().next() {
        Some('/') => link.to_owned(),
        Some('?') if path.is_empty() => format!("/{link}"),
        Some('?') => format!("{path}{link}"),
        _ => format!("{}/{link}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
    };
    Some(without_spaces(&format!("{root}{}", without_dots(&joined))))
}

/// Where a link leads.
pub fn target(base: &str, link: Element<'_>) -> Option<String> {
    absolute(base, link.attribute("href")?)
}

/// `https://host` of a site: its slug below the vendor's domain, or the slug itself when it is a host.
pub fn origin(site: &Site, domain: &str) -> Result<String, PageFault> {
    let slug = site.slug.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if slug.is_empty() || !slug.chars().all(plain) || slug.starts_with('.') || slug.ends_with('.') {
        return Err(PageFault::Site(format!(
            "the slug \"{}\" is no name of a site: expected a name as in https://NAME.{domain}, or a host",
            site.slug
        )));
    }
    Ok(if slug.contains('.') { format!("https://{slug}") } else { format!("https://{slug}.{domain}") })
}

/// `https://host` of an address.
pub fn root(address: &str) -> Option<&str> {
    split_root(address).map(|(root, _)| root)
}

/// An address that links on a page can be read against: the page's own, or the given one for a file that was kept.
pub fn base_of<'a>(page_url: &'a str, otherwise: &'a str) -> &'a str {
    if root(page_url).is_some() { page_url } else { otherwise }
}

/// What the links of a page are seen from: the page's own address, or that of the site for a kept file.
pub fn base(page: &FetchedPage, site: &Site, domain: &str) -> String {
    let otherwise = origin(site, domain).map(|origin| origin + "/").unwrap_or_default();
    base_of(&page.url, &otherwise).to_owned()
}

/// A value in the query of an address as it is written there, whatever the case of its name; never empty.
pub fn parameter<'a>(address: &'a str, name: &str) -> Option<&'a str> {
    let query = address.split_once('?')?.1.split('#').next()?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    // Some pages write `&amp;` where `&` is already what they mean.
    let is_named = |key: &str| key.strip_prefix("amp;").unwrap_or(key).eq_ignore_ascii_case(name);
    pairs.find(|(key, value)| is_named(key) && !value.is_empty()).map(|(_, value)| value)
}

/// The same, with its `%20` and the like undone.
pub fn value(address: &str, name: &str) -> Option<String> {
    parameter(address, name).map(decoded)
}

/// A value made fit for a query or a form.
pub fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A value out of a query, with its `%20` and the like undone; what is no such code stays as it is.
pub fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..2).filter(|digits| first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        if let Some(byte) = code {
            bytes.push(byte);
            rest = tail.get(2..).unwrap_or_default();
        } else {
            bytes.push(if first == b'+' { b' ' } else { first });
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `https` of `https://…`, `mailto` of `mailto:…`; none for `a/b:c` and `2:30.pdf`.
fn scheme(link: &str) -> Option<&str> {
    let (scheme, _) = link.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(plain)).then_some(scheme)
}

fn is_of_the_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// `https://host` and the rest of an address.
fn split_root(address: &str) -> Option<(&str, &str)> {
    let at = address.find("://")?;
    if !is_of_the_web(address.get(..at)?) {
        return None;
    }
    let host = at + 3;
    let end = address.get(host..)?.find(['/', '?', '#']).map_or(address.len(), |end| host + end);
    Some(address.split_at(end))
}

/// Folders that are left again go away, in front of the query.
fn without_dots(path: &str) -> String {
    let (path, query) = path.find(['?', '#']).map_or((path, ""), |at| path.split_at(at));
    let mut kept: Vec<&str> = Vec::new();
    for piece in path.split('/').skip(1) {
        match piece {
            "." => {}
            ".." => {
                kept.pop();
            }
            piece => kept.push(piece),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

fn without_spaces(address: &str) -> String {
    address.replace(' ', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{html::Html, vendor::testing::site};

    #[test]
    fn links_become_whole_addresses() {
        let page = "https://city.legistar.com/a/Calendar.aspx?Mode=1";
        for (link, whole) in [
            ("View.ashx?M=A&ID=7", Some("https://city.legistar.com/a/View.ashx?M=A&ID=7")),
            ("/View.ashx", Some("https://city.legistar.com/View.ashx")),
            ("../View.ashx", Some("https://city.legistar.com/View.ashx")),
            ("/b/../View.ashx", Some("https://city.legistar.com/View.ashx")),
            ("./x/../y.pdf", Some("https://city.legistar.com/a/y.pdf")),
            ("2:30 meeting.pdf", Some("https://city.legistar.com/a/2:30%20meeting.pdf")),
            ("?Mode=2", Some("https://city.legistar.com/a/Calendar.aspx?Mode=2")),
            ("//media.example.com/a b.pdf", Some("https://media.example.com/a%20b.pdf")),
            (" http://example.com/a b.pdf ", Some("http://example.com/a%20b.pdf")),
            ("HTTP://other.example.com", Some("HTTP://other.example.com")),
            ("javascript:void(0)", None),
            ("mailto:clerk@example.com", None),
            ("#top", None),
            ("", None),
        ] {
            assert_eq!(absolute(page, link).as_deref(), whole, "{link}");
        }
        assert_eq!(absolute("https://host.example.com", "a.pdf").as_deref(), Some("https://host.example.com/a.pdf"));
        assert_eq!(absolute("https://host.example.com", "?a=1").as_deref(), Some("https://host.example.com/?a=1"));
        let html = Html::parse("<a href=b.pdf></a><a></a>");
        let targets: Vec<_> = html.select("a").into_iter().map(|link| target(page, link)).collect();
        assert_eq!(targets, [Some("https://city.legistar.com/a/b.pdf".to_owned()), None]);
    }

    #[test]
    fn links_of_a_kept_file_are_seen_from_the_site() {
        let kept = FetchedPage::from_kept("kept/page.html", "");
        assert_eq!(absolute(&kept.url, "a.pdf"), None);
        assert_eq!(base(&kept, &site("springfield"), "civicplus.com"), "https://springfield.civicplus.com/");
        assert_eq!(base(&kept, &site("two words"), "civicplus.com"), "");
        assert_eq!(base_of("https://example.com/a", "https://other.example.com/"), "https://example.com/a");
        assert_eq!(base_of("ftp://example.com/a", "https://other.example.com/"), "https://other.example.com/");
    }

    #[test]
    fn slugs_are_subdomains_or_hosts() {
        assert_eq!(origin(&site("wi-columbus"), "civicplus.com").unwrap(), "https://wi-columbus.civicplus.com");
        assert_eq!(origin(&site("wi_columbus"), "civicplus.com").unwrap(), "https://wi_columbus.civicplus.com");
        assert_eq!(origin(&site("www.example.gov"), "civicplus.com").unwrap(), "https://www.example.gov");
        for bad in ["", "two words", "a/b", ".gov", "gov."] {
            assert!(matches!(origin(&site(bad), "civicplus.com"), Err(PageFault::Site(_))), "{bad}");
        }
        assert_eq!(root("https://www.example.gov/a?b"), Some("https://www.example.gov"));
        assert_eq!(root("kept/page.html"), None);
    }

    #[test]
    fn values_are_found_in_queries() {
        assert_eq!(parameter("x?id=7&GUID=", "ID"), Some("7"));
        assert_eq!(parameter("x?id=7&GUID=", "guid"), None);
        assert_eq!(parameter("x?a=1&amp;Id=7", "id"), Some("7"));
        assert_eq!(parameter("x?name=a;b", "name"), Some("a;b"));
        assert_eq!(parameter("x", "id"), None);
        assert_eq!(value("x?name=a%20b+c%zz#top", "name").as_deref(), Some("a b c%zz"));
        assert_eq!(value("x?u=https%3A%2F%2Fa.example%2Fx.pdf", "u").as_deref(), Some("https://a.example/x.pdf"));
        assert_eq!((decoded("50%"), decoded("%+7")), ("50%".to_owned(), "% 7".to_owned()));
        assert_eq!(encoded("EventDate ge datetime'2025-01-01'"), "EventDate%20ge%20datetime%272025-01-01%27");
        assert_eq!(encoded("08/29/2020"), "08%2F29%2F2020");
    }
}
