//! `bindery civic preview-watchlist` and `sync-watchlist`: the cities that people's alerts name.

use super::{sync_cities, visiting::Flags};
use crate::{exit::Exit, output};
use bindery_app::{
    App, Settings,
    councils::conductor::{
        Watchlist,
        wanted::{self, WatchedCity},
    },
};
use bindery_core::Timestamp;

/// List the cities of all active alerts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic preview-watchlist
  bindery civic preview-watchlist --json
A city that an alert names and nobody follows yet is recorded as a request for it.")]
pub(super) struct PreviewArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Visit the cities of all active alerts now
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic sync-watchlist
  bindery civic sync-watchlist --json
A city that an alert names and nobody follows yet is recorded as a request for it.
Exit codes: 0 all visited, 3 some, 1 none.")]
pub(super) struct SyncArgs {
    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn preview(settings: &Settings, args: PreviewArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let list = wanted::watchlist(app.store()).await?;
    if args.json {
        output::json(&list)?;
        return Ok(Exit::Ok);
    }
    if list == Watchlist::default() {
        output::note("no active alert names a city");
        return Ok(Exit::Ok);
    }
    if !list.cities.is_empty() {
        let moment = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
        let row = |city: &WatchedCity| {
            [
                city.city_key.clone(),
                format!("{}, {}", city.name, city.state),
                city.vendor.clone(),
                city.status.clone(),
                moment(city.last_success_at),
                moment(city.next_sync_at),
            ]
        };
        output::table(&["CITY", "NAME", "VENDOR", "STATUS", "VISITED", "DUE"], list.cities.iter().map(row))?;
    }
    tell_of_others(&list);
    Ok(Exit::Ok)
}

pub(super) async fn sync(settings: &Settings, args: SyncArgs) -> anyhow::Result<Exit> {
    let app: App = settings.existing().await?;
    let list = wanted::watchlist(app.store()).await?;
    tell_of_others(&list);
    if list.cities.is_empty() {
        output::note("no active alert names a city that is followed");
        if args.flags.json {
            output::json(&list.cities)?;
        }
        return Ok(Exit::Ok);
    }
    sync_cities::visit(&app, list.city_keys(), &args.flags).await
}

pub(super) fn tell_of_others(list: &Watchlist) {
    for city_key in &list.requested {
        output::note(format!(
            "{city_key} is not followed yet and is now requested; `bindery civic city add {city_key} …` adds it"
        ));
    }
    for text in &list.invalid {
        output::note(format!("an alert names {text:?}, which is no key of a city such as paloaltoCA"));
    }
}
