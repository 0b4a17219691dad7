//! What is to be read after a sync: jobs for meetings and matters whose content has changed since they were last queued.
//!
//! A job is stored in the transaction of the change that it follows from. So what is stored unchanged has had its job,
//! and an unchanged sync queues nothing.

use super::{matters::Linked, plan::Known};
use crate::records::{AgendaItem, CivicChanges, CivicJob, Meeting, MeetingSnapshot};
use crate::{
    decide::{self, Earlier, EnqueueDecider, ItemState, MatterEnqueueDecider, MatterState, MeetingState},
    filter,
    hash::canonical_url,
    ids,
    vendor::model::MeetingStatus,
};
use bindery_core::Timestamp;

fn is_live(item: &AgendaItem) -> bool {
    item.removed_at.is_none() && item.duplicate_of.is_none()
}

fn is_off(meeting: &Meeting) -> bool {
    meeting.status.as_deref() == Some(MeetingStatus::Cancelled.as_str())
}

/// Over everything that reading the meeting would read.
pub(super) fn content_hash(meeting: &Meeting, items: &[AgendaItem]) -> String {
    let mut text = String::new();
    let mut add = |piece: &str| {
        text.push_str(piece);
        text.push('\n');
    };
    add(if is_off(meeting) { "cancelled" } else { "" });
    add(&meeting.packet_url.as_deref().map(canonical_url).unwrap_or_default());
    // What was found in the packet is said by the packet's address.
    let told = items.iter().filter(|item| is_live(item) && !ids::is_from_packet(item));
    for item in told.filter(|item| item.filter_reason.is_none()) {
        add(&item.id);
        // Of one that was summarised, what it has become since.
        add(item.latest_hash.as_deref().unwrap_or(&item.title));
        add(item.body_text.as_deref().unwrap_or_default());
    }
    ids::digest(&text, 32)
}

/// Queues the meeting, and the matters on its agenda.
pub(super) fn enqueue(
    known: &Known,
    meeting: &Meeting,
    linked: &Linked,
    stored: Option<&MeetingSnapshot>,
    now: Timestamp,
    changes: &mut CivicChanges,
) {
    if is_off(meeting) {
        return;
    }
    let days_ahead = meeting.starts_at.map(|starts| decide::days_until(starts, now));
    let matters = linked.matters.iter().filter_map(|(id, before)| {
        let matter = known.snapshot.matters.get(id)?;
        let items: Vec<&AgendaItem> = linked.items.iter().filter(|item| item.matter_id.as_ref() == Some(id)).collect();
        let hash = matter.attachment_hash.as_deref().unwrap_or_default();
        let state = MatterState {
            is_type_skipped: matter
                .matter_type
                .as_deref()
                .is_some_and(|kind| filter::matters::decide(kind).is_skipped())
                || items.iter().all(|item| item.filter_reason.is_some()),
            has_attachments: !matter.attachments.is_empty(),
            attachment_hash: hash,
            earlier: match (before, &matter.canonical_summary, &matter.summary_hash) {
                (None, ..) => Earlier::New,
                (Some(_), Some(_), Some(hash)) => Earlier::Summarized { hash },
                (Some(_), ..) => Earlier::Unsummarized,
            },
        };
        let is_news = before.as_ref().is_none_or(|before| before.attachment_hash != matter.attachment_hash);
        if !is_news || !MatterEnqueueDecider.should_enqueue(&state).enqueue {
            return None;
        }
        let mut item_ids: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
        let earlier = known.snapshot.matter_items.get(id).into_iter().flatten();
        item_ids.extend(earlier.map(|earlier| earlier.item.id.clone()));
        item_ids.sort();
        item_ids.dedup();
        let priority = small(decide::matter_priority(days_ahead));
        Some(CivicJob::matter(id, &meeting.id, item_ids, priority).reading(hash))
    });
    changes.jobs.extend(matters);

    let before = stored.and_then(|stored| stored.meeting.content_hash.as_deref());
    let content_hash = meeting.content_hash.as_deref();
    let states: Vec<ItemState> = linked
        .items
        .iter()
        .filter(|item| is_live(item) && !ids::is_from_packet(item))
        .map(|item| ItemState {
            has_summary: item.summary.is_some() && !has_news(item, stored),
            is_filtered: item.filter_reason.is_some(),
            has_content: !item.attachments.is_empty() || item.body_text.is_some(),
        })
        .collect();
    let state = MeetingState {
        items: &states,
        // A few lines about items say nothing of those that are still to be read; and of a packet that was read, its
        // address says whether it is still the same.
        has_summary: meeting.summary.is_some() && states.is_empty() && meeting.processed_hash.is_none(),
        has_packet: meeting.packet_url.is_some(),
        content_hash,
        completed_hash: meeting.processed_hash.as_deref(),
    };
    if before != content_hash && EnqueueDecider.should_enqueue(&state).enqueue {
        let job = CivicJob::meeting(&meeting.id, small(decide::meeting_priority(days_ahead)));
        changes.jobs.push(job.reading(content_hash.unwrap_or_default()));
    }
}

/// It became something else after it was summarised.
fn has_news(item: &AgendaItem, stored: Option<&MeetingSnapshot>) -> bool {
    let before = stored.into_iter().flat_map(|stored| &stored.items).find(|before| before.id == item.id);
    before.is_some_and(|before| before.revisions < item.revisions)
}

fn small(priority: i64) -> i32 {
    i32::try_from(priority).unwrap_or_default()
}
