//! Addresses as they stand in pages: made absolute, taken apart, and the host that a site's slug stands for.

use super::{FetchedPage, PageFault, Site};

/// The whole address of a link on a page. None for what leads nowhere: an empty link, a jump within the page, a script,
/// a mail address, and a relative link on a page that has no address itself.
pub fn absolute(base: &str, link: &str) -> Option<String> {
    let link = link.trim();
    if link.is_empty() || link.starts_with('#') {
        return None;
    }
    if let Some(rest) = link.strip_prefix("//") {
        return Some(format!("https://{rest}"));
    }
    if let Some(scheme) = scheme(link) {
        return matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https").then(|| link.replace(' ', "%20"));
    }
    let (root, path) = split_root(base)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let joined = match link.chars().next() {
        Some('/') => link.to_owned(),
        Some('?') => format!("{path}{link}"),
        _ => format!("{}/{link}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
    };
    Some(format!("{root}{}", without_dots(&joined)).replace(' ', "%20"))
}

/// `https://host` of a site: its slug below the vendor's domain, or the slug itself when it is a host.
pub fn origin(site: &Site, domain: &str) -> Result<String, PageFault> {
    let slug = site.slug.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    if slug.is_empty() || !slug.chars().all(plain) || slug.starts_with('.') || slug.ends_with('.') {
        return Err(PageFault::Site(format!(
            "the slug \"{}\" is no name of a site: expected a name as in https://NAME.{domain}, or a host",
            site.slug
        )));
    }
    Ok(if slug.contains('.') { format!("https://{slug}") } else { format!("https://{slug}.{domain}") })
}

/// An address that links on a page can be read against: the page's own, or the given one for a file that was kept.
pub fn base_of<'a>(page_url: &'a str, otherwise: &'a str) -> &'a str {
    if split_root(page_url).is_some() { page_url } else { otherwise }
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
    pairs.find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_empty()).map(|(_, value)| value)
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
            out.push('%');
            for half in [byte >> 4, byte & 15] {
                out.push(char::from_digit(u32::from(half), 16).unwrap_or('0').to_ascii_uppercase());
            }
        }
    }
    out
}

/// A value out of a query, with its `%20` and the like undone.
pub fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let pair = behind.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match (first, pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = behind;
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `https` of `https://…`, `mailto` of `mailto:…`; none for `a/b:c`.
fn scheme(link: &str) -> Option<&str> {
    let (scheme, _) = link.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (!scheme.is_empty() && scheme.chars().all(plain)).then_some(scheme)
}

/// `https://host` and the rest of an address.
fn split_root(address: &str) -> Option<(&str, &str)> {
    let at = address.find("://")?;
    if !matches!(address.get(..at)?.to_ascii_lowercase().as_str(), "http" | "https") {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_whole_addresses() {
        let page = "https://city.legistar.com/a/Calendar.aspx?Mode=1";
        for (link, whole) in [
            ("View.ashx?M=A&ID=7", Some("https://city.legistar.com/a/View.ashx?M=A&ID=7")),
            ("/View.ashx", Some("https://city.legistar.com/View.ashx")),
            ("../View.ashx", Some("https://city.legistar.com/View.ashx")),
            ("./x/../y.pdf", Some("https://city.legistar.com/a/y.pdf")),
            ("?Mode=2", Some("https://city.legistar.com/a/Calendar.aspx?Mode=2")),
            ("//media.example.com/1.pdf", Some("https://media.example.com/1.pdf")),
            (" http://example.com/a b.pdf ", Some("http://example.com/a%20b.pdf")),
            ("javascript:void(0)", None),
            ("mailto:clerk@example.com", None),
            ("#", None),
            ("", None),
        ] {
            assert_eq!(absolute(page, link).as_deref(), whole, "{link}");
        }
        assert_eq!(absolute("https://host.example.com", "a.pdf").as_deref(), Some("https://host.example.com/a.pdf"));
        assert_eq!(absolute("kept/page.html", "a.pdf"), None);
        assert_eq!(base_of("kept/page.html", "https://example.com/"), "https://example.com/");
    }

    #[test]
    fn values_are_found_in_queries() {
        assert_eq!(parameter("x?id=7&GUID=", "ID"), Some("7"));
        assert_eq!(parameter("x?id=7&GUID=", "guid"), None);
        assert_eq!(value("x?name=a%20b+c%zz#top", "name").as_deref(), Some("a b c%zz"));
        assert_eq!(parameter("x", "id"), None);
        assert_eq!(encoded("EventDate ge datetime'2025-01-01'"), "EventDate%20ge%20datetime%272025-01-01%27");
    }
}
