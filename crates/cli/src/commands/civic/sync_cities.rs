//! `bindery civic sync-city` and `sync-cities`: visits to cities that somebody names, due or not.

use super::visiting::{self, Flags, Told};
use crate::{exit::Exit, failure::Failure};
use bindery_app::{
    App, Settings, Signals,
    councils::{
        city_key::CityKey,
        conductor::{SyncResult, wanted},
        visits,
    },
    names,
    supervisor::stop_pair,
};

/// Visit one city now and store what has changed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic sync-city paloaltoCA
  bindery civic sync-city paloaltoCA --from 2025-01-01 --to 2025-12-31   a year of meetings
  bindery civic sync-city paloaltoCA --record visit                      keep what the site said
  bindery civic sync-city paloaltoCA --replay visit --json               and read it again
The city is visited whether or not it is due. Exit codes: 0 visited, 1 it failed or was skipped.")]
pub(super) struct CityArgs {
    /// The key of the city, e.g. paloaltoCA
    city: String,

    #[command(flatten)]
    flags: Flags,
}

/// Visit several cities now and store what has changed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic sync-cities paloaltoCA,nashvilleTN
  bindery civic sync-cities CA                     all that are stored of a state
  bindery civic sync-cities santaclaracountyCA     a county and its cities
  bindery civic sync-cities @cities.txt --json     one on each line, comments behind #
Vendors are visited side by side, at most two cities of one at a time. Each city is told of as it
ends; the results are in the order of the list. Exit codes: 0 all visited, 3 some, 1 none.")]
pub(super) struct CitiesArgs {
    /// Keys of cities, states or counties, separated by commas; or @FILE
    #[arg(value_name = "LIST")]
    list: String,

    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn city(settings: &Settings, args: CityArgs) -> anyhow::Result<Exit> {
    let city_key = city_key(&args.city)?;
    let app = settings.existing().await?;
    expect_city(&app, &city_key).await?;
    visit(&app, vec![city_key], &args.flags).await
}

/// What people give is a key of a city.
pub(super) fn city_key(text: &str) -> anyhow::Result<String> {
    Ok(CityKey::parse(text).map_err(|fault| Failure::usage(fault.to_string()))?.to_string())
}

/// The city is stored.
pub(super) async fn expect_city(app: &App, city_key: &str) -> anyhow::Result<()> {
    if app.civic().jurisdiction(city_key).await?.is_some() {
        return Ok(());
    }
    let add = format!("`bindery civic city add {city_key} …` adds it; `bindery civic city list` shows those that are");
    Err(Failure::usage(format!("no city {city_key} is stored")).hint(add).into())
}

pub(super) async fn cities(settings: &Settings, args: CitiesArgs) -> anyhow::Result<Exit> {
    let targets = visiting::targets(&args.list)?;
    let app = settings.existing().await?;
    let city_keys = wanted::expand(app.store(), &targets).await?;
    if city_keys.is_empty() {
        let message = format!("{:?} means no city that is stored", args.list);
        return Err(Failure::usage(message).hint("`bindery civic city add …` adds one").into());
    }
    visit(&app, city_keys, &args.flags).await
}

/// Visits cities in this process and shows what came of it.
pub(super) async fn visit(app: &App, city_keys: Vec<String>, flags: &Flags) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    let conductor = flags.conductor(app, names::of_visitor(), Told::Remarks)?;
    let (handle, stop) = stop_pair();
    let work = conductor.sync_cities(&city_keys, &stop);
    let Some(results) = visits::attended(app, &conductor, &handle, &mut signals, work).await? else {
        return Ok(Exit::Interrupted);
    };
    let results: Vec<SyncResult> = results;
    visiting::show(&results, flags.json)?;
    Ok(visiting::exit_of(&results))
}
