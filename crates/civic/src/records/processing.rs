//! What reading and summarising stores. Each is guarded by the revision of the meeting, like a sync.

use super::{
    CivicRecords,
    changes::{Applied, CivicChanges},
    matters::Matter,
    meetings::{AgendaItem, Meeting, Processing},
};
use bindery_store::StoreResult;

impl CivicRecords<'_> {
    /// Stores a meeting's summary and topics. False if there is no such meeting.
    pub async fn update_meeting_summary(&self, id: &str, summary: &str, topics: &[String]) -> StoreResult<bool> {
        let change = |meeting: &mut Meeting| {
            meeting.summary = Some(summary.to_owned());
            meeting.topics = topics.to_vec();
        };
        self.change_meeting(id, change).await
    }

    /// Stores an item's summary and topics. False if there is no such item.
    pub async fn update_agenda_item(&self, id: &str, summary: &str, topics: &[String]) -> StoreResult<bool> {
        loop {
            let Some(item) = self.agenda_item(id).await? else { return Ok(false) };
            let Some(meeting) = self.meeting(&item.meeting_id).await? else { return Ok(false) };
            let mut changes = CivicChanges::of_meeting(meeting.city_key, meeting.id, meeting.revision);
            let (summary, topics) = (Some(summary.to_owned()), topics.to_vec());
            changes.items.push(AgendaItem { summary, topics, ..item });
            if self.is_stored(changes).await? {
                return Ok(true);
            }
        }
    }

    /// Stores a matter; what it does not say is kept.
    pub async fn store_matter(&self, matter: Matter) -> StoreResult<()> {
        let mut changes = CivicChanges::of_city(matter.city_key.clone());
        changes.matters.push(matter);
        self.apply(vec![changes]).await.map(drop)
    }

    /// A meeting was read to its end. False if there is no such meeting.
    pub async fn mark_processing_complete(&self, id: &str, method: &str, seconds: f64) -> StoreResult<bool> {
        let change = |meeting: &mut Meeting| {
            meeting.processing_status = Some(Processing::Completed);
            meeting.processing_method = Some(method.to_owned());
            meeting.processing_seconds = Some(seconds);
            meeting.processing_error = None;
            meeting.processed_hash.clone_from(&meeting.content_hash);
        };
        self.change_meeting(id, change).await
    }

    /// A meeting could not be read. False if there is no such meeting.
    pub async fn mark_processing_failed(&self, id: &str, error: &str) -> StoreResult<bool> {
        let change = |meeting: &mut Meeting| {
            meeting.processing_status = Some(Processing::Failed);
            meeting.processing_error = Some(error.to_owned());
        };
        self.change_meeting(id, change).await
    }

    /// Changes a meeting as it is, whoever else changes it at the same time.
    async fn change_meeting(&self, id: &str, change: impl Fn(&mut Meeting) + Send + Sync) -> StoreResult<bool> {
        loop {
            let Some(mut meeting) = self.meeting(id).await? else { return Ok(false) };
            let mut changes = CivicChanges::of_meeting(meeting.city_key.clone(), id, meeting.revision);
            change(&mut meeting);
            changes.meeting = Some(meeting);
            if self.is_stored(changes).await? {
                return Ok(true);
            }
        }
    }

    async fn is_stored(&self, changes: CivicChanges) -> StoreResult<bool> {
        Ok(self.apply(vec![changes]).await?.into_iter().all(Applied::is_stored))
    }
}
