//! Fetching a document that an agenda names: what is wanted is the file, not the page around it.
//!
//! A page in its place is looked through for the link to the file, which is followed once; a portal's two doors are both
//! tried; a share link is opened. What is no file at last passes on as it is: it may be an agenda in HTML.

use super::{Arrived, Client, Condition, FetchError, Fetched, Kind, Session, Trouble, Want, address};
use crate::html::Html;
use bindery_engine::StopSignal;
use bindery_http::Uri;
use regex::Regex;
use std::sync::LazyLock;

/// What the addresses of files look like where they do not end like one.
const FILE_ADDRESSES: [&str; 6] =
    ["/viewfile/", "/documentcenter/view/", "/linkclick.aspx", "/metaviewer.php", "cloudfront.net", "s3.amazonaws.com"];

/// The two doors of one portal.
const DOORS: [(&str, &str); 2] = [
    ("/Documents/ViewDocument/", "/Documents/DownloadFileBytes/"),
    ("/Documents/DownloadFileBytes/", "/Documents/ViewDocument/"),
];

static SHARED: LazyLock<Regex> = LazyLock::new(|| Regex::new("^/:[bwxp]:/").expect("the pattern is fixed"));
static DOWNLOAD_URL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""[^"]*\.downloadUrl"\s*:\s*("(?:[^"\\]|\\.)*")"#).expect("the pattern is fixed"));
static DOWNLOAD_PAGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"["']([^"']*/_layouts/15/download\.aspx\?UniqueId=[^"']+)["']"#).expect("the pattern is fixed")
});

impl Client {
    /// Fetches a document, or says that it is as it was.
    pub async fn document(
        &self,
        session: &Session,
        url: &str,
        condition: Option<Condition>,
        stop: &StopSignal,
    ) -> Result<Fetched, FetchError> {
        let want = Want { condition, ..Want::new(url, Kind::Document) };
        let fetched = match self.fetch(session, &want, stop).await {
            Err(error) if matches!(error.trouble, Trouble::Status(400..500)) => match other_door(url) {
                Some(other) => {
                    let want = Want { url: other, ..want };
                    self.fetch(session, &want, stop).await.map_err(|_| error)?
                }
                None => return Err(error),
            },
            other => other?,
        };
        let Fetched::Page(page) = fetched else { return Ok(fetched) };
        let Some(link) = file_behind(url, &page) else { return Ok(Fetched::Page(page)) };
        tracing::debug!(url = address::redact(url), "a page stands in place of a document; its link is followed");
        self.fetch(session, &Want::new(link, Kind::Document), stop).await
    }
}

impl Client {
    /// What a document's server says of it, without the document: its length, and when it was changed. Given up after
    /// a few seconds; many servers do not say.
    pub async fn facts(&self, session: &Session, url: &str, stop: &StopSignal) -> Result<Arrived, FetchError> {
        let want = Want::new(url, Kind::Facts);
        match self.fetch(session, &want, stop).await? {
            Fetched::Page(facts) => Ok(facts),
            Fetched::Unchanged => Ok(Arrived::default()),
        }
    }
}

fn other_door(url: &str) -> Option<String> {
    DOORS.iter().find(|(one, _)| url.contains(one)).map(|(one, other)| url.replacen(one, other, 1))
}

/// The file that a page leads to, if this is a page.
fn file_behind(asked: &str, page: &Arrived) -> Option<String> {
    if !is_html(page) {
        return None;
    }
    let base = address::checked(&page.url).ok()?;
    let text = String::from_utf8_lossy(&page.bytes);
    let asked = address::checked(asked).ok()?;
    if address::host(&asked).ends_with(".sharepoint.com") && SHARED.is_match(asked.path()) {
        return shared_file(&base, &text);
    }
    let page = Html::parse(&text);
    let links: Vec<&str> = page.select("a[href]").iter().filter_map(|link| link.attribute("href")).collect();
    let ends_like_a_file = |link: &&&str| {
        let path = link.split(['?', '#']).next().unwrap_or_default();
        path.to_ascii_lowercase().ends_with(".pdf")
    };
    let looks_like_one = |link: &&&str| {
        let link = link.to_ascii_lowercase();
        FILE_ADDRESSES.iter().any(|part| link.contains(part))
    };
    let best = links.iter().find(ends_like_a_file).or_else(|| links.iter().find(looks_like_one))?;
    address::join(&base, best).ok().map(|uri| uri.to_string())
}

fn shared_file(base: &Uri, text: &str) -> Option<String> {
    let direct = DOWNLOAD_URL.captures(text).and_then(|found| serde_json::from_str::<String>(&found[1]).ok());
    let link = direct.or_else(|| DOWNLOAD_PAGE.captures(text).map(|found| found[1].replace("\\u0026", "&")))?;
    address::join(base, &link).ok().map(|uri| uri.to_string())
}

fn is_html(page: &Arrived) -> bool {
    let kind = page.content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    let begins = page.bytes.trim_ascii_start();
    if begins.starts_with(b"%PDF-") || kind.starts_with("application/pdf") {
        return false;
    }
    kind.starts_with("text/html")
        || kind.starts_with("application/xhtml")
        || (kind.is_empty() && begins.starts_with(b"<"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content_type: &str, text: &str) -> Arrived {
        let content_type = Some(content_type.to_owned());
        let url = "https://example.com/a/View.aspx".to_owned();
        Arrived { url, content_type, bytes: text.as_bytes().to_vec(), ..Arrived::default() }
    }

    #[test]
    fn the_file_behind_a_page_is_found() {
        let asked = "https://example.com/a/View.aspx";
        let html = "<a href=/home>Home</a><a href='/AgendaCenter/ViewFile/7'>x</a><a href='files/Packet.PDF?x=1'>y</a>";
        let found = file_behind(asked, &page("text/html; charset=utf-8", html));
        assert_eq!(found.as_deref(), Some("https://example.com/a/files/Packet.PDF?x=1"));
        let other = "<a href='https://d1.cloudfront.net/x'>x</a>";
        assert_eq!(file_behind(asked, &page("text/html", other)).as_deref(), Some("https://d1.cloudfront.net/x"));
        assert_eq!(file_behind(asked, &page("text/html", "%PDF-1.7 <a href=x.pdf>")), None, "labels lie");
        assert_eq!(file_behind(asked, &page("text/html", "<p>An agenda")), None, "passes on as it is");
    }

    #[test]
    fn share_links_are_opened() {
        let asked = "https://town.sharepoint.com/:b:/g/abc";
        let text = r#"{"@content.downloadUrl":"https:\/\/town.sharepoint.com\/x?a=1\u0026b=2"}"#;
        let found = file_behind(asked, &page("text/html", text));
        assert_eq!(found.as_deref(), Some("https://town.sharepoint.com/x?a=1&b=2"));
        let text = r#"x = "https://town.sharepoint.com/_layouts/15/download.aspx?UniqueId=7";"#;
        let found = file_behind(asked, &page("text/html", text));
        assert_eq!(found.as_deref(), Some("https://town.sharepoint.com/_layouts/15/download.aspx?UniqueId=7"));
    }

    #[test]
    fn a_portal_has_two_doors() {
        let other = other_door("https://x.example/Documents/ViewDocument/a.pdf?meetingId=1");
        assert_eq!(other.as_deref(), Some("https://x.example/Documents/DownloadFileBytes/a.pdf?meetingId=1"));
        assert_eq!(
            other_door(&other.unwrap()).as_deref(),
            Some("https://x.example/Documents/ViewDocument/a.pdf?meetingId=1")
        );
        assert_eq!(other_door("https://x.example/a.pdf"), None);
    }
}
