//! Which items of a meeting are to be read, and from which documents. Pure: what is stored goes in.
//!
//! What has a summary is done, unless it has become something else since: then its latest revision is to be read, and the
//! summary that is there stays. What is not worth reading keeps its reason. A document that two items or more name is
//! *shared*: each of them is read with it, and it is nobody's own.

use crate::records::{AgendaItem, ItemRevision};
use crate::{
    filter::{self, Treatment},
    hash::canonical_url,
    ids,
};
use std::collections::{HashMap, HashSet};

/// A document of an item that is worth reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The canonical form of the address.
    pub(super) key: String,
    pub(super) url: String,
    pub(super) name: String,
    /// Its place among the item's documents.
    pub(super) at: usize,
}

/// Pages of the meeting's packet that belong to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) name: String,
    pub(super) first_page: usize,
    pub(super) last_page: usize,
}

/// An item to be read.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// As it is now, with the words and documents of its revision where it is one.
    pub(super) item: AgendaItem,
    pub(super) revision: Option<ItemRevision>,
    /// Worth one line, which its title is.
    pub(super) is_brief: bool,
    pub(super) documents: Vec<Wanted>,
    pub(super) inside: Vec<Inside>,
}

impl Unit {
    pub(super) fn new(item: AgendaItem, revision: Option<ItemRevision>) -> Self {
        let is_brief = filter::stored::of_item(&item).treatment == Treatment::Brief;
        let documents = wanted_documents(&item);
        Self { item, revision, is_brief, documents, inside: Vec::new() }
    }

    /// How it is known to people who are told of it.
    pub(super) fn label(&self) -> String {
        let number = self.item.agenda_number.as_ref().map(|number| format!("{number} ")).unwrap_or_default();
        format!("{number}{:?}", shorten(&self.item.title, 80))
    }
}

/// At most so many characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// A meeting's work.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) units: Vec<Unit>,
    /// Filtered, without content, or done before.
    pub(super) skipped: u64,
    /// Canonical addresses that several of the units name.
    pub(super) shared: HashSet<String>,
}

pub(super) fn is_live(item: &AgendaItem) -> bool {
    item.removed_at.is_none()
}

/// There is something to read about it.
pub(super) fn has_content(item: &AgendaItem) -> bool {
    !item.attachments.is_empty() || item.body_text.as_deref().is_some_and(|text| !text.trim().is_empty())
}

/// What is to do for these items.
pub(super) fn plan(items: &[AgendaItem], revisions: &[ItemRevision]) -> Plan {
    let mut plan = Plan::default();
    for item in items.iter().filter(|item| is_live(item)) {
        match unit(item, revisions) {
            Some(unit) => plan.units.push(unit),
            None => plan.skipped += 1,
        }
    }
    plan.shared = shared(&plan.units);
    plan
}

fn unit(item: &AgendaItem, revisions: &[ItemRevision]) -> Option<Unit> {
    if item.duplicate_of.is_some() {
        return None;
    }
    if item.summary.is_none() {
        let is_open = item.filter_reason.is_none() && has_content(item);
        return is_open.then(|| Unit::new(item.clone(), None));
    }
    let latest = revisions.iter().filter(|one| one.item_id == item.id).max_by_key(|one| one.revision)?;
    let became = became(item, latest);
    let is_worth = !filter::stored::of_item(&became).is_skipped() && has_content(&became);
    (latest.summary.is_none() && is_worth).then(|| Unit::new(became, Some(latest.clone())))
}

/// The item with what its revision says.
pub(super) fn became(item: &AgendaItem, revision: &ItemRevision) -> AgendaItem {
    AgendaItem {
        title: revision.title.clone(),
        sequence: revision.sequence,
        agenda_number: revision.agenda_number.clone(),
        sponsors: revision.sponsors.clone(),
        body_text: revision.body_text.clone(),
        attachments: revision.attachments.clone(),
        attachment_hash: revision.attachment_hash.clone(),
        filter_reason: None,
        ..item.clone()
    }
}

/// The documents that are worth reading: not old versions, not what the filter leaves out, each address once; the
/// staff's own report first.
pub(super) fn wanted_documents(item: &AgendaItem) -> Vec<Wanted> {
    let decisions = filter::stored::of_documents(item);
    let mut seen = HashSet::new();
    let mut wanted: Vec<Wanted> = item
        .attachments
        .iter()
        .zip(decisions)
        .enumerate()
        .filter(|(_, (document, decision))| !decision.is_skipped() && !document.url.trim().is_empty())
        .map(|(at, (document, _))| Wanted {
            key: canonical_url(&document.url),
            url: document.url.clone(),
            name: if document.name.trim().is_empty() { "Document".to_owned() } else { document.name.clone() },
            at,
        })
        .filter(|document| seen.insert(document.key.clone()))
        .collect();
    wanted.sort_by_key(|document| rank(&document.name));
    wanted
}

