//! Why a page was not got. One sentence, which names who was asked and where.

use bindery_core::time::Timestamp;
use bindery_http::address::AddressError;
use std::time::Duration;
use thiserror::Error;

/// No page.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{vendor}: {url} {trouble}")]
pub struct FetchError {
    /// Whose site was asked.
    pub vendor: String,
    /// Without the secrets in it.
    pub url: String,
    pub trouble: Trouble,
}

/// What went wrong; the end of a sentence that begins with the address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Trouble {
    #[error("{0}")]
    BadAddress(AddressError),
    #[error("answered with status {}", with_name(*.0))]
    Status(u16),
    #[error("goes round in circles: {0}")]
    RedirectLoop(String),
    #[error("redirects more than {0} times")]
    TooManyRedirects(usize),
    #[error("redirects to {to:?}, which {why}")]
    BadRedirect { to: String, why: AddressError },
    #[error("may not be fetched: the site's robots.txt says {0:?}")]
    Robots(String),
    #[error("is not asked while the site's robots.txt cannot be read: it {0}")]
    RobotsUnread(Box<Trouble>),
    #[error("is not asked until {until}: {host} has failed {failures} times in a row")]
    HostDown { host: String, until: Timestamp, failures: u32 },
    #[error("was not waited for: the program is stopping")]
    Stopped,
    #[error(transparent)]
    Exchange(#[from] Failure),
}

/// No answer from a transport.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    #[error("took longer than {} s", .0.as_secs_f64())]
    Late(Duration),
    #[error("could not be reached: {0}")]
    Unreachable(String),
    #[error("broke off: {0}")]
    CutShort(String),
    #[error("is larger than the {} that are taken{}", megabytes(*.limit), .said.map(|said| format!(": it has {}", megabytes(said))).unwrap_or_default())]
    TooLarge { limit: u64, said: Option<u64> },
    #[error("cannot be asked: {0}")]
    Invalid(String),
    #[error("is not in the recording {folder} (a {method} request{sent})")]
    NotRecorded { folder: String, method: &'static str, sent: String },
    #[error("could not be recorded or read again: {0}")]
    Recording(String),
}

fn megabytes(bytes: u64) -> String {
    if bytes < 1_000_000 { format!("{bytes} bytes") } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}

fn with_name(status: u16) -> String {
    let name = bindery_http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    name.map_or_else(|| status.to_string(), |name| format!("{status} {name}"))
}

impl Trouble {
    /// Whether the same request may well succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Status(status) => matches!(status, 408 | 425 | 429 | 500..),
            Self::Exchange(failure) => {
                matches!(failure, Failure::Late(_) | Failure::Unreachable(_) | Failure::CutShort(_))
            }
            Self::RobotsUnread(trouble) => trouble.is_transient(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_sentences() {
        let shown = |trouble: Trouble| {
            FetchError { vendor: "iqm2".to_owned(), url: "https://example.com/".to_owned(), trouble }.to_string()
        };
        assert_eq!(
            shown(Trouble::Status(500)),
            "iqm2: https://example.com/ answered with status 500 Internal Server Error"
        );
        assert_eq!(
            shown(Failure::TooLarge { limit: 200_000_000, said: Some(2_000_000_000) }.into()),
            "iqm2: https://example.com/ is larger than the 200.0 MB that are taken: it has 2000.0 MB"
        );
        let unread = Trouble::RobotsUnread(Box::new(Trouble::Status(503)));
        assert!(unread.is_transient() && !Trouble::Status(404).is_transient() && !Trouble::Stopped.is_transient());
    }
}
