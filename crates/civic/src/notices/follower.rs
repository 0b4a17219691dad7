//! Who is told of what: alerts, and what people watch, as one kind of thing.

use super::words::Phrase;
use crate::records::{Alert, Channel, Civic as _, Watch};
use bindery_core::{ContentHash, Timestamp};
use bindery_store::{Store, StoreResult};
use std::collections::{BTreeMap, BTreeSet};

/// How long news may wait for the next digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frequency {
    Immediate,
    Daily,
    Weekly,
}

/// Something that is followed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Thing {
    Everything,
    Keyword { shown: String, phrase: Phrase },
    Matter(String),
    Committee(String),
    Topic(String),
    Meeting(String),
    City(String),
    Member(String),
}

/// Something that is followed since some time: what happened before is no news.
#[derive(Debug, Clone)]
pub(super) struct Want {
    pub(super) thing: Thing,
    pub(super) since: Option<Timestamp>,
}

/// An alert, or everything that one person watches.
#[derive(Debug, Clone)]
pub(super) struct Follower {
    /// The alert's, or made of the person's address.
    pub(super) id: String,
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) channels: Vec<Channel>,
    pub(super) frequency: Frequency,
    pub(super) wants: Vec<Want>,
    /// None: everywhere.
    cities: Option<BTreeSet<String>>,
    /// Cities whose calendars are of interest.
    calendars: BTreeSet<String>,
}

impl Follower {
    pub(super) fn is_about(&self, city_key: &str) -> bool {
        self.cities.as_ref().is_none_or(|cities| cities.contains(city_key))
    }

    /// The cities that are named, or that things are in that are named.
    pub(super) fn cities(&self) -> Vec<String> {
        self.cities.iter().flatten().cloned().collect()
    }

    /// Cities of which everything that is to come is of interest.
    pub(super) fn calendars(&self) -> &BTreeSet<String> {
        &self.calendars
    }

    /// Changes when other things are followed.
    pub(super) fn mark(&self) -> String {
        let wants: Vec<String> = self.wants.iter().map(|want| format!("{:?}", want.thing)).collect();
        short_hash(&format!("{:?}\n{}", self.cities, wants.join("\n")))
    }
}

/// Twelve digits that stand for a text in a key.
pub(super) fn short_hash(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string().chars().take(12).collect()
}

/// Everybody who follows something.
pub(super) async fn load(store: &dyn Store) -> StoreResult<Vec<Follower>> {
    let mut all: Vec<Follower> = store.civic().alerts(None, true).await?.into_iter().map(of_alert).collect();
    let mut watches: BTreeMap<String, Vec<Watch>> = BTreeMap::new();
    for watch in store.civic().all_watches().await? {
        watches.entry(watch.owner.clone()).or_default().push(watch);
    }
    all.extend(watches.into_iter().map(|(owner, watches)| of_watches(owner, watches)));
    Ok(all)
}

pub(super) fn of_alert(alert: Alert) -> Follower {
    let keyword = |shown: &String| Some(Thing::Keyword { shown: shown.clone(), phrase: Phrase::new(shown)? });
    let mut things: Vec<Thing> = alert.keywords.iter().filter_map(keyword).collect();
    things.extend(alert.matters.into_iter().map(Thing::Matter));
    things.extend(alert.committees.into_iter().map(Thing::Committee));
    things.extend(alert.topics.into_iter().map(Thing::Topic));
    if things.is_empty() {
        things.push(Thing::Everything);
    }
    let since = alert.created_at;
    let cities: BTreeSet<String> = alert.cities.into_iter().collect();
    Follower {
        id: alert.id,
        owner: alert.owner,
        name: alert.name,
        channels: alert.channels,
        frequency: match alert.frequency.as_str() {
            "immediate" => Frequency::Immediate,
            "daily" => Frequency::Daily,
            _ => Frequency::Weekly,
        },
        wants: things.into_iter().map(|thing| Want { thing, since }).collect(),
        calendars: cities.clone(),
        cities: Some(cities),
    }
}

/// What a person watches is told by mail, once a day at most.
fn of_watches(owner: String, watches: Vec<Watch>) -> Follower {
    let want = |watch: Watch| {
        let thing = match watch.entity_type.as_str() {
            "matter" => Thing::Matter(watch.entity_id),
            "meeting" => Thing::Meeting(watch.entity_id),
            "topic" => Thing::Topic(watch.entity_id),
            "city" => Thing::City(watch.entity_id),
            "committee" => Thing::Committee(watch.entity_id),
            "council_member" => Thing::Member(watch.entity_id),
            _ => return None,
        };
        Some(Want { thing, since: watch.created_at })
    };
    let wants: Vec<Want> = watches.into_iter().filter_map(want).collect();
    let is_anywhere = wants.iter().any(|want| matches!(want.thing, Thing::Topic(_)));
    let city = |want: &Want| match &want.thing {
        Thing::City(city_key) => Some(city_key.clone()),
        Thing::Matter(id) | Thing::Meeting(id) | Thing::Committee(id) | Thing::Member(id) => {
            Some(id.split('_').next()?.to_owned())
        }
        _ => None,
    };
    let whole = |want: &Want| match &want.thing {
        Thing::City(city_key) => Some(city_key.clone()),
        _ => None,
    };
    Follower {
        id: format!("watches_{}", short_hash(&owner)),
        name: "what you watch".to_owned(),
        channels: vec![Channel { kind: "mail".to_owned(), address: owner.clone() }],
        frequency: Frequency::Daily,
        cities: (!is_anywhere).then(|| wants.iter().filter_map(city).collect()),
        calendars: wants.iter().filter_map(whole).collect(),
        wants,
        owner,
    }
}
