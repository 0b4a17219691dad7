//! What processing a city came to.

use super::hearing::Heard;
use bindery_core::{JobId, Timestamp, job::WaitReason};
use bindery_store::query::JobView;
use serde::Serialize;
use std::collections::BTreeMap;

/// So many reasons are told; `bindery civic queue list` has them all.
const MOST_REASONS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CityStatus {
    /// The program was told to stop before the end.
    #[default]
    Pending,
    /// Nothing is left, or there was nothing.
    Completed,
    /// Some of it is done, and some could not be.
    Partial,
    Failed,
    /// Nothing has failed for good, and something waits for its time.
    Waiting,
    /// There is no such city.
    Skipped,
}

impl CityStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::Skipped => "skipped",
        }
    }
}

/// The names of the fields are part of the interface.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CityProcessed {
    #[serde(rename = "city_banana")]
    pub city_key: String,
    pub status: CityStatus,
    /// Meetings and matters that were read to their end, here.
    pub processed_count: u64,
    /// Those that were given up.
    pub failed_count: u64,
    /// Those of which some items are done and some are not.
    pub partial_count: u64,
    pub meetings_processed: u64,
    pub matters_processed: u64,
    pub items_processed: u64,
    pub items_new: u64,
    pub items_skipped: u64,
    pub items_failed: u64,
    /// In millionths of the currency unit.
    pub cost_micros: i64,
    pub duration_seconds: f64,
    /// Why something failed, the first few reasons.
    pub error_message: Option<String>,
    /// What is not done and will go on by itself, or when somebody acts.
    pub waiting: Vec<Waiting>,
}

/// A job that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    pub job: JobId,
    /// Such as `meeting://paloaltoCA_3c961ffe17f6`.
    pub source_url: String,
    /// What it waits for.
    pub because: String,
    /// When it goes on by itself.
    pub until: Option<Timestamp>,
}

impl CityProcessed {
    pub fn new(city_key: &str) -> Self {
        Self { city_key: city_key.to_owned(), ..Self::default() }
    }

    /// Of a city that was not processed.
    pub fn without_work(city_key: &str, status: CityStatus, why: impl Into<String>) -> Self {
        Self { status, error_message: Some(why.into()), ..Self::new(city_key) }
    }

    /// From what was heard of its jobs, and those that are left.
    pub(super) fn add_up(&mut self, heard: &BTreeMap<String, Heard>, left: &[JobView], is_stopping: bool) {
        let left: BTreeMap<String, &JobView> = left.iter().map(|view| (source_url(view), view)).collect();
        let mut reasons = Vec::new();
        for (source_url, heard) in heard {
            self.items_processed += heard.tally.items_processed;
            self.items_new += heard.tally.items_new;
            self.items_skipped += heard.tally.items_skipped;
            self.items_failed += heard.tally.items_failed;
            self.cost_micros += heard.tally.cost_micros;
            let Some((_, sentence)) = &heard.error else {
                self.processed_count += 1;
                let is_meeting = source_url.starts_with("meeting://");
                *(if is_meeting { &mut self.meetings_processed } else { &mut self.matters_processed }) += 1;
                continue;
            };
            let is_given_up = left.get(source_url).is_some_and(|view| !view.job.state.is_live());
            self.partial_count += u64::from(heard.is_partial());
            self.failed_count += u64::from(is_given_up && !heard.is_partial());
            if is_given_up || heard.is_partial() {
                reasons.push(format!("{source_url}: {sentence}"));
            }
        }
        let untold = reasons.len().saturating_sub(MOST_REASONS);
        if untold > 0 {
            reasons.truncate(MOST_REASONS);
            reasons.push(format!("and {untold} more; `bindery civic queue list --city {}`", self.city_key));
        }
        self.error_message = Some(reasons.join("; ")).filter(|reasons| !reasons.is_empty());
        self.waiting = left.iter().filter_map(|(source_url, view)| waiting(source_url, view)).collect();
        let has_trouble = self.failed_count + self.partial_count > 0;
        self.status = match (has_trouble, self.waiting.is_empty()) {
            _ if is_stopping && left.values().any(|view| view.job.state.is_live()) => CityStatus::Pending,
            (true, _) if self.processed_count + self.partial_count > 0 => CityStatus::Partial,
            (true, _) => CityStatus::Failed,
            (false, false) => CityStatus::Waiting,
            (false, true) => CityStatus::Completed,
        };
    }
}

/// What a job is about.
fn source_url(view: &JobView) -> String {
    view.job.dedup_key.clone().unwrap_or_else(|| view.job.id.to_string())
}

/// What a job waits for; none for one that was given up.
fn waiting(source_url: &str, view: &JobView) -> Option<Waiting> {
    if !view.job.state.is_live() {
        return None;
    }
    let because = match (&view.reason, &view.job.error) {
        (WaitReason::Later { .. } | WaitReason::Parked { .. }, Some(error)) => error.message.clone(),
        (reason, _) => reason.to_string(),
    };
    Some(Waiting { job: view.job.id, source_url: source_url.to_owned(), because, until: view.job.run_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s001_43_the_fields_of_a_result_are_the_interface() {
        let fields = serde_json::to_value(CityProcessed::new("paloaltoCA")).unwrap();
        let expected = [
            "city_banana",
            "status",
            "processed_count",
            "failed_count",
            "partial_count",
            "items_processed",
            "items_new",
            "items_skipped",
            "items_failed",
            "cost_micros",
            "duration_seconds",
            "error_message",
            "waiting",
        ];
        for field in expected {
            assert!(fields.get(field).is_some(), "{field}");
        }
        assert_eq!(fields["status"], "pending");
    }
}
