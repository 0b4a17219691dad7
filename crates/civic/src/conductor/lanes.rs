//! Many cities: all vendors at the same time, the cities of one in their order.

use super::{
    Conductor, SyncResult,
    city::{A_MONTH, moment, visits_of},
};
use crate::records::{Civic as _, Jurisdiction, JurisdictionFilter, SyncStatus};
use crate::schedule::{self, CityVisits};
use bindery_engine::StopSignal;
use bindery_store::StoreResult;
use std::collections::{BTreeMap, HashMap};
use tokio::task::JoinSet;

/// Which of the active cities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Due,
    All,
}

/// The cities of each vendor, in the order of their turn.
pub(super) type Lanes = BTreeMap<String, Vec<Jurisdiction>>;

impl Conductor {
    /// Visits these cities, due or not. The results are in the order of the list; observers hear of each as it ends.
    pub async fn sync_cities(&self, city_keys: &[String], stop: &StopSignal) -> Vec<SyncResult> {
        let mut results: HashMap<String, SyncResult> = HashMap::new();
        let filter = JurisdictionFilter { city_keys: city_keys.to_vec(), ..JurisdictionFilter::default() };
        match self.store.civic().jurisdictions(filter).await {
            Ok(stored) => {
                let mut stored: HashMap<String, Jurisdiction> =
                    stored.into_iter().map(|city| (city.city_key.clone(), city)).collect();
                let mut lanes = Lanes::new();
                for city_key in city_keys {
                    if let Some(city) = stored.remove(city_key) {
                        lanes.entry(city.vendor.clone()).or_default().push(city);
                    } else if !lanes.values().flatten().any(|city| city.city_key == *city_key) {
                        let why = super::city::unknown(city_key);
                        let result = SyncResult::without_visit(city_key, SyncStatus::Skipped, why);
                        results.insert(city_key.clone(), result);
                    }
                }
                for result in self.visit_lanes(lanes, Which::All, stop).await {
                    results.insert(result.city_key.clone(), result);
                }
            }
            Err(error) => {
                let why = format!("the store cannot be used: {error}");
                let failed = |city_key: &String| {
                    (city_key.clone(), SyncResult::without_visit(city_key, SyncStatus::Failed, why.clone()))
                };
                results.extend(city_keys.iter().map(failed));
            }
        }
        let missing = |city_key: &String| {
            if stop.is_stopping() {
                SyncResult::not_begun(city_key)
            } else {
                SyncResult::without_visit(city_key, SyncStatus::Failed, "the visit failed; the log says more")
            }
        };
        city_keys.iter().map(|city_key| results.get(city_key).cloned().unwrap_or_else(|| missing(city_key))).collect()
    }

    /// Visits all active cities, or those that are due. The results are in the order in which they ended.
    pub async fn full_sync(&self, which: Which, stop: &StopSignal) -> StoreResult<Vec<SyncResult>> {
        let lanes = self.lanes(which).await?;
        Ok(self.visit_lanes(lanes, which, stop).await)
    }

    /// The active cities, or those that are due, by vendor, in the order of their turn.
    pub(super) async fn lanes(&self, which: Which) -> StoreResult<Lanes> {
        let now = self.now();
        let due_before = (which == Which::Due).then_some(now);
        let filter = JurisdictionFilter { active: Some(true), due_before, ..JurisdictionFilter::default() };
        let cities = self.store.civic().jurisdictions(filter).await?;
        let mut lanes = Lanes::new();
        if cities.is_empty() {
            return Ok(lanes);
        }
        let active = self.store.civic().meetings_per_city(now - A_MONTH, now).await?;
        let visits = |city: &Jurisdiction| {
            let meetings = active.get(&city.city_key).copied().unwrap_or(0);
            visits_of(city, u32::try_from(meetings).unwrap_or(u32::MAX))
        };
        let mut cities: Vec<(CityVisits, Jurisdiction)> =
            cities.into_iter().map(|city| (visits(&city), city)).collect();
        let now = moment(now).unwrap_or_default();
        cities.sort_by(|(one, _), (other, _)| schedule::turn(one, other, now));
        for (_, city) in cities {
            lanes.entry(city.vendor.clone()).or_default().push(city);
        }
        Ok(lanes)
    }

    async fn visit_lanes(&self, lanes: Lanes, which: Which, stop: &StopSignal) -> Vec<SyncResult> {
        let mut under_way = JoinSet::new();
        for (vendor, cities) in lanes {
            let (conductor, stop) = (self.clone(), stop.clone());
            under_way.spawn(async move { conductor.visit_lane(&vendor, cities, which, &stop).await });
        }
        let mut results = Vec::new();
        while let Some(ended) = under_way.join_next().await {
            match ended {
                Ok(lane) => results.extend(lane),
                Err(error) => tracing::error!(%error, "the cities of a vendor are not visited any further"),
            }
        }
        results
    }

    /// Visits the cities of one vendor: each begins when the client lets it, and not before those in front of it.
    pub(super) async fn visit_lane(
        &self,
        vendor: &str,
        cities: Vec<Jurisdiction>,
        which: Which,
        stop: &StopSignal,
    ) -> Vec<SyncResult> {
        let (mut visits, mut results) = (JoinSet::new(), Vec::new());
        for city in cities {
            let Some(pass) = self.client.begin_city(vendor, stop).await else { break };
            // Much may have happened while it waited for its turn.
            let city = match self.store.civic().jurisdiction(&city.city_key).await {
                Ok(Some(fresh)) if which == Which::All || self.is_due(&fresh) => fresh,
                Ok(_) => continue,
                // The visit will say so.
                Err(_) => city,
            };
            let (conductor, stop) = (self.clone(), stop.clone());
            visits.spawn(async move { conductor.visit_city(city, Some(pass), &stop).await });
            while let Some(ended) = visits.try_join_next() {
                take(ended, &mut results);
            }
        }
        while let Some(ended) = visits.join_next().await {
            take(ended, &mut results);
        }
        results
    }

    fn is_due(&self, city: &Jurisdiction) -> bool {
        city.is_active() && city.health.next_sync_at.is_none_or(|due| due <= self.now())
    }
}

fn take(ended: Result<SyncResult, tokio::task::JoinError>, results: &mut Vec<SyncResult>) {
    match ended {
        Ok(result) => results.push(result),
        Err(error) => tracing::error!(%error, "a visit failed; the city is visited again when it is due"),
    }
}
