//! A meeting's agenda: which item is which, what has changed about each, and what is worth reading.
//!
//! An item is known again by the vendor's id, else by its title, else by its place when the title is nearly the same. One that was summarised is a
//! snapshot: what it has become since is a revision beside it. One that the vendor does not list any more is marked, not
//! deleted, and only when an agenda was read at all.

use super::meeting::attachment;
use crate::records::{
    AgendaItem, Attachment, ChangeKind, CivicChanges, ItemRevision, Meeting, MeetingSnapshot, NewMeetingChange,
    Replacement,
};
use crate::{
    duplicates::{ListedItem, duplicates},
    filter,
    hash::{HashedDocument, canonical_url, hash_attachments_fast, hash_attachments_with_metadata},
    ids,
    vendor::{VendorItem, VendorMeeting},
};
use bindery_core::Timestamp;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// An item as it should be stored, and what the vendor says of it; none where nothing was said this time.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub(super) item: AgendaItem,
    pub(super) told: Option<&'a VendorItem>,
    /// Its documents and their hash as they are now, also where the item itself stays as it was summarised.
    pub(super) latest: (Vec<Attachment>, Option<String>),
}

/// The agenda as it should be.
pub(super) fn agenda<'a>(
    meeting: &Meeting,
    incoming: &'a VendorMeeting,
    stored: Option<&MeetingSnapshot>,
    (replaced, now): (&HashMap<String, Replacement>, Timestamp),
    changes: &mut CivicChanges,
) -> Vec<Placed<'a>> {
    let before = stored.map_or(&[][..], |stored| stored.items.as_slice());
    let is_first_agenda = before.is_empty();
    let known = matched(meeting, incoming, before);
    let mut placed = Vec::with_capacity(known.len());
    for (told, id, before, sequence) in known {
        let mut item = item(meeting, told, (id, sequence), before, replaced);
        let latest = (item.attachments.clone(), item.attachment_hash.clone());
        if let Some(before) = before {
            item = changed(before, item, changes);
        } else if !is_first_agenda {
            tell(changes, ChangeKind::ItemAdded, &item.id, Value::Null, json!(item.title));
        }
        placed.push(Placed { item, told: Some(told), latest });
    }
    if is_first_agenda
        && !placed.is_empty()
        && stored.is_some_and(|stored| stored.meeting.agenda_url.is_some() || incoming.agenda_url.is_none())
    {
        let posted = json!({"items": placed.len()});
        changes.history.push(NewMeetingChange::new(ChangeKind::AgendaPosted, (), posted));
    }
    let taken: HashSet<String> = placed.iter().map(|placed| placed.item.id.clone()).collect();
    for gone in before.iter().filter(|item| !taken.contains(&item.id)) {
        let mut item = gone.clone();
        // What was found in the packet stays until the vendor lists items itself.
        let is_replaced = !ids::is_from_packet(&item) || !incoming.items.is_empty();
        if incoming.has_agenda && is_replaced && item.removed_at.is_none() {
            item.removed_at = Some(now);
            tell(changes, ChangeKind::ItemRemoved, &item.id, json!(item.title), Value::Null);
        }
        placed.push(Placed { item, told: None, latest: (Vec::new(), None) });
    }
    placed
}

fn tell(changes: &mut CivicChanges, kind: ChangeKind, item_id: &str, before: Value, after: Value) {
    changes.history.push(NewMeetingChange { kind, item_id: Some(item_id.to_owned()), before, after });
}

type Match<'a, 'b> = (&'a VendorItem, String, Option<&'b AgendaItem>, u32);

