//! The URL of a store: what PostgreSQL's own tools understand, and what only we do.
//!
//! | part | meaning |
//! |---|---|
//! | `schema=NAME` | our tables are there; `bindery` unless said |
//! | `sslmode=verify-full`, `verify-ca` | the same as `require`, which always checks the server's certificate |
//! | `sslrootcert=FILE` | a PEM file with authorities that are trusted besides the public ones |
//!
//! Everything else is left to the library that connects.

use super::open::{self, PostgresOptions};

impl PostgresOptions {
    /// Whether this looks like the URL of a PostgreSQL database.
    pub fn is_url(text: &str) -> bool {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        matches!(scheme.as_deref(), Some("postgres" | "postgresql"))
    }

    /// The settings that a URL asks for. Whether it can be used is told when the store is opened.
    pub fn from_url(url: &str) -> Self {
        // The user, the password and the host come before the parameters, and may contain a question mark.
        let host = url.rfind('@').unwrap_or(0);
        let Some(query) = url[host..].find('?').map(|at| host + at) else { return Self::at(url) };
        let mut options = Self::at(&url[..query]);
        let mut rest = Vec::new();
        for parameter in url[query + 1..].split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("schema", name)) => options.schema = decoded(name),
                Some(("sslrootcert", file)) => options.authorities = Some(decoded(file).into()),
                Some(("sslmode", "verify-full" | "verify-ca")) => rest.push("sslmode=require"),
                _ => rest.push(parameter),
            }
        }
        if !rest.is_empty() {
            options.url = format!("{}?{}", options.url, rest.join("&"));
        }
        options
    }

    /// The database as far as it may be shown: no user, no password.
    pub fn place(&self) -> String {
        open::place(&self.url)
    }
}

/// `%2F` is `/`. What is no such thing stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_we_know_is_taken_out_of_the_url() {
        let url =
            "postgresql://ann:p%3F@db/b?schema=two&sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem&application_name=x";
        let options = PostgresOptions::from_url(url);
        assert_eq!(options.url, "postgresql://ann:p%3F@db/b?sslmode=require&application_name=x");
        assert_eq!((&*options.schema, options.authorities), ("two", Some("/etc/ca.pem".into())));
        let plain = PostgresOptions::from_url("postgres://ann:what?@db/b");
        assert_eq!((&*plain.url, &*plain.schema), ("postgres://ann:what?@db/b", "bindery"));
    }

    #[test]
    fn a_folder_is_no_url() {
        for url in ["postgres://db/b", "postgresql://db", "POSTGRES://db"] {
            assert!(PostgresOptions::is_url(url), "{url}");
        }
        for other in ["bindery-data", "postgres", "s3://bucket/x", "./postgres:/x", ""] {
            assert!(!PostgresOptions::is_url(other), "{other}");
        }
    }
}
