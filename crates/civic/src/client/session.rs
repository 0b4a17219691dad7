//! What requests for one city have in common: who asks, and the cookies that sites hand out.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// One city's visit. Cookies live as long as it does, and go only to the very host that set them.
#[derive(Debug)]
pub struct Session {
    /// The vendor, for errors.
    pub vendor: String,
    /// For whom, e.g. `paloaltoCA`.
    pub scope: String,
    cookies: Mutex<BTreeMap<String, BTreeMap<String, String>>>,
}

/// Sites that set more are not played along with.
const MOST_COOKIES: usize = 50;

impl Session {
    pub fn new(vendor: impl Into<String>, scope: impl Into<String>) -> Self {
        Self { vendor: vendor.into(), scope: scope.into(), cookies: Mutex::default() }
    }

    /// The header to send to a host.
    pub(super) fn cookie_header(&self, host: &str) -> Option<String> {
        let cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        let pairs = cookies.get(host)?.iter().map(|(name, value)| format!("{name}={value}"));
        Some(pairs.collect::<Vec<_>>().join("; ")).filter(|header| !header.is_empty())
    }

    /// Keeps what a host sets by a `Set-Cookie`.
    pub(super) fn set_cookie(&self, host: &str, header: &str) {
        let mut parts = header.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let is_removed = parts.any(|part| part.eq_ignore_ascii_case("max-age=0")) || value.is_empty();
        let mut cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        let of_host = cookies.entry(host.to_owned()).or_default();
        if is_removed {
            of_host.remove(name);
        } else if of_host.len() < MOST_COOKIES {
            of_host.insert(name.to_owned(), value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_go_back_to_the_host_that_set_them() {
        let session = Session::new("onbase", "testvilleCA");
        session.set_cookie("a.example", "ASP.NET_SessionId=x1; path=/; HttpOnly");
        session.set_cookie("a.example", "seen=yes");
        assert_eq!(session.cookie_header("a.example").as_deref(), Some("ASP.NET_SessionId=x1; seen=yes"));
        assert_eq!(session.cookie_header("b.example"), None);
        session.set_cookie("a.example", "seen=; Max-Age=0");
        session.set_cookie("a.example", "nonsense");
        assert_eq!(session.cookie_header("a.example").as_deref(), Some("ASP.NET_SessionId=x1"));
    }
}
