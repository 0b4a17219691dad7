//! `--dry-run`: what reading what waits would take. Nobody is asked, and nothing is stored.

use super::shown::money;
use crate::{exit::Exit, output};
use bindery_app::{
    App,
    councils::processing::{self, CityEstimate},
};
use serde::Serialize;

/// As programs are told it.
#[derive(Debug, Serialize)]
struct Told<'e> {
    #[serde(rename = "city_banana")]
    city_key: &'e str,
    /// Who would read.
    method: &'e str,
    #[serde(flatten)]
    estimate: &'e CityEstimate,
}

pub(super) async fn estimate(app: &App, city_keys: &[String], json: bool) -> anyhow::Result<Exit> {
    let workshop = &app.councils()?.workshop;
    let method = workshop.analyst().method();
    let mut all = Vec::new();
    for city_key in city_keys {
        let estimate = processing::estimate_city(workshop, city_key).await?;
        if json {
            output::json_line(&Told { city_key, method: &method, estimate: &estimate })?;
        }
        all.push(estimate);
    }
    if json {
        return Ok(Exit::Ok);
    }
    let header = ["CITY", "MEETINGS#", "MATTERS#", "ITEMS#", "DOCUMENTS TO READ#", "PACKETS#", "TOKENS#", "AT MOST#"];
    let row = |one: &CityEstimate| {
        [
            one.city_key.clone(),
            one.meetings.to_string(),
            one.matters.to_string(),
            one.items.to_string(),
            one.documents_unread.to_string(),
            one.packets.to_string(),
            one.input_tokens.to_string(),
            money(one.most_micros),
        ]
    };
    output::table(&header, all.iter().map(row))?;
    let sum = |of: fn(&CityEstimate) -> u64| all.iter().map(of).sum::<u64>();
    let (items, known) = (sum(|one| one.items), sum(|one| one.items_estimated));
    output::note(format!("read by {method}; nothing was read, and nobody was asked"));
    if known < items {
        let unknown = output::count(items - known, "item");
        output::note(format!("the cost is without {unknown} whose documents are not read yet"));
    }
    Ok(Exit::Ok)
}
