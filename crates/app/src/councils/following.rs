//! What people follow: alerts over words in cities, and watches of single things.

use super::{CouncilRefused, ids, notices::eml, topics::Topics};
use crate::{app::App, error::AppResult};
use bindery_civic::{
    city_key::CityKey,
    records::{Alert, Channel, JurisdictionFilter, Watch},
};
use bindery_core::ContentHash;
use std::collections::BTreeSet;

fn invalid(message: String) -> CouncilRefused {
    CouncilRefused::Invalid(message)
}

/// An alert as somebody wants it.
#[derive(Debug, Clone, Default)]
pub struct AlertRequest {
    /// Whose it is: a mail address.
    pub owner: String,
    /// What its owner calls it; an owner has one of each name.
    pub name: String,
    pub cities: Vec<String>,
    pub keywords: Vec<String>,
    pub matters: Vec<String>,
    pub committees: Vec<String>,
    pub topics: Vec<String>,
    pub frequency: String,
    /// Addresses that take signed messages, beside the owner's mail.
    pub webhooks: Vec<String>,
}

impl AlertRequest {
    /// The alert, checked. The id follows from the owner and the name, so that the same alert is stored once.
    pub fn into_alert(self) -> Result<Alert, CouncilRefused> {
        let owner = checked_owner(&self.owner)?;
        let name = self.name.trim().to_owned();
        if name.is_empty() || name.contains(char::is_control) {
            return Err(invalid(format!("name: expected one line of text, found {:?}", self.name)));
        }
        let mut cities: Vec<String> = Vec::new();
        for city in self.cities.iter().map(|city| city.trim()).filter(|city| !city.is_empty()) {
            let city_key = CityKey::parse(city).map_err(|fault| invalid(format!("city: {fault}")))?;
            if !cities.iter().any(|known| known == city_key.as_str()) {
                cities.push(city_key.into());
            }
        }
        if cities.is_empty() {
            return Err(invalid("city: expected a key such as paloaltoCA, found none".to_owned()));
        }
        let mut keywords: Vec<String> = Vec::new();
        for keyword in &self.keywords {
            let words = keyword.split_whitespace().collect::<Vec<_>>().join(" ");
            if words.is_empty() {
                return Err(invalid("keyword: expected a word, found an empty text".to_owned()));
            }
            if !keywords.contains(&words) {
                keywords.push(words);
            }
        }
        self.matters.iter().try_for_each(|matter| check_entity("matter", matter))?;
        self.committees.iter().try_for_each(|committee| check_entity("committee", committee))?;
        let topics = self.topics.iter().map(|topic| find_topic(topic)).collect::<Result<Vec<_>, _>>()?;
        let mut channels = vec![Channel { kind: "mail".to_owned(), address: owner.clone() }];
        for url in self.webhooks {
            if !url.starts_with("https://") && !url.starts_with("http://") {
                return Err(invalid(format!(
                    "webhook: expected an address such as https://example.org/hook, found {url:?}"
                )));
            }
            channels.push(Channel { kind: "webhook".to_owned(), address: url });
        }
        let id: String = ContentHash::of(format!("{owner}\n{name}").as_bytes()).to_string().chars().take(12).collect();
        Ok(Alert {
            id: format!("alert_{id}"),
            owner,
            name,
            cities,
            keywords,
            matters: self.matters,
            committees: self.committees,
            topics,
            frequency: self.frequency,
            channels,
            ..Alert::default()
        })
    }
}

fn checked_owner(owner: &str) -> Result<String, CouncilRefused> {
    let owner = owner.trim();
    eml::check_address(owner).map_err(|why| invalid(format!("owner: {why}")))?;
    Ok(owner.to_owned())
}

/// Whether an id can be one of its kind.
fn check_entity(kind: &str, id: &str) -> Result<(), CouncilRefused> {
    let (is_one, example) = match kind {
        "matter" => (ids::is_matter_id(id), "paloaltoCA_0123456789abcdef"),
        "meeting" => (ids::is_meeting_id(id), "paloaltoCA_3c961ffe17f6"),
        "committee" => (id.contains("_comm_") && ids::city_key_of(id).is_some(), "paloaltoCA_comm_0123456789abcdef"),
        "council_member" => (id.contains("_cm_") && ids::city_key_of(id).is_some(), "paloaltoCA_cm_0123456789abcdef"),
        _ => (true, ""),
    };
    if is_one {
        return Ok(());
    }
    Err(CouncilRefused::WrongEntity { kind: kind.to_owned(), id: id.to_owned(), example })
}