/// Who is who: each item that the vendor lists with its id, the stored one, and its place.
fn matched<'a, 'b>(meeting: &Meeting, incoming: &'a VendorMeeting, before: &'b [AgendaItem]) -> Vec<Match<'a, 'b>> {
    let listed: Vec<(&VendorItem, u32)> = (1_u32..)
        .zip(&incoming.items)
        .filter(|(_, item)| !item.title.trim().is_empty())
        .map(|(place, item)| (item, if item.sequence == 0 { place } else { item.sequence }))
        .collect();
    let by_id: HashMap<&str, &AgendaItem> = before.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut found: Vec<Option<(String, Option<&AgendaItem>)>> = vec![None; listed.len()];
    // Vendors' ids are sure.
    for ((item, sequence), found) in listed.iter().zip(&mut found) {
        if has_id(item) {
            let mut id = ids::item_id(&meeting.id, item.vendor_item_id.as_deref(), *sequence);
            // One that is listed twice is two items.
            let mut again = 2;
            while !taken.insert(id.clone()) {
                id = format!("{}-{again}", ids::item_id(&meeting.id, item.vendor_item_id.as_deref(), *sequence));
                again += 1;
            }
            let stored = by_id.get(id.as_str()).copied();
            *found = Some((id, stored));
        }
    }
    // Without one, the same title is the same item, wherever it stands now.
    for ((item, _), found) in listed.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
        let same = |stored: &&AgendaItem| {
            stored.vendor_item_id.is_none() && !taken.contains(&stored.id) && same_title(&stored.title, &item.title)
        };
        if let Some(stored) = before.iter().find(same) {
            taken.insert(stored.id.clone());
            *found = Some((stored.id.clone(), Some(stored)));
        }
    }
    // A title that was touched up stands where it stood. Everything else is new, under a number that nobody had.
    for ((item, sequence), found) in listed.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
        let mut place = *sequence;
        let mut id = ids::item_id(&meeting.id, None, place);
        let stored = by_id.get(id.as_str()).copied().filter(|stored| is_similar(&stored.title, &item.title));
        if let Some(stored) = stored.filter(|_| taken.insert(id.clone())) {
            *found = Some((id, Some(stored)));
            continue;
        }
        while by_id.contains_key(id.as_str()) || !taken.insert(id.clone()) {
            place += 1;
            id = ids::item_id(&meeting.id, None, place);
        }
        *found = Some((id, None));
    }
    let whole = listed.into_iter().zip(found);
    whole.filter_map(|((item, sequence), found)| found.map(|(id, stored)| (item, id, stored, sequence))).collect()
}

fn has_id(item: &VendorItem) -> bool {
    item.vendor_item_id.as_deref().is_some_and(|id| !id.trim().is_empty())
}

fn same_title(one: &str, other: &str) -> bool {
    filter::title::lowered(one) == filter::title::lowered(other)
}

/// Most of the words are the same.
fn is_similar(one: &str, other: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        filter::title::lowered(text).split_whitespace().map(str::to_owned).collect()
    };
    let (one, other) = (words(one), words(other));
    let shared = one.intersection(&other).count();
    shared * 2 > one.len().max(other.len())
}

/// The item as the vendor tells it, with what is stored where the vendor is silent.
fn item(
    meeting: &Meeting,
    told: &VendorItem,
    (id, sequence): (String, u32),
    before: Option<&AgendaItem>,
    replaced: &HashMap<String, Replacement>,
) -> AgendaItem {
    let mut item = before.cloned().unwrap_or_default();
    item.id = id;
    item.meeting_id.clone_from(&meeting.id);
    item.vendor_item_id = told.vendor_item_id.clone().filter(|_| has_id(told));
    told.title.trim().clone_into(&mut item.title);
    item.sequence = i64::from(sequence);
    let take = |mine: &mut Option<String>, told: &Option<String>| {
        if let Some(told) = told.as_deref().map(str::trim).filter(|told| !told.is_empty()) {
            *mine = Some(told.to_owned());
        }
    };
    take(&mut item.agenda_number, &told.agenda_number);
    take(&mut item.section, &told.section);
    take(&mut item.matter_file, &told.matter_file);
    take(&mut item.matter_type, &told.matter_type);
    take(&mut item.body_text, &told.body_text);
    item.is_consent = told.is_consent.or(item.is_consent);
    if !told.sponsors.is_empty() {
        item.sponsors.clone_from(&told.sponsors);
    }
    if !told.attachments.is_empty() {
        item.attachments = told.attachments.iter().map(|document| attachment(document, &item.attachments)).collect();
    }
    for document in &mut item.attachments {
        document.replaced = replaced.get(&canonical_url(&document.url)).cloned();
    }
    item.attachment_hash = Some(hash(&item.attachments)).filter(|hash| !hash.is_empty());
    judge(&mut item);
    item.latest_hash = Some(latest_hash(&item));
    item.removed_at = None;
    item
}

pub(crate) fn hash(attachments: &[Attachment]) -> String {
    let documents: Vec<HashedDocument<'_>> = attachments
        .iter()
        .map(|one| HashedDocument {
            name: &one.name,
            url: &one.url,
            // Known for some appearances of a document and not for others, and so nothing to compare them by.
            content: None,
            // Of a file that stands where another one was read: all that tells the two apart.
            content_length: one.replaced.as_ref().and_then(|file| file.content_length),
            last_modified: one.replaced.as_ref().and_then(|file| file.last_modified.as_deref()),
        })
        .collect();
    let is_replaced = attachments.iter().any(|one| one.replaced.is_some());
    if is_replaced { hash_attachments_with_metadata(&documents) } else { hash_attachments_fast(&documents) }
}

