//! What processing the queued jobs of a city would read and cost. Asks nobody and stores nothing.

use super::{
    Workshop,
    documents::{if_known, store_trouble},
    packet,
    reading::{Preparing, Sources},
    requests::{self, Unit},
};
use crate::records::Civic as _;
use crate::records::{CivicTask, QueueStatus};
use crate::{analyst::local_topics::topics_of, hash::canonical_url, ids};
use bindery_core::StepError;
use serde::Serialize;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// What waits in a city's queue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CityEstimate {
    #[serde(rename = "banana")]
    pub city_key: String,
    pub meetings: u64,
    pub matters: u64,
    /// To be read by the analyst.
    pub items: u64,
    /// Those of them whose texts are known, which the cost is of.
    pub items_estimated: u64,
    /// Addresses that are not known, or not read yet.
    pub documents_unread: u64,
    /// Files that would be taken apart.
    pub packets: u64,
    pub input_tokens: u64,
    /// With answers as long as they may be; only of the items whose texts are known.
    pub most_micros: i64,
    /// Items that were asked before, and cost nothing.
    pub items_kept: u64,
}

/// What the jobs of a city that wait would read and cost.
pub async fn estimate_city(workshop: &Workshop, city_key: &str) -> Result<CityEstimate, StepError> {
    let civic = workshop.store.civic();
    let jobs = civic.queue_jobs(Some(city_key), None).await.map_err(store_trouble)?;
    let mut estimate = CityEstimate { city_key: city_key.to_owned(), ..CityEstimate::default() };
    let mut unread = BTreeSet::new();
    let city = civic.jurisdiction(city_key).await.map_err(store_trouble)?.unwrap_or_default();
    let topics = topics_of(&city);
    for job in jobs.iter().filter(|job| matches!(job.status, QueueStatus::Pending | QueueStatus::Processing)) {
        let CivicTask::Meeting { meeting_id } = &job.payload else {
            // What it reads is read for its meetings, too.
            estimate.matters += 1;
            continue;
        };
        estimate.meetings += 1;
        let Some(meeting) = civic.meeting(meeting_id).await.map_err(store_trouble)? else { continue };
        let items = civic.agenda(meeting_id).await.map_err(store_trouble)?;
        let listed: Vec<_> = items.into_iter().filter(|item| !ids::is_from_packet(item)).collect();
        if !listed.iter().any(|item| requests::is_live(item) && requests::has_content(item)) {
            estimate.packets += u64::from(packet::address(&meeting).is_some());
            continue;
        }
        let revisions = civic.item_revisions(meeting_id).await.map_err(store_trouble)?;
        let plan = requests::plan(&listed, &revisions);
        let sources =
            Sources { shared: plan.shared, starts_at: meeting.starts_at, topics: topics.clone(), ..Sources::default() };
        for unit in plan.units.iter().filter(|unit| !unit.is_brief) {
            workshop.estimate_item(unit, &sources, &mut estimate, &mut unread).await?;
        }
    }
    estimate.documents_unread = unread.len() as u64;
    Ok(estimate)
}

impl Workshop {
    async fn estimate_item(
        &self,
        unit: &Unit,
        sources: &Sources,
        estimate: &mut CityEstimate,
        unread: &mut BTreeSet<String>,
    ) -> Result<(), StepError> {
        estimate.items += 1;
        let mut papers = HashMap::new();
        let mut is_known = true;
        for document in &unit.documents {
            let key = canonical_url(&document.url);
            let known = self.known_document(&key).await?;
            let text = self.known_text(known.content_sha256.as_deref()).await?;
            if let Some(obtained) = if_known(known, text) {
                papers.insert(key, obtained);
            } else {
                unread.insert(key);
                is_known = false;
            }
        }
        if !is_known {
            return Ok(());
        }
        let sources = Sources {
            papers,
            packet: None,
            shared: sources.shared.clone(),
            topics: Arc::clone(&sources.topics),
            starts_at: sources.starts_at,
        };
        if let Preparing::Ready(prepared) = self.prepare(unit, &sources, true).await?
            && let Ok(cost) = self.analyst.estimate(&prepared.request)
        {
            estimate.items_estimated += 1;
            estimate.input_tokens += cost.input_tokens;
            estimate.items_kept += u64::from(cost.is_kept);
            estimate.most_micros += if cost.is_kept { 0 } else { cost.most_micros };
        }
        Ok(())
    }
}
