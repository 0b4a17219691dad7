//! What can be wrong with a vendor's page. Each is one sentence that a person can act on.

use super::FetchedPage;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PageFault {
    /// The site's own settings do not do, e.g. a slug with a space.
    #[error("{0}")]
    Site(String),
    /// Something else was expected here, e.g. HTML came instead of JSON.
    #[error("{url}: expected {expected}, found {found}")]
    Unexpected { url: String, expected: String, found: String },
    /// The site wants to know who is asking.
    #[error("{url}: the site asks for a login")]
    Login { url: String },
    /// It stops before its end.
    #[error("{url}: the page stops half-way ({detail})")]
    CutShort { url: String, detail: String },
}

impl PageFault {
    pub fn new_unexpected(url: &str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Unexpected { url: url.to_owned(), expected: expected.into(), found: found.into() }
    }

    pub fn cut_short(url: &str, detail: impl Into<String>) -> Self {
        Self::CutShort { url: url.to_owned(), detail: detail.into() }
    }

    /// A page that is asked to be read for something that a vendor does not have.
    pub fn purpose(page: &FetchedPage, vendor: &str) -> Self {
        Self::new_unexpected(&page.url, format!("a purpose that {vendor} knows"), format!("\"{}\"", page.purpose))
    }
}
