//! What people name, found in the store: with one sentence when it is not there.

use super::ids;
use crate::{app::App, error::AppResult};
use bindery_civic::{
    city_key::CityKey,
    records::{AgendaItem, Jurisdiction, JurisdictionFilter, Matter, MatterFilter, Meeting},
};
use bindery_core::JobId;

/// What is said about councils and cannot be; nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum CouncilRefused {
    /// A value that cannot be what it should be, with the name of the field where there is one.
    #[error("{0}")]
    Invalid(String),
    #[error("no city {city_key} is stored")]
    UnknownCity { city_key: CityKey, others: Vec<String> },
    #[error("{city_key} is not followed")]
    NotFollowed { city_key: String },
    #[error("{id:?} is not the id of {what}; expected one like {example}")]
    WrongId { id: String, what: &'static str, example: &'static str },
    #[error("{id} is the id of an item, expected that of a meeting")]
    ItemForMeeting { id: String, meeting: String },
    #[error("there is no {what} {id}")]
    Unknown { what: &'static str, id: String },
    /// A body or a member of a council.
    #[error("there is no {what} {id}")]
    UnknownPerson { what: &'static str, id: String, known: Vec<String> },
    #[error("{city_key} has no matter with the number {number:?}")]
    UnknownNumber { city_key: String, number: String },
    #[error("{}: expected an id such as {example}, found {id:?}", kind.replace('_', " "))]
    WrongEntity { kind: String, id: String, example: &'static str },
    #[error("topic: {named:?} is none that is known")]
    UnknownTopic { named: String, known: Vec<String> },
    #[error("{owner} has an alert named {name:?} already: {id}")]
    AlertThere { owner: String, name: String, id: String },
    #[error("there is no alert {id:?}")]
    UnknownAlert { id: String },
    #[error("others change the same cities all the time; nothing was stored")]
    Contended,
    #[error("there is no {id} about a meeting or a matter; one that is finished is gone")]
    UnknownJob { id: JobId },
}

impl App {
    /// The city that a city key names.
    pub async fn find_city(&self, city_key: &str) -> AppResult<Jurisdiction> {
        let city_key = parse_city_key(city_key)?;
        if let Some(city) = self.civic().jurisdiction(city_key.as_str()).await? {
            return Ok(city);
        }
        let state = Some(city_key.state().to_owned());
        let others = JurisdictionFilter { state, limit: Some(5), ..JurisdictionFilter::default() };
        let others = self.civic().jurisdictions(others).await?.into_iter().map(|city| city.city_key).collect();
        Err(CouncilRefused::UnknownCity { city_key, others }.into())
    }

    /// The meeting of an id.
    pub async fn find_meeting(&self, id: &str) -> AppResult<Meeting> {
        if let Some(meeting) = ids::meeting_of_item(id) {
            return Err(CouncilRefused::ItemForMeeting { id: id.to_owned(), meeting: meeting.to_owned() }.into());
        }
        expect(ids::is_meeting_id(id), id, "a meeting", "paloaltoCA_3c961ffe17f6")?;
        Ok(self.civic().meeting(id).await?.ok_or_else(|| unknown("meeting", id))?)
    }

    /// The item of an id, with its meeting.
    pub async fn find_agenda_item(&self, id: &str) -> AppResult<(AgendaItem, Meeting)> {
        expect(ids::is_item_id(id), id, "an item", "paloaltoCA_3c961ffe17f6_17864")?;
        let item = self.civic().agenda_item(id).await?.ok_or_else(|| unknown("item", id))?;
        let meeting = self.civic().meeting(&item.meeting_id).await?.ok_or_else(|| unknown("meeting", id))?;
        Ok((item, meeting))
    }

    /// The matter of an id.
    pub async fn find_matter(&self, id: &str) -> AppResult<Matter> {
        expect(ids::is_matter_id(id), id, "a matter", "paloaltoCA_0123456789abcdef")?;
        Ok(self.civic().matter(id).await?.ok_or_else(|| unknown("matter", id))?)
    }

    /// The matter of a city with this public number.
    pub async fn find_matter_by_number(&self, city_key: &str, number: &str) -> AppResult<Matter> {
        let city_key = self.find_city(city_key).await?.city_key;
        let matter_file = Some(number.trim().to_owned());
        let filter =
            MatterFilter { city_key: Some(city_key.clone()), matter_file, limit: Some(1), ..MatterFilter::default() };
        let found = self.civic().matters(filter).await?.pop();
        Ok(found.ok_or_else(|| CouncilRefused::UnknownNumber { city_key, number: number.to_owned() })?)
    }
}

/// A city key as people write it.
pub fn parse_city_key(text: &str) -> Result<CityKey, CouncilRefused> {
    CityKey::parse(text).map_err(|fault| CouncilRefused::Invalid(fault.to_string()))
}

fn expect(is_one: bool, id: &str, what: &'static str, example: &'static str) -> Result<(), CouncilRefused> {
    if is_one { Ok(()) } else { Err(CouncilRefused::WrongId { id: id.to_owned(), what, example }) }
}

fn unknown(what: &'static str, id: &str) -> CouncilRefused {
    CouncilRefused::Unknown { what, id: id.to_owned() }
}
