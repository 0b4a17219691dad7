//! Whether a meeting takes place as announced, told by the words around it.
//!
//! The words count where they speak of the meeting, not where they are its subject: "Charter Amendment Committee" is not
//! a revised meeting. Of several, the gravest counts.

use crate::{pattern::pattern, vendor::model::MeetingStatus};
use regex::Regex;
use std::sync::LazyLock;

static WORDS: LazyLock<Vec<(Regex, MeetingStatus)>> = LazyLock::new(|| {
    [
        (r"(?i)\bcancel(?:l?ed|l?ation)?\b", MeetingStatus::Cancelled),
        (r"(?i)\bpostponed?\b", MeetingStatus::Postponed),
        // "Deferred Compensation Committee" meets.
        (
            r"(?i)\bdeferred\b(?:\s*$|\s*[^\s\w]|\s+(?:to|until|till|by|from|indefinitely|meeting|agenda)\b)",
            MeetingStatus::Deferred,
        ),
        (r"(?i)\bre-?scheduled?\b", MeetingStatus::Rescheduled),
        (
            r"(?i)\b(?:revised|amended|updated)\b(?:\s+\w+)?\s+(?:agenda|notice|meeting|packet)\b|\bagenda\s+(?:revised|amended|updated|revision|amendment)\b|[(\[*-]\s*(?:revised|amended|updated)\b|^\s*revised\s*$",
            MeetingStatus::Revised,
        ),
    ]
    .map(|(words, status)| (pattern(words), status))
    .into()
});

/// The gravest status that the texts name.
pub fn find(texts: &[&str]) -> Option<MeetingStatus> {
    let named = WORDS.iter().filter(|(words, _)| texts.iter().any(|text| words.is_match(text)));
    named.map(|(_, status)| *status).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_about_the_meeting_count() {
        assert_eq!(find(&["City Council - CANCELLED"]), Some(MeetingStatus::Cancelled));
        assert_eq!(find(&["Council", "Cancellation Notice"]), Some(MeetingStatus::Cancelled));
        assert_eq!(find(&["REVISED AGENDA", "canceled"]), Some(MeetingStatus::Cancelled));
        assert_eq!(find(&["Council Meeting (Revised)"]), Some(MeetingStatus::Revised));
        assert_eq!(find(&["Charter Amendment Committee"]), None);
        assert_eq!(find(&["Meeting rescheduled to Monday"]), Some(MeetingStatus::Rescheduled));
        assert_eq!(find(&["Deferred"]), Some(MeetingStatus::Deferred));
        assert_eq!(find(&["City Council (DEFERRED)"]), Some(MeetingStatus::Deferred));
        assert_eq!(find(&["Meeting deferred until May 3"]), Some(MeetingStatus::Deferred));
        assert_eq!(find(&["Deferred Compensation Committee"]), None);
        assert_eq!(find(&["Charter Revision Commission", "Updated Zoning Code Task Force"]), None);
        assert_eq!(find(&["Deferred to May 5"]), Some(MeetingStatus::Deferred));
    }
}
