//! Hashes over an item's documents: they change when the documents do, and only then.
//!
//! Addresses are compared without what changes on every visit (signatures, expiry), documents that are not read do not
//! count, and the version of the filter stands in front: `v1:…`. Where the content of a document is known, it counts in
//! place of its address.

use crate::filter::{FILTER_VERSION, attachments, title};
use bindery_core::ContentHash;
use serde_json::{Value, json};

/// A document, as far as its hash goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HashedDocument<'a> {
    pub name: &'a str,
    pub url: &'a str,
    /// The SHA-256 of what was fetched.
    pub content: Option<&'a str>,
    /// What a HEAD request said, if one was made and answered.
    pub content_length: Option<u64>,
    pub last_modified: Option<&'a str>,
}

/// Over names and addresses; empty where there are no documents. The order does not matter.
pub fn hash_attachments_fast(documents: &[HashedDocument<'_>]) -> String {
    hash(documents, |document| json!([identity(document), title::lowered(document.name)]))
}

/// Over names, addresses and what the server says of each document; where it says nothing, name and address alone.
pub fn hash_attachments_with_metadata(documents: &[HashedDocument<'_>]) -> String {
    hash(documents, |document| {
        let (length, modified) = (document.content_length, document.last_modified);
        let (identity, name) = (identity(document), title::lowered(document.name));
        if length.is_none() && modified.is_none() {
            json!([identity, name])
        } else {
            json!([identity, name, length, modified])
        }
    })
}

fn identity(document: &HashedDocument<'_>) -> String {
    document.content.map_or_else(|| canonical_url(document.url), |content| format!("sha256:{content}"))
}

fn hash(documents: &[HashedDocument<'_>], entry: impl Fn(&HashedDocument<'_>) -> Value) -> String {
    if documents.is_empty() {
        return String::new();
    }
    let names: Vec<_> = documents.iter().map(|document| document.name).collect();
    let decisions = attachments::decide(&names);
    let read = documents.iter().zip(decisions).filter(|(_, decision)| !decision.is_skipped());
    let mut entries: Vec<String> = read.map(|(document, _)| entry(document).to_string()).collect();
    entries.sort_unstable();
    entries.dedup();
    format!("v{FILTER_VERSION}:{}", ContentHash::of(format!("[{}]", entries.join(",")).as_bytes()))
}

/// Parameters that say only that, and until when, somebody may look.
const PASSES: &[&str] = &[
    "sig",
    "signature",
    "expires",
    "expiry",
    "expiration",
    "token",
    "access_token",
    "awsaccesskeyid",
    "googleaccessid",
    "key-pair-id",
    "policy",
];
/// Further ones, beside a `sig`: those of Azure's shared access.
const SHARED_ACCESS: &[&str] = &[
    "sv", "ss", "srt", "sp", "se", "st", "spr", "sr", "sip", "si", "skoid", "sktid", "skt", "ske", "sks", "skv",
    "rscd", "rsct",
];

/// The address without scheme, signature, expiry and fragment; the host in lower case, the parameters in order.
pub fn canonical_url(url: &str) -> String {
    let url = url.trim().split('#').next().unwrap_or_default();
    let rest = url.split_once("://").map_or_else(|| url.trim_start_matches("//"), |(_, rest)| rest);
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let host = host.to_lowercase();
    let host = host.strip_suffix(":443").or(host.strip_suffix(":80")).unwrap_or(&host);
    let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_lowercase();
    let parameters = || query.split('&').filter(|parameter| !parameter.is_empty());
    let is_shared_access = parameters().any(|parameter| name(parameter) == "sig");
    let is_pass = |parameter: &&str| {
        let name = name(parameter);
        PASSES.contains(&name.as_str())
            || name.starts_with("x-amz-")
            || name.starts_with("x-goog-")
            || (is_shared_access && SHARED_ACCESS.contains(&name.as_str()))
    };
    let mut kept: Vec<&str> = parameters().filter(|parameter| !is_pass(parameter)).collect();
    kept.sort_unstable();
    let question = if kept.is_empty() { "" } else { "?" };
    format!("{host}{path}{question}{}", kept.join("&")).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document<'a>(name: &'a str, url: &'a str) -> HashedDocument<'a> {
        HashedDocument { name, url, ..HashedDocument::default() }
    }

    /// The seed hashes addresses as they are; ▲ without signatures, and with the filter's version in front.
    #[test]
    fn s001_60_the_order_of_documents_does_not_matter() {
        let (report, plan) =
            (document("Staff Report", "https://example.com/1.pdf"), document("Plan", "https://example.com/2.pdf"));
        let hash = hash_attachments_fast(&[report, plan]);
        assert_eq!(hash_attachments_fast(&[plan, report]), hash);
        assert_eq!((hash.len(), hash.starts_with("v1:")), (67, true));
        assert_ne!(hash_attachments_fast(&[report]), hash);
        assert_ne!(hash_attachments_fast(&[report, document("Plan B", plan.url)]), hash);
        assert_eq!(hash_attachments_fast(&[]), "");
        // What is not read does not count; a document twice counts once.
        assert_eq!(
            hash_attachments_fast(&[report, plan, document("Public Comment", "https://example.com/3.pdf")]),
            hash
        );
        assert_eq!(hash_attachments_fast(&[report, plan, report]), hash);
        // A signature that changes on every visit is not a change.
        let signed = |signature: &str| {
            format!("https://x.blob.core.windows.net/a/1.pdf?sv=2022-11-02&se=2026-01-0{signature}&sig={signature}")
        };
        let (first, second) = (signed("1"), signed("2"));
        assert_eq!(hash_attachments_fast(&[document("A", &first)]), hash_attachments_fast(&[document("A", &second)]));
        // Known content counts in place of the address.
        let known = |url| HashedDocument { content: Some("ab12"), ..document("A", url) };
        assert_eq!(
            hash_attachments_fast(&[known("https://example.com/a")]),
            hash_attachments_fast(&[known("https://example.com/b")])
        );
    }

    #[test]
    fn s001_61_what_the_server_says_of_a_document_counts() {
        let plain = document("Staff Report", "https://example.com/1.pdf");
        let sized = |length| HashedDocument { content_length: Some(length), ..plain };
        let dated = HashedDocument { last_modified: Some("Tue, 03 Mar 2026 10:00:00 GMT"), ..plain };
        assert_ne!(hash_attachments_with_metadata(&[sized(1)]), hash_attachments_with_metadata(&[sized(2)]));
        assert_ne!(hash_attachments_with_metadata(&[dated]), hash_attachments_with_metadata(&[plain]));
        assert_eq!(hash_attachments_with_metadata(&[plain]), hash_attachments_fast(&[plain]));
        assert_eq!(hash_attachments_with_metadata(&[]), "");
    }

    #[test]
    fn addresses_have_one_form() {
        for (url, expected) in [
            ("HTTPS://Example.COM/A/b.PDF?b=2&a=1#page=3", "example.com/A/b.PDF?a=1&b=2"),
            ("http://example.com:80/x?", "example.com/x"),
            ("//example.com/x", "example.com/x"),
            ("https://s3.amazonaws.com/b/k.pdf?X-Amz-Signature=1&X-Amz-Date=2&v=3", "s3.amazonaws.com/b/k.pdf?v=3"),
            ("https://example.com/list?se=1&st=2", "example.com/list?se=1&st=2"),
            ("https://example.com/d?se=1&sig=2&id=7", "example.com/d?id=7"),
            ("https://example.com", "example.com"),
            ("", ""),
        ] {
            assert_eq!(canonical_url(url), expected, "{url}");
        }
    }
}
