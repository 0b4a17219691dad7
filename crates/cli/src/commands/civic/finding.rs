//! What people name on the command line, found in the store: with one sentence when it is not there.

use crate::failure::Failure;
use bindery_app::{
    App,
    councils::{
        city_key::CityKey,
        ids,
        records::{AgendaItem, Jurisdiction, JurisdictionFilter, Matter, Meeting},
    },
};

/// The city that a city key names.
pub(super) async fn city(app: &App, city_key: &str) -> anyhow::Result<Jurisdiction> {
    let city_key = CityKey::parse(city_key).map_err(|fault| Failure::usage(fault.to_string()))?;
    if let Some(city) = app.civic().jurisdiction(city_key.as_str()).await? {
        return Ok(city);
    }
    let failure = Failure::usage(format!("no city {city_key} is stored"));
    let state = Some(city_key.state().to_owned());
    let others = JurisdictionFilter { state, limit: Some(5), ..JurisdictionFilter::default() };
    let others = app.civic().jurisdictions(others).await?;
    let names: Vec<&str> = others.iter().map(|city| city.city_key.as_str()).collect();
    let hint = if names.is_empty() {
        format!("no city of {} is stored", city_key.state())
    } else {
        format!("stored in {} are {}", city_key.state(), names.join(", "))
    };
    Err(failure.hint(hint).into())
}

/// The meeting of an id.
pub(super) async fn meeting(app: &App, id: &str) -> anyhow::Result<Meeting> {
    if let Some(meeting) = ids::meeting_of_item(id) {
        let failure = Failure::usage(format!("{id} is the id of an item, expected that of a meeting"));
        return Err(failure.hint(format!("its meeting is {meeting}")).into());
    }
    expect(ids::is_meeting_id(id), id, "a meeting", "paloaltoCA_3c961ffe17f6")?;
    app.civic().meeting(id).await?.ok_or_else(|| unknown("meeting", id))
}

/// The item of an id, with its meeting.
pub(super) async fn item(app: &App, id: &str) -> anyhow::Result<(AgendaItem, Meeting)> {
    expect(ids::is_item_id(id), id, "an item", "paloaltoCA_3c961ffe17f6_17864")?;
    let item = app.civic().agenda_item(id).await?.ok_or_else(|| unknown("item", id))?;
    let meeting = app.civic().meeting(&item.meeting_id).await?.ok_or_else(|| unknown("meeting", id))?;
    Ok((item, meeting))
}

/// The matter of an id.
pub(super) async fn matter(app: &App, id: &str) -> anyhow::Result<Matter> {
    expect(ids::is_matter_id(id), id, "a matter", "paloaltoCA_0123456789abcdef")?;
    app.civic().matter(id).await?.ok_or_else(|| unknown("matter", id))
}

fn expect(is_one: bool, id: &str, what: &str, example: &str) -> Result<(), Failure> {
    if is_one {
        return Ok(());
    }
    let failure = Failure::usage(format!("{id:?} is not the id of {what}; expected one like {example}"));
    Err(failure
        .hint("`bindery civic meetings BANANA` lists meetings, `bindery civic show MEETING` their items and matters"))
}

fn unknown(what: &str, id: &str) -> anyhow::Error {
    let city = id.split('_').next().unwrap_or_default();
    Failure::usage(format!("there is no {what} {id}"))
        .hint(format!("`bindery civic meetings {city}` lists the meetings of {city}"))
        .into()
}
