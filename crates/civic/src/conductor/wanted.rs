//! Lists of cities as people give them, and the cities that people wait to hear of.

use super::Conductor;
use crate::city_key::{CityKey, KnownJurisdiction, Target, expand_targets};
use crate::records::{Civic as _, Jurisdiction, JurisdictionFilter};
use bindery_store::{Store, StoreResult};
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
    #[serde(rename = "city_banana")]
    pub city_key: String,
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
            city_key: city.city_key,
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
    pub fn city_keys(&self) -> Vec<String> {
        self.cities.iter().map(|city| city.city_key.clone()).collect()
    }
}

/// The watchlist of a store. A city that is not followed is recorded as requested, once however often one looks.
pub async fn watchlist(store: &dyn Store) -> StoreResult<Watchlist> {
    let civic = store.civic();
    let wanted = civic.watchlist().await?;
    if wanted.is_empty() {
        return Ok(Watchlist::default());
    }
    let filter = JurisdictionFilter { city_keys: wanted.clone(), ..JurisdictionFilter::default() };
    let mut stored: HashMap<String, Jurisdiction> =
        civic.jurisdictions(filter).await?.into_iter().map(|city| (city.city_key.clone(), city)).collect();
    let known: HashSet<String> = civic.city_requests(None).await?.into_iter().map(|request| request.city_key).collect();
    let mut list = Watchlist::default();
    for city_key in wanted {
        if let Some(city) = stored.remove(&city_key) {
            list.cities.push(city.into());
        } else if CityKey::parse(&city_key).is_err() {
            list.invalid.push(city_key);
        } else {
            if !known.contains(&city_key) {
                civic.request_city(&city_key).await?;
            }
            list.requested.push(city_key);
        }
    }
    Ok(list)
}

/// The cities that a list of targets means; those that are not stored are among them, for a visit to say so.
pub async fn expand(store: &dyn Store, targets: &[Target]) -> StoreResult<Vec<String>> {
    let cities = store.civic().jurisdictions(JurisdictionFilter::default()).await?;
    let parsed = |text: &str| CityKey::parse(text).ok();
    let known: Vec<KnownJurisdiction> = cities
        .iter()
        .filter_map(|city| {
            let county = city.county.as_deref().and_then(parsed);
            Some(KnownJurisdiction { city_key: parsed(&city.city_key)?, state: city.state.clone(), county })
        })
        .collect();
    Ok(expand_targets(targets, &known).iter().map(CityKey::to_string).collect())
}

impl Conductor {
    pub async fn watchlist(&self) -> StoreResult<Watchlist> {
        watchlist(&*self.store).await
    }

    pub async fn expand(&self, targets: &[Target]) -> StoreResult<Vec<String>> {
        expand(&*self.store, targets).await
    }
}
