//! Matters and their appearances, who stands behind them, and how they were voted on.

use super::{SyncStats, items::Placed, plan::Known};
use crate::records::{
    AgendaItem, Appearance, Attachment, Ballot, ChangeKind, CivicChanges, Matter, Meeting, MeetingSnapshot,
    NewMeetingChange, Person, Sponsorship, SummaryOf, VoteEvent,
};
use crate::{
    ids,
    people::{self, KnownPerson},
    vendor::{ItemVote, VendorItem, VendorMeeting},
    votes::{self, Outcome, VoteRecord},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The agenda with its matters.
#[derive(Debug)]
pub(super) struct Linked {
    pub(super) items: Vec<AgendaItem>,
    /// The matters of the items that the vendor listed, as they were before; none for a new one.
    pub(super) matters: BTreeMap<String, Option<Matter>>,
}

/// Links items to matters, and keeps what was decided about them.
pub(super) fn link(
    known: &mut Known,
    meeting: &Meeting,
    incoming: &VendorMeeting,
    agenda: Vec<Placed<'_>>,
    stored: Option<&MeetingSnapshot>,
    changes: &mut CivicChanges,
    stats: &mut SyncStats,
) -> Linked {
    let mut linked = Linked { items: Vec::with_capacity(agenda.len()), matters: BTreeMap::new() };
    let appeared: BTreeSet<(&str, &str)> = stored
        .iter()
        .flat_map(|stored| &stored.appearances)
        .map(|one| (one.matter_id.as_str(), one.item_id.as_str()))
        .collect();
    for Placed { mut item, told, latest } in agenda {
        let Some(told) = told else {
            linked.items.push(item);
            continue;
        };
        let matter_id = ids::matter_id(&known.city_key, item.matter_file.as_deref(), told.matter_id.as_deref());
        let decided = record_votes(known, meeting, &mut item, told, matter_id.as_deref(), stored, changes);
        if let Some(matter_id) = matter_id {
            if !linked.matters.contains_key(&matter_id) {
                let before = known.snapshot.matters.get(&matter_id).cloned();
                *(if before.is_some() { &mut stats.matters_duplicate } else { &mut stats.matters_tracked }) += 1;
                linked.matters.insert(matter_id.clone(), before);
            }
            item.matter_id = Some(matter_id.clone());
            copy_summary(known, meeting, &mut item, &matter_id);
            matter(known, meeting, &item, latest, told, &matter_id, decided.as_ref());
            sponsors(known, meeting, told, &matter_id, changes);
            if !appeared.contains(&(matter_id.as_str(), item.id.as_str())) {
                stats.appearances_created += 1;
            }
            changes.appearances.push(appearance(meeting, incoming, &item, &matter_id, decided.as_ref()));
        }
        linked.items.push(item);
    }
    let touched = linked.matters.keys().filter_map(|id| known.snapshot.matters.get(id));
    changes.matters.extend(touched.cloned());
    linked
}

/// The matter with what this item says of it, known to whoever comes next.
fn matter(
    known: &mut Known,
    meeting: &Meeting,
    item: &AgendaItem,
    (attachments, hash): (Vec<Attachment>, Option<String>),
    told: &VendorItem,
    id: &str,
    decided: Option<&VoteRecord>,
) {
    let city_key = known.city_key.to_string();
    let matter = known.snapshot.matters.entry(id.to_owned()).or_insert_with(|| Matter {
        id: id.to_owned(),
        city_key,
        first_seen: meeting.starts_at,
        status: Some("active".to_owned()),
        ..Matter::default()
    });
    let is_newest = matter.last_seen <= meeting.starts_at;
    if matter.vendor_matter_id.is_none() {
        matter.vendor_matter_id.clone_from(&told.matter_id);
    }
    if matter.matter_file.is_none() {
        matter.matter_file.clone_from(&item.matter_file);
    }
    if item.matter_type.is_some() {
        matter.matter_type.clone_from(&item.matter_type);
    }
    // The longest title says the most.
    if item.title.chars().count() > matter.title.chars().count() {
        matter.title.clone_from(&item.title);
    }
    if !item.sponsors.is_empty() {
        matter.sponsors.clone_from(&item.sponsors);
    }
    if !attachments.is_empty() && (is_newest || matter.attachments.is_empty()) {
        (matter.attachments, matter.attachment_hash) = (attachments, hash);
    }
    matter.first_seen = [matter.first_seen, meeting.starts_at].into_iter().flatten().min();
    matter.last_seen = matter.last_seen.max(meeting.starts_at);
    let step = decided
        .and_then(|decided| votes::matter_step(decided.outcome, item.action.as_deref(), meeting.body.as_deref()));
    if let Some(step) = step.filter(|_| is_newest) {
        matter.status = word(&step.status);
        if step.is_final {
            matter.final_vote_at = meeting.starts_at;
        }
    }
}

/// A matter whose documents have not changed since it was summarised brings its latest summary along.
fn copy_summary(known: &Known, meeting: &Meeting, item: &mut AgendaItem, matter_id: &str) {
    let is_unchanged = known.snapshot.matters.get(matter_id).is_some_and(|matter| {
        matter.canonical_summary.is_some()
            && matter.summary_hash.is_some()
            && matter.summary_hash == item.attachment_hash
    });
    if item.summary.is_some() || !is_unchanged {
        return;
    }
    let earlier =
        known.snapshot.matter_items.get(matter_id).into_iter().flatten().find(|other| {
            other.item.id != item.id && other.item.summary.is_some() && other.starts_at <= meeting.starts_at
        });
    if let Some(earlier) = earlier {
        item.summary.clone_from(&earlier.item.summary);
        item.topics.clone_from(&earlier.item.topics);
        let made = earlier.item.summary_of.clone().unwrap_or_default();
        item.summary_of = Some(SummaryOf { method: "matter".to_owned(), cost_micros: 0, ..made });
    }
}

fn appearance(
    meeting: &Meeting,
    incoming: &VendorMeeting,
    item: &AgendaItem,
    matter_id: &str,
    decided: Option<&VoteRecord>,
) -> Appearance {
    Appearance {
        matter_id: matter_id.to_owned(),
        meeting_id: meeting.id.clone(),
        item_id: item.id.clone(),
        appeared_at: meeting.starts_at,
        committee: meeting.body.clone().or_else(|| incoming.body.clone()),
        committee_id: meeting.committee_id.clone(),
        action: item.action.clone(),
        vote_outcome: decided.and_then(|decided| word(&decided.outcome)),
        vote_tally: decided.map(tally).unwrap_or_default(),
        sequence: item.sequence,
    }
}

fn sponsors(known: &mut Known, meeting: &Meeting, told: &VendorItem, matter_id: &str, changes: &mut CivicChanges) {
    let mut order = 0;
    for name in &told.sponsors {
        let Some(person_id) = person(known, meeting, name, None, changes) else { continue };
        let same = |one: &Sponsorship| one.matter_id == matter_id && one.person_id == person_id;
        if changes.sponsorships.iter().any(same) {
            continue;
        }
        let (matter_id, is_primary) = (matter_id.to_owned(), order == 0);
        changes.sponsorships.push(Sponsorship { matter_id, person_id, is_primary, sponsor_order: order });
        order += 1;
    }
}

/// Keeps every motion. Returns the last that decided something.
fn record_votes(
    known: &mut Known,
    meeting: &Meeting,
    item: &mut AgendaItem,
    told: &VendorItem,
    matter_id: Option<&str>,
    stored: Option<&MeetingSnapshot>,
    changes: &mut CivicChanges,
) -> Option<VoteRecord> {
    let mut last = None;
    for (ordinal, vote) in (1_i64..).zip(told.votes.iter().filter(|vote| says_something(vote))) {
        let record = votes::record(vote, item.is_consent == Some(true));
        let ballots: Vec<Ballot> = record
            .ballots
            .iter()
            .filter_map(|cast| {
                let person_id = person(known, meeting, &cast.name, cast.person_id.as_deref(), changes)?;
                Some(Ballot { person_id, name: cast.name.clone(), vote: word(&cast.vote).unwrap_or_default() })
            })
            .collect();
        item.action = vote.motion.clone().or(item.action.take());
        item.mover = vote.mover.clone().or(item.mover.take());
        item.seconder = vote.seconder.clone().or(item.seconder.take());
        item.passed = match record.outcome {
            Outcome::Passed => Some(true),
            Outcome::Failed => Some(false),
            _ => item.passed,
        };
        let event = VoteEvent {
            id: format!("{}_v{ordinal}", item.id),
            city_key: known.city_key.to_string(),
            meeting_id: meeting.id.clone(),
            item_id: Some(item.id.clone()),
            matter_id: matter_id.map(str::to_owned),
            motion: vote.motion.clone(),
            ordinal,
            result: word(&record.outcome),
            mover: vote.mover.clone(),
            seconder: vote.seconder.clone(),
            tally: tally(&record),
            voted_at: meeting.starts_at,
            ballots,
            ..VoteEvent::default()
        };
        tell(&event, stored, changes);
        changes.votes.push(event);
        if record.outcome != Outcome::NoVote || last.is_none() {
            last = Some(record);
        }
    }
    last
}

fn says_something(vote: &ItemVote) -> bool {
    vote.result.is_some() || vote.tally.is_some() || vote.motion.is_some() || !vote.ballots.is_empty()
}

/// A vote is news when it was not known, and when it is not what was known.
fn tell(event: &VoteEvent, stored: Option<&MeetingSnapshot>, changes: &mut CivicChanges) {
    let Some(stored) = stored else { return };
    let picture = |event: &VoteEvent| json!({"result": event.result, "tally": event.tally});
    let before = stored.votes.iter().find(|known| known.id == event.id);
    let (kind, old) = match before {
        None => (ChangeKind::VoteRecorded, Value::Null),
        Some(known) if known.ballots != event.ballots || picture(known) != picture(event) => {
            (ChangeKind::VoteCorrected, picture(known))
        }
        Some(_) => return,
    };
    changes.history.push(NewMeetingChange { kind, item_id: event.item_id.clone(), before: old, after: picture(event) });
}

fn tally(record: &VoteRecord) -> BTreeMap<String, i64> {
    let counts = serde_json::to_value(record.tally).unwrap_or_default();
    let counts = counts.as_object().into_iter().flatten();
    counts.filter_map(|(name, count)| Some((name.clone(), count.as_i64()?))).collect()
}

/// The word that a value is written as.
fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// Who a name belongs to, made known where nobody is known by it.
fn person(
    known: &mut Known,
    meeting: &Meeting,
    name: &str,
    vendor_person_id: Option<&str>,
    changes: &mut CivicChanges,
) -> Option<String> {
    let all: Vec<KnownPerson> = known
        .snapshot
        .people
        .iter()
        .map(|one| KnownPerson {
            id: one.id.clone(),
            vendor_person_id: one.vendor_person_id.clone(),
            aliases: one.aliases.clone(),
        })
        .collect();
    let found = people::resolve(&known.city_key, &known.vendor, name, vendor_person_id, &all)?;
    let stored = known.snapshot.people.iter().position(|one| one.id == found.id);
    let mut person = match stored {
        Some(at) => known.snapshot.people.remove(at),
        None => Person {
            id: found.id.clone(),
            city_key: known.city_key.to_string(),
            name: name.split_whitespace().collect::<Vec<_>>().join(" "),
            normalized_name: found.alias.clone(),
            status: Some("active".to_owned()),
            ..Person::default()
        },
    };
    if !person.aliases.contains(&found.alias) {
        person.aliases.push(found.alias);
        person.aliases.sort();
    }
    if person.vendor_person_id.is_none() {
        person.vendor_person_id = vendor_person_id.map(str::to_owned);
    }
    person.first_seen = [person.first_seen, meeting.starts_at].into_iter().flatten().min();
    person.last_seen = person.last_seen.max(meeting.starts_at);
    changes.people.retain(|one| one.id != person.id);
    changes.people.push(person.clone());
    known.snapshot.people.push(person);
    Some(found.id)
}
