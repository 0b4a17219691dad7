//! Meetings that a vendor gives another id.
//!
//! Some do: an announced event becomes a recorded clip once it is over, and a site's pages number meetings otherwise than
//! its interface. A meeting that is listed under an unknown id is one that was stored under another, if that one is not
//! listed any more, and has the same title on the same day. Where two would do, neither is taken.

use crate::records::Meeting;
use crate::{filter::title, vendor::VendorMeeting};
use std::collections::{HashMap, HashSet};

/// Gives such meetings the id that they were stored under; `stored` are those of the same vendor.
pub(super) fn keep_ids(stored: &[Meeting], meetings: &mut [VendorMeeting]) {
    let listed: HashSet<String> = meetings.iter().map(|meeting| meeting.vendor_id.clone()).collect();
    let known: HashSet<&str> = stored.iter().map(|meeting| meeting.vendor_id.as_str()).collect();
    let unlisted = stored.iter().filter(|meeting| !listed.contains(&meeting.vendor_id));
    let unlisted = by_key(unlisted, |meeting| {
        let day = meeting.starts_at_local.as_deref()?.get(..10)?;
        Some((day.to_owned(), title::plain(&meeting.title)))
    });
    let key = |meeting: &VendorMeeting| {
        Some((meeting.start.as_ref()?.date.to_string(), title::plain(meeting.title.as_deref()?)))
    };
    let new = meetings.iter().enumerate().filter(|(_, meeting)| !known.contains(meeting.vendor_id.as_str()));
    let new = by_key(new, |(_, meeting)| key(meeting));
    let same: Vec<(usize, String)> = new
        .into_iter()
        .filter_map(|(key, new)| match (new.as_slice(), unlisted.get(&key)?.as_slice()) {
            ([(at, _)], [stored]) => Some((*at, stored.vendor_id.clone())),
            _ => None,
        })
        .collect();
    for (at, vendor_id) in same {
        if let Some(meeting) = meetings.get_mut(at) {
            let other = std::mem::replace(&mut meeting.vendor_id, vendor_id);
            meeting.raw.insert("other_id".to_owned(), other.into());
        }
    }
}

type Key = (String, String);

fn by_key<T>(all: impl Iterator<Item = T>, key: impl Fn(&T) -> Option<Key>) -> HashMap<Key, Vec<T>> {
    let mut grouped: HashMap<Key, Vec<T>> = HashMap::new();
    for one in all {
        if let Some(key) = key(&one) {
            grouped.entry(key).or_default().push(one);
        }
    }
    grouped
}
