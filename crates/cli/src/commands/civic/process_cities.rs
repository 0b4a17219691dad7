//! `bindery civic process-cities` and `process-watchlist`: what waits of cities that somebody names, read now.

use super::{
    estimating,
    fetching::Fetching,
    processing::{self, RunFlags, Told},
    visiting, watchlist,
};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings, Signals,
    councils::{conductor::wanted, processing::run::CityProcessed, visits},
    supervisor::stop_pair,
};

/// Read what waits of several cities now, and say what it is about
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic process-cities paloaltoCA,nashvilleTN
  bindery civic process-cities CA --dry-run          what would be read, and what it could cost
  bindery civic process-cities @cities.txt --json    a line of JSON for each city as it ends
  bindery civic process-cities paloaltoCA --wait 120 also what is tried again within two minutes
Three cities at a time, each until nothing of it is ready or runs. What failed and is tried again
later, or waits for a quota, is told as waiting, with the reason and the time: the processor, or the
next call, takes it up then. Ctrl-C: what is under way is finished or given back. Exit codes: 0 all
read, 3 some failed or wait, 1 nothing could be read, 130 stopped before the end.")]
pub(super) struct CitiesArgs {
    /// Keys of cities, states or counties, separated by commas; or @FILE
    #[arg(value_name = "LIST")]
    list: String,

    #[command(flatten)]
    how: How,
}

/// Read what waits of the cities of all active alerts now
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic process-watchlist
  bindery civic process-watchlist --dry-run --json
  bindery civic process-watchlist --json             a line of JSON for each city as it ends
A city that an alert names and nobody follows yet is recorded as a request for it.
Exit codes: 0 all read, 3 some failed or wait, 1 nothing could be read, 130 stopped before the end.")]
pub(super) struct WatchlistArgs {
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Clone, clap::Args)]
struct How {
    #[command(flatten)]
    run: RunFlags,

    #[command(flatten)]
    fetching: Fetching,

    /// Print a line of JSON for each city as it ends
    #[arg(long)]
    json: bool,
}

impl How {
    async fn open(&self, settings: &Settings) -> anyhow::Result<App> {
        let told = if self.json { Told::Cities } else { Told::Remarks };
        Ok(self.run.open(settings, &self.fetching, told).await?.0)
    }
}

pub(super) async fn cities(settings: &Settings, args: CitiesArgs) -> anyhow::Result<Exit> {
    let targets = visiting::targets(&args.list)?;
    let app = args.how.open(settings).await?;
    let city_keys = wanted::expand(app.store(), &targets).await?;
    if city_keys.is_empty() {
        let message = format!("{:?} means no city that is stored", args.list);
        return Err(Failure::usage(message).hint("`bindery civic city add …` adds one").into());
    }
    process(&app, &city_keys, &args.how).await
}

pub(super) async fn of_watchlist(settings: &Settings, args: WatchlistArgs) -> anyhow::Result<Exit> {
    let app = args.how.open(settings).await?;
    let list = wanted::watchlist(app.store()).await?;
    watchlist::tell_of_others(&list);
    if list.cities.is_empty() {
        output::note("no active alert names a city that is followed");
        return Ok(Exit::Ok);
    }
    process(&app, &list.city_keys(), &args.how).await
}

async fn process(app: &App, city_keys: &[String], how: &How) -> anyhow::Result<Exit> {
    if how.run.dry_run {
        return estimating::estimate(app, city_keys, how.json).await;
    }
    let mut signals = Signals::new()?;
    visits::recover(app).await?;
    let work = how.run.processing(app)?;
    let (handle, stop) = stop_pair();
    let work = work.process_cities(city_keys, &stop);
    let Some(results) = processing::until_done(app, &handle, &mut signals, work).await else {
        return Ok(Exit::Interrupted);
    };
    let results: Vec<CityProcessed> = results;
    if !how.json {
        processing::show(&results.iter().collect::<Vec<_>>())?;
        let (meetings, new) = sums(results.iter());
        output::line(format!("Complete: {meetings}, {new}"))?;
    }
    Ok(processing::exit_of(&results))
}

/// `3 meetings` and `12 new items`.
pub(super) fn sums<'r>(results: impl Iterator<Item = &'r CityProcessed>) -> (String, String) {
    let (mut meetings, mut new) = (0, 0);
    for result in results {
        meetings += result.meetings_processed;
        new += result.items_new;
    }
    (output::count(meetings, "meeting"), output::count(new, "new item"))
}
