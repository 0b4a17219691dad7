//! How long a workflow's submissions are kept, part by part.

use bindery_yaml::{Fields, Node, Problems};
use std::time::Duration;

pub(super) const RETENTION_KEYS: &[&str] =
    &["raw_files_days", "page_images_days", "texts_days", "results_days", "events_days"];

const LONGEST: i64 = 36_500;

/// How long after its end each part of a submission is kept; none: until somebody deletes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// The files as they came in.
    pub raw_files: Option<Duration>,
    /// The contents of pages and documents.
    pub page_images: Option<Duration>,
    /// What was read and found on the way to the result.
    pub texts: Option<Duration>,
    /// The result, and with it the whole submission.
    pub results: Option<Duration>,
    pub events: Option<Duration>,
}

pub(super) fn read_retention(node: &Node, path: &str, problems: &mut Problems) -> Retention {
    let Some(fields) = Fields::open(node, path, RETENTION_KEYS, problems) else { return Retention::default() };
    let mut days = |key| {
        let days = fields.whole(key, " of days", 0, LONGEST, problems);
        days.and_then(|days| u32::try_from(days).ok()).map(|days| Duration::from_secs(24 * 60 * 60) * days)
    };
    let [raw_files, page_images, texts, results, events] = RETENTION_KEYS else { return Retention::default() };
    let retention = Retention {
        raw_files: days(raw_files),
        page_images: days(page_images),
        texts: days(texts),
        results: days(results),
        events: days(events),
    };
    let parts = [
        (*raw_files, retention.raw_files),
        (*page_images, retention.page_images),
        (*texts, retention.texts),
        (*events, retention.events),
    ];
    for (key, kept) in parts {
        if let (Some(kept), Some(whole)) = (kept, retention.results)
            && kept > whole
        {
            let whole = whole.as_secs() / (24 * 60 * 60);
            let message =
                format!("it has no effect: the whole submission is deleted after {whole} days (results_days)");
            fields.blame(key, message, Some("leave it out, or make results_days at least as long"), problems);
        }
    }
    retention
}
