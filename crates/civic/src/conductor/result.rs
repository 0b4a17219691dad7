//! What a visit to a city came to.

use crate::records::{SyncRun, SyncStatus};
use serde::Serialize;

/// The names of the fields are part of the interface.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SyncResult {
    #[serde(rename = "city_banana")]
    pub city_key: String,
    /// Pending: the program was told to stop before the end. The city is due as before.
    pub status: SyncStatus,
    pub meetings_found: u64,
    pub meetings_processed: u64,
    pub meetings_skipped: u64,
    pub items_stored: u64,
    pub duration_seconds: f64,
    /// Why it failed, was skipped or was not ended.
    pub error_message: Option<String>,
    /// Meetings that are new, changed or gone.
    pub meetings_changed: u64,
    pub jobs_enqueued: u64,
    /// Pages that gave something on an earlier visit and give nothing now.
    pub alarms: Vec<String>,
    /// What could not be read and was left out, each a sentence.
    pub warnings: Vec<String>,
}

impl SyncResult {
    /// Of a city that was not visited.
    pub fn without_visit(city_key: &str, status: SyncStatus, why: impl Into<String>) -> Self {
        let error_message = Some(why.into());
        Self { city_key: city_key.to_owned(), status, error_message, ..Self::default() }
    }

    /// Of a city that the program did not get to.
    pub(super) fn not_begun(city_key: &str) -> Self {
        Self::without_visit(city_key, SyncStatus::Pending, "not visited: the program is stopping")
    }

    pub fn is_failed(&self) -> bool {
        self.status == SyncStatus::Failed
    }

    /// What is kept of it with its run.
    pub(super) fn write_to(&self, run: &mut SyncRun) {
        run.status = self.status;
        run.meetings_found = self.meetings_found;
        run.meetings_processed = self.meetings_processed;
        run.meetings_skipped = self.meetings_skipped;
        run.items_stored = self.items_stored;
        run.duration_seconds = self.duration_seconds;
        run.error_message.clone_from(&self.error_message);
    }
}

/// The status of a city by those of its vendors: a failure is not hidden by what went well elsewhere.
pub(super) fn worst(one: SyncStatus, other: SyncStatus) -> SyncStatus {
    let weight = |status| match status {
        SyncStatus::Skipped => 0,
        SyncStatus::Completed => 1,
        SyncStatus::Failed => 2,
        SyncStatus::Pending | SyncStatus::InProgress => 3,
    };
    if weight(other) > weight(one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s001_16_the_fields_of_a_result_are_the_interface() {
        let result = SyncResult::without_visit("paloaltoCA", SyncStatus::Skipped, "why");
        let fields = serde_json::to_value(result).unwrap();
        let expected = [
            "city_banana",
            "status",
            "meetings_found",
            "meetings_processed",
            "meetings_skipped",
            "items_stored",
            "duration_seconds",
            "error_message",
        ];
        for field in expected {
            assert!(fields.get(field).is_some(), "{field}");
        }
        assert_eq!((&fields["status"], &fields["error_message"]), (&"skipped".into(), &"why".into()));
    }

    #[test]
    fn a_failure_weighs_more_than_a_success_and_that_more_than_a_skip() {
        use SyncStatus::{Completed, Failed, Pending, Skipped};
        for (one, other, expected) in [
            (Skipped, Completed, Completed),
            (Completed, Failed, Failed),
            (Failed, Skipped, Failed),
            (Completed, Skipped, Completed),
            (Failed, Pending, Pending),
        ] {
            assert_eq!((worst(one, other), worst(other, one)), (expected, expected));
        }
    }
}