/// Changes when what a person would read anew does.
pub(crate) fn latest_hash(item: &AgendaItem) -> String {
    let parts = format!("{}\n{}", item.title, item.attachment_hash.as_deref().unwrap_or_default());
    ids::digest(&parts, 16)
}

/// Which documents are not read, and why; and whether the item is worth reading, and by which rule. Nothing is left out.
pub(crate) fn judge(item: &mut AgendaItem) {
    let of_documents = filter::stored::of_documents(item);
    for (attachment, decision) in item.attachments.iter_mut().zip(of_documents) {
        attachment.filter_reason = decision.is_skipped().then(|| decision.rule.to_owned());
    }
    let decision = filter::stored::of_item(item);
    item.filter_reason = decision.filter_reason().map(str::to_owned);
    item.filter_rule = Some(decision.rule.to_owned());
}

/// The item after what has happened to it, which is told. What was summarised stays as it was read.
pub(crate) fn changed(before: &AgendaItem, after: AgendaItem, changes: &mut CivicChanges) -> AgendaItem {
    if before.removed_at.is_some() {
        tell(changes, ChangeKind::ItemReturned, &after.id, Value::Null, json!(after.title));
    }
    let is_news = before.latest_hash.is_none() || before.latest_hash != after.latest_hash;
    if !is_news {
        return if before.summary.is_some() { frozen(before, after) } else { after };
    }
    if before.title != after.title {
        tell(changes, ChangeKind::ItemChanged, &after.id, json!(before.title), json!(after.title));
    }
    if before.attachment_hash != after.attachment_hash {
        let names = |item: &AgendaItem| -> Vec<Value> {
            item.attachments.iter().map(|one| json!({"name": one.name, "url": one.url})).collect()
        };
        let (old, new) = (json!(names(before)), json!(names(&after)));
        tell(changes, ChangeKind::AttachmentsChanged, &after.id, old, new);
    }
    if before.summary.is_none() {
        return after;
    }
    let revision = before.revisions + 1;
    changes.item_revisions.push(ItemRevision {
        item_id: after.id.clone(),
        meeting_id: after.meeting_id.clone(),
        revision,
        title: after.title.clone(),
        sequence: after.sequence,
        agenda_number: after.agenda_number.clone(),
        sponsors: after.sponsors.clone(),
        body_text: after.body_text.clone(),
        attachments: after.attachments.clone(),
        attachment_hash: after.attachment_hash.clone(),
        ..ItemRevision::default()
    });
    let mut frozen = frozen(before, after);
    frozen.revisions = revision;
    frozen
}

/// The snapshot that was summarised, with what stays open: the matter, and what was decided.
fn frozen(before: &AgendaItem, after: AgendaItem) -> AgendaItem {
    AgendaItem {
        title: before.title.clone(),
        sequence: before.sequence,
        attachments: before.attachments.clone(),
        attachment_hash: before.attachment_hash.clone(),
        body_text: before.body_text.clone(),
        agenda_number: before.agenda_number.clone(),
        sponsors: before.sponsors.clone(),
        filter_reason: before.filter_reason.clone(),
        filter_rule: before.filter_rule.clone(),
        ..after
    }
}

/// Marks items that say the same as one before them. All stay on the agenda.
pub(super) fn mark_duplicates(items: &mut [AgendaItem]) {
    let listed: Vec<usize> = (0..items.len()).filter(|at| items[*at].removed_at.is_none()).collect();
    let documents: Vec<Vec<&str>> =
        listed.iter().map(|at| items[*at].attachments.iter().map(|one| one.url.as_str()).collect()).collect();
    let facts: Vec<ListedItem<'_>> = listed
        .iter()
        .zip(&documents)
        .map(|(at, documents)| ListedItem {
            matter_id: items[*at].matter_id.as_deref(),
            title: &items[*at].title,
            documents,
        })
        .collect();
    let found = duplicates(&facts);
    let originals: Vec<Option<String>> =
        found.iter().map(|original| original.map(|original| items[listed[original]].id.clone())).collect();
    for (at, original) in listed.into_iter().zip(originals) {
        items[at].duplicate_of = original;
    }
}
