//! Cities and meetings put into a store as the program does it.

use bindery_civic::records::{CivicRecords, Edited, Jurisdiction, JurisdictionEdit};
use bindery_civic::sync::{Orchestrator, SyncStats, Visited};
use bindery_civic::vendor::{VendorMeeting, Window};
use bindery_store::{StoreError, StoreResult};
use jiff::civil::date;

/// Enters cities, all or none; those that are there take the new values.
pub(crate) async fn put_cities(civic: &CivicRecords<'_>, cities: Vec<Jurisdiction>) -> StoreResult<()> {
    let mut edits = Vec::new();
    for after in cities {
        edits.push(JurisdictionEdit { before: civic.jurisdiction(&after.city_key).await?, after });
    }
    match civic.edit_jurisdictions(edits).await? {
        Edited::Stored => Ok(()),
        Edited::Stale(keys) => Err(StoreError::Invalid(format!("{} changed meanwhile", keys.join(", ")))),
    }
}

/// A visit that found one meeting, and may have missed others.
pub(crate) async fn sync_meeting(
    orchestrator: &Orchestrator,
    city: &Jurisdiction,
    meeting: VendorMeeting,
) -> StoreResult<SyncStats> {
    let window = Window { from: date(2026, 1, 1), to: date(2026, 12, 31) };
    let visited = Visited { vendor: "legistar".to_owned(), window, meetings: vec![meeting], is_complete: false };
    orchestrator.sync_visit(city, visited).await
}
