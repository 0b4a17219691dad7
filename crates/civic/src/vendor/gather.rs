//! Meetings of one page: each once, and which of them are asked about.

use super::{PageReading, VendorMeeting, Window};

/// Puts a meeting to the others. One whose id is there already is taken into it; if the two contradict each other, that
/// is said.
pub(super) fn add(reading: &mut PageReading, meeting: VendorMeeting) {
    let Some(known) = reading.meetings.iter_mut().find(|known| known.vendor_id == meeting.vendor_id) else {
        reading.meetings.push(meeting);
        return;
    };
    let differ = [
        ("titles", differ(known.title.as_ref(), meeting.title.as_ref())),
        ("times", differ(known.start.as_ref(), meeting.start.as_ref())),
        ("bodies", differ(known.body.as_ref(), meeting.body.as_ref())),
    ];
    let differ: Vec<&str> = differ.into_iter().filter(|(_, differ)| *differ).map(|(what, _)| what).collect();
    if !differ.is_empty() {
        let what = differ.join(" and ");
        reading
            .doubts
            .push(format!("meeting {} is there twice with different {what}; the later one counts", known.vendor_id));
    }
    known.absorb(meeting);
}

/// Only then are its own pages fetched. A meeting without a day is nowhere.
pub(super) fn is_inside(meeting: &VendorMeeting, window: Window) -> bool {
    meeting.start.as_ref().is_some_and(|start| window.contains(start.date))
}

fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    one.is_some() && other.is_some() && one != other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_entries_with_one_id_are_one_meeting() {
        let mut reading = PageReading::default();
        let named = |title: &str| VendorMeeting { title: Some(title.into()), ..VendorMeeting::new("7") };
        add(&mut reading, named("Council"));
        add(&mut reading, named("Council"));
        assert_eq!((reading.meetings.len(), reading.doubts.len()), (1, 0));
        add(&mut reading, named("Council, moved"));
        assert_eq!(reading.meetings.len(), 1);
        assert_eq!(reading.meetings[0].title.as_deref(), Some("Council, moved"));
        assert_eq!(reading.doubts, ["meeting 7 is there twice with different titles; the later one counts"]);
    }
}
