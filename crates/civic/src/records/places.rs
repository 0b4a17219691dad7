//! Jurisdictions, and how following each of them goes.

use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Only these are visited.
pub const ACTIVE: &str = "active";

/// So many runs in a row that find nothing, where something was found before, are a warning.
pub const SILENT_AFTER: u32 = 3;

/// A city, county, school district or other body of which councils are followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Jurisdiction {
    /// Its key: `paloaltoCA`.
    #[serde(rename = "banana")]
    pub city_key: String,
    /// Name and state together are unique.
    pub name: String,
    pub state: String,
    pub vendor: String,
    /// What the vendor knows it by.
    pub slug: String,
    /// Further places where meetings of it are published.
    pub extra_vendors: Vec<VendorPlace>,
    /// `city`, `county`, `school_district` …
    pub kind: String,
    /// The city key of the county that it lies in.
    pub county: Option<String>,
    /// `active`, or a word for why it is not visited.
    pub status: String,
    /// IANA name.
    pub tz: Option<String>,
    pub population: Option<i64>,
    /// What its adapter has to know besides.
    pub settings: Map<String, Value>,
    /// How to testify, the same for all meetings.
    pub participation: Option<Value>,
    pub zipcodes: Vec<ZipCode>,
    /// Kept by the store: storing a jurisdiction does not change it.
    pub health: Health,
    /// Set by the store.
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

impl Default for Jurisdiction {
    fn default() -> Self {
        Self {
            city_key: String::new(),
            name: String::new(),
            state: String::new(),
            vendor: String::new(),
            slug: String::new(),
            extra_vendors: Vec::new(),
            kind: "city".to_owned(),
            county: None,
            status: ACTIVE.to_owned(),
            tz: None,
            population: None,
            settings: Map::new(),
            participation: None,
            zipcodes: Vec::new(),
            health: Health::default(),
            created_at: None,
            updated_at: None,
        }
    }
}

impl Jurisdiction {
    pub fn is_active(&self) -> bool {
        self.status == ACTIVE
    }
}

/// Where a vendor publishes something of a jurisdiction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VendorPlace {
    pub vendor: String,
    pub slug: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ZipCode {
    pub zipcode: String,
    pub is_primary: bool,
}

/// How visits have gone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    pub last_attempt_at: Option<Timestamp>,
    pub last_success_at: Option<Timestamp>,
    /// When meetings were last found.
    pub last_found_at: Option<Timestamp>,
    pub last_error: Option<String>,
    pub consecutive_failures: u32,
    /// Runs in a row that went well and found nothing.
    pub empty_runs: u32,
    pub next_sync_at: Option<Timestamp>,
}

impl Health {
    /// It used to have meetings, and has none any more: somebody should look.
    pub const fn is_silent(&self) -> bool {
        self.empty_runs >= SILENT_AFTER && self.last_found_at.is_some()
    }

    /// How it stands after a run.
    pub(crate) fn after(&mut self, run: &SyncRun, now: Timestamp) {
        match run.status {
            SyncStatus::Completed => {
                self.last_success_at = Some(now);
                self.last_error = None;
                self.consecutive_failures = 0;
                if run.meetings_found > 0 {
                    self.last_found_at = Some(now);
                    self.empty_runs = 0;
                } else {
                    self.empty_runs = self.empty_runs.saturating_add(1);
                }
            }
            SyncStatus::Failed => {
                self.consecutive_failures = self.consecutive_failures.saturating_add(1);
                self.last_error.clone_from(&run.error_message);
            }
            SyncStatus::Skipped => self.last_error.clone_from(&run.error_message),
            SyncStatus::Pending | SyncStatus::InProgress => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
    Skipped,
}

impl SyncStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One visit to a jurisdiction, and what came of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncRun {
    /// Given by the store.
    pub id: i64,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub status: SyncStatus,
    pub meetings_found: u64,
    pub meetings_processed: u64,
    pub meetings_skipped: u64,
    pub items_stored: u64,
    pub duration_seconds: f64,
    pub error_message: Option<String>,
    /// What looked wrong although the run went on.
    pub alarms: Vec<Alarm>,
    /// Whatever else is worth keeping of it.
    pub details: Map<String, Value>,
    /// Set by the store.
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
}

impl SyncRun {
    /// The name under which whoever makes the visit works on the store, in the details.
    pub const BY: &'static str = "by";

    /// Who makes the visit, if they said.
    pub fn worker(&self) -> Option<&str> {
        self.details.get(Self::BY).and_then(Value::as_str)
    }
}

/// A page that does not look as it used to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Alarm {
    pub url: Option<String>,
    /// A short stable name.
    pub kind: String,
    pub message: String,
}

/// What a page looked like at the last visit: to ask for it only if it has changed, and to notice when it changed shape.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PageShape {
    #[serde(rename = "banana")]
    pub city_key: String,
    pub url: String,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub content_sha256: Option<String>,
    /// How often each landmark of the page was there.
    pub landmarks: Map<String, Value>,
    /// How many meetings or items were read from it, and how many when there were any.
    pub count: i64,
    pub last_nonzero_count: i64,
    pub last_nonzero_at: Option<Timestamp>,
    /// Whatever else is to be found again at the next visit.
    pub details: Map<String, Value>,
    /// Set by the store.
    pub seen_at: Option<Timestamp>,
}

/// Somebody wants a city to be followed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CityRequest {
    #[serde(rename = "banana")]
    pub city_key: String,
    pub request_count: u64,
    pub first_requested_at: Option<Timestamp>,
    pub last_requested_at: Option<Timestamp>,
    pub status: RequestStatus,
    pub notes: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestStatus {
    #[default]
    Pending,
    Added,
    Rejected,
}

impl RequestStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Added => "added",
            Self::Rejected => "rejected",
        }
    }
}
