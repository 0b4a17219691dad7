//! What is put on the queue, and with which priority. The jobs themselves are the store's (`crate::records::jobs`).

use bindery_core::Timestamp;
use serde::Serialize;

/// Whether something is queued, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EnqueueDecision {
    pub enqueue: bool,
    /// One of a fixed set of words, e.g. `attachments_unchanged`.
    pub reason: &'static str,
}

const fn yes(reason: &'static str) -> EnqueueDecision {
    EnqueueDecision { enqueue: true, reason }
}

const fn no(reason: &'static str) -> EnqueueDecision {
    EnqueueDecision { enqueue: false, reason }
}

/// An item of a meeting, as far as queueing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ItemState {
    pub has_summary: bool,
    /// Has a `filter_reason`.
    pub is_filtered: bool,
    /// Has documents or a text of its own.
    pub has_content: bool,
}

/// A meeting, as far as queueing goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeetingState<'a> {
    pub items: &'a [ItemState],
    pub has_summary: bool,
    pub has_packet: bool,
    /// The hash of what the meeting holds now, and the one that the last completed run has seen.
    pub content_hash: Option<&'a str>,
    pub completed_hash: Option<&'a str>,
}

/// Decides about meetings.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnqueueDecider;

impl EnqueueDecider {
    pub fn should_enqueue(self, meeting: &MeetingState<'_>) -> EnqueueDecision {
        let is_done = |item: &ItemState| item.has_summary || item.is_filtered;
        let is_waiting = |item: &ItemState| !is_done(item) && item.has_content;
        if meeting.has_summary {
            return no("meeting_summarized");
        }
        if !meeting.items.is_empty() && meeting.items.iter().all(is_done) {
            return no("all_items_done");
        }
        if !meeting.items.iter().any(is_waiting) && !meeting.has_packet {
            return no("nothing_to_process");
        }
        if meeting.content_hash.is_some() && meeting.content_hash == meeting.completed_hash {
            return no("content_unchanged");
        }
        yes("has_unprocessed_content")
    }
}

/// What is known of a matter from earlier meetings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Earlier<'a> {
    #[default]
    New,
    Unsummarized,
    /// With the hash of the documents that the summary was made from.
    Summarized {
        hash: &'a str,
    },
}

/// A matter, as far as queueing goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct MatterState<'a> {
    /// Its type is one that nobody decides about.
    pub is_type_skipped: bool,
    pub has_attachments: bool,
    /// The hash of its documents now.
    pub attachment_hash: &'a str,
    pub earlier: Earlier<'a>,
}

/// Decides about matters.
#[derive(Debug, Clone, Copy, Default)]
pub struct MatterEnqueueDecider;

