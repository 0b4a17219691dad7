//! Meetings that a vendor has listed and lists no more.
//!
//! Only a visit that saw something can tell that something is missing, and only among the days that the listing covers:
//! between the first and the last meeting that it shows, and what is still to come.

use super::{SyncStats, plan};
use crate::{banana::Banana, dates, vendor::Window};
use bindery_core::Timestamp;
use bindery_store::{
    Store, StoreError, StoreResult,
    civic::{Applied, ChangeKind, CivicChanges, CivicPicture, Jurisdiction, Meeting, MeetingFilter, NewMeetingChange},
};
use std::collections::BTreeSet;

/// Marks what is gone.
pub(super) async fn mark(
    store: &dyn Store,
    city: &Jurisdiction,
    vendor: &str,
    window: Window,
    listed: &BTreeSet<String>,
) -> StoreResult<SyncStats> {
    let mut stats = SyncStats::default();
    if listed.is_empty() {
        return Ok(stats);
    }
    let banana = Banana::parse(&city.banana).map_err(|fault| StoreError::Invalid(fault.to_string()))?;
    let known = plan::Known::new(city, banana, vendor, CivicPicture::default());
    let filter = MeetingFilter { banana: Some(city.banana.clone()), ..MeetingFilter::default() };
    let stored = store.civic().meetings(filter).await?;
    let of_vendor: Vec<&Meeting> = stored.iter().filter(|meeting| meeting.vendor == vendor).collect();
    let seen =
        || of_vendor.iter().filter(|meeting| listed.contains(&meeting.vendor_id)).filter_map(|one| one.starts_at);
    let now = store.clock().now();
    let (first, last) = (seen().min(), seen().max());
    let is_covered = |at: Timestamp| at >= now || (Some(at) >= first && Some(at) <= last);
    let in_window = |meeting: &Meeting| {
        let day = meeting.starts_at_local.as_deref().and_then(dates::date);
        day.is_some_and(|day| window.contains(day))
    };
    let gone: Vec<CivicChanges> = of_vendor
        .iter()
        .filter(|meeting| !listed.contains(&meeting.vendor_id) && in_window(meeting))
        .filter(|meeting| meeting.starts_at.is_some_and(is_covered))
        .map(|meeting| {
            let mut changes = CivicChanges::of_meeting(&city.banana, &meeting.id, meeting.revision);
            let change = NewMeetingChange::new(ChangeKind::Removed, meeting.title.clone(), ());
            changes.events.push(plan::event(&known, &meeting.id, &meeting.title, &change));
            changes.history.push(change);
            changes.meeting = Some(Meeting { removed_at: Some(now), ..(*meeting).clone() });
            changes
        })
        .collect();
    // One that somebody else has just changed is looked at again on the next visit.
    let applied = store.civic().apply(gone).await?;
    stats.meetings_removed = applied.into_iter().filter(|one| matches!(one, Applied::Stored { .. })).count() as u64;
    Ok(stats)
}
