//! Putting meetings together from the pieces that pages give.

use crate::vendor::{VendorMeeting, Window};
use std::collections::{HashMap, hash_map::Entry};

/// Meetings by the vendor's ids, in the order in which they were first named.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    meetings: Vec<VendorMeeting>,
    places: HashMap<String, usize>,
}

impl Gathered {
    /// Takes in what one page says. What is amiss with it is returned, as sentences.
    pub(super) fn absorb(&mut self, url: &str, pieces: Vec<VendorMeeting>) -> Vec<String> {
        let mut warnings = Vec::new();
        // The days that this page gives, by id: on one page, one id has one day.
        let mut days = HashMap::new();
        for piece in pieces {
            if piece.vendor_id.trim().is_empty() {
                let title = piece.title.as_deref().unwrap_or("without a title");
                warnings.push(format!("{url}: a meeting has no id and is left out ({title:?})"));
                continue;
            }
            if let Some(start) = &piece.start {
                match days.entry(piece.vendor_id.clone()) {
                    Entry::Vacant(entry) => {
                        entry.insert(start.date);
                    }
                    Entry::Occupied(first) if *first.get() != start.date => {
                        let (id, first, second) = (&piece.vendor_id, first.get(), start.date);
                        warnings.push(format!(
                            "{url}: two meetings have the id {id:?}, on {first} and on {second}; the first is taken"
                        ));
                        continue;
                    }
                    Entry::Occupied(_) => {}
                }
            }
            if let Some(known) = self.places.get(&piece.vendor_id).and_then(|place| self.meetings.get_mut(*place)) {
                known.absorb(piece);
            } else {
                self.places.insert(piece.vendor_id.clone(), self.meetings.len());
                self.meetings.push(piece);
            }
        }
        warnings
    }

    /// Those of the window, and how many lay outside of it. One whose day is not known cannot be said to lie outside.
    pub(super) fn split_by(self, window: Window) -> (Vec<VendorMeeting>, usize) {
        let all = self.meetings.len();
        let is_within =
            |meeting: &VendorMeeting| meeting.start.as_ref().is_none_or(|start| window.contains(start.date));
        let meetings: Vec<VendorMeeting> = self.meetings.into_iter().filter(is_within).collect();
        let outside = all - meetings.len();
        (meetings, outside)
    }
}