/// The key of a topic that is named by its key, its name or another word for it.
pub fn find_topic(named: &str) -> Result<String, CouncilRefused> {
    let topics = Topics::with_local(&[]);
    let key = named.trim().to_lowercase();
    let known = topics.all().find(|(known, name)| *known == key || name.eq_ignore_ascii_case(&key));
    if let Some((known, _)) = known {
        return Ok(known.to_owned());
    }
    topics.topic_of(&key).map(str::to_owned).ok_or_else(|| CouncilRefused::UnknownTopic {
        named: named.to_owned(),
        known: topics.all().map(|(known, _)| known.to_owned()).collect(),
    })
}

/// A watch of one thing, checked as far as it can be without a store.
pub fn new_watch(owner: &str, kind: &str, id: &str) -> Result<Watch, CouncilRefused> {
    let (owner, id) = (checked_owner(owner)?, id.trim());
    let entity_id = match kind {
        "topic" => find_topic(id)?,
        "city" => CityKey::parse(id).map_err(|fault| invalid(format!("city: {fault}")))?.into(),
        _ => {
            check_entity(kind, id)?;
            id.to_owned()
        }
    };
    Ok(Watch { owner, entity_type: kind.to_owned(), entity_id, created_at: None })
}

impl App {
    /// Stores an alert; one of the same name only if it is to be replaced. Returns it as it is stored, and the cities of it
    /// that are not followed and are asked for now.
    pub async fn put_alert(&self, alert: Alert, replace: bool) -> AppResult<(Option<Alert>, Vec<String>)> {
        let civic = self.civic();
        let find = async || -> AppResult<Option<Alert>> {
            Ok(civic.alerts(Some(&alert.owner), false).await?.into_iter().find(|known| known.id == alert.id))
        };
        let before = find().await?;
        if before.is_some() && !replace {
            let Alert { owner, name, id, .. } = alert;
            return Err(CouncilRefused::AlertThere { owner, name, id }.into());
        }
        civic.put_alert(alert.clone()).await?;
        let known_before = before.map(|before| before.cities).unwrap_or_default();
        let new: Vec<String> = alert.cities.iter().filter(|city| !known_before.contains(city)).cloned().collect();
        let requested = self.request_unknown(new).await?;
        Ok((find().await?, requested))
    }

    /// Somebody wants the cities that are not followed.
    async fn request_unknown(&self, cities: Vec<String>) -> AppResult<Vec<String>> {
        if cities.is_empty() {
            return Ok(cities);
        }
        let filter =
            JurisdictionFilter { city_keys: cities.clone(), active: Some(true), ..JurisdictionFilter::default() };
        let followed = self.civic().jurisdictions(filter).await?;
        let followed: BTreeSet<String> = followed.into_iter().map(|city| city.city_key).collect();
        let unknown: Vec<String> = cities.into_iter().filter(|city| !followed.contains(city)).collect();
        for city_key in &unknown {
            self.civic().request_city(city_key).await?;
        }
        Ok(unknown)
    }

    /// What is followed is there, or else it was mistyped.
    pub async fn check_watched(&self, watch: &Watch) -> AppResult<()> {
        let id = watch.entity_id.as_str();
        let city_key = id.split('_').next().unwrap_or_default();
        let civic = self.civic();
        let (what, known): (&'static str, Vec<(String, String)>) = match watch.entity_type.as_str() {
            "matter" => return self.find_matter(id).await.map(drop),
            "meeting" => return self.find_meeting(id).await.map(drop),
            "city" => return self.find_city(id).await.map(drop),
            "committee" => {
                ("body", civic.committees(city_key).await?.into_iter().map(|one| (one.id, one.name)).collect())
            }
            "council_member" => {
                ("member", civic.people(city_key).await?.into_iter().map(|one| (one.id, one.name)).collect())
            }
            _ => return Ok(()),
        };
        if known.iter().any(|(known, _)| known == id) {
            return Ok(());
        }
        let known = known.into_iter().take(5).map(|(id, name)| format!("{name} ({id})")).collect();
        Err(CouncilRefused::UnknownPerson { what, id: id.to_owned(), known }.into())
    }
}
