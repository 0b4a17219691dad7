//! Lists of cities as people give them, and the cities that people wait to hear of.

use super::Conductor;
use crate::banana::{Banana, KnownJurisdiction, Target, expand_targets};
use bindery_store::{
    Store, StoreResult,
    civic::{Jurisdiction, JurisdictionFilter},
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The cities of all active alerts.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Watchlist {
    /// Those that can be visited.
    pub cities: Vec<WatchedCity>,
    /// Those that nobody follows yet. Each is a request for the city.
    pub requested: Vec<String>,
    /// What is no key of a city.
    pub invalid: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WatchedCity {
    pub city_banana: String,
    pub name: String,
    pub state: String,
    pub vendor: String,
    pub status: String,
    pub last_success_at: Option<bindery_core::Timestamp>,
    pub next_sync_at: Option<bindery_core::Timestamp>,
}

impl From<Jurisdiction> for WatchedCity {
    fn from(city: Jurisdiction) -> Self {
        Self {
            city_banana: city.banana,
            name: city.name,
            state: city.state,
            vendor: city.vendor,
            status: city.status,
            last_success_at: city.health.last_success_at,
            next_sync_at: city.health.next_sync_at,
        }
    }
}

impl Watchlist {
    pub fn bananas(&self) -> Vec<String> {
        self.cities.iter().map(|city| city.city_banana.clone()).collect()
    }
}

/// The watchlist of a store. A city that is not followed is recorded as requested, once however often one looks.
pub async fn watchlist(store: &dyn Store) -> StoreResult<Watchlist> {
    let civic = store.civic();
    let wanted = civic.watchlist().await?;
    if wanted.is_empty() {
        return Ok(Watchlist::default());
    }
    let filter = JurisdictionFilter { bananas: wanted.clone(), ..JurisdictionFilter::default() };
    let mut stored: HashMap<String, Jurisdiction> =
        civic.jurisdictions(filter).await?.into_iter().map(|city| (city.banana.clone(), city)).collect();
    let known: HashSet<String> = civic.city_requests(None).await?.into_iter().map(|request| request.banana).collect();
    let mut list = Watchlist::default();
    for banana in wanted {
        if let Some(city) = stored.remove(&banana) {
            list.cities.push(city.into());
        } else if Banana::parse(&banana).is_err() {
            list.invalid.push(banana);
        } else {
            if !known.contains(&banana) {
                civic.request_city(&banana).await?;
            }
            list.requested.push(banana);
        }
    }
    Ok(list)
}

/// The cities that a list of targets means; those that are not stored are among them, for a visit to say so.
pub async fn expand(store: &dyn Store, targets: &[Target]) -> StoreResult<Vec<String>> {
    let cities = store.civic().jurisdictions(JurisdictionFilter::default()).await?;
    let parsed = |text: &str| Banana::parse(text).ok();
    let known: Vec<KnownJurisdiction> = cities
        .iter()
        .filter_map(|city| {
            let county = city.county.as_deref().and_then(parsed);
            Some(KnownJurisdiction { banana: parsed(&city.banana)?, state: city.state.clone(), county })
        })
        .collect();
    Ok(expand_targets(targets, &known).iter().map(Banana::to_string).collect())
}

impl Conductor {
    pub async fn watchlist(&self) -> StoreResult<Watchlist> {
        watchlist(&*self.store).await
    }

    pub async fn expand(&self, targets: &[Target]) -> StoreResult<Vec<String>> {
        expand(&*self.store, targets).await
    }
}