/// What says what the matter is comes first; what is shown with it comes last.
fn rank(name: &str) -> u8 {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match () {
        () if has(&["staff report", "agenda report", "council report", "council letter", "board letter"]) => 0,
        () if has(&["report", "memo", "transmittal", "summary", "fact sheet"]) => 1,
        () if has(&["ordinance", "resolution", "bill", "legislation"]) => 2,
        () if has(&["presentation", "slides", "map", "photo", "exhibit", "attachment", "appendix"]) => 4,
        () => 3,
    }
}

/// Addresses that two items or more name.
pub(super) fn shared(units: &[Unit]) -> HashSet<String> {
    let mut named: HashMap<&str, HashSet<&str>> = HashMap::new();
    for unit in units.iter().filter(|unit| !unit.is_brief) {
        for document in &unit.documents {
            named.entry(&document.key).or_default().insert(&unit.item.id);
        }
    }
    named.into_iter().filter(|(_, items)| items.len() > 1).map(|(key, _)| key.to_owned()).collect()
}

/// Over everything that is read for an item: the same gives the same summary.
pub(super) fn source_hash(title: &str, body: Option<&str>, documents: &[(String, String)]) -> String {
    let mut text = format!("{}\n{}\n", title.trim(), body.unwrap_or_default().trim());
    let mut documents: Vec<&(String, String)> = documents.iter().collect();
    documents.sort_unstable();
    for (name, content) in documents {
        text.extend([name.as_str(), "\t", content, "\n"]);
    }
    ids::digest(&text, 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Attachment;

    fn document(name: &str, url: &str) -> Attachment {
        Attachment { name: name.to_owned(), url: format!("https://example.com/{url}"), ..Attachment::default() }
    }

    fn item(id: &str, attachments: Vec<Attachment>) -> AgendaItem {
        let title = format!("Contract {id} for pumps, $5,000");
        AgendaItem { id: id.to_owned(), title, attachments, ..AgendaItem::default() }
    }

    #[test]
    fn what_is_filtered_empty_or_done_is_not_read() {
        let report = || vec![document("Staff Report", "1.pdf")];
        let done = AgendaItem { summary: Some("Yes.".to_owned()), ..item("done", report()) };
        let filtered = AgendaItem { filter_reason: Some("procedural".to_owned()), ..item("filtered", report()) };
        let gone = AgendaItem { removed_at: Some(bindery_core::Timestamp::from_millis(1)), ..item("gone", report()) };
        let again = AgendaItem { duplicate_of: Some("open".to_owned()), ..item("again", report()) };
        let body = AgendaItem { body_text: Some("What it is about.".to_owned()), ..item("body", Vec::new()) };
        let items = [done, filtered, gone, again, item("empty", Vec::new()), item("open", report()), body];
        let plan = plan(&items, &[]);
        let ids: Vec<&str> = plan.units.iter().map(|unit| unit.item.id.as_str()).collect();
        assert_eq!((ids, plan.skipped), (vec!["open", "body"], 4));
    }

    #[test]
    fn what_an_item_has_become_is_read_beside_its_summary() {
        let old = AgendaItem { summary: Some("Yes.".to_owned()), revisions: 2, ..item("a", Vec::new()) };
        let revision = |number, summary: Option<&str>| ItemRevision {
            item_id: "a".to_owned(),
            revision: number,
            title: format!("Contract for pumps, $7,000, version {number}"),
            attachments: vec![document("Staff Report", "2.pdf")],
            summary: summary.map(str::to_owned),
            ..ItemRevision::default()
        };
        let open = plan(std::slice::from_ref(&old), &[revision(1, None), revision(2, None)]);
        assert_eq!(open.units[0].revision.as_ref().unwrap().revision, 2);
        assert!(open.units[0].item.title.ends_with("version 2"));
        assert!(plan(std::slice::from_ref(&old), &[revision(1, None), revision(2, Some("So."))]).units.is_empty());
    }

    #[test]
    fn documents_are_wanted_once_and_the_report_first() {
        let documents = vec![
            document("Slides", "1.pdf"),
            document("Resolution", "2.pdf"),
            document("Staff Report", "3.pdf"),
            document("Staff Report again", "3.pdf?sig=1"),
            document("Public Comment", "4.pdf"),
        ];
        let names: Vec<String> = wanted_documents(&item("a", documents)).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["Staff Report", "Resolution", "Slides"]);
    }

    #[test]
    fn s001_52_what_two_items_name_is_shared() {
        let budget = || document("Budget", "budget.pdf");
        let items = [item("a", vec![budget(), document("Report", "a.pdf")]), item("b", vec![budget()])];
        let plan = plan(&items, &[]);
        assert_eq!(plan.shared, HashSet::from(["example.com/budget.pdf".to_owned()]));
    }

    #[test]
    fn the_same_sources_have_the_same_hash_in_any_order() {
        let (a, b) = (("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned()));
        let hash = source_hash("T", None, &[a.clone(), b.clone()]);
        assert_eq!(source_hash("T ", Some(""), &[b.clone(), a.clone()]), hash);
        assert_ne!(source_hash("T", None, &[a]), hash);
        assert_ne!(source_hash("T", Some("x"), &[b]), hash);
    }
}
