//! The retention sweep: what documents needed on their way is removed some days after they were done.
//!
//! Only what belongs to a document whose JSON is there, and has been for long enough, is removed: the copy that came in
//! and the files of single pages. The JSON itself, the words of the whole document and what was answered stay. What is
//! not finished, or failed, keeps everything. Nothing is removed from the store: `Store::prune` forgets submissions.

use super::{
    places::{Places, wait},
    task::{IdpPlace, TaskError},
};
use crate::stage::Stage;
use bindery_core::StepError;
use bindery_engine::{Extracted, Kind, context::StepContext};
use bindery_store::blobs::{Offer, OutwardKey};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

/// What a document needs on its way only, by kind.
const ON_THE_WAY: &[&str] = &["raw", "pdf_raw", "office", "pdf_page", "scan_page", "text_page", "hocr"];

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Kept for a day, unless the setting `delete_after_days` says otherwise.
const DELETE_AFTER_DAYS: u64 = 1;

/// What was removed, and what could not be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Swept {
    pub deleted: u64,
    pub failures: Vec<SweepFailure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepFailure {
    pub bucket: String,
    pub key: String,
    /// `list` or `delete`.
    pub action: String,
    pub reason: String,
}

/// Removes what is not needed any more by documents that were done before `now - keep`. One thing that cannot be removed
/// does not keep the rest.
pub async fn sweep(place: &IdpPlace, keep: Duration, now: SystemTime) -> Result<Swept, TaskError> {
    let mut swept = Swept::default();
    let done = place.layout.prefix("text_doc");
    let below = OutwardKey::parse(done.trim_end_matches('/')).map_err(|error| TaskError::Invalid(error.to_string()))?;
    for offer in place.shelf.list(&below).await? {
        let Some(document) = offer.key.strip_prefix(&done).and_then(|name| name.strip_suffix(".json")) else {
            continue;
        };
        let is_old = now.duration_since(offer.modified).is_ok_and(|age| age >= keep);
        if !is_old || document.contains('/') {
            continue;
        }
        for kind in ON_THE_WAY {
            let folder = place.key(kind, document)?;
            match place.shelf.list(&folder).await {
                Ok(found) => remove_all(place, found, &mut swept).await,
                Err(error) => swept.failures.push(failure(place, folder.to_string(), "list", &error)),
            }
        }
    }
    Ok(swept)
}

async fn remove_all(place: &IdpPlace, found: Vec<Offer>, swept: &mut Swept) {
    for Offer { key, .. } in found {
        let removed = match OutwardKey::parse(&key) {
            Ok(outward) => place.shelf.remove(&outward).await,
            Err(error) => Err(error.into()),
        };
        match removed {
            Ok(removed) => swept.deleted += u64::from(removed),
            Err(error) => swept.failures.push(failure(place, key, "delete", &error)),
        }
    }
}

fn failure(place: &IdpPlace, key: String, action: &str, error: &dyn std::error::Error) -> SweepFailure {
    SweepFailure { bucket: place.shelf.bucket().to_owned(), key, action: action.to_owned(), reason: error.to_string() }
}

/// The sweep as a processor, `idp_cleanup`, with the settings `place`, `keys` and `delete_after_days`.
#[derive(Debug, Clone)]
pub(crate) struct Cleanup {
    places: Arc<Places>,
}

impl Cleanup {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

impl Stage for Cleanup {
    const NAME: &'static str = "idp_cleanup";
    const KIND: Kind = Kind::Io;
    type Input = IgnoredAny;
    type Made = Swept;
    type Output = Swept;

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Swept, StepError> {
        let days = crate::settings::whole(context, "delete_after_days", DELETE_AFTER_DAYS, 0..=36_500)?;
        let place = IdpPlace::from_settings(context.settings(), &self.places)?;
        let keep = DAY * u32::try_from(days).unwrap_or(u32::MAX);
        Ok(wait(async move { sweep(&place, keep, SystemTime::now()).await })??)
    }

    fn extract(&self, _context: &StepContext, swept: Swept) -> Result<Extracted<Swept>, StepError> {
        Ok(Extracted::new(swept))
    }
}
