//! `bindery civic city list`.

use super::{super::shown::without_secrets, existing};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    councils::{
        records::{Jurisdiction, JurisdictionFilter},
        register::STATUSES,
    },
    error::suggest,
};
use bindery_core::{Clock as _, Timestamp, time::SystemClock};
use serde_json::json;

/// List the cities that are followed, with how visits go
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city list
  bindery civic city list --state CA --vendor legistar
  bindery civic city list --status paused --json
The JSON can be read in again with `bindery civic city import`.")]
pub(super) struct Args {
    /// Only of this state, e.g. CA
    #[arg(long, value_name = "ST")]
    state: Option<String>,

    /// Only with this vendor
    #[arg(long)]
    vendor: Option<String>,

    /// Only active, paused or closed ones
    #[arg(long)]
    status: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print tokens of vendors, too, to enter the cities in another store
    #[arg(long, requires = "json")]
    with_secrets: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    if let Some(vendor) = &args.vendor {
        super::super::parse::known_adapter(vendor)?;
    }
    if let Some(state) = args.state.as_deref().filter(|state| !bindery_app::councils::states::is_state(state)) {
        return Err(Failure::usage(format!("there is no state {state:?}")).hint("give two capitals such as CA").into());
    }
    if let Some(status) = args.status.as_deref().filter(|status| !STATUSES.contains(status)) {
        return Err(Failure::usage(format!("there is no status {status:?}")).hint(suggest(status, STATUSES)).into());
    }
    let app = existing(settings).await?;
    let filter = JurisdictionFilter { state: args.state, vendor: args.vendor, ..JurisdictionFilter::default() };
    let mut cities = app.civic().jurisdictions(filter).await?;
    cities.retain(|city| args.status.as_ref().is_none_or(|status| *status == city.status));
    if args.json {
        let listed = if args.with_secrets { json!(cities) } else { without_secrets(&cities) };
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    if cities.is_empty() {
        output::note("no such city is followed; `bindery civic city add` adds one");
        return Ok(Exit::Ok);
    }
    let row = |city: &Jurisdiction| {
        [
            city.city_key.clone(),
            output::short(&city.name, 40),
            city.vendor.clone(),
            output::short(&city.slug, 40),
            city.status.clone(),
            city.health.last_attempt_at.map(output::ago).unwrap_or_default(),
            next_visit(city),
            health_word(city),
        ]
    };
    output::table(
        &["BANANA", "NAME", "VENDOR", "SLUG", "STATUS", "VISITED", "NEXT", "HEALTH"],
        cities.iter().map(row),
    )?;
    Ok(Exit::Ok)
}

/// When it is visited next.
pub(super) fn next_visit(city: &Jurisdiction) -> String {
    match city.health.next_sync_at {
        _ if !city.is_active() => "never".to_owned(),
        Some(next) => in_future(next, SystemClock.now()),
        None => "now".to_owned(),
    }
}

fn in_future(moment: Timestamp, now: Timestamp) -> String {
    if moment <= now { "now".to_owned() } else { format!("in {}", output::duration(moment.since(now))) }
}

/// How visits go, in a word or two.
pub(super) fn health_word(city: &Jurisdiction) -> String {
    let health = &city.health;
    match (health.consecutive_failures, health.last_attempt_at, health.last_found_at) {
        (_, None, _) => "never visited".to_owned(),
        (1, ..) => "FAILED once".to_owned(),
        (failures @ 2.., ..) => format!("FAILED {failures} times"),
        _ if health.is_silent() => format!("SILENT for {}", output::count(health.empty_runs.into(), "visit")),
        (_, _, None) => "no meeting yet".to_owned(),
        _ => "well".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_app::councils::records::Health;

    #[test]
    fn health_is_told_in_a_word() {
        let at = Some(Timestamp::from_millis(1_000));
        let city = |health: Health| Jurisdiction { health, ..Jurisdiction::default() };
        let visited = Health { last_attempt_at: at, last_success_at: at, ..Health::default() };
        assert_eq!(health_word(&city(Health::default())), "never visited");
        assert_eq!(health_word(&city(visited.clone())), "no meeting yet");
        assert_eq!(health_word(&city(Health { last_found_at: at, ..visited.clone() })), "well");
        let silent = Health { last_found_at: at, empty_runs: 3, ..visited.clone() };
        assert_eq!(health_word(&city(silent)), "SILENT for 3 visits");
        assert_eq!(health_word(&city(Health { consecutive_failures: 4, ..visited })), "FAILED 4 times");
        let hour = Timestamp::from_millis(3_600_000);
        assert_eq!(in_future(hour, Timestamp::from_millis(0)), "in 60 min");
        assert_eq!(in_future(Timestamp::from_millis(0), hour), "now");
    }
}
