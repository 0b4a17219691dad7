//! Items of one agenda that are about the same matter.
//!
//! A matter may rightly be listed twice, so no item is ever left out: only one that reads the same and carries the same
//! documents as an earlier one is marked as its duplicate.

use crate::{filter::title, hash::canonical_url};
use std::collections::{BTreeSet, HashMap};

/// An item, as far as duplicates go.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListedItem<'a> {
    pub matter_id: Option<&'a str>,
    pub title: &'a str,
    /// The addresses of its documents.
    pub documents: &'a [&'a str],
}

/// Of each item, the index of the earlier one that it duplicates.
pub fn duplicates(items: &[ListedItem<'_>]) -> Vec<Option<usize>> {
    let mut first: HashMap<(&str, String, BTreeSet<String>), usize> = HashMap::new();
    let mut found = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        found.push(item.matter_id.and_then(|matter| {
            let documents = item.documents.iter().map(|url| canonical_url(url)).collect();
            let earlier = *first.entry((matter, title::plain(item.title), documents)).or_insert(at);
            (earlier != at).then_some(earlier)
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed keeps one item per matter; ▲ all are kept, and only what is the same twice is marked.
    #[test]
    fn s001_23_an_item_that_is_listed_twice_is_marked() {
        let report = ["https://example.com/1.pdf?sig=a&se=1"];
        let again = ["http://example.com/1.pdf?se=2&sig=b"];
        let item = |title, documents| ListedItem { matter_id: Some("m"), title, documents };
        let items = [
            item("4. On trees", &report[..]),
            item("17. On trees", &again[..]),
            item("18. On trees, second reading", &report[..]),
            item("19. On trees", &[]),
            ListedItem { matter_id: None, ..item("On trees", &report[..]) },
            ListedItem { matter_id: Some("other"), ..item("On trees", &report[..]) },
        ];
        assert_eq!(duplicates(&items), [None, Some(0), None, None, None, None]);
    }
}