impl MatterEnqueueDecider {
    pub fn should_enqueue(self, matter: &MatterState<'_>) -> EnqueueDecision {
        if matter.is_type_skipped {
            return no("matter_type_skipped");
        }
        if !matter.has_attachments {
            return no("no_attachments");
        }
        match matter.earlier {
            Earlier::New => yes("new_matter"),
            Earlier::Unsummarized => yes("no_summary"),
            Earlier::Summarized { hash } if hash == matter.attachment_hash => no("attachments_unchanged"),
            Earlier::Summarized { .. } => yes("attachments_changed"),
        }
    }
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What an unknown date counts as.
const FAR_AWAY: i64 = 999;

/// Days to the meeting; negative when it is over.
fn distance(days_ahead: Option<i64>) -> i64 {
    let days = days_ahead.unwrap_or(FAR_AWAY);
    // At equal distance the meeting that is still to come goes first.
    days.saturating_abs().saturating_add(i64::from(days < 0))
}

/// Whole days from one moment to another; negative when it lies before it.
pub fn days_until(moment: Timestamp, now: Timestamp) -> i64 {
    (moment.as_millis() - now.as_millis()).div_euclid(DAY_MS)
}

/// Up to 150, the nearer the higher.
pub fn meeting_priority(days_ahead: Option<i64>) -> i64 {
    150_i64.saturating_sub(distance(days_ahead)).max(0)
}

/// Up to 50: behind every meeting of the next hundred days.
pub fn matter_priority(days_ahead: Option<i64>) -> i64 {
    50_i64.saturating_sub(distance(days_ahead)).max(-100)
}

/// What waits moves up by one each day, so that it is not starved.
pub fn aged_priority(priority: i64, days_waiting: i64) -> i64 {
    priority.saturating_add(days_waiting.max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s001_29_meetings_are_queued_while_something_is_left_to_do() {
        let reason = |meeting: &MeetingState<'_>| EnqueueDecider.should_enqueue(meeting).reason;
        let open = ItemState { has_content: true, ..ItemState::default() };
        let (done, filtered) = (ItemState { has_summary: true, ..open }, ItemState { is_filtered: true, ..open });
        let meeting = MeetingState { items: &[done, open, filtered], ..MeetingState::default() };
        assert!(EnqueueDecider.should_enqueue(&meeting).enqueue);
        assert_eq!(reason(&MeetingState { has_summary: true, ..meeting }), "meeting_summarized");
        assert_eq!(reason(&MeetingState { items: &[done, filtered], has_packet: true, ..meeting }), "all_items_done");
        // ▲ Nothing to read, or nothing new.
        assert_eq!(reason(&MeetingState { items: &[done, ItemState::default()], ..meeting }), "nothing_to_process");
        assert_eq!(reason(&MeetingState { items: &[], ..meeting }), "nothing_to_process");
        assert!(EnqueueDecider.should_enqueue(&MeetingState { items: &[], has_packet: true, ..meeting }).enqueue);
        let same = MeetingState { content_hash: Some("a"), completed_hash: Some("a"), ..meeting };
        assert_eq!(reason(&same), "content_unchanged");
        assert!(EnqueueDecider.should_enqueue(&MeetingState { completed_hash: Some("b"), ..same }).enqueue);
        assert!(
            EnqueueDecider
                .should_enqueue(&MeetingState { content_hash: None, completed_hash: None, ..meeting })
                .enqueue
        );
    }

    /// The seed puts past and future alike; ▲ what is still to come goes first.
    #[test]
    fn s001_30_near_meetings_go_first() {
        assert_eq!(meeting_priority(Some(0)), 150);
        assert_eq!(meeting_priority(Some(14)), 136);
        assert_eq!(meeting_priority(Some(200)), 0);
        assert_eq!(meeting_priority(None), 0);
        assert!(meeting_priority(Some(7)) > meeting_priority(Some(-7)));
        assert_eq!(meeting_priority(Some(-7)), 142);
        assert_eq!(meeting_priority(Some(i64::MIN)), 0);
        assert_eq!(aged_priority(meeting_priority(None), 3), 3);
    }

    #[test]
    fn s001_31_matters_are_queued_when_their_documents_are_new() {
        let reason = |matter: &MatterState<'_>| MatterEnqueueDecider.should_enqueue(matter).reason;
        let new = MatterState { has_attachments: true, attachment_hash: "a", ..MatterState::default() };
        assert_eq!(reason(&new), "new_matter");
        assert_eq!(reason(&MatterState { has_attachments: false, ..new }), "no_attachments");
        assert_eq!(reason(&MatterState { earlier: Earlier::Unsummarized, ..new }), "no_summary");
        let summarized = |hash| MatterState { earlier: Earlier::Summarized { hash }, ..new };
        assert_eq!(MatterEnqueueDecider.should_enqueue(&summarized("a")), no("attachments_unchanged"));
        assert_eq!(MatterEnqueueDecider.should_enqueue(&summarized("b")), yes("attachments_changed"));
        assert_eq!(reason(&MatterState { is_type_skipped: true, ..new }), "matter_type_skipped");
    }

    #[test]
    fn s001_32_matters_stand_behind_near_meetings() {
        assert_eq!(matter_priority(Some(0)), 50);
        assert_eq!(matter_priority(Some(20)), 30);
        assert_eq!(matter_priority(None), -100);
        assert_eq!(matter_priority(Some(-20)), 29);
        assert!(meeting_priority(Some(99)) > matter_priority(Some(0)));
    }
}
