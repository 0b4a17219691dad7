//! Meetings that a vendor has listed and lists no more.
//!
//! Only a visit that saw something can tell that something is missing, and only among the days that the listing covers:
//! between the first and the last meeting that it shows, and what is still to come.

use super::plan::{self, Known};
use crate::records::{ChangeKind, CivicChanges, Meeting, NewMeetingChange};
use crate::{dates, vendor::Window};
use bindery_core::Timestamp;

/// Marks what is gone of the stored meetings that a visit has not found, by when those begin that it has.
pub(super) fn gone(
    known: &Known,
    unlisted: Vec<Meeting>,
    seen: &[Timestamp],
    window: Window,
    now: Timestamp,
) -> Vec<CivicChanges> {
    let (first, last) = (seen.iter().min(), seen.iter().max());
    let is_covered = |at: &Timestamp| *at >= now || (Some(at) >= first && Some(at) <= last);
    let in_window = |meeting: &Meeting| {
        let day = meeting.starts_at_local.as_deref().and_then(dates::date);
        day.is_some_and(|day| window.contains(day))
    };
    let gone =
        unlisted.into_iter().filter(|meeting| in_window(meeting) && meeting.starts_at.as_ref().is_some_and(is_covered));
    gone.map(|meeting| {
        let mut changes = CivicChanges::of_meeting(known.city_key.as_str(), &meeting.id, meeting.revision);
        let change = NewMeetingChange::new(ChangeKind::Removed, meeting.title.clone(), ());
        changes.events.push(plan::event(known, (&meeting.id, meeting.revision + 1), &meeting.title, &change));
        changes.history.push(change);
        changes.meeting = Some(Meeting { removed_at: Some(now), ..meeting });
        changes
    })
    .collect()
}
